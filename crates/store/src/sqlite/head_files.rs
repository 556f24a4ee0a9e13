//! The head that was acknowledged last, in two files beside the database. Each of them is whole by itself, and at every moment one of them
//! is on the disk.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hex::as_hex;
use crate::log::ChainEnd;
use crate::machine;

/// Their names.
pub const NAMES: [&str; 2] = ["upheld.head-1", "upheld.head-2"];

/// What one of them has: one sector, which disks write at once. It is overwritten where it is, so a full disk has room for it.
const SIZE: usize = 512;

/// The part that is text: the rest is its checksum, and the ends of two lines.
const TEXT: usize = SIZE - 64 - 2;

const VERSION: u32 = 1;

/// Which store it is. Copies of a database have the same.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct StoreId([u8; 32]);

impl StoreId {
    /// One that no other store has.
    pub(super) fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|_| io::Error::other("there are no random numbers"))?;
        Ok(Self(bytes))
    }
}

as_hex!(StoreId);

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptHead {
    pub(super) store: StoreId,
    /// How many were written before it. The even ones are on the disk in the first file before the second is touched, the odd ones the
    /// other way round.
    turn: u64,
    #[serde(flatten)]
    pub(super) end: ChainEnd,
    /// When it was written.
    pub(super) time: Timestamp,
}

/// What every version has.
#[derive(Deserialize)]
struct AnyVersion {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Line {
    version: u32,
    #[serde(flatten)]
    head: KeptHead,
}

impl KeptHead {
    fn encode(&self) -> io::Result<Vec<u8>> {
        let line = serde_json::to_string(&Line { version: VERSION, head: self.clone() })?;
        let text = format!("{line:TEXT$}\n");
        let sum = checksum(text.as_bytes());
        Ok(format!("{text}{sum}\n").into_bytes())
    }

