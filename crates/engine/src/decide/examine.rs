//! Every part of a policy held against a request: what fits, and what would have to be otherwise.

use ipnet::IpNet;
use smol_str::{SmolStr, ToSmolStr, format_smolstr};
use upheld_model::Code;

use super::condition::{AddressLists, Condition};
use super::fact_test::{FactTest, Operator, Order};
use super::request::{Fact, Maybe, Names, NormalizedRequest, Path, View};
use super::rule::{Clause, Matcher, Rule, Target, Test};
use super::shortfall::{Best, code_of};
use super::truth::Truth;

/// A policy held against a request, part by part.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Subjects, resources and actions, in this order.
    pub clauses: [ExaminedPart; 3],
    /// The conditions in order.
    pub conditions: Vec<ExaminedPart>,
}

/// A part of a policy held against a request: of several alternatives, the one that fits best.
#[derive(Clone, Debug)]
pub struct ExaminedPart {
    /// Which part.
    pub clause: Clause,
    /// Which alternative or condition, from zero; none where the part is empty and so fits all.
    pub place: Option<usize>,
    /// Whether it fits.
    pub truth: Truth,
    /// What it asks for: `role=admin`.
    pub asks: SmolStr,
    /// What does not fit.
    pub misses: Vec<Miss>,
}

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Why.
    pub code: Code,
    /// Of what: `role`.
    pub field: SmolStr,
    /// What is asked for.
    pub want: SmolStr,
    /// What the request has; nothing if it has nothing.
    pub have: Option<SmolStr>,
}

impl Examined {
    /// Holds all parts of a policy against a request.
    pub fn of(rule: &Rule, asked: NormalizedRequest<'_>) -> Self {
        let Self { clauses, .. } = Self::of_target(&rule.target, asked);
        let conditions = rule.conditions.iter().enumerate().map(|(place, one)| condition(place, one, asked)).collect();
        Self { clauses, conditions }
    }

    /// Holds the target of a set against a request.
    pub(super) fn of_target(target: &Target, asked: NormalizedRequest<'_>) -> Self {
        let clauses = target.clauses().map(|(clause, alternatives)| held(clause, alternatives, asked));
        Self { clauses, conditions: Vec::new() }
    }

    /// Every alternative and every condition of a policy, not only the best of each clause.
    pub fn alternatives(rule: &Rule, asked: NormalizedRequest<'_>) -> Vec<ExaminedPart> {
        let clauses = rule.target.clauses().into_iter();
        let alternatives = clauses.flat_map(|(clause, all)| every(clause, all, asked));
        let conditions = rule.conditions.iter().enumerate().map(|(place, one)| condition(place, one, asked));
        alternatives.chain(conditions).collect()
    }

    /// All parts in order.
    pub fn parts(&self) -> impl Iterator<Item = &ExaminedPart> {
        self.clauses.iter().chain(&self.conditions)
    }

    /// The first thing that does not fit; false before unknown.
    pub fn first_miss(&self) -> Option<&Miss> {
        let of =
            |truth: Truth| self.parts().filter(move |held| held.truth == truth).find_map(|held| held.misses.first());
        of(Truth::False).or_else(|| of(Truth::Error))
    }

    /// The first thing that is not known.
    pub fn first_unknown(&self) -> Option<&Miss> {
        let misses = self.parts().filter(|held| held.truth != Truth::True).flat_map(|held| &held.misses);
        misses.into_iter().find(|miss| miss.code == Code::UnknownFact)
    }
}

fn held(clause: Clause, alternatives: &[Matcher], asked: NormalizedRequest<'_>) -> ExaminedPart {
    let any = || ExaminedPart {
        clause,
        place: None,
        truth: Truth::True,
        asks: SmolStr::new_static("any"),
        misses: Vec::new(),
    };
    let best = Best::of(alternatives, asked);
    best.map_or_else(any, |best| alternative(clause, best.place, best.matcher, best.truth, asked))
}

/// Every alternative of a clause, held against a request.
fn every(clause: Clause, alternatives: &[Matcher], asked: NormalizedRequest<'_>) -> impl Iterator<Item = ExaminedPart> {
    let all = alternatives.iter().enumerate();
    all.map(move |(place, matcher)| alternative(clause, place, matcher, matcher.covers(asked), asked))
}

fn alternative(
    clause: Clause,
    place: usize,
    matcher: &Matcher,
    truth: Truth,
    asked: NormalizedRequest<'_>,
) -> ExaminedPart {
    let misses = matcher.tests.iter().filter_map(|test| miss(clause, test, asked));
    let mut misses: Vec<(Truth, Miss)> = misses.filter(|_| truth != Truth::True).collect();
    misses.sort_by_key(|(truth, _)| usize::from(*truth == Truth::Error));
    let asks: Vec<String> = matcher.tests.iter().map(asks).collect();
    let asks = if asks.is_empty() { SmolStr::new_static("any") } else { asks.join(" ").into() };
    let misses = misses.into_iter().map(|(_, miss)| miss).collect();
    ExaminedPart { clause, place: Some(place), truth, asks, misses }
}

