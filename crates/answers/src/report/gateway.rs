//! What policies come to at a place of a gateway: from scopes to what users read.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;
use upheld_dialects::kgateway::why::{Why, why};
use upheld_dialects::kgateway::{Effective, Held, Holder, PolicyEntry, Resolver, Scope, Subject, Via};
use upheld_engine::merge::levels::Joined;
use upheld_engine::words::{Ends, Words};
use upheld_model::{Code, Config, Lookup, NodeRef, Param, Reason, State};

use super::At;

/// What the policies of one kind come to at one place.
#[derive(Clone, Debug, Serialize)]
pub struct GatewayReport {
    /// The kind of policy.
    pub kind: String,
    /// The edition of the rules.
    pub semantics: String,
    /// What is asked about.
    pub target: String,
    /// The ways of requests that get there; empty for other scopes.
    pub ways: Vec<String>,
    /// The first sentence.
    pub answer: String,
    /// What holds.
    pub fields: Vec<EffectiveField>,
    /// What does not.
    pub overridden: Vec<LostField>,
    /// How levels meet, in a sentence.
    pub merge: String,
    /// Policies that are wrong, so that requests are answered with an error.
    pub broken: Vec<String>,
}

/// A field that holds.
#[derive(Clone, Debug, Serialize)]
pub struct EffectiveField {
    /// Its name.
    pub field: String,
    /// Its value.
    pub value: Json,
    /// How near the policy is that sets it.
    pub scope: &'static str,
    /// Who sets it.
    pub from: Vec<Source>,
    /// Why it holds, in words.
    pub because: String,
    /// Why it holds, in a code.
    pub code: &'static str,
}

/// A policy that has a part in a field, and how it is attached.
#[derive(Clone, Debug, Serialize)]
pub struct Source {
    /// The policy.
    pub policy: String,
    /// How it is attached.
    pub via: String,
    /// Where it was written.
    pub at: Option<At>,
}

/// A value that does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct LostField {
    /// Its name.
    pub field: String,
    /// The value that does not hold.
    pub value: Json,
    /// Who sets it.
    pub policy: String,
    /// Where it was written.
    pub at: Option<At>,
    /// Why it does not hold, in words.
    pub because: String,
    /// Why it does not hold, in a code.
    pub code: &'static str,
}

/// Makes reports.
pub(crate) struct GatewayTeller<'a> {
    pub resolver: &'a Resolver<'a>,
    pub semantics: &'static str,
}

