//! What something costs, in figures that are the same on every machine.

use std::fmt;

use stats_alloc::Region;
use upheld_engine::work;

use crate::ALLOCATOR;

/// What something cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) allocations: u64,
    /// Bytes that are not given back.
    pub(crate) kept: u64,
    /// Questions to the engine, and turns of loops that are as long as the world.
    pub(crate) steps: u64,
    /// Documents that were parsed.
    pub(crate) documents: u64,
    /// Bytes of the answer.
    pub(crate) bytes: u64,
    /// Microseconds of all threads, where the system tells them: printed, never judged.
    pub(crate) time: u64,
}

impl Cost {
    /// What something costs in this process, on all of its threads.
    pub(crate) fn of<T>(act: impl FnOnce() -> T) -> (T, Self) {
        let (time, steps, documents) = (worked(), work::total(), upheld_syntax::documents_read());
        let region = Region::new(ALLOCATOR);
        let done = act();
        let change = region.change();
        let cost = Self {
            allocations: (change.allocations + change.reallocations) as u64,
            kept: change.bytes_allocated.saturating_sub(change.bytes_deallocated) as u64,
            steps: work::total() - steps,
            documents: upheld_syntax::documents_read() - documents,
            bytes: 0,
            time: worked().saturating_sub(time),
        };
        (done, cost)
    }

    /// The smaller of each figure: what other threads did meanwhile is not part of it.
    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            allocations: self.allocations.min(other.allocations),
            kept: self.kept.min(other.kept),
            steps: self.steps.min(other.steps),
            documents: self.documents.min(other.documents),
            bytes: self.bytes.min(other.bytes),
            time: self.time.min(other.time),
        }
    }

    fn parts(self) -> [(Part, u64, u64); PARTS] {
        // What a few more may be: of tasks that go on beside, of buffers of connections that end a moment later, of lists that double, of digits.
        [
            (Part::Allocations, self.allocations, 200),
            (Part::Kept, self.kept, 1 << 17),
            (Part::Steps, self.steps, 20),
            (Part::Documents, self.documents, 2),
            (Part::Bytes, self.bytes, 300),
        ]
    }

    /// How often each part of this holds that of the same in a smaller world.
    pub(crate) fn growth(self, smaller: Self) -> [Growth; PARTS] {
        let (parts, less) = (self.parts(), smaller.parts());
        std::array::from_fn(|place| {
            let ((part, more, slack), (_, few, _)) = (parts[place], less[place]);
            let ratio = float(more.saturating_sub(slack)) / float(few.max(1));
            Growth { part, ratio: if more <= few + slack { ratio.min(1.0) } else { ratio } }
        })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocations, kept, steps, documents, bytes, time } = self;
        let time = milliseconds(*time);
        write!(f, "{allocations:>9} {kept:>8} {steps:>7} {documents:>5} {bytes:>8} {time:>8.1} ms")
    }
}

/// How many parts are judged.
const PARTS: usize = 5;

/// A part of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Allocations,
    Kept,
    Steps,
    Documents,
    Bytes,
}

/// How a part grows with the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) part: Part,
    pub(crate) ratio: f64,
}

/// Counts are small enough to be exact.
fn float(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// As people read them.
pub(crate) fn milliseconds(microseconds: u64) -> f64 {
    float(microseconds) / 1000.0
}

/// How long all threads of this process worked, in microseconds.
fn worked() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_thread = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    threads.filter_map(of_thread).sum::<u64>() / 1000
}