    /// Nothing if it is not what was written. Of a newer program, an error.
    fn decode(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some((text, sum)) = bytes.split_at_checked(TEXT + 1) else { return Ok(None) };
        if bytes.len() != SIZE || sum != format!("{}\n", checksum(text)).as_bytes() {
            return Ok(None);
        }
        match serde_json::from_slice::<AnyVersion>(text) {
            Ok(AnyVersion { version }) if version > VERSION => Err(io::Error::other(format!(
                "it has version {version}, and this program supports versions up to {VERSION}: use a newer program"
            ))),
            _ => Ok(serde_json::from_slice::<Line>(text).ok().map(|line| line.head)),
        }
    }
}

fn checksum(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What both files say, as far as they can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pair([Option<KeptHead>; 2]);

impl Pair {
    /// What was written last about a store; if it is not known which, about any.
    pub(super) fn newest(&self, store: Option<StoreId>) -> Option<&KeptHead> {
        let own = self.0.iter().flatten().filter(|head| store.is_none_or(|store| head.store == store));
        own.max_by_key(|head| head.turn)
    }

    /// Whether they are about several stores.
    pub(super) fn is_mixed(&self) -> bool {
        matches!(&self.0, [Some(one), Some(other)] if one.store != other.store)
    }

    /// Whether nothing can be read.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// Where they are.
#[derive(Clone, Debug)]
pub(super) struct HeadFiles {
    folder: PathBuf,
}

impl HeadFiles {
    pub(super) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Reads both. Files that are not there are not made.
    pub(super) fn read(&self) -> io::Result<Pair> {
        let open = |name: &str| match File::open(self.folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        };
        let [first, second] = NAMES;
        let first = open(first)?;
        first.as_ref().map(File::lock_shared).transpose()?;
        let second = open(second)?;
        let [one, other] = [first, second].map(|file| file.map_or(Ok(None), |file| content(&file)));
        Ok(Pair([one?, other?]))
    }

    /// Makes sure that the end of the log is on the disk, unless it is already, or one that follows. Returns what the files say then.
    pub(super) fn keep(&self, store: StoreId, end: ChainEnd) -> io::Result<KeptHead> {
        let files = self.open()?;
        let found = Pair([content(&files[0])?, content(&files[1])?]);
        let newest = found.newest(Some(store)).cloned();
        let end = match &newest {
            Some(head) if head.end.revision >= end.revision => {
                // The second is written once the first is on the disk: what both say is.
                if found.0.iter().all(|other| other.as_ref() == Some(head)) {
                    return Ok(head.clone());
                }
                head.end
            }
            _ => end,
        };
        let turn = newest.as_ref().map_or(0, |head| head.turn + 1);
        self.put(&files, &found, KeptHead { store, turn, end, time: machine::now() }, newest.as_ref())
    }

    /// Writes both files, whatever they said.
    pub(super) fn replace(&self, store: StoreId, end: ChainEnd) -> io::Result<KeptHead> {
        let files = self.open()?;
        let found = Pair([content(&files[0])?, content(&files[1])?]);
        let turn = found.newest(None).map_or(0, |head| head.turn + 1);
        self.put(&files, &found, KeptHead { store, turn, end, time: machine::now() }, None)
    }

    /// Both files, made for their owner only if they are not there, and locked until they are dropped.
    fn open(&self) -> io::Result<[File; 2]> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let [first, second] = NAMES.map(|name| options.open(self.folder.join(name)));
        let files = [first?, second?];
        files[0].lock()?;
        Ok(files)
    }

    /// The file that has what counts until now stays as it is until the other one is on the disk.
    fn put(
        &self,
        files: &[File; 2],
        found: &Pair,
        mut head: KeptHead,
        counts: Option<&KeptHead>,
    ) -> io::Result<KeptHead> {
        let has_it = found.0.each_ref().map(|other| other.as_ref().is_some() && other.as_ref() == counts);
        let usual = head.turn % 2;
        let turn = match has_it {
            // Only one has it, and nobody knows since when: the other one has its turn.
            [true, false] => 1,
            [false, true] => 0,
            _ => usual,
        };
        head.turn += turn.abs_diff(usual);
        let (first, second) = if turn == 0 { (&files[0], &files[1]) } else { (&files[1], &files[0]) };
        let bytes = head.encode()?;
        if has_it == [true, true] {
            write(first, &bytes)?;
            first.sync_data()?;
            write(second, &bytes)?;
            return Ok(head);
        }
        second.sync_all()?;
        for file in [first, second] {
            write(file, &bytes)?;
            file.set_len(u64::try_from(SIZE).unwrap_or_default())?;
            file.sync_all()?;
        }
        self.sync_folder()?;
        Ok(head)
    }

    /// Their names are on the disk, too.
    fn sync_folder(&self) -> io::Result<()> {
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }

    /// Brings onto the disk what a process wrote that ended before it could.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.open()?.iter().try_for_each(File::sync_data)
    }
}

fn content(mut file: &File) -> io::Result<Option<KeptHead>> {
    let mut bytes = Vec::with_capacity(SIZE + 1);
    // Somebody else may have put a large file there.
    file.seek(SeekFrom::Start(0))?;
    file.take(u64::try_from(SIZE + 1).unwrap_or_default()).read_to_end(&mut bytes)?;
    KeptHead::decode(&bytes)
}

fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Revision;

    fn end(revision: u64) -> ChainEnd {
        ChainEnd { revision: Revision(revision), chain: format!("{revision:064x}").parse().unwrap() }
    }

    fn files() -> (tempfile::TempDir, HeadFiles, StoreId) {
        // In memory where that is possible: a disk takes its time for what counts only when the machine loses power.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let files = HeadFiles::of(folder.path());
        (folder, files, StoreId::random().unwrap())
    }

    fn revision(pair: &Pair, store: StoreId) -> Option<u64> {
        pair.newest(Some(store)).map(|head| head.end.revision.0)
    }

