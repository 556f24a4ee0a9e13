//! The decision log: one JSON object a line, each with the hash of the line before it.
//!
//! ```text
//! decision ──sampled?──▶ Line ──bounded queue──▶ thread ──▶ file, standard output     decisions, line, output
//! ```

mod credentials;
mod line;
mod output;
mod redact;

pub(crate) use line::Line;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{mpsc, oneshot};
use upheld_engine::decide::Outcome;
use upheld_store::machine;

use super::metrics::{LogCounters, Metrics};
use super::{DecisionEvent, Details};
use crate::config::{DecisionLog, WhenFull};
use output::Output;
use redact::Redact;

/// Where decisions are written down, if they are.
#[derive(Debug, Default)]
pub(crate) struct Decisions(Option<Open>);

#[derive(Debug)]
struct Open {
    queue: mpsc::Sender<Message>,
    sample: Sample,
    when_full: WhenFull,
    counters: LogCounters,
    /// How many found no place since the last line.
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Message {
    Line(Box<Line>),
    /// Everything before this must be written; then whoever asked is reported.
    Close(oneshot::Sender<()>),
}

impl Decisions {
    /// Opens the log that was asked for.
    pub(crate) fn open(config: Option<&DecisionLog>, metrics: &Metrics) -> io::Result<Self> {
        let Some(config) = config else { return Ok(Self(None)) };
        let output = Output::open(config)?;
        let redact = Redact::new(&config.redact)?;
        let counters = metrics.log.clone();
        let lost = Arc::<AtomicU64>::default();
        let (queue, messages) = mpsc::channel(config.queue.max(1));
        let writing = Writing { output, redact, counters: counters.clone(), lost: Arc::clone(&lost), failing: false };
        std::thread::Builder::new().name("decision-log".to_owned()).spawn(move || writing.run(messages))?;
        let sample = Sample::new(config.sample_permits);
        Ok(Self(Some(Open { queue, sample, when_full: config.when_full, counters, lost })))
    }

    /// What to write about a decision, if anything. When there is no log, this is one comparison.
    pub(super) fn line(&self, made: DecisionEvent<'_>, details: impl FnOnce() -> Details) -> Option<Line> {
        let open = self.0.as_ref()?;
        if made.outcome == Outcome::Permit && !open.sample.takes(made.observed.id(), made.place) {
            return None;
        }
        Some(Line::new(machine::now(), made, details()))
    }

    /// Gives a line to whoever writes it.
    pub(super) async fn write(&self, line: Line) {
        let Some(open) = &self.0 else { return };
        let message = Message::Line(Box::new(line));
        let sent = match open.when_full {
            WhenFull::Block => open.queue.send(message).await.is_ok(),
            WhenFull::Drop => open.queue.try_send(message).is_ok(),
        };
        if !sent {
            open.lost.fetch_add(1, Ordering::Relaxed);
            open.counters.dropped.inc();
        }
    }

    /// Waits until everything is written that was given. Afterwards nothing is taken any more.
    pub(crate) async fn close(&self) {
        let Some(open) = &self.0 else { return };
        let (done, told) = oneshot::channel();
        if open.queue.send(Message::Close(done)).await.is_ok() {
            told.await.ok();
        }
    }
}

/// Which permits are written: those whose name falls below a bound, so that all servers choose the same ones.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Out of 2^32.
    bound: u64,
}

impl Sample {
    fn new(part: f64) -> Self {
        const WHOLE: f64 = 4_294_967_296.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 2^32")]
        let bound = (part.clamp(0.0, 1.0) * WHOLE) as u64;
        Self { bound }
    }

    fn takes(self, id: &str, place: Option<usize>) -> bool {
        (hash(id, place) >> 32) < self.bound
    }
}

/// A hash that is the same everywhere and in every version: FNV-1a, with its upper bits mixed.
fn hash(id: &str, place: Option<usize>) -> u64 {
    let place = place.map_or(0, |place| place as u64 + 1).to_le_bytes();
    let sum = id
        .bytes()
        .chain(place)
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (sum ^ (sum >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

/// The one who writes.
struct Writing {
    output: Output,
    redact: Redact,
    counters: LogCounters,
    lost: Arc<AtomicU64>,
    /// Whether the last line could not be written: a full disk is reported once.
    failing: bool,
}

impl Writing {
    fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        loop {
            let message = match messages.try_recv() {
                Ok(message) => Some(message),
                Err(_) => {
                    // Nobody waits: what was written goes out before this does.
                    let flushed = self.output.flush();
                    self.note(flushed, false);
                    messages.blocking_recv()
                }
            };
            match message {
                Some(Message::Line(line)) => self.write(&line),
                Some(Message::Close(done)) => {
                    self.end();
                    done.send(()).ok();
                    return;
                }
                None => return self.end(),
            }
        }
    }

    fn write(&mut self, line: &Line) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        let text = line.text(&self.redact, self.output.previous(), lost);
        let written = self.output.write(&text);
        if written.is_err() {
            self.counters.failed.inc();
        }
        self.note(written, true);
    }

    fn note(&mut self, result: io::Result<()>, line: bool) {
        match result {
            Ok(()) if line => {
                self.counters.lines.inc();
                self.failing = false;
            }
            Err(error) if !self.failing => {
                self.failing = true;
                tracing::error!(%error, "the decision log cannot be written");
            }
            Ok(()) | Err(_) => {}
        }
    }

    fn end(&mut self) {
        let ended = self.output.end();
        self.note(ended, false);
    }
}

#[cfg(test)]
mod tests;
