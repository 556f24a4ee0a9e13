//! The same decisions, made in the plainest way: every policy is looked at, patterns are tried character by character, and
//! each algorithm is a walk over a list. For tests, fuzzing and benches.

pub mod changing;
mod facts;
mod patterns;
pub mod random;
pub mod servers;

use smol_str::SmolStr;

use super::condition::Condition;
use super::family::MOST_DOUBTS;
use super::request::{Fact, Maybe, Names, NormalizedRequest, Path, Request};
use super::rule::{Matcher, Member, Rule, Set, Status, Target, Test};
use super::truth::Truth;
use super::value::{Algorithm, Effect, PossibleEffect, Unknowns, Value};

/// What a set says of a request, and the id of the policy that made it say so. The path is as it is read.
pub fn decide(set: &Set, asked: NormalizedRequest<'_>, unknowns: Unknowns) -> (Value, Option<SmolStr>) {
    if is_too_doubtful(set, asked) {
        return (Value::Unknown(PossibleEffect::Either), None);
    }
    let hidden = Judging { unknowns, doubts: Doubts::Hidden };
    let all = said(set, None, asked, hidden);
    let effect = |value: Value| outcome(set, value, unknowns);
    if matches!(effect(all.value), None | Some(Effect::Deny)) {
        return (all.value, all.by);
    }
    // A request is let through only if it is in whichever way its path is read, and by what permits in spite of all doubts.
    let doubts = if matches!(asked.path, Path::Unknown) { Doubts::Counted } else { Doubts::Hidden };
    let judging = Judging { unknowns, doubts };
    let careful = said(set, None, asked, judging);
    let differs =
        |path| effect(said(set, None, NormalizedRequest { path, ..asked }, judging).value) != effect(all.value);
    if readings(asked).into_iter().any(differs) {
        return (Value::Unknown(PossibleEffect::Either), None);
    }
    (careful.value, careful.by)
}

/// Whether the path is not known, and too many policies may be about it.
fn is_too_doubtful(set: &Set, asked: NormalizedRequest<'_>) -> bool {
    let mut rules = Vec::new();
    in_order(set, &mut rules);
    let doubtful = rules.into_iter().filter(|rule| target(&rule.target, asked) == Truth::Error);
    matches!(asked.path, Path::Unknown) && doubtful.count() > MOST_DOUBTS
}

/// What a request gets, given what the outermost set says; nothing if that is undecided.
pub fn outcome(set: &Set, value: Value, unknowns: Unknowns) -> Option<Effect> {
    let default = set.default.unwrap_or(Effect::Deny);
    match value {
        Value::NotApplicable => Some(default),
        Value::Unknown(could) if unknowns == Unknowns::Union => {
            let effects: &[Effect] = match could {
                PossibleEffect::Permit => &[Effect::Permit],
                PossibleEffect::Deny => &[Effect::Deny],
                PossibleEffect::Either => &Effect::BOTH,
            };
            effects.iter().all(|effect| *effect == default).then_some(default)
        }
        value => value.effect(),
    }
}

/// Whether the original fails on a request: it looks from left to right and ends at the first thing that cannot be known.
pub fn fails(set: &Set, asked: NormalizedRequest<'_>) -> bool {
    let mut rules = Vec::new();
    in_order(set, &mut rules);
    for rule in rules {
        match from_left(rule, asked) {
            Truth::Error => return true,
            Truth::True if set.algorithm == Algorithm::FirstApplicable => return false,
            _ => {}
        }
    }
    false
}

fn in_order<'s>(set: &'s Set, rules: &mut Vec<&'s Rule>) {
    let mut members: Vec<&Member> = set.members.iter().collect();
    let priority = |member: &Member| match member {
        Member::Rule(rule) => rule.priority,
        Member::Set(set) => set.priority,
    };
    members.sort_by(|a, b| priority(b).partial_cmp(&priority(a)).unwrap_or(std::cmp::Ordering::Equal));
    for member in members {
        match member {
            Member::Rule(rule) if rule.status == Status::On => rules.push(rule),
            Member::Rule(_) => {}
            Member::Set(inner) => in_order(inner, rules),
        }
    }
}

