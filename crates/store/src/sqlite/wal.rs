//! Frames of the write-ahead log that SQLite does not look at, since one before them is broken.
//!
//! The format is documented at <https://www.sqlite.org/fileformat2.html#walformat>: a header, then frames with a page each. Every checksum goes on
//! from the one before, and frames of a log that began anew have other salts.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::Duration;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The first bytes; the last bit says in which order the bytes of checksums are read.
const MAGIC: u32 = 0x377f_0682;

/// The size of pages where none can be read.
const USUAL_PAGE: usize = 4096;

/// How often it is read, if another process may be writing it just now.
const LOOKS: usize = 3;
const BETWEEN: Duration = Duration::from_millis(5);

/// Whole frames behind a broken one, of the same log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramesBehind {
    /// Where the broken part of the log begins, in bytes.
    pub broken: u64,
    /// How many whole frames are behind it.
    pub frames: usize,
    /// How many of them end a transaction.
    pub commits: usize,
}

impl fmt::Display for FramesBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { broken, frames, commits } = self;
        let (are, end) = (counted(*frames, "whole frame"), counted(*commits, "transaction"));
        write!(f, "the write-ahead log is broken at byte {broken}, and has {are} behind that, which end {end}")
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Reads a log, which need not be there. Only what ends a transaction counts: other frames were never committed.
pub(super) fn frames_behind(file: &Path) -> io::Result<Option<FramesBehind>> {
    let mut found = look(file)?;
    // Another process may have written while it was read: then it looks otherwise the next time.
    for _ in 1..LOOKS {
        if found.is_none() {
            break;
        }
        std::thread::sleep(BETWEEN);
        let again = look(file)?;
        if again == found {
            return Ok(found);
        }
        found = again;
    }
    Ok(None)
}

fn look(file: &Path) -> io::Result<Option<FramesBehind>> {
    match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => scan(BufReader::with_capacity(1 << 16, opened?)),
    }
}

fn scan(mut log: impl Read) -> io::Result<Option<FramesBehind>> {
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        return Ok(None);
    }
    let order = Order::of(number(&header, 0));
    let size = number(&header, 8) as usize;
    let page = if size.is_power_of_two() && (512..=65536).contains(&size) { size } else { USUAL_PAGE };
    let sum = order.checksum([0, 0], header.get(..24).unwrap_or_default());
    let is_whole = number(&header, 0) & !1 == MAGIC && sum == pair(&header, 24);
    // Of a broken header, neither salt nor checksum counts.
    let mut salt = is_whole.then(|| pair(&header, 16));
    let mut chained = is_whole.then_some(sum);
    let mut behind = FramesBehind { broken: 0, frames: 0, commits: 0 };
    let mut before = None;
    let mut frame = vec![0; FRAME_HEADER + page];
    let mut at = HEADER as u64;
    while fill(&mut log, &mut frame)? {
        let (own, stored) = (pair(&frame, 8), pair(&frame, 16));
        let is_same = *salt.get_or_insert(own) == own && number(&frame, 0) != 0;
        let sum = |seed| {
            let (head, page) = (frame.get(..8).unwrap_or_default(), frame.get(FRAME_HEADER..).unwrap_or_default());
            order.checksum(order.checksum(seed, head), page)
        };
        if let Some(seed) = chained {
            chained = (is_same && sum(seed) == stored).then_some(stored);
            if chained.is_none() {
                behind.broken = at;
            }
        } else if let Some(seed) = before
            && is_same
            && sum(seed) == stored
        {
            behind.frames += 1;
            behind.commits += usize::from(number(&frame, 4) != 0);
        }
        before = Some(stored);
        at += frame.len() as u64;
    }
    Ok(Some(behind).filter(|behind| behind.commits > 0))
}

/// Fills all of it, unless the log ends before.
fn fill(log: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

/// In which order the bytes of checksums are read.
#[derive(Clone, Copy)]
enum Order {
    Big,
    Little,
}

impl Order {
    fn of(magic: u32) -> Self {
        if magic & 1 == 1 { Self::Big } else { Self::Little }
    }

    fn checksum(self, seed: [u32; 2], bytes: &[u8]) -> [u32; 2] {
        let read = |word: [u8; 4]| match self {
            Self::Big => u32::from_be_bytes(word),
            Self::Little => u32::from_le_bytes(word),
        };
        let (pairs, _) = bytes.as_chunks::<8>();
        pairs.iter().fold(seed, |[one, other], [a, b, c, d, e, f, g, h]| {
            let one = one.wrapping_add(read([*a, *b, *c, *d])).wrapping_add(other);
            [one, other.wrapping_add(read([*e, *f, *g, *h])).wrapping_add(one)]
        })
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_be_bytes(*word))
}

fn pair(bytes: &[u8], at: usize) -> [u32; 2] {
    [number(bytes, at), number(bytes, at + 4)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 512;

    /// A log of transactions of two frames each.
    fn log(order: Order, transactions: u32) -> Vec<u8> {
        let magic = MAGIC | u32::from(matches!(order, Order::Big));
        let mut log: Vec<u8> = [magic, 3_007_000, 512, 0, 7, 9].iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut sum = order.checksum([0, 0], &log);
        log.extend(sum.iter().flat_map(|word| word.to_be_bytes()));
        for number in 0..transactions * 2 {
            let head: Vec<u8> = [number + 1, (number % 2) * 9].iter().flat_map(|word| word.to_be_bytes()).collect();
            let page: Vec<u8> = (number..).take(PAGE).map(|byte| byte.to_le_bytes()[0]).collect();
            sum = order.checksum(order.checksum(sum, &head), &page);
            log.extend(&head);
            log.extend([7, 9, sum[0], sum[1]].iter().flat_map(|word: &u32| word.to_be_bytes()));
            log.extend(page);
        }
        log
    }

    fn found(log: &[u8]) -> Option<(u64, usize, usize)> {
        scan(log).unwrap().map(|behind| (behind.broken, behind.frames, behind.commits))
    }

    #[test]
    fn whole_logs_and_those_that_end_anywhere_have_nothing_behind() {
        for order in [Order::Big, Order::Little] {
            let log = log(order, 5);
            for length in 0..=log.len() {
                assert_eq!(found(&log[..length]), None, "{length}");
            }
        }
    }

    #[test]
    fn frames_behind_a_flipped_bit_are_found_wherever_it_is() {
        let frame = FRAME_HEADER + PAGE;
        for order in [Order::Big, Order::Little] {
            let log = log(order, 5);
            for byte in (HEADER..log.len() - 3 * frame).step_by(7) {
                let mut log = log.clone();
                log[byte] ^= 4;
                let broken = (byte - HEADER) / frame;
                let (at, frames, commits) = found(&log).unwrap();
                assert_eq!(at, (HEADER + broken * frame) as u64);
                // A broken checksum makes the frame after it unsure, too.
                let behind = 10 - broken - 1;
                assert!((behind - 1..=behind).contains(&frames) && commits >= frames / 2, "{byte}: {frames} {commits}");
            }
        }
        let mut broken = log(Order::Little, 5);
        broken[14] ^= 1;
        assert_eq!(found(&broken), Some((0, 9, 5)), "of a broken header, the salts of the first frame count");
    }

    #[test]
    fn what_was_there_before_the_log_began_anew_is_not_behind() {
        let (mut old, new) = (log(Order::Little, 5), log(Order::Little, 2));
        for frame in 0..10 {
            old[HEADER + frame * (FRAME_HEADER + PAGE) + 8 + 3] = 6;
        }
        old[..new.len()].copy_from_slice(&new);
        assert_eq!(found(&old), None);
    }
}