fn condition(place: usize, condition: &Condition, asked: NormalizedRequest<'_>) -> ExaminedPart {
    let truth = condition.holds(asked);
    let field = SmolStr::new_static(condition.word());
    let want = wanted(condition);
    let code = code_of(truth, Clause::Conditions);
    let environment = &asked.request.environment;
    let have = match condition {
        Condition::Time(window) => environment.time.known().map(|moment| window.clock(*moment)),
        Condition::Validity(_) => environment.time.known().map(ToSmolStr::to_smolstr),
        Condition::Address(_) => environment.ip.known().cloned(),
        Condition::Expression(expression) => match expression.explain(asked) {
            Ok(_) => Some(SmolStr::new_static("false")),
            Err(failure) => Some(failure.clause().into()),
        },
        Condition::Always | Condition::Never => None,
    };
    let misses = if truth == Truth::True { Vec::new() } else { vec![Miss { code, field, want: want.clone(), have }] };
    let asks = format_smolstr!("{} {want}", condition.word());
    ExaminedPart { clause: Clause::Conditions, place: Some(place), truth, asks, misses }
}

pub(super) fn wanted(condition: &Condition) -> SmolStr {
    match condition {
        Condition::Time(window) => window.to_smolstr(),
        Condition::Validity(validity) => validity.to_smolstr(),
        Condition::Expression(expression) => SmolStr::new(expression.text()),
        Condition::Always => SmolStr::new_static("anything"),
        Condition::Never => SmolStr::new_static("not_applicable"),
        Condition::Address(AddressLists::Networks { allow, block }) => {
            addresses(allow.as_ref().map(|allow| networks(allow)), &networks(block))
        }
        Condition::Address(AddressLists::Texts { allow, block }) => {
            addresses(allow.as_ref().map(|allow| listed(allow.iter())), &listed(block.iter()))
        }
    }
}

fn addresses(allow: Option<SmolStr>, block: &str) -> SmolStr {
    match (allow, block) {
        (Some(allow), "") => format_smolstr!("in {allow}"),
        (Some(allow), block) => format_smolstr!("in {allow} but outside {block}"),
        (None, "") => SmolStr::new_static("any"),
        (None, block) => format_smolstr!("outside {block}"),
    }
}

/// Networks of one address as that address.
fn networks(networks: &[IpNet]) -> SmolStr {
    listed(networks.iter().map(|network| {
        if network.prefix_len() == network.max_prefix_len() { network.addr().to_string() } else { network.to_string() }
    }))
}

fn miss(clause: Clause, test: &Test, asked: NormalizedRequest<'_>) -> Option<(Truth, Miss)> {
    let truth = test.holds(asked);
    if truth == Truth::True {
        return None;
    }
    let code = code_of(truth, clause);
    Some((truth, Miss { code, field: field(test), want: want(test), have: have(test, asked) }))
}

/// The field of a test, in the words of the document.
pub(super) fn field(test: &Test) -> SmolStr {
    let word = match test {
        Test::Id(_) | Test::ResourceId(_) => "id",
        Test::Role(_) => "role",
        Test::Group(_) => "group",
        Test::App(_) => "app",
        Test::Path(_) => "path",
        Test::SubjectType(_) | Test::Type(_) => "type",
        Test::OwnedBySubject => "owner",
        Test::Method(_) => "method",
        Test::Operation(_) => "operation",
        // What must not be one thing is about that thing.
        Test::Not(Matcher { tests }) => match tests.as_slice() {
            [only] => return field(only),
            _ => "not",
        },
        Test::Fact(test) => return test.title(),
    };
    SmolStr::new_static(word)
}

/// What a test asks for.
pub(super) fn want(test: &Test) -> SmolStr {
    match test {
        Test::Id(wanted)
        | Test::ResourceId(wanted)
        | Test::Group(wanted)
        | Test::SubjectType(wanted)
        | Test::Type(wanted)
        | Test::Method(wanted)
        | Test::Operation(wanted) => listed(wanted.iter()),
        Test::Role(wanted) | Test::App(wanted) => listed(wanted.iter().map(super::glob::Wildcard::text)),
        Test::Path(wanted) => listed(wanted.iter().map(super::rule::PathPattern::text)),
        Test::OwnedBySubject => SmolStr::new_static("self"),
        Test::Not(Matcher { tests }) => match tests.as_slice() {
            [only] => format_smolstr!("not {}", want(only)),
            several => format_smolstr!("not {}", several.iter().map(asks).collect::<Vec<_>>().join(" ")),
        },
        Test::Fact(test) => operator(&test.operator),
    }
}