fn from_left(rule: &Rule, asked: NormalizedRequest<'_>) -> Truth {
    for alternatives in [&rule.target.subjects, &rule.target.resources, &rule.target.actions] {
        let mut fits = alternatives.is_empty();
        'alternatives: for alternative in alternatives {
            for test in &alternative.tests {
                match holds(test, asked, Truth::False) {
                    Truth::Error => return Truth::Error,
                    Truth::False => continue 'alternatives,
                    Truth::True => {}
                }
            }
            fits = true;
            break;
        }
        if !fits {
            return Truth::False;
        }
    }
    for condition in &rule.conditions {
        match condition.holds(asked) {
            Truth::True => {}
            other => return other,
        }
    }
    Truth::True
}

/// Whether an algorithm that always answers may pass over what nobody can tell of the path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doubts {
    Hidden,
    Counted,
}

/// How members are judged.
#[derive(Clone, Copy)]
struct Judging {
    unknowns: Unknowns,
    doubts: Doubts,
}

/// Whether a set has a policy or a set that looks at a path of which nothing is known.
fn doubts_the_path(set: &Set, asked: NormalizedRequest<'_>) -> bool {
    set.members.iter().any(|member| match member {
        Member::Rule(rule) if rule.status == Status::Off => false,
        Member::Rule(rule) => matches!(of_rule(rule, asked).value, Value::Unknown(_)) && rule.reads_path(),
        Member::Set(inner) => {
            let unknown = inner.target.reads_path() && target(&inner.target, asked) == Truth::Error;
            unknown || doubts_the_path(inner, asked)
        }
    })
}

struct Said {
    target: Truth,
    value: Value,
    by: Option<SmolStr>,
    priority: f64,
}

/// The default of the outermost set is the business of whoever asks.
fn said(set: &Set, default: Option<Effect>, asked: NormalizedRequest<'_>, judging: Judging) -> Said {
    let target = target(&set.target, asked);
    let mut members: Vec<(f64, Said)> = Vec::new();
    for member in &set.members {
        let said = match member {
            Member::Rule(rule) if rule.status == Status::Off => continue,
            Member::Rule(rule) => of_rule(rule, asked),
            Member::Set(inner) => said(inner, inner.default, asked, judging),
        };
        members.push((said.priority, said));
    }
    // Highest priority first; equal ones stay as they stand.
    let mut sorted: Vec<Said> = Vec::new();
    while !members.is_empty() {
        let mut best = 0;
        for (place, (priority, _)) in members.iter().enumerate() {
            if members.get(best).is_some_and(|(known, _)| priority > known) {
                best = place;
            }
        }
        sorted.push(members.remove(best).1);
    }
    let counted = judging.doubts == Doubts::Counted && doubts_the_path(set, asked);
    let doubts = if counted { Doubts::Counted } else { Doubts::Hidden };
    let (value, by) = combine(set.algorithm, &sorted, Judging { doubts, ..judging });
    let (value, by) = match (value, default) {
        (Value::NotApplicable, Some(default)) => (default.into(), None),
        // What may be nothing may be the default; either way it may be the same.
        (Value::Unknown(PossibleEffect::Permit), Some(Effect::Permit)) => (Value::Permit, None),
        (Value::Unknown(PossibleEffect::Deny), Some(Effect::Deny)) => (Value::Deny, None),
        (Value::Unknown(PossibleEffect::Permit), Some(Effect::Deny | Effect::Foreign))
        | (Value::Unknown(PossibleEffect::Deny), Some(Effect::Permit | Effect::Foreign)) => {
            (Value::Unknown(PossibleEffect::Either), by)
        }
        (value, _) => (value, by),
    };
    Said { target, value: value.under(target), by, priority: set.priority }
}

fn of_rule(rule: &Rule, asked: NormalizedRequest<'_>) -> Said {
    let target = target(&rule.target, asked);
    let conditions =
        rule.conditions.iter().map(|condition: &Condition| condition.holds(asked)).fold(Truth::True, Truth::and);
    let value = Value::of(rule.effect, target.and(conditions));
    Said { target, value, by: Some(rule.name.clone()), priority: rule.priority }
}

