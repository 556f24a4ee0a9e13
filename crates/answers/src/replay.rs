//! Requests that somebody made, decided again: what would have been decided otherwise?
//!
//! ```text
//! line ──logs──▶ request, and what was decided ──▶ the same by other policies ──▶ shifts, by who decided and who would
//! ```
//!
//! Lines come and go: what is kept is one example for each pair of deciders, and a few lines that cannot be read.

mod known;

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value as Json, json};
use upheld_dialects::access::decider::{CompleteRequest, Decider, WhichKind};
use upheld_dialects::access::logs::{DEFAULT, LogReader, Logged};
use upheld_dialects::access::questions::edition;
use upheld_dialects::access::request_words;
use upheld_engine::decide::{By, Decide, Outcome, Request};
use upheld_engine::{Scratch, Snapshot, work};
use upheld_report::{
    Certainty, Comparison, Depth, Direction, Example, Family, Refused, ReplayCounts, Shift, ShiftCounts, Shifting,
    Shifts, Size, Standing, Verdict, decide,
};

pub use self::known::{Known, KnownRequests};
use crate::World;

/// So many lines that cannot be read are named.
const MOST_BAD: usize = 10;

/// What would have become of requests that somebody made.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What would have been decided otherwise, by who decided and who would.
    pub shifts: Shifts,
    /// What became of the lines.
    pub counts: ReplayCounts,
    /// The first lines that could not be read.
    pub bad: Vec<BadLine>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BadLine {
    /// The file.
    pub file: String,
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub message: String,
}

impl Replayed {
    /// As programs get it.
    pub fn document(&self, after: &str) -> Json {
        let mut document = json!(self.shifts);
        if let Some(fields) = document.as_object_mut() {
            fields.shift_remove("changed");
            fields.shift_remove("violations");
            fields.extend([
                ("apiVersion".to_owned(), json!("upheld/v2")),
                ("kind".to_owned(), json!("Replayed")),
                ("lines".to_owned(), json!(self.counts)),
                ("bad".to_owned(), json!(self.bad)),
                ("snapshot".to_owned(), json!(after)),
            ]);
        }
        document
    }
}

/// Whose decisions are those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// Those that lines say; where they say none, those of the policies before.
    Logged,
    /// Those of the policies before, whatever lines say.
    Asked,
}

/// Lines of one file that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'l> {
    /// The file.
    pub file: &'l str,
    /// The number of the first, from 1.
    pub first: u64,
    /// The lines.
    pub lines: &'l [String],
}

/// Decides requests again, one piece of a log after the other.
#[derive(Debug)]
pub struct Replay<'s> {
    reader: LogReader,
    /// Who decided where lines do not say it.
    before: Option<Policies<'s>>,
    earlier: Earlier,
    after: Policies<'s>,
    counts: ReplayCounts,
    bad: Vec<BadLine>,
    /// By who decided and who would: how many, and one of them.
    found: BTreeMap<(Answered, Answered), (u64, Request)>,
}

/// The policies of one side.
#[derive(Debug)]
struct Policies<'s> {
    snapshot: &'s Snapshot,
    decider: Decider<'s>,
}

/// What became of a request, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answered {
    verdict: Verdict,
    by: String,
}

/// Who decides where a line does not say it.
const NOT_SAID: &str = "(not said)";

impl<'s> Policies<'s> {
    fn of(world: &World<'s>, kind: Option<&str>) -> Result<Self, Refused> {
        let which = WhichKind::of(kind, world.options().deciding_kind.as_deref());
        let snapshot = world.snapshot();
        Ok(Self { snapshot, decider: Decider::of(snapshot, which, edition(world.options()))? })
    }

    /// What a request gets, with all that is known here.
    fn answered(&self, request: &Request, scratch: &mut Scratch<Decide>) -> Answered {
        let request = self.completed(request);
        let decided = self.decider.decided(&request, scratch);
        let by = match decided.by {
            By::Policy(entry) => self.decider.decide.rule(entry).map_or("", |rule| rule.name.as_str()),
            By::Default => DEFAULT,
            By::Algorithm => "(algorithm)",
            By::Nobody => "(nobody)",
        };
        Answered { verdict: verdict(decided.outcome), by: by.to_owned() }
    }

    fn completed(&self, request: &Request) -> CompleteRequest {
        self.decider.complete(request.clone(), None)
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Permit => Verdict::Permit,
        Outcome::Deny => Verdict::Deny,
        Outcome::Undecided | Outcome::Foreign => Verdict::Undecided,
    }
}

/// What became of a line.
enum Fate {
    /// It was decided twice.
    Compared { before: Answered, after: Answered, request: Box<Request> },
    /// What is decided now rests on something that the line hides.
    Hidden,
    /// Nobody says what was decided.
    Unknown,
    /// It cannot be read.
    Bad(String),
}