pub(super) fn asks(test: &Test) -> String {
    match test {
        Test::Path(_) | Test::Method(_) => want(test).to_string(),
        Test::Not(Matcher { tests }) => format!("not {}", tests.iter().map(asks).collect::<Vec<_>>().join(" ")),
        Test::Fact(fact) => match fact.operator {
            Operator::In(_) => format!("{}={}", fact.name, want(test)),
            _ => format!("{} {}", fact.name, want(test)),
        },
        test => format!("{}={}", field(test), want(test)),
    }
}

fn operator(operator: &Operator) -> SmolStr {
    match operator {
        Operator::In(values) => facts(values),
        Operator::NotIn(values) => format_smolstr!("not {}", facts(values)),
        Operator::Order(order, bound) => format_smolstr!("{} {bound}", order.word()),
        Operator::Contains(value) => format_smolstr!("with {}", shown(value)),
        Operator::ContainsAny(values) => format_smolstr!("with one of {}", facts(values)),
        Operator::StartsWith(text) => format_smolstr!("{text}…"),
        Operator::EndsWith(text) => format_smolstr!("…{text}"),
        Operator::Regex(regex) => format_smolstr!("/{}/", regex.as_str()),
        Operator::Foreign(text, _) | Operator::Broken(text) => format_smolstr!("/{text}/"),
        Operator::Within(within) => format_smolstr!("in {}", networks(within)),
        Operator::Exists => SmolStr::new_static("any value"),
        Operator::Absent => SmolStr::new_static("no value"),
        Operator::Never => SmolStr::new_static("a value that cannot exist"),
    }
}

impl Order {
    fn word(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
        }
    }
}

/// What the request has where a test looks.
fn have(test: &Test, asked: NormalizedRequest<'_>) -> Option<SmolStr> {
    let request = asked.request;
    let names = |names: &Names| match names {
        Names::Known(names) if names.is_empty() => None,
        Names::Known(names) => Some(listed(names.iter())),
        Names::AtLeast(names) => Some(listed(names.iter().chain([&SmolStr::new_static("?")]))),
        Names::Unknown => Some(SmolStr::new_static("?")),
    };
    let text = |value: &Maybe<SmolStr>| match value {
        Maybe::Is(text) => Some(text.clone()),
        Maybe::Absent => None,
        Maybe::Unknown => Some(SmolStr::new_static("?")),
    };
    match test {
        Test::Id(_) => text(&request.subject.id),
        Test::SubjectType(_) => text(&request.subject.kind),
        Test::Role(_) => names(&request.subject.roles),
        Test::Group(_) => names(&request.subject.groups),
        Test::App(_) => text(&request.resource.app),
        Test::Path(_) => match asked.path {
            Path::Is(path) => Some(path.to_smolstr()),
            Path::Several(readings) => Some(readings.join(" or ").into()),
            Path::Absent => None,
            Path::Unknown => match &request.resource.path {
                Maybe::Is(path) if path.len() > asked.longest => Some(too_long(path, asked)),
                path => text(path),
            },
        },
        Test::Type(_) => text(&request.resource.kind),
        Test::ResourceId(_) => text(&request.resource.id),
        Test::OwnedBySubject => {
            let owners = super::rule::OWNER_FIELDS.iter().filter_map(|field| request.resource.facts.get(field));
            owners.map(shown).next()
        }
        Test::Method(_) => text(&request.action.method),
        Test::Operation(_) => text(&request.action.operation),
        Test::Fact(test) => fact_of(test, asked),
        Test::Not(matcher) => matcher.tests.first().and_then(|test| have(test, asked)),
    }
}

/// What is said of a text that no pattern is held against.
fn too_long(text: &str, asked: NormalizedRequest<'_>) -> SmolStr {
    format_smolstr!("a text of {} bytes, more than the {} that the patterns here take", text.len(), asked.longest)
}

fn fact_of(test: &FactTest, asked: NormalizedRequest<'_>) -> Option<SmolStr> {
    match test.find(asked) {
        View::Text(text) if text.len() > asked.longest => Some(too_long(text, asked)),
        View::Text(text) => Some(text.to_smolstr()),
        View::Fact(value) => Some(shown(value)),
        View::Names(names) => Some(listed(names.iter())),
        View::Time(moment) => Some(moment.to_smolstr()),
        View::Unknown => Some(SmolStr::new_static("?")),
        _ => None,
    }
}

fn listed<T: ToString>(items: impl Iterator<Item = T>) -> SmolStr {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(", ").into()
}

fn facts(values: &[Fact]) -> SmolStr {
    listed(values.iter().map(shown))
}

/// A fact as people write it.
pub fn shown(value: &Fact) -> SmolStr {
    match value {
        Fact::Null => SmolStr::new_static("null"),
        Fact::Bool(truth) => truth.to_smolstr(),
        Fact::Number(number) => number.to_smolstr(),
        Fact::Text(text) => text.clone(),
        Fact::List(items) => format_smolstr!("[{}]", facts(items)),
        Fact::Map(_) => SmolStr::new_static("{…}"),
        Fact::Unknown => SmolStr::new_static("?"),
    }
}