fn combine(algorithm: Algorithm, members: &[Said], judging: Judging) -> (Value, Option<SmolStr>) {
    let first = |wanted: Value| members.iter().find(|said| said.value == wanted);
    let has = |wanted: Value| first(wanted).is_some();
    let (permit, deny) = (Value::Permit, Value::Deny);
    let (could_permit, could_deny) = (Value::Unknown(PossibleEffect::Permit), Value::Unknown(PossibleEffect::Deny));
    let either = Value::Unknown(PossibleEffect::Either);
    let by = |wanted: Value| first(wanted).and_then(|said| said.by.clone());
    let overrides = |strong: Value, weak: Value, could_strong: Value, could_weak: Value| {
        if has(strong) {
            (strong, by(strong))
        } else if has(either) {
            (either, by(either))
        } else if has(could_strong) && (has(could_weak) || has(weak)) {
            (either, by(could_strong))
        } else if has(could_strong) {
            (could_strong, by(could_strong))
        } else if has(weak) {
            (weak, by(weak))
        } else if has(could_weak) {
            (could_weak, by(could_weak))
        } else {
            (Value::NotApplicable, None)
        }
    };
    match algorithm {
        Algorithm::DenyOverrides | Algorithm::OrderedDenyOverrides => overrides(deny, permit, could_deny, could_permit),
        Algorithm::PermitOverrides | Algorithm::OrderedPermitOverrides => {
            overrides(permit, deny, could_permit, could_deny)
        }
        Algorithm::FirstApplicable if judging.unknowns == Unknowns::Xacml => {
            let found = members.iter().find(|said| said.value != Value::NotApplicable);
            found.map_or((Value::NotApplicable, None), |said| (said.value, said.by.clone()))
        }
        Algorithm::FirstApplicable => among(members, &first_applicable(members)),
        Algorithm::OnlyOneApplicable if judging.unknowns == Unknowns::Xacml => {
            if let Some(said) = members.iter().find(|said| said.target == Truth::Error) {
                return (either, said.by.clone());
            }
            only_one(members)
        }
        Algorithm::OnlyOneApplicable => only_one(members),
        Algorithm::DenyUnlessPermit if has(permit) => (permit, by(permit)),
        Algorithm::DenyUnlessPermit => (deny, by(deny)),
        Algorithm::PermitUnlessDeny if has(deny) => (deny, by(deny)),
        Algorithm::PermitUnlessDeny if judging.doubts == Doubts::Counted && (has(could_deny) || has(either)) => {
            (either, None)
        }
        Algorithm::PermitUnlessDeny => (permit, by(permit)),
        Algorithm::Unanimous => unanimous(members),
        Algorithm::PriorityDenyOverrides => priority_deny_overrides(members),
    }
}

/// Everything that a list of members could come to: what the first could be, and if that could be nothing, what the others could.
fn first_applicable(members: &[Said]) -> Vec<Value> {
    let Some((first, others)) = members.split_first() else { return vec![Value::NotApplicable] };
    let mut values = Vec::new();
    for outcome in outcomes(first.value) {
        match (outcome, first.value) {
            (_, Value::Foreign) => values.push(Value::Foreign),
            (Some(effect), _) => values.push((*effect).into()),
            (None, _) => values.extend(first_applicable(others)),
        }
    }
    values
}

/// Of those that are about the request there must be one; each that may be is tried as if it were, and as if it were not.
fn only_one(members: &[Said]) -> (Value, Option<SmolStr>) {
    let certain: Vec<&Said> = members.iter().filter(|said| said.target == Truth::True).collect();
    let doubtful: Vec<&Said> = members.iter().filter(|said| said.target == Truth::Error).collect();
    match (certain.as_slice(), doubtful.as_slice()) {
        ([], []) => (Value::NotApplicable, None),
        // What an uncertain one says is said, or nothing.
        ([only], []) | ([], [only]) => (only.value, only.by.clone()),
        _ => (Value::Unknown(PossibleEffect::Either), None),
    }
}

/// What a value that may not be known could turn out to be.
fn outcomes(value: Value) -> &'static [Option<Effect>] {
    match value {
        Value::Permit => &[Some(Effect::Permit)],
        Value::Deny => &[Some(Effect::Deny)],
        Value::NotApplicable | Value::Foreign => &[None],
        Value::Unknown(PossibleEffect::Permit) => &[None, Some(Effect::Permit)],
        Value::Unknown(PossibleEffect::Deny) => &[None, Some(Effect::Deny)],
        Value::Unknown(PossibleEffect::Either) => &[None, Some(Effect::Permit), Some(Effect::Deny)],
    }
}

