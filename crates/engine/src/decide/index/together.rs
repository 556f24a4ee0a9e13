//! Many readings of one path, walked together: what two of them begin or end with alike is walked once.

use smol_str::SmolStr;

use super::trie::{Trie, Walk, up_to_slash};

impl Trie {
    /// Finds the lists of all patterns that cover one of these paths, each once. Of what a path begins with as the one before it did, the
    /// nodes are known; and where both end alike and the same nodes were reached before, nothing else is to be found.
    pub(super) fn walk_all(&self, paths: &[SmolStr], walk: &mut Walk) {
        walk.start(self.loops as usize);
        let Trails { mut last, mut next } = std::mem::take(&mut walk.trails);
        last.clear();
        let mut before: &[u8] = &[];
        for path in paths {
            let bytes = path.as_bytes();
            let common = common_start(before, bytes);
            let ending = common_end(before, bytes);
            next.clear();
            // Whole segments, with their slashes. Where whole rests count, each path has its own.
            let is_shared = |stop: &&Stop| stop.at <= common && !self.has_rests();
            let known = last.stops.iter().take_while(is_shared).count();
            next.take_from(&last, known);
            if next.stops.is_empty() {
                next.add(0, [0]);
            }
            self.walk_on(path, ending, (&last, before.len()), &mut next, walk);
            before = bytes;
            std::mem::swap(&mut last, &mut next);
        }
        walk.trails = Trails { last, next };
        walk.lists.sort_unstable();
        walk.lists.dedup();
    }

    /// Walks on from where a trail ends, and makes it longer; `ending` bytes of the path are those of the one before it.
    fn walk_on(&self, path: &str, ending: usize, (last, before): (&Trail, usize), trail: &mut Trail, walk: &mut Walk) {
        let bytes = path.as_bytes();
        let (mut now, mut next) = (std::mem::take(&mut walk.now), std::mem::take(&mut walk.next));
        now.clear();
        now.extend_from_slice(trail.end());
        let mut start = trail.stops.last().map_or(0, |stop| stop.at);
        let mut is_known = false;
        while let Some(left) = bytes.get(start..).filter(|_| !now.is_empty()) {
            // The same rest from the same nodes was walked before.
            if left.len() <= ending && last.at(before - left.len()) == Some(now.as_slice()) {
                trail.take_rest(last, before - left.len(), start);
                is_known = true;
                break;
            }
            let length = up_to_slash(left);
            let segment = left.get(..length).unwrap_or_default();
            next.clear();
            walk.step += 1;
            self.step(&now, segment, path.get(start..), &mut next, walk);
            std::mem::swap(&mut now, &mut next);
            if length == left.len() {
                break;
            }
            start += length + 1;
            trail.add(start, now.iter().copied());
        }
        if !is_known {
            for number in &now {
                walk.lists.extend(self.list_at(*number));
            }
        }
        (walk.now, walk.next) = (now, next);
    }
}

/// Of the path that is walked, and of the one before it.
#[derive(Debug, Default)]
pub(super) struct Trails {
    last: Trail,
    next: Trail,
}

/// The nodes that were possible at each place of a path where a segment begins.
#[derive(Debug, Default)]
struct Trail {
    stops: Vec<Stop>,
    nodes: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Stop {
    /// Where the segment begins.
    at: usize,
    /// Where its nodes end.
    end: usize,
}

impl Trail {
    fn clear(&mut self) {
        self.stops.clear();
        self.nodes.clear();
    }

    fn add(&mut self, at: usize, nodes: impl IntoIterator<Item = u32>) {
        self.nodes.extend(nodes);
        self.stops.push(Stop { at, end: self.nodes.len() });
    }

    fn nodes_of(&self, stop: usize) -> &[u32] {
        let end = |stop: usize| self.stops.get(stop).map_or(0, |stop| stop.end);
        let start = stop.checked_sub(1).map_or(0, end);
        self.nodes.get(start..end(stop)).unwrap_or_default()
    }

    /// The nodes at the last stop.
    fn end(&self) -> &[u32] {
        self.stops.len().checked_sub(1).map_or(&[], |last| self.nodes_of(last))
    }

    /// The nodes at a place, if a segment begins there.
    fn at(&self, place: usize) -> Option<&[u32]> {
        let stop = self.stops.binary_search_by_key(&place, |stop| stop.at).ok()?;
        Some(self.nodes_of(stop))
    }

    /// The first stops of another trail.
    fn take_from(&mut self, other: &Self, stops: usize) {
        let stops = other.stops.get(..stops).unwrap_or_default();
        self.stops.extend_from_slice(stops);
        self.nodes.extend_from_slice(other.nodes.get(..stops.last().map_or(0, |stop| stop.end)).unwrap_or_default());
    }

    /// The stops of another trail after a place, which is another one here.
    fn take_rest(&mut self, other: &Self, place: usize, here: usize) {
        let first = other.stops.partition_point(|stop| stop.at <= place);
        for (number, stop) in other.stops.iter().enumerate().skip(first) {
            self.nodes.extend_from_slice(other.nodes_of(number));
            self.stops.push(Stop { at: stop.at - place + here, end: self.nodes.len() });
        }
    }
}

/// How many bytes two texts begin with alike, many at a time.
fn common_start(one: &[u8], other: &[u8]) -> usize {
    const WIDE: usize = 16;
    let wide =
        one.chunks_exact(WIDE).zip(other.chunks_exact(WIDE)).take_while(|(one, other)| one == other).count() * WIDE;
    wide + one.iter().skip(wide).zip(other.iter().skip(wide)).take_while(|(one, other)| one == other).count()
}

/// How many bytes two texts end with alike.
fn common_end(one: &[u8], other: &[u8]) -> usize {
    const WIDE: usize = 16;
    let wide =
        one.rchunks_exact(WIDE).zip(other.rchunks_exact(WIDE)).take_while(|(one, other)| one == other).count() * WIDE;
    let rest = |text: &[u8]| text.len() - wide;
    let ends = one.iter().take(rest(one)).rev().zip(other.iter().take(rest(other)).rev());
    wide + ends.take_while(|(one, other)| one == other).count()
}
