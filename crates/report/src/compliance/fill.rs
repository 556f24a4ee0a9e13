//! From the state of an organisation to a report about it.

use std::cell::OnceCell;
use std::collections::HashMap;

use smol_str::SmolStr;
use upheld_engine::comply::{self, Cells, Comply, Filter, Finding, Profile, Strategy, Waiver};
use upheld_engine::words::comply::{because, house_name};
use upheld_governance::{
    self as governance, Actor as Viewer, FirstSeen, History, Obstacle, Organisation, Seeker, words,
};
use upheld_model::{Files, Timestamp};

use super::check::{Actor, AppliedWaiver, Cause, Check, CheckState, Edit, Fix, Link, NearMiss, Side, Why};
use super::{At, Audit, Counts, Level, PolicyLine, Severity, Subject, WaiverLine, WaiverState};

/// What an audit is to hold.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What it is cut to.
    pub filter: Filter,
    /// Who asks: fixes are for them.
    pub viewer: Viewer,
    /// Whether fixes for violations are looked for.
    pub fixes: Fixes,
}

/// Whether fixes for violations are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixes {
    /// Each is tried.
    Tried,
    /// They are not.
    None,
}

/// Fixes are looked for that many violations of one audit; the others say so.
pub const MOST_FIXES: usize = 1000;

/// Audits an organisation.
pub fn audit(organisation: &Organisation, now: Timestamp, files: &Files, wanted: &Wanted) -> Audit {
    let comply = &**organisation.comply();
    let Wanted { filter, viewer, fixes } = wanted;
    let violations = organisation.violations(filter, now);
    let history = organisation.history();
    let mut checks: Vec<Check> =
        violations.iter().map(|own| check_since(comply, files, own, history.seen(own))).collect();
    let (mut trial, seeker) = (organisation.trial(now), Seeker::new(viewer.clone()));
    for (number, (check, violation)) in checks.iter_mut().zip(&violations).enumerate() {
        if *fixes == Fixes::Tried && violation.waiver.is_none() {
            let sought = if number < MOST_FIXES {
                trial.fixes(&seeker, violation)
            } else {
                governance::Fixes { ways: Vec::new(), obstacles: vec![Obstacle::NotSought] }
            };
            check.fixed_by(comply.profile(), &sought);
        }
    }
    let cells = comply.cells(filter);
    let mut policies = policy_lines(comply, now, files, &cells);
    for check in &checks {
        let Some(line) = policies.iter_mut().find(|line| line.id == check.policy) else { continue };
        match check.state {
            CheckState::Hard => line.counts.hard += 1,
            CheckState::Soft => line.counts.soft += 1,
            CheckState::Waived => line.counts.waived += 1,
            CheckState::Pass => {}
        }
    }
    Audit {
        semantics: comply.profile().name.to_string(),
        now: now.to_string(),
        pairs: cells.judged_pairs(),
        policies,
        checks,
        waivers: waivers_within(comply, now, files, filter, &violations),
        ..Audit::default()
    }
}

/// The waivers that concern what an audit is cut to: others are nobody's business there.
fn waivers_within(
    comply: &Comply,
    now: Timestamp,
    files: &Files,
    filter: &Filter,
    violations: &[Finding],
) -> Vec<WaiverLine> {
    let scopes: Vec<_> = filter.scopes.iter().flatten().map(|scope| comply.reference(*scope)).collect();
    let whole = filter.scopes.is_none() && filter.object.is_none() && filter.kinds.is_none();
    let concerns = |waiver: &&Waiver| {
        let here = waiver.scope.as_ref().is_some_and(|scope| scopes.contains(scope));
        let covers = || violations.iter().any(|own| own.waiver.as_ref() == Some(&waiver.id));
        filter.policy.as_ref().is_none_or(|policy| *policy == waiver.policy) && (whole || here || covers())
    };
    lines_of(comply, now, files, comply.waivers().iter().filter(concerns))
}

