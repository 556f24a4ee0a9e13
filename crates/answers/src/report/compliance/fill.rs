//! From the state of an organisation to a report about it.

use smol_str::SmolStr;
use upheld_engine::comply::{
    self, Actor as Viewer, Class, Comply, Cut, Deed, Effect, Policy, Related, Seen, Strategy, Verdict, Violation,
    Waiver,
};
use upheld_engine::words::comply as words;
use upheld_model::{Files, Timestamp};

use super::check::{Actor, Cause, Check, CheckState, Edit, Excuse, Fix, Link, NearMiss, Side, Why};
use super::{At, Audit, Counts, Level, PolicyLine, Severity, Subject, WaiverLine, WaiverState};

/// What an audit is to hold.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What it is cut to.
    pub cut: Cut,
    /// Who asks: fixes are for them.
    pub viewer: Viewer,
    /// Whether what passes is listed.
    pub passes: Passes,
    /// Whether ways to mend violations are looked for.
    pub fixes: Fixes,
}

/// Whether what passes is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// One by one.
    Listed,
    /// Only how many.
    Counted,
}

/// Whether ways to mend violations are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixes {
    /// Each is tried.
    Tried,
    /// They are not.
    None,
}

/// Fixes are looked for that many violations of one audit; the rest is for `fix`.
pub const MENDED: usize = 200;

/// Audits an organisation.
pub fn audit(comply: &mut Comply, files: &Files, wanted: &Wanted) -> Audit {
    let Wanted { cut, viewer, passes, fixes } = wanted;
    let violations = comply.violations_within(cut);
    let history = comply.history();
    let mut checks: Vec<Check> =
        violations.iter().map(|own| violated_since(comply, files, own, history.seen(own))).collect();
    for (number, (check, violation)) in checks.iter_mut().zip(&violations).enumerate() {
        if *fixes == Fixes::Tried && number < MENDED && violation.waiver.is_none() {
            check.fixes = mended(&comply.fixes(viewer, violation));
        }
    }
    let mut policies = policy_lines(comply, files, cut);
    for check in &checks {
        let Some(line) = policies.iter_mut().find(|line| line.id == check.policy) else { continue };
        match check.state {
            CheckState::Hard => line.counts.hard += 1,
            CheckState::Soft => line.counts.soft += 1,
            CheckState::Waived => line.counts.waived += 1,
            CheckState::Pass => {}
        }
    }
    if *passes == Passes::Listed {
        let held = comply.checks(cut).into_iter().filter(|check| check.verdict != Verdict::Violated);
        checks.extend(held.map(|check| held_check(comply, files, &check)));
    }
    Audit {
        semantics: comply.profile().name.to_string(),
        now: comply.now().to_string(),
        pairs: comply.judged_pairs(cut),
        policies,
        checks,
        waivers: waivers_within(comply, files, cut, &violations),
        ..Audit::default()
    }
}

/// The waivers that concern what an audit is cut to: others are nobody's business there.
fn waivers_within(comply: &Comply, files: &Files, cut: &Cut, violations: &[Violation]) -> Vec<WaiverLine> {
    let scope = cut.scope.map(|scope| comply.reference(scope));
    let whole = cut.scope.is_none() && cut.object.is_none() && cut.kinds.is_none();
    let concerns = |line: &WaiverLine| {
        let waiver = comply.waivers().iter().find(|waiver| waiver.id == line.id.as_str());
        let here = waiver.is_some_and(|waiver| scope.is_some() && waiver.scope == scope);
        let covers = violations.iter().any(|own| own.waiver.as_deref() == Some(&line.id));
        cut.policy.as_ref().is_none_or(|policy| *policy == line.policy.as_str()) && (whole || here || covers)
    };
    waiver_lines(comply, files).into_iter().filter(concerns).collect()
}