/// Every way in which the doubtful ones could turn out is tried.
fn unanimous(members: &[Said]) -> (Value, Option<SmolStr>) {
    by_worlds(members, |says| {
        let permits = says.iter().any(|(_, effect)| *effect == Effect::Permit);
        let denies = says.iter().any(|(_, effect)| *effect == Effect::Deny);
        match (permits, denies) {
            (true, true) => Value::Unknown(PossibleEffect::Either),
            (true, false) => Value::Permit,
            (false, true) => Value::Deny,
            (false, false) => Value::NotApplicable,
        }
    })
}

fn priority_deny_overrides(members: &[Said]) -> (Value, Option<SmolStr>) {
    by_worlds(members, |says| {
        let top = says.iter().map(|(priority, _)| *priority).fold(f64::NEG_INFINITY, f64::max);
        let at_top = |wanted: Effect| says.iter().any(|(priority, effect)| *priority >= top && *effect == wanted);
        if at_top(Effect::Deny) {
            Value::Deny
        } else if at_top(Effect::Permit) {
            Value::Permit
        } else {
            Value::NotApplicable
        }
    })
}

/// The value in all worlds if there is one, said by the first who says it for certain; else what it could be.
fn by_worlds(members: &[Said], judge: impl Fn(&[(f64, Effect)]) -> Value) -> (Value, Option<SmolStr>) {
    let mut worlds: Vec<Vec<(f64, Effect)>> = vec![Vec::new()];
    for said in members {
        let mut next: Vec<Vec<(f64, Effect)>> = Vec::new();
        for (world, outcome) in
            worlds.iter().flat_map(|world| outcomes(said.value).iter().map(move |outcome| (world, outcome)))
        {
            let mut world = world.clone();
            let says = outcome.map(|effect| (said.priority, effect));
            // Who says the same at the same priority as another changes nothing; otherwise there were too many worlds.
            world.extend(says.filter(|says| !world.contains(says)));
            world.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.word().cmp(other.1.word())));
            if !next.contains(&world) {
                next.push(world);
            }
        }
        worlds = next;
    }
    among(members, &worlds.iter().map(|world| judge(world)).collect::<Vec<Value>>())
}

/// The value that all worlds lead to, said by the first member that says it for certain; else what it could be.
fn among(members: &[Said], values: &[Value]) -> (Value, Option<SmolStr>) {
    let (permit, deny) = (values.contains(&Value::Permit), values.contains(&Value::Deny));
    let clash = values.contains(&Value::Unknown(PossibleEffect::Either)) || values.contains(&Value::Foreign);
    let all_same = values.windows(2).all(|pair| matches!(pair, [one, other] if one == other));
    let value = match values.first() {
        Some(value) if all_same => *value,
        _ if clash || (permit && deny) => Value::Unknown(PossibleEffect::Either),
        _ if permit => Value::Unknown(PossibleEffect::Permit),
        _ => Value::Unknown(PossibleEffect::Deny),
    };
    (value, members.iter().find(|said| said.value == value).and_then(|said| said.by.clone()))
}

/// What is true of one reading of the path and not of another is not known.
fn target(given: &Target, asked: NormalizedRequest<'_>) -> Truth {
    let mut truths: Vec<Truth> =
        readings(asked).into_iter().map(|path| in_one(given, NormalizedRequest { path, ..asked })).collect();
    truths.dedup();
    if let [same] = truths.as_slice() { *same } else { Truth::Error }
}