impl<'s> Replay<'s> {
    /// From the decisions of lines, or of the policies before, to those of the policies after; of a kind, if several decide.
    pub fn new(
        before: Option<&World<'s>>,
        earlier: Earlier,
        after: &World<'s>,
        kind: Option<&str>,
        mapping: &[String],
    ) -> Result<Self, Refused> {
        Ok(Self {
            reader: LogReader::new(edition(after.options()), mapping)?,
            before: before.map(|before| Policies::of(before, kind)).transpose()?,
            earlier,
            after: Policies::of(after, kind)?,
            counts: ReplayCounts::default(),
            bad: Vec::new(),
            found: BTreeMap::new(),
        })
    }

    /// Decides the requests of some more lines; empty ones are passed over.
    pub fn lines(&mut self, lines: Lines<'_>) {
        let work = work::here();
        let fates: Vec<Option<Fate>> = (lines.lines.par_iter())
            .map_init(<[Scratch<Decide>; 2]>::default, |scratch, line| {
                (!line.trim().is_empty()).then(|| work.during(|| self.fate(line, scratch)))
            })
            .collect();
        for (number, fate) in (lines.first..).zip(fates) {
            let Some(fate) = fate else { continue };
            self.counts.lines += 1;
            match fate {
                Fate::Hidden => self.counts.hidden += 1,
                Fate::Unknown => self.counts.unknown += 1,
                Fate::Bad(message) => {
                    self.counts.bad += 1;
                    if self.bad.len() < MOST_BAD {
                        self.bad.push(BadLine { file: lines.file.to_owned(), line: number, message });
                    }
                }
                Fate::Compared { before, after, request } => {
                    self.counts.compared += 1;
                    self.counts.by_default += u64::from(after.by == DEFAULT);
                    if before.verdict != after.verdict {
                        self.counts.changed += 1;
                        self.found.entry((before, after)).or_insert_with(|| (0, *request)).0 += 1;
                    }
                }
            }
        }
    }

    fn fate(&self, line: &str, [one, other]: &mut [Scratch<Decide>; 2]) -> Fate {
        let Logged { request, decision, redacted } = match self.reader.read(line) {
            Ok(logged) => logged,
            Err(message) => return Fate::Bad(message),
        };
        let logged = decision.filter(|_| self.earlier == Earlier::Logged).map(|decision| Answered {
            verdict: verdict(decision.outcome),
            by: decision.policy.unwrap_or_else(|| NOT_SAID.to_owned()),
        });
        let asked = || self.before.as_ref().map(|before| before.answered(&request, one));
        let Some(before) = logged.or_else(asked) else { return Fate::Unknown };
        let after = self.after.answered(&request, other);
        if redacted && after.verdict == Verdict::Undecided && before.verdict != after.verdict {
            return Fate::Hidden;
        }
        Fate::Compared { before, after, request: Box::new(request) }
    }

    /// What all lines came to.
    pub fn finish(self) -> Replayed {
        let Self { after, counts, bad, found, .. } = self;
        let shifts = found.into_iter().map(|((was, is), (count, request))| after.shift(was, is, count, &request));
        let is_open = counts.hidden + counts.unknown + counts.bad > 0;
        let mut shifts = Shifts {
            shifts: shifts.collect(),
            counts: ShiftCounts { compared: counts.compared, changed: counts.changed, ..ShiftCounts::default() },
            verdict: if is_open { Comparison::Undecided } else { Comparison::Equal },
            ..Shifts::default()
        }
        .finished();
        shifts.headline = Shifting::Replayed { counts, widened: shifts.counts.widened }.into();
        Replayed { shifts, counts, bad }
    }
}