fn policy_lines(comply: &Comply, files: &Files, cut: &Cut) -> Vec<PolicyLine> {
    let tallies = comply.tallies(cut);
    let mut lines = Vec::with_capacity(tallies.len());
    for tally in tallies {
        let Some(policy) = comply.policy(&tally.policy) else { continue };
        let side = |subject, tag: fn(&comply::Rule) -> &SmolStr| Subject {
            kind: comply.profile().subject_name(subject).to_owned(),
            tags: policy.rules.iter().map(|rule| tag(rule).to_string()).collect(),
        };
        lines.push(PolicyLine {
            id: policy.id.to_string(),
            level: level(policy.level_at(comply.now())),
            strategy: policy.strategy.word().to_owned(),
            a: side(policy.a, |rule| &rule.a),
            b: side(policy.b, |rule| &rule.b),
            pairs: tally.pairs,
            counts: Counts { passed: tally.holds, vacuous: tally.without_evidence, ..Counts::default() },
            description: policy.description.as_ref().map(SmolStr::to_string),
            how_to_fix: policy.how_to_fix.as_ref().map(SmolStr::to_string),
            severity: policy.severity.as_deref().and_then(severity),
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

fn severity(word: &str) -> Option<Severity> {
    let all = [Severity::Critical, Severity::High, Severity::Medium, Severity::Low, Severity::Info];
    all.into_iter().find(|severity| severity.name() == word)
}

/// Every waiver with what it is good for.
pub fn waiver_lines(comply: &Comply, files: &Files) -> Vec<WaiverLine> {
    let violations = comply.violations();
    let line = |waiver: &Waiver| {
        let covers = violations.iter().filter(|own| own.waiver.as_ref() == Some(&waiver.id)).count();
        WaiverLine {
            id: waiver.id.to_string(),
            policy: waiver.policy.to_string(),
            state: waiver_state(waiver, covers, comply.now()),
            covers,
            reason: waiver.reason.to_string(),
            expires: waiver.expires.map(|moment| moment.to_string()),
            at: waiver.at.and_then(|at| At::of(files, at)),
        }
    };
    comply.waivers().iter().map(line).collect()
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

/// A violation that stands.
pub fn violated(comply: &Comply, files: &Files, violation: &Violation) -> Check {
    violated_since(comply, files, violation, comply.seen(violation))
}

/// A violation that stands, and since when.
fn violated_since(comply: &Comply, files: &Files, violation: &Violation, seen: Option<Seen>) -> Check {
    let (code, text) = words::violated(violation);
    let policy = comply.policy(&violation.policy);
    let mut check = plain(comply, files, violation);
    check.reason = Why { code: code.text(), text };
    check.state = match (&violation.waiver, &seen) {
        (Some(_), _) => CheckState::Waived,
        (None, None) if is_hard(comply, violation) => CheckState::Hard,
        (None, _) => CheckState::Soft,
    };
    check.first_seen = seen.as_ref().map(|seen| seen.first.to_string());
    check.cause = seen.map(|seen| Cause {
        action: seen.cause.action.to_owned(),
        actor: words::who(comply, &seen.cause),
        object: seen.cause.object.to_string(),
        at: seen.cause.at.to_string(),
        text: words::cause(comply, &seen),
    });
    check.waiver = violation.waiver.as_ref().and_then(|id| excuse(comply, id));
    check.near_miss = comply::near_misses(&violation.a.values, &violation.b.values)
        .into_iter()
        .map(|miss| NearMiss {
            a_value: miss.a.to_string(),
            b_value: miss.b.to_string(),
            kind: miss.likeness.word().to_owned(),
        })
        .collect();
    check.how_to_fix = policy.and_then(|policy| policy.how_to_fix.as_ref()).map(SmolStr::to_string);
    check
}

/// Whether a violation would be refused if an end-user related the two now.
pub(crate) fn is_hard(comply: &Comply, violation: &Violation) -> bool {
    let Some(Policy { a, b, .. }) = comply.policy(&violation.policy) else { return false };
    let effect = comply.profile().effect(Deed::Link, *a, *b, Some(Class::EndUser));
    violation.level == comply::Level::Enforce && effect == Effect::Block
}

/// A rule that holds between two objects.
fn held_check(comply: &Comply, files: &Files, held: &comply::Check) -> Check {
    let (code, text) = words::reason(held);
    let mut check = plain(comply, files, &held.about);
    check.state = CheckState::Pass;
    check.vacuous = held.verdict == Verdict::HoldsWithoutEvidence;
    check.reason = Why { code: code.text(), text };
    check
}

/// Two objects held against a rule, whatever came of it; not related ones are judged as if they were.
pub fn held_against(comply: &Comply, files: &Files, check: &comply::Check) -> Check {
    match (check.verdict, check.related) {
        (Verdict::Violated, Related::Yes) => violated(comply, files, &check.about),
        (Verdict::Violated, Related::No) => {
            let mut told = violated(comply, files, &check.about);
            told.cause = None;
            told
        }
        _ => held_check(comply, files, check),
    }
}

fn plain(comply: &Comply, files: &Files, violation: &Violation) -> Check {
    let side = |side: &comply::SideOf| {
        let (kind, id) = side.object.split_once('/').unwrap_or(("", &side.object));
        let at = comply.resolve(&side.object).ok().and_then(|object| comply.origin(object));
        Side {
            reference: side.object.to_string(),
            kind: kind.to_owned(),
            title: words::house_name(comply.profile(), &side.object),
            name: side.name.as_deref().unwrap_or(id).to_owned(),
            tag: side.tag.to_string(),
            values: side.values.iter().map(SmolStr::to_string).collect(),
            at: at.and_then(|at| At::of(files, at)),
        }
    };
    Check {
        id: String::new(),
        workspace: violation.scope.as_ref().map(SmolStr::to_string),
        policy: violation.policy.to_string(),
        rule: violation.rule,
        a: side(&violation.a),
        b: side(&violation.b),
        strategy: strategy(violation.strategy),
        level: level(violation.level),
        state: CheckState::Pass,
        vacuous: false,
        reason: Why { code: "", text: String::new() },
        message: String::new(),
        first_seen: None,
        cause: None,
        waiver: None,
        near_miss: Vec::new(),
        how_to_fix: None,
        fixes: Vec::new(),
    }
}

fn strategy(strategy: Strategy) -> String {
    strategy.word().to_owned()
}

fn excuse(comply: &Comply, id: &SmolStr) -> Option<Excuse> {
    let waiver = comply.waivers().iter().find(|waiver| waiver.id == *id)?;
    let text = |text: &Option<SmolStr>| text.as_ref().map(SmolStr::to_string);
    Some(Excuse {
        id: waiver.id.to_string(),
        reason: waiver.reason.to_string(),
        expires: waiver.expires.map(|moment| moment.to_string()),
        category: text(&waiver.category),
        ticket: text(&waiver.ticket),
        approved_by: text(&waiver.approved_by),
    })
}

/// Ways to mend a violation, for programs and people.
pub fn mended(fixes: &[comply::Fix]) -> Vec<Fix> {
    let told = words::fixes(fixes);
    told.into_iter()
        .map(|words::ToldFix { text, by, edits }| Fix {
            text,
            edits: edits.iter().map(edit).collect(),
            by: match by {
                comply::By::Viewer => Actor::Viewer,
                comply::By::Administrator => Actor::Administrator,
            },
        })
        .collect()
}

fn edit(edit: &comply::Edit) -> Edit {
    let texts = |values: &[SmolStr]| values.iter().map(SmolStr::to_string).collect();
    match edit {
        comply::Edit::Unlink { a, b } => Edit::Unlink { unlink: Link { a: a.to_string(), b: b.to_string() } },
        comply::Edit::Tag { object, tag, add, remove } => {
            Edit::Tag { object: object.to_string(), tag: tag.to_string(), add: texts(add), remove: texts(remove) }
        }
    }
}