/// The ways in which the path of a request is read.
fn readings(asked: NormalizedRequest<'_>) -> Vec<Path<'_>> {
    match asked.path {
        Path::Several(readings) => readings.iter().map(|reading| Path::Is(reading)).collect(),
        path => vec![path],
    }
}

fn in_one(target: &Target, asked: NormalizedRequest<'_>) -> Truth {
    let clause = |matchers: &[Matcher]| {
        if matchers.is_empty() {
            return Truth::True;
        }
        matchers.iter().map(|one| matcher(one, asked)).fold(Truth::False, Truth::or)
    };
    clause(&target.subjects).and(clause(&target.resources)).and(clause(&target.actions))
}

fn matcher(matcher: &Matcher, asked: NormalizedRequest<'_>) -> Truth {
    matcher.tests.iter().map(|test| holds(test, asked, Truth::False)).fold(Truth::True, Truth::and)
}

/// Whether a test holds; `absent` is what it means that there is nothing to look at.
fn holds(test: &Test, asked: NormalizedRequest<'_>, absent: Truth) -> Truth {
    let Request { subject, action, resource, .. } = asked.request;
    let one_of = |wanted: &[SmolStr], given: &Maybe<SmolStr>| match given {
        Maybe::Is(given) => Truth::from(wanted.iter().any(|wanted| wanted == given)),
        Maybe::Absent => absent,
        Maybe::Unknown => Truth::Error,
    };
    match test {
        Test::Id(all)
        | Test::SubjectType(all)
        | Test::Type(all)
        | Test::ResourceId(all)
        | Test::Operation(all)
        | Test::Group(all)
        | Test::Method(all)
            if all.is_empty() =>
        {
            Truth::False
        }
        Test::Role(all) | Test::App(all) if all.is_empty() => Truth::False,
        Test::Path(all) if all.is_empty() => Truth::False,
        Test::Id(wanted) => one_of(wanted, &subject.id),
        Test::SubjectType(wanted) => one_of(wanted, &subject.kind),
        Test::Type(wanted) => one_of(wanted, &resource.kind),
        Test::ResourceId(wanted) => one_of(wanted, &resource.id),
        Test::Operation(wanted) => one_of(wanted, &action.operation),
        Test::Role(wanted) => named(&subject.roles, |role| wanted.iter().any(|wanted| patterns::wild(wanted, role))),
        Test::Group(wanted) => named(&subject.groups, |group| wanted.contains(group)),
        Test::App(wanted) => match &resource.app {
            Maybe::Is(app) => wanted.iter().any(|wanted| patterns::wild(wanted, app)).into(),
            Maybe::Absent => absent,
            Maybe::Unknown => Truth::Error,
        },
        Test::Path(wanted) => match asked.path {
            Path::Is(path) => wanted.iter().any(|wanted| patterns::path(wanted, path)).into(),
            Path::Absent => absent,
            Path::Several(_) | Path::Unknown => Truth::Error,
        },
        Test::Method(wanted) if wanted.iter().any(|wanted| wanted == "*") => Truth::True,
        Test::Method(wanted) => match &action.method {
            Maybe::Is(given) => {
                wanted.iter().any(|wanted| wanted.to_ascii_uppercase() == given.to_ascii_uppercase()).into()
            }
            Maybe::Absent => absent,
            Maybe::Unknown => Truth::Error,
        },
        Test::OwnedBySubject => owned(asked.request, absent),
        Test::Fact(test) => facts::holds(test, asked),
        Test::Not(inner) => {
            !inner.tests.iter().map(|test| holds(test, asked, Truth::Error)).fold(Truth::True, Truth::and)
        }
    }
}

fn named(names: &Names, fits: impl Fn(&SmolStr) -> bool) -> Truth {
    let one_fits = match names {
        Names::Known(names) | Names::AtLeast(names) => names.iter().any(fits),
        Names::Unknown => false,
    };
    if one_fits || matches!(names, Names::Known(_)) { one_fits.into() } else { Truth::Error }
}

fn owned(request: &Request, absent: Truth) -> Truth {
    let id = match &request.subject.id {
        Maybe::Unknown => return Truth::Error,
        Maybe::Is(id) if !id.is_empty() => Fact::Text(id.clone()),
        Maybe::Is(_) | Maybe::Absent => return absent,
    };
    let says_nothing = |fact: &&Fact| **fact == Fact::Null || **fact == Fact::Text("".into());
    let all = ["owner", "ownerId"].into_iter().filter_map(|field| request.resource.facts.get(field));
    let mut owners: Vec<&Fact> = all.filter(|fact| !says_nothing(fact)).collect();
    owners.dedup();
    match owners.as_slice() {
        [] => absent,
        [owner @ Fact::Text(_)] => (**owner == id).into(),
        _ => Truth::Error,
    }
}