fn policy_lines(comply: &Comply, now: Timestamp, files: &Files, cells: &Cells<'_>) -> Vec<PolicyLine> {
    let tallies = cells.tallies();
    let mut lines = Vec::with_capacity(tallies.len());
    for tally in tallies {
        let Some(policy) = comply.policy(&tally.policy) else { continue };
        let side = |subject, tag: fn(&comply::Rule) -> &SmolStr| Subject {
            kind: comply.profile().subject_name(subject).to_owned(),
            tags: policy.rules.iter().map(|rule| tag(rule).to_string()).collect(),
        };
        lines.push(PolicyLine {
            id: policy.id.to_string(),
            level: level(policy.level_at(now)),
            strategy: policy.strategy.word().to_owned(),
            a: side(policy.a, |rule| &rule.a),
            b: side(policy.b, |rule| &rule.b),
            pairs: tally.pairs,
            counts: Counts { passed: tally.holds, vacuous: tally.without_evidence, ..Counts::default() },
            description: policy.description.as_ref().map(SmolStr::to_string),
            how_to_fix: policy.how_to_fix.as_ref().map(SmolStr::to_string),
            severity: policy.severity.as_deref().and_then(Severity::of),
            at: policy.at.and_then(|at| At::of(files, at)),
        });
    }
    lines
}

fn level(level: comply::Level) -> Level {
    match level {
        comply::Level::Enforce => Level::Enforce,
        comply::Level::Warn => Level::Warn,
        comply::Level::Audit => Level::Audit,
        comply::Level::Off => Level::Off,
    }
}

/// Every waiver with what it is good for.
pub fn waiver_lines(comply: &Comply, now: Timestamp, files: &Files) -> Vec<WaiverLine> {
    lines_of(comply, now, files, comply.waivers())
}

fn lines_of<'w>(
    comply: &Comply,
    now: Timestamp,
    files: &Files,
    waivers: impl IntoIterator<Item = &'w Waiver>,
) -> Vec<WaiverLine> {
    let coverage = Coverage { comply, now, everywhere: OnceCell::new() };
    let line = |waiver: &Waiver| {
        let covers = coverage.of(waiver);
        WaiverLine {
            id: waiver.id.to_string(),
            policy: waiver.policy.to_string(),
            state: waiver_state(waiver, covers, now),
            covers,
            reason: waiver.reason.to_string(),
            expires: waiver.expires.map(|moment| moment.to_string()),
            at: waiver.at.and_then(|at| At::of(files, at)),
        }
    };
    waivers.into_iter().map(line).collect()
}

/// How many violations waivers cover.
struct Coverage<'c> {
    comply: &'c Comply,
    now: Timestamp,
    /// Those of all scopes by waiver: counted when a waiver is not about one scope.
    everywhere: OnceCell<HashMap<SmolStr, usize>>,
}

impl Coverage<'_> {
    fn of(&self, waiver: &Waiver) -> usize {
        let scope = waiver.scope.as_ref().and_then(|scope| self.comply.lookup(scope).ok());
        match scope {
            Some(scope) => {
                let filter =
                    Filter { scopes: Some(vec![scope]), policy: Some(waiver.policy.clone()), ..Filter::default() };
                let violations = self.comply.violations_within(&filter, self.now, |_| false);
                violations.iter().filter(|own| own.waiver.as_ref() == Some(&waiver.id)).count()
            }
            None => self.everywhere().get(&waiver.id).copied().unwrap_or(0),
        }
    }

    fn everywhere(&self) -> &HashMap<SmolStr, usize> {
        self.everywhere.get_or_init(|| {
            let mut counts = HashMap::new();
            for waiver in self.comply.violations(self.now).into_iter().filter_map(|own| own.waiver) {
                *counts.entry(waiver).or_default() += 1;
            }
            counts
        })
    }
}

fn waiver_state(waiver: &Waiver, covers: usize, now: Timestamp) -> WaiverState {
    if waiver.expires.is_some_and(|until| until <= now) {
        WaiverState::Expired
    } else if waiver.not_before.is_some_and(|from| now < from) {
        WaiverState::Pending
    } else if covers > 0 {
        WaiverState::Used
    } else {
        WaiverState::Unused
    }
}

/// A violation that stands, and since when.
pub fn standing(organisation: &Organisation, files: &Files, violation: &Finding) -> Check {
    check_since(organisation.comply(), files, violation, organisation.seen(violation))
}

/// As [`standing`], for whoever has read the history already.
pub fn standing_since(comply: &Comply, files: &Files, violation: &Finding, history: &History<'_>) -> Check {
    check_since(comply, files, violation, history.seen(violation))
}

fn check_since(comply: &Comply, files: &Files, finding: &Finding, seen: Option<FirstSeen>) -> Check {
    let mut check = check_of(comply, files, finding);
    check.first_seen = seen.as_ref().map(|seen| seen.first.to_string());
    check.cause = seen.map(|seen| Cause {
        action: seen.cause.action.to_string(),
        actor: words::who(comply.profile(), &seen.cause),
        object: seen.cause.object.to_string(),
        at: seen.cause.at.to_string(),
        text: words::cause(comply.profile(), &seen),
    });
    check
}