impl GatewayTeller<'_> {
    /// What the policies of a kind come to in a scope.
    pub(crate) fn scope(&self, scope: &Scope, subject: Subject, target: &str) -> GatewayReport {
        let resolved = scope.of(subject);
        let mut report = self.empty(subject, target, scope);
        for (name, joined) in resolved.iter().flat_map(|resolved| &resolved.folded.fields) {
            report.fields.push(self.field(scope, name, joined, scope_word(scope)));
            report.overridden.extend(self.lost(scope, name, joined));
        }
        finished(report)
    }

    /// What holds for requests on a way: fields of the route, of its host and of the gateway.
    pub(crate) fn way(&self, scopes: &[(Holder, Arc<Scope>)], effective: &[Effective], target: &str) -> GatewayReport {
        let Some((_, route)) = scopes.first() else { return self.nothing(Subject::Traffic, target) };
        let mut report = self.empty(Subject::Traffic, target, route);
        for field in effective {
            let name =
                field.key.as_ref().map_or_else(|| field.field.to_string(), |key| format!("{}.{key}", field.field));
            let scope = scopes.iter().find(|(holder, _)| *holder == field.held.holder).map(|(_, scope)| scope);
            let joined = scope.and_then(|scope| scope.of(Subject::Traffic)?.folded.fields.get(&field.field));
            report.fields.push(match (scope, joined) {
                (Some(scope), Some(joined)) => {
                    let mut told = self.field(scope, &name, joined, holder_word(field.held.holder));
                    told.value = json(&field.held.value);
                    self.keep_speakers(&mut told, joined, field.key.as_deref());
                    told
                }
                _ => self.of_the_rule(route, &name, &field.held),
            });
            report.overridden.extend(self.lost_of_rules(route, &name, &field.held));
            if let (Some(scope), Some(joined)) = (scope, joined) {
                report.overridden.extend(self.lost(scope, &field.field, joined));
            }
            for hidden in &field.hidden {
                let scope = scopes.iter().find(|(holder, _)| *holder == hidden.holder).map(|(_, scope)| scope);
                report.overridden.extend(self.hidden(&name, hidden, field.held.holder, scope));
            }
        }
        for (_, scope) in scopes.iter().skip(1) {
            report.broken.extend(self.resolver.broken(scope));
        }
        finished(report)
    }

    /// A rule that a `DirectResponse` answers.
    pub(crate) fn answered(&self, report: GatewayReport, scopes: &[(Holder, Arc<Scope>)]) -> GatewayReport {
        let Some((_, route)) = scopes.first() else { return report };
        let direct = self.scope(route, Subject::DirectResponse, &report.target);
        let answers = direct.fields.iter().flat_map(|field| &field.from).map(|source| source.policy.as_str());
        let mut names: Vec<&str> = answers.collect();
        names.dedup();
        let merge = format!("A DirectResponse answers instead of a backend: {}. {}", names.join(", "), report.merge);
        GatewayReport { merge: merge.trim_end().to_owned(), ..report }
    }

    fn nothing(&self, subject: Subject, target: &str) -> GatewayReport {
        GatewayReport {
            kind: subject.kind().to_owned(),
            semantics: self.semantics.to_owned(),
            target: target.to_owned(),
            ways: Vec::new(),
            answer: String::new(),
            fields: Vec::new(),
            overridden: Vec::new(),
            merge: String::new(),
            broken: Vec::new(),
        }
    }

    fn empty(&self, subject: Subject, target: &str, scope: &Scope) -> GatewayReport {
        let words: Vec<&str> = scope.priorities.iter().map(|priority| priority.name()).collect();
        let merge = match words.as_slice() {
            [] | [_] => "Merge: field by field, the first policy in this order wins.".to_owned(),
            [_, parents @ ..] => format!("Levels meet by {}, the nearest parent first.", parents.join(", ")),
        };
        GatewayReport { merge, broken: self.resolver.broken(scope), ..self.nothing(subject, target) }
    }

    fn field(&self, scope: &Scope, name: &str, joined: &Joined, word: &'static str) -> EffectiveField {
        let (because, code) = match (joined.origins.as_slice(), joined.over.first()) {
            ([winner], Some(beaten)) => self.because(scope, *winner, beaten.by, State::Won),
            ([_], None) => ("no other policy sets it".to_owned(), Code::MergeOnly),
            (several, _) => (format!("made of {} policies", several.len()), Code::MergeSets),
        };
        EffectiveField {
            field: name.to_owned(),
            value: json(&joined.value),
            scope: word,
            from: joined.origins.iter().filter_map(|policy| self.source(scope, *policy, joined)).collect(),
            because,
            code: code.text(),
        }
    }

    /// Of a field with several providers, those who name this one.
    fn keep_speakers(&self, told: &mut EffectiveField, joined: &Joined, provider: Option<&str>) {
        let Some(provider) = provider else { return };
        let names = |part: &&upheld_engine::merge::levels::Part| {
            let providers = part.value.get("providers").map_or(&[][..], |list| list.items());
            providers.iter().any(|one| one.get("provider").and_then(|name| name.as_text()) == Some(provider))
        };
        let speaking: Vec<(String, Option<At>)> = (joined.parts.iter())
            .filter(names)
            .map(|part| (self.policy_name(part.by), self.at(part.value.at)))
            .collect();
        if speaking.is_empty() {
            return;
        }
        told.from.retain(|source| speaking.iter().any(|(name, _)| *name == source.policy));
        if let [_] = told.from.as_slice() {
            "no other policy names this provider".clone_into(&mut told.because);
        }
    }

    /// What rules said in vain, on the way to the one that answers.
    fn lost_of_rules(&self, route: &Scope, name: &str, held: &Held) -> Vec<LostField> {
        let Some(builtin) = route.builtin.as_ref().filter(|_| held.holder == Holder::Rule) else { return Vec::new() };
        let Some(joined) = builtin.folded.fields.get(name) else { return Vec::new() };
        let lost = joined.over.iter().map(|beaten| {
            let winner = beaten.under.first().or(joined.origins.first()).copied();
            LostField {
                field: name.to_owned(),
                value: json(&beaten.value),
                policy: self.rule_of(route, beaten.by),
                at: self.at(beaten.value.at),
                because: winner.map(|winner| format!("lost to {}", self.rule_of(route, winner))).unwrap_or_default(),
                code: Code::MergeLevel.text(),
            }
        });
        lost.collect()
    }

    /// A rule on the way, by the number of its part.
    fn rule_of(&self, route: &Scope, number: usize) -> String {
        let source = route.builtin.as_ref().and_then(|builtin| builtin.sources.get(number));
        match source {
            Some(source) if source.level > 0 => {
                format!("(rule {} of {})", source.rule, self.resolver.references().title(source.route))
            }
            _ => "(the rule itself)".to_owned(),
        }
    }

    fn of_the_rule(&self, route: &Scope, name: &str, held: &Held) -> EffectiveField {
        let rules: Vec<String> = held.origins.iter().map(|origin| self.rule_of(route, *origin)).collect();
        let source = Source { policy: rules.join(", "), via: "rule".to_owned(), at: self.at(held.value.at) };
        EffectiveField {
            field: name.to_owned(),
            value: json(&held.value),
            scope: holder_word(held.holder),
            from: vec![source],
            because: "what a rule says itself goes before any policy".to_owned(),
            code: Code::MergeScope.text(),
        }
    }

    fn lost(&self, scope: &Scope, name: &str, joined: &Joined) -> Vec<LostField> {
        let lost = joined.over.iter().map(|beaten| {
            let winner = beaten.under.first().or(joined.origins.first()).copied();
            let (because, code) = winner.map_or((String::new(), Code::MergeOnly), |winner| {
                let (words, code) = self.because(scope, beaten.by, winner, State::Lost);
                (format!("lost to {}: {words}", self.policy_name(winner)), code)
            });
            LostField {
                field: name.to_owned(),
                value: json(&beaten.value),
                policy: self.policy_name(beaten.by),
                at: self.at(beaten.value.at),
                because,
                code: code.text(),
            }
        });
        lost.collect()
    }

    fn hidden(&self, name: &str, held: &Held, by: Holder, scope: Option<&Arc<Scope>>) -> Vec<LostField> {
        let policies: Vec<String> = match scope {
            Some(_) => held.origins.iter().map(|policy| self.policy_name(*policy)).collect(),
            None => vec!["(the rule itself)".to_owned()],
        };
        let lost = policies.into_iter().map(|policy| LostField {
            field: name.to_owned(),
            value: json(&held.value),
            policy,
            at: self.at(held.value.at),
            because: format!(
                "hidden: the {} has it, too, and is nearer than the {}",
                holder_word(by),
                holder_word(held.holder)
            ),
            code: Code::MergeScope.text(),
        });
        lost.collect()
    }

    fn source(&self, scope: &Scope, policy: usize, joined: &Joined) -> Option<Source> {
        let entry = self.entry(policy)?;
        let said = joined.parts.iter().find(|part| part.by == policy).and_then(|part| part.value.at);
        let attached = scope.ways(policy).next();
        let via = attached.map_or_else(String::new, |(bracket, attached)| {
            let target = self.resolver.references().title(bracket.target);
            let section = bracket.section.as_ref().map(|section| format!("#{section}")).unwrap_or_default();
            format!("{} {target}{section}", via_word(attached.via))
        });
        Some(Source { policy: named(entry), via, at: self.at(said.or(Some(entry.at))) })
    }

    /// Why one of two counts more, in words of the one that is told about.
    fn because(&self, scope: &Scope, mine: usize, theirs: usize, state: State) -> (String, Code) {
        let won = state == State::Won;
        let (winner, loser) = if won { (mine, theirs) } else { (theirs, mine) };
        let snapshot = self.resolver.references().snapshot();
        let mut lookup = Lookup::new(snapshot.symbols());
        let order = |one: Param, other: Param| if won { [one, other] } else { [other, one] };
        let reason = match why(scope, self.resolver.policies(), winner, loser) {
            Why::Child => Reason::new(Code::MergeLevel, &[Param::Text(lookup.symbol("child"))]),
            Why::Parent => Reason::new(Code::MergeLevel, &[Param::Text(lookup.symbol("parent"))]),
            Why::Attachment => Reason::new(Code::MergeAttachment, &[]),
            Why::Position => Reason::new(Code::MergePosition, &[]),
            Why::Section => Reason::new(Code::MergeSection, &[]),
            Why::Weight(one, other) => {
                Reason::new(Code::MergeWeight, &order(Param::Number(one.into()), Param::Number(other.into())))
            }
            Why::Older(one, other) => Reason::new(Code::MergeOlder, &order(Param::Time(one), Param::Time(other))),
            Why::Identity => {
                let other = lookup.symbol(&self.policy_name(theirs));
                Reason::new(Code::MergeIdentity, &[Param::Text(other)])
            }
        };
        let words = Words { lookup: &lookup, ends: Ends { source: "", destination: "" } };
        (words.because(state, &reason), reason.code)
    }

    fn entry(&self, policy: usize) -> Option<&PolicyEntry> {
        self.resolver.policies().get(policy)
    }

    fn policy_name(&self, policy: usize) -> String {
        self.entry(policy).map(named).unwrap_or_default()
    }

    fn at(&self, node: Option<NodeRef>) -> Option<At> {
        At::of(self.resolver.references().snapshot().files(), node?)
    }
}