    #[test]
    fn a_head_is_read_as_it_was_written_and_every_other_bit_makes_it_unreadable() {
        let store = StoreId::random().unwrap();
        let end = ChainEnd { revision: Revision(u64::MAX), chain: end(7).chain };
        let head = KeptHead { store, turn: u64::MAX, end, time: Timestamp::MAX };
        let bytes = head.encode().unwrap();
        assert_eq!(bytes.len(), SIZE);
        assert_eq!(KeptHead::decode(&bytes).unwrap(), Some(head));
        for bit in 0..SIZE * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(KeptHead::decode(&damaged).unwrap(), None, "{bit}");
        }
        for length in [0, 1, TEXT, TEXT + 1, SIZE - 1] {
            assert_eq!(KeptHead::decode(&bytes[..length]).unwrap(), None, "{length}");
        }
        assert_eq!(KeptHead::decode(&[&*bytes, b"\n"].concat()).unwrap(), None);
    }

    #[test]
    fn the_head_of_a_newer_program_is_no_damage() {
        let line = format!("{:TEXT$}\n", "{\"version\":2}");
        let bytes = format!("{line}{}\n", checksum(line.as_bytes()));
        let error = KeptHead::decode(bytes.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("use a newer program"), "{error}");
    }

    #[test]
    fn the_head_goes_on_and_never_back() {
        let (_folder, files, store) = files();
        assert!(files.read().unwrap().is_empty());
        for (asked, expected) in [(0, 0), (1, 1), (1, 1), (5, 5), (3, 5), (6, 6)] {
            assert_eq!(files.keep(store, end(asked)).unwrap().end, end(expected));
            let pair = files.read().unwrap();
            assert_eq!(revision(&pair, store), Some(expected));
            assert_eq!(pair.0[0], pair.0[1], "each of them has it");
        }
        assert_eq!(files.replace(store, end(2)).unwrap().end, end(2));
        assert_eq!(revision(&files.read().unwrap(), store), Some(2));
    }

    /// A process, or the machine, ends at any byte of a write: the other file has what was acknowledged before.
    #[test]
    fn a_write_that_ends_anywhere_leaves_what_was_acknowledged() {
        let (folder, files, store) = files();
        let paths = NAMES.map(|name| folder.path().join(name));
        for number in 1..20_u64 {
            files.keep(store, end(number)).unwrap();
            let before = paths.each_ref().map(|path| fs::read(path).unwrap());
            let after = files.keep(store, end(number + 1)).unwrap();
            let bytes = after.encode().unwrap();
            // The one that has its turn is written first.
            let first = usize::try_from(after.turn % 2).unwrap();
            for (file, other) in [(first, &before[1 - first]), (1 - first, &bytes)] {
                for length in [0, 1, 100, TEXT, SIZE - 1] {
                    let torn = [&bytes[..length], &before[file][length..]].concat();
                    fs::write(&paths[file], torn).unwrap();
                    fs::write(&paths[1 - file], other).unwrap();
                    let found = revision(&files.read().unwrap(), store).unwrap();
                    assert!((number..=number + 1).contains(&found), "{found} after {number}, {length} bytes");
                    // And it goes on from there.
                    assert_eq!(files.keep(store, end(number + 1)).unwrap().end, end(number + 1));
                    let pair = files.read().unwrap();
                    assert!(pair.0[0].is_some() && pair.0[0] == pair.0[1], "it is repaired");
                }
            }
        }
    }

    #[test]
    fn one_damaged_file_is_repaired_by_the_other() {
        let (folder, files, store) = files();
        for (number, name) in (1..).zip(NAMES.iter().cycle().take(10)) {
            files.keep(store, end(number)).unwrap();
            fs::write(folder.path().join(name), b"nothing").unwrap();
            assert_eq!(revision(&files.read().unwrap(), store), Some(number));
            files.keep(store, end(number)).unwrap();
            let pair = files.read().unwrap();
            assert!(pair.0.iter().all(Option::is_some), "{pair:?}");
            fs::remove_file(folder.path().join(name)).unwrap();
            files.keep(store, end(number)).unwrap();
            assert_eq!(files.read().unwrap().0[0], files.read().unwrap().0[1]);
        }
    }

    #[test]
    fn heads_of_another_store_do_not_count() {
        let (folder, files, store) = files();
        let (elsewhere, others, other) = self::files();
        files.keep(store, end(3)).unwrap();
        for number in 0..9 {
            others.keep(other, end(number)).unwrap();
        }
        fs::copy(elsewhere.path().join(NAMES[0]), folder.path().join(NAMES[0])).unwrap();
        let pair = files.read().unwrap();
        assert!(pair.is_mixed());
        assert_eq!((revision(&pair, store), revision(&pair, other)), (Some(3), Some(8)));
        files.keep(store, end(4)).unwrap();
        assert!(!files.read().unwrap().is_mixed());
    }
}