impl Policies<'_> {
    fn shift(&self, was: Answered, is: Answered, count: u64, request: &Request) -> Shift {
        let Decider { kind, decide: policies, .. } = self.decider;
        let report = decide(self.snapshot, kind, policies, &self.completed(request), Depth::Answer);
        let words = request_words(request, None);
        let standing = |answered: Answered| Standing {
            verdict: answered.verdict,
            policies: vec![answered.by],
            summary: String::new(),
            arbitrary: false,
        };
        Shift {
            family: Family::Decide,
            kind: report.kind,
            scope: None,
            direction: Direction::between(was.verdict, is.verdict),
            causes: Vec::new(),
            before: standing(was),
            after: standing(is),
            fields: Vec::new(),
            size: Size::KnownRequests(count),
            example: Example { what: report.about.what, command: words.command(None), question: json!(words) },
            certainty: Certainty::Sure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use upheld_loader::load::{Loaded, load};
    use upheld_loader::{Format, Input};

    fn policies(text: &str) -> Loaded {
        load(vec![Input::text("policies.yaml", Format::Yaml, text)], &[]).unwrap()
    }

    const STAFF: &str =
        "{id: staff, effect: permit, subjects: [{role: staff}], resources: [{path: /orders/**}], actions: []}";
    const NIGHT: &str = "{id: night, effect: deny, subjects: [], resources: [{path: /**}], actions: [], \
        conditions: [{type: time, after: '22:00', before: '06:00'}]}";

    fn replayed(before: Option<&Loaded>, earlier: Earlier, after: &Loaded, log: &[&str]) -> Replayed {
        let options = Options::at("2026-01-01T00:00:00Z".parse().unwrap());
        let before = before.map(|loaded| World::new(&loaded.snapshot, &options));
        let after = World::new(&after.snapshot, &options);
        let mut replay = Replay::new(before.as_ref(), earlier, &after, None, &[]).unwrap();
        let lines: Vec<String> = log.iter().map(|line| (*line).to_owned()).collect();
        // In pieces, as files are read.
        for (number, piece) in lines.chunks(2).enumerate() {
            replay.lines(Lines { file: "log", first: number as u64 * 2 + 1, lines: piece });
        }
        replay.finish()
    }

    fn line(role: &str, path: &str, time: &str, decision: &str) -> String {
        format!(
            r#"{{"time":"2026-03-01T{time}:00Z","request":{{"subject":{{"roles":["{role}"]}},"resource":{{"path":"{path}"}}}},"decision":"{decision}"}}"#
        )
    }

    #[test]
    fn what_was_decided_counts_and_the_moment_of_each_line() {
        let draft = policies(&format!("policies: [{STAFF}, {NIGHT}]"));
        let log = [
            line("staff", "/orders/1", "12:00", "permit"),
            line("staff", "/orders/1", "23:00", "permit"),
            line("staff", "/orders/2", "23:30", "permit"),
            line("guest", "/orders/1", "12:00", "permit"),
            line("guest", "/orders/1", "12:00", "deny"),
            "nonsense".to_owned(),
            String::new(),
        ];
        let log: Vec<&str> = log.iter().map(String::as_str).collect();
        let replayed = replayed(None, Earlier::Logged, &draft, &log);
        let counts =
            ReplayCounts { lines: 6, compared: 5, changed: 3, bad: 1, by_default: 2, ..ReplayCounts::default() };
        assert_eq!(replayed.counts, counts);
        let told: Vec<(u64, &str)> =
            replayed.shifts.shifts.iter().map(|shift| (shift.size.count(), shift.after.policies[0].as_str())).collect();
        assert_eq!(told, [(2, "night"), (1, "(default)")]);
        assert_eq!(replayed.bad.iter().map(|bad| bad.line).collect::<Vec<_>>(), [6]);
        assert_eq!(replayed.shifts.verdict, Comparison::Differs);
    }

    #[test]
    fn lines_without_a_decision_are_asked_on_both_sides_if_there_are_two() {
        let old = policies(&format!("policies: [{STAFF}]"));
        let new = policies(&format!("policies: [{}]", STAFF.replace("/orders/**", "/**")));
        let log = [
            r#"{"subject":{"type":"user","id":"ann","properties":{"role":"staff"}},"action":{"name":"get"},"resource":{"type":"route","id":"/admin"}}"#,
        ];
        let both = replayed(Some(&old), Earlier::Logged, &new, &log);
        assert_eq!((both.counts.changed, both.shifts.counts.widened), (1, 1));
        let alone = replayed(None, Earlier::Logged, &new, &log);
        assert_eq!((alone.counts.unknown, alone.shifts.verdict), (1, Comparison::Undecided));
        // Whatever a line says, two sides can be compared.
        let said = log[0].replacen('{', r#"{"decision":true,"#, 1);
        assert_eq!(replayed(Some(&old), Earlier::Logged, &new, &[&said]).counts.changed, 0);
        assert_eq!(replayed(Some(&old), Earlier::Asked, &new, &[&said]).counts.changed, 1);
    }

    #[test]
    fn what_is_hidden_is_not_guessed() {
        let draft = policies(&format!("policies: [{}]", STAFF.replace("role: staff", "id: ann")));
        let log = r#"{"request":{"subject":{"id":"[redacted]"},"resource":{"path":"/orders/1"}},"decision":"permit"}"#;
        let hidden = replayed(None, Earlier::Logged, &draft, &[log]);
        assert_eq!((hidden.counts.hidden, hidden.counts.changed), (1, 0));
        assert_eq!(hidden.shifts.verdict, Comparison::Undecided);
    }
}