/// A rule held against two objects, as it was found.
pub fn check_of(comply: &Comply, files: &Files, finding: &Finding) -> Check {
    let Finding { scope, policy, rule, a, b, strategy: asked, level: own, verdict, state, waiver } = finding;
    let mut check = Check {
        id: String::new(),
        workspace: scope.as_ref().map(SmolStr::to_string),
        policy: policy.to_string(),
        rule: *rule,
        a: side(comply, files, a),
        b: side(comply, files, b),
        strategy: strategy(*asked),
        level: level(*own),
        severity: comply.policy(policy).and_then(|policy| policy.severity.as_deref()).and_then(Severity::of),
        state: CheckState::of(*state),
        vacuous: verdict.is_without_evidence(),
        reason: Why { code: verdict.code().text().into(), text: because(finding) },
        message: String::new(),
        first_seen: None,
        cause: None,
        waiver: waiver.as_ref().and_then(|id| excuse(comply, id)),
        near_miss: Vec::new(),
        how_to_fix: None,
        fixes: Vec::new(),
        baseline_state: None,
        no_fix: None,
    };
    if !verdict.holds() {
        let near = comply::near_misses(&a.values, &b.values).into_iter();
        let near = near.map(|miss| NearMiss {
            a_value: miss.a.to_string(),
            b_value: miss.b.to_string(),
            kind: miss.kind.word().to_owned(),
        });
        check.near_miss = near.collect();
        let policy = comply.policy(policy);
        check.how_to_fix = policy.and_then(|policy| policy.how_to_fix.as_ref()).map(SmolStr::to_string);
    }
    check
}

fn side(comply: &Comply, files: &Files, side: &comply::SideOf) -> Side {
    let (kind, id) = side.object.split_once('/').unwrap_or(("", &side.object));
    let at = comply.lookup(&side.object).ok().and_then(|object| comply.described(object)?.at);
    Side {
        reference: side.object.to_string(),
        kind: kind.to_owned(),
        title: house_name(comply.profile(), &side.object),
        name: side.name.as_deref().unwrap_or(id).to_owned(),
        tag: side.tag.to_string(),
        values: side.values.iter().map(SmolStr::to_string).collect(),
        at: at.and_then(|at| At::of(files, at)),
    }
}

fn strategy(strategy: Strategy) -> String {
    strategy.word().to_owned()
}

fn excuse(comply: &Comply, id: &SmolStr) -> Option<AppliedWaiver> {
    let waiver = comply.waiver(id)?;
    let text = |text: &Option<SmolStr>| text.as_ref().map(SmolStr::to_string);
    Some(AppliedWaiver {
        id: waiver.id.to_string(),
        reason: waiver.reason.to_string(),
        expires: waiver.expires.map(|moment| moment.to_string()),
        category: text(&waiver.category),
        ticket: text(&waiver.ticket),
        approved_by: text(&waiver.approved_by),
    })
}

impl Check {
    /// With what would fix it, or why nothing would.
    pub fn fixed_by(&mut self, profile: &Profile, fixes: &governance::Fixes) {
        self.fixes = fixes_of(&fixes.ways);
        self.no_fix = fixes
            .obstacles
            .first()
            .filter(|_| fixes.ways.is_empty())
            .map(|first| Why { code: first.code().into(), text: words::obstacles(profile, &fixes.obstacles) });
    }
}

/// Ways to fix a violation, for programs and people.
pub fn fixes_of(fixes: &[governance::Fix]) -> Vec<Fix> {
    words::fixes(fixes)
        .into_iter()
        .map(|words::ReportedFix { text, by, edits, harms }| Fix {
            harms: harms.iter().map(|harm| harm.word().into()).collect(),
            text,
            edits: edits.iter().map(edit).collect(),
            by: match by {
                governance::By::Viewer => Actor::Viewer,
                governance::By::Administrator => Actor::Administrator,
            },
        })
        .collect()
}

fn edit(edit: &governance::Edit) -> Edit {
    let texts = |values: &[SmolStr]| values.iter().map(SmolStr::to_string).collect();
    match edit {
        governance::Edit::Unlink { a, b } => Edit::Unlink { unlink: Link { a: a.to_string(), b: b.to_string() } },
        governance::Edit::Tag { object, tag, add, remove } => {
            Edit::Tag { object: object.to_string(), tag: tag.to_string(), add: texts(add), remove: texts(remove) }
        }
    }
}
