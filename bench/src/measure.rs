//! How long something takes and how much memory it needs, on a machine that others use too.

use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Does something and says how long this thread worked on it.
pub(crate) fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let clock = Clock::start();
    let result = act();
    (result, clock.elapsed())
}

/// Does all of them in turn, round after round, so that a slow moment of the machine meets all of them; the median time
/// of each. What an act does not want to be counted it leaves out of the time that it returns.
pub(crate) fn interleaved<const N: usize>(
    rounds: usize,
    mut acts: [&mut dyn FnMut() -> Result<Duration, String>; N],
) -> Result<[Duration; N], String> {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (act, times) in acts.iter_mut().zip(&mut times) {
            times.push(act()?);
        }
    }
    Ok(times.map(median))
}

/// The middle one; of two, the greater.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// How often the time of one act holds that of another, round by round: the middle one. A slow moment of the machine that lasts
/// for a round meets both, so that it is not in the figure, as it would be where each has a median of its own.
pub(crate) fn median_ratio(long: &[Duration], short: &[Duration]) -> f64 {
    let of_round = |(long, short): (&Duration, &Duration)| long.as_secs_f64() / short.as_secs_f64().max(1e-9);
    let mut ratios: Vec<f64> = long.iter().zip(short).map(of_round).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or_default()
}

/// The time of one act among many, on the wall: the middle one, and the one that 99 of 100 do not exceed. A clock for CPU
/// time would take longer than most acts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread {
    pub(crate) middle: Duration,
    pub(crate) slow: Duration,
}

impl Spread {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |hundredth: usize| times.get(times.len() * hundredth / 100).copied().unwrap_or_default();
        Self { middle: at(50), slow: at(99) }
    }
}

/// Counts the CPU time of one thread: waiting for a busy core is not in it.
#[derive(Debug)]
pub(crate) struct Clock {
    worked: Option<Duration>,
    started: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { worked: cpu_time(), started: Instant::now() }
    }

    /// Since the start; the time on the wall where the system does not tell more.
    pub(crate) fn elapsed(&self) -> Duration {
        match (self.worked, cpu_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.started.elapsed(),
        }
    }
}

/// CPU time of this thread. Linux brings its count up to date when a thread lets others go first, so it does.
fn cpu_time() -> Option<Duration> {
    thread::yield_now();
    let count = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    count.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// CPU time of all threads of this process so far, in steps of a hundredth of a second.
pub(crate) fn process_time() -> Option<Duration> {
    process_time_of("self")
}

/// As [`process_time`], of another process.
pub(crate) fn process_time_of(process: impl fmt::Display) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is a name in brackets; the times are the 14th and the 15th.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_ascii_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks: Result<Vec<u64>, _> = ticks.collect();
    Some(Duration::from_millis(ticks.ok()?.iter().sum::<u64>() * 10))
}

/// Forgets the peak of memory so far. Systems that cannot do it report the peak since the start.
pub(crate) fn forget_peak_memory() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that this process had at once, in bytes.
pub(crate) fn peak_memory() -> Option<usize> {
    status("VmHWM:")
}

/// The memory that this process has now, in bytes.
pub(crate) fn memory() -> Option<usize> {
    status("VmRSS:")
}

fn status(field: &str) -> Option<usize> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_round_is_not_in_a_ratio() {
        let times = |all: [u64; 5]| all.map(Duration::from_millis);
        // In the third and the fourth round everything takes three times as long.
        assert!((median_ratio(&times([20, 20, 60, 60, 20]), &times([10, 10, 30, 30, 10])) - 2.0).abs() < 1e-9);
        // Once only one of the two was slow.
        assert!((median_ratio(&times([20, 90, 20, 20, 20]), &times([10, 10, 10, 10, 10])) - 2.0).abs() < 1e-9);
        assert!(median_ratio(&[], &[]).abs() < 1e-9);
    }
}