/// A rule that answers with an error: policies do not matter there.
pub(crate) fn replaced(report: GatewayReport, why: &str) -> GatewayReport {
    let mut broken = report.broken;
    if !broken.iter().any(|known| known == why) {
        broken.push(why.to_owned());
    }
    let (fields, overridden, merge) = (Vec::new(), Vec::new(), String::new());
    finished(GatewayReport { fields, overridden, merge, broken, ..report })
}

/// With the sentence that answers.
pub(crate) fn finished(mut report: GatewayReport) -> GatewayReport {
    let mut policies: Vec<&str> =
        report.fields.iter().flat_map(|field| &field.from).map(|source| source.policy.as_str()).collect();
    policies.retain(|policy| !policy.starts_with('('));
    policies.sort_unstable();
    policies.dedup();
    let count = |count: usize, one: &str, many: &str| {
        if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
    };
    let verb = if policies.len() == 1 { "shapes" } else { "shape" };
    report.answer = match (report.broken.as_slice(), policies.len()) {
        ([], 0) => format!("No {} shapes {}.", report.kind, report.target),
        ([], shaping) => format!(
            "{} {verb} {} of {}; {} set, {} overridden.",
            count(shaping, "policy", "policies"),
            report.kind,
            report.target,
            count(report.fields.len(), "field", "fields"),
            count(report.overridden.len(), "value", "values"),
        ),
        (broken, _) => format!(
            "{} answers with an error, because {} wrong.",
            report.target,
            if broken.len() == 1 { "something is".to_owned() } else { format!("{} things are", broken.len()) },
        ),
    };
    report
}

fn named(entry: &PolicyEntry) -> String {
    format!("{}/{}", entry.namespace, entry.name)
}

fn json(value: &Arc<Config>) -> Json {
    serde_json::to_value(value.as_ref()).unwrap_or_default()
}

fn via_word(via: Via) -> &'static str {
    match via {
        Via::ExtensionRef => "extension reference of",
        Via::TargetRef => "target reference to",
        Via::TargetSelector => "target selector for",
        Via::Builtin => "rule of",
    }
}

fn holder_word(holder: Holder) -> &'static str {
    match holder {
        Holder::Rule => "rule",
        Holder::Route => "route",
        Holder::VirtualHost => "host",
        Holder::RouteConfiguration => "gateway",
    }
}

fn scope_word(scope: &Scope) -> &'static str {
    use upheld_dialects::kgateway::Place;
    match scope.place {
        Place::Listener => "listener",
        Place::RouteConfiguration => "gateway",
        Place::VirtualHost => "host",
        Place::Route => "route",
        Place::BackendReference => "backend reference",
        Place::Backend => "backend",
    }
}
