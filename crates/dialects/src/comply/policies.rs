//! Policies between two objects, what all policies have, and waivers.

use smol_str::SmolStr;
use upheld_engine::comply::{Comply, Level, Policy, Rule, Rules, Selection, Strategy, Swapped, Waiver};
use upheld_governance::words;
use upheld_model::Fault;
use upheld_model::tree::Value;

use super::kind::or_nearest;
use super::reader::{Reader, text, title};
use super::selections::PolicySide;
use super::shapes::{self, Whole};
use super::tag_policies::Asked;
use super::tagged::Schema;
use crate::shape::Checker;

impl Reader<'_> {
    /// A policy: of a list, or a document of its own. The schema, if it is known, says which tags there are.
    pub(super) fn policy(&mut self, written: Value<'_>, whole: Whole, schema: Option<&Schema>) -> Option<Policy> {
        let single = self.is_about_single_objects(written);
        let shape = if single { shapes::tag_policy(self.profile, whole) } else { shapes::policy(self.profile, whole) };
        if !Checker::new(self.source, self.found).of("this policy").check(written, &shape) {
            return None;
        }
        let before = self.found.errors();
        let id = self.id(written, "a policy");
        let asked = if single { self.of_one(written, schema) } else { self.between(written, schema) };
        let policy = Policy {
            id: id?,
            level: written.get("enforcement").and_then(|word| Level::of(word.text())).unwrap_or(Level::Enforce),
            enforce_from: self.moment(written, "enforceFrom"),
            description: text(written, "description"),
            how_to_fix: text(written, "howToFix"),
            severity: text(written, "severity"),
            at: Some(self.place(written)),
            ..asked?
        };
        (self.found.errors() == before).then_some(policy)
    }

    /// What a policy about single objects asks for.
    fn of_one(&mut self, written: Value<'_>, schema: Option<&Schema>) -> Option<Policy> {
        let subject = self.single_subject(written)?;
        let Asked { rules, strategy, values } = self.asked_of_tags(written, subject, schema);
        let only = [self.selection(written, PolicySide { subject, schema }), Selection::default()];
        let plain = Policy::new(SmolStr::default(), [subject, subject], rules);
        Some(Policy { strategy: strategy?, values, only, ..plain })
    }

    /// What a policy about two objects asks for.
    fn between(&mut self, written: Value<'_>, schema: Option<&Schema>) -> Option<Policy> {
        let (first, second) = (written.get("a")?, written.get("b")?);
        let side = |reader: &mut Self, side: Value<'_>| side.get("kind").and_then(|kind| reader.subject(kind));
        let (a, b) = (side(self, first), side(self, second));
        let strategy = self.strategy(written);
        let rules = self.rules(written, first, second);
        let (Some(a), Some(b)) = (a, b) else { return None };
        let pair = self.profile.pair(a, b).filter(|_| a != b);
        if pair.is_none() {
            let (one, other) = (title(self.profile, a), title(self.profile, b));
            let message = match self.profile.pair(b, a) {
                Some(_) => format!("{one} does not govern {other}: only the other way round"),
                None => format!("no policy can be about {one} and {other}"),
            };
            let help = upheld_engine::words::comply::pairs(self.profile);
            self.wrong(Fault::NotRelated, second, message, "this pair is not possible", &help);
        }
        if let Some(schema) = schema {
            for (rule, at_a, at_b) in &rules {
                schema.allows_key(self, a, &rule.a, *at_a);
                schema.allows_key(self, b, &rule.b, *at_b);
            }
        }
        let resident = pair.and_then(|(kind, swapped)| {
            let side = self.profile.resident_side(kind)?;
            Some(if swapped == Swapped::Yes { 1 - side } else { side })
        });
        let only = self.selections(written, [a, b].map(|subject| PolicySide { subject, schema }), resident);
        let plain = Policy::new(SmolStr::default(), [a, b], rules.into_iter().map(|(rule, ..)| rule).collect());
        Some(Policy { strategy: strategy?, only, ..plain })
    }

    /// `id`, or `name` in documents of their own.
    fn id(&mut self, written: Value<'_>, what: &str) -> Option<SmolStr> {
        let id = text(written, "id").or_else(|| text(written, "name"));
        if id.is_none() {
            let message = format!("{what} needs an `id`");
            let span = written.entries().next().map_or(written, |(key, _)| key);
            self.wrong(
                Fault::MissingField,
                span,
                message,
                "`id` is missing here",
                "add `id:`, a name that no other has",
            );
        }
        id
    }

    fn strategy(&mut self, written: Value<'_>) -> Option<Strategy> {
        let usual = self.profile.strategies.first().copied();
        let Some(word) = written.get("strategy") else { return usual };
        let strategy = Strategy::of(word.text()).filter(|strategy| self.profile.strategies.contains(strategy));
        if strategy.is_none() {
            let (name, known) = (&self.profile.name, self.profile.strategies.iter().map(|known| known.word()));
            let help = match Strategy::of(word.text()) {
                Some(_) => format!("`{name}` has: {}", known.collect::<Vec<_>>().join(", ")),
                None => or_nearest(word.text(), known),
            };
            let message = format!("`{name}` has no strategy `{}`", word.text());
            self.wrong(Fault::WrongValue, word, message, "unknown strategy", &help);
        }
        strategy
    }

    /// The rules, each with the places of its tags.
    fn rules<'v>(&mut self, written: Value<'v>, a: Value<'v>, b: Value<'v>) -> Vec<(Rule, Value<'v>, Value<'v>)> {
        let tag = |value: Value<'_>| SmolStr::new(value.text());
        let mut rules = Vec::new();
        match (written.get("rules"), a.get("tag"), b.get("tag")) {
            (None, Some(a), Some(b)) => rules.push((Rule { a: tag(a), b: tag(b) }, a, b)),
            (Some(list), None, None) => {
                for item in list.items() {
                    let (Some(a), Some(b)) = (item.get("a"), item.get("b")) else { continue };
                    rules.push((Rule { a: tag(a), b: tag(b) }, a, b));
                }
                let count = rules.len();
                if count == 0 || (count > 1 && self.profile.rules == Rules::One) {
                    let message = match count {
                        0 => "a policy needs at least one rule".to_owned(),
                        _ => format!("a policy of `{}` has one rule, not {count}", self.profile.name),
                    };
                    let help = "write one policy for each pair of tags";
                    self.wrong(Fault::WrongValue, list, message, "here", if count == 0 { "" } else { help });
                }
            }
            (Some(list), ..) => {
                let message = "a policy has `rules`, or a `tag` on both sides, but not both".to_owned();
                self.wrong(Fault::WrongValue, list, message, "tags are named twice", "");
            }
            (None, tag, _) => {
                let at = if tag.is_none() { a } else { b };
                let message = "a policy needs a `tag` on both sides, or `rules`".to_owned();
                self.wrong(Fault::MissingField, at, message, "no `tag` here", "");
            }
        }
        rules
    }

    /// A waiver: of a list, or a document of its own.
    pub(super) fn waiver(&mut self, written: Value<'_>, whole: Whole) -> Option<Waiver> {
        let shape = shapes::waiver(self.profile, whole);
        if !Checker::new(self.source, self.found).of("this waiver").check(written, &shape) {
            return None;
        }
        let before = self.found.errors();
        let id = self.id(written, "a waiver");
        let matched = written.get("match");
        let side = |reader: &mut Self, field: &str| {
            let value = matched.and_then(|matched| matched.get(field))?;
            reader.reference(value).map(|(kind, id)| reader.told(kind, id))
        };
        let (a, b) = (side(self, "a"), side(self, "b"));
        let scope = self.waived_scope(matched);
        let reason = text(written, "reason").filter(|reason| !reason.trim().is_empty());
        if reason.is_none() {
            let at = written.get("reason").unwrap_or(written);
            let message = "a waiver without a reason is not in force".to_owned();
            self.wrong(Fault::MissingField, at, message, "why?", "add `reason:`, for whoever looks at it later");
        }
        let waiver = Waiver {
            id: id?,
            policy: text(written, "policy")?,
            a,
            b,
            scope,
            category: text(written, "category"),
            reason: reason?,
            approved_by: text(written, "approvedBy"),
            ticket: text(written, "ticket"),
            not_before: self.moment(written, "notBefore"),
            expires: self.moment(written, "expiresAt"),
            at: Some(self.place(written)),
        };
        (self.found.errors() == before).then_some(waiver)
    }

    /// Whether there is what a waiver names; says so if not.
    pub(super) fn check_waiver(&mut self, known: &Comply, waiver: &Waiver, written: Value<'_>) {
        if known.policy(&waiver.policy).is_none() {
            let ids: Vec<SmolStr> = known.policies().into_iter().map(|policy| policy.id.clone()).collect();
            let help = match ids.as_slice() {
                [] => "no policies of this kind were read; `policyKind:` names another, for example `TagPolicy`"
                    .to_owned(),
                ids => or_nearest(&waiver.policy, ids.iter().map(SmolStr::as_str)),
            };
            let message = format!("there is no policy `{}`", waiver.policy);
            let at = written.get("policy").unwrap_or(written);
            self.wrong(Fault::DanglingReference, at, message, "does not exist", &help);
        }
        for side in [&waiver.a, &waiver.b, &waiver.scope].into_iter().flatten() {
            if let Err(not_found) = known.lookup(side) {
                let message = words::refusal(self.profile, &not_found.into());
                let at = written.get("match").unwrap_or(written);
                self.wrong(Fault::DanglingReference, at, message, "does not exist", "");
            }
        }
    }

    fn waived_scope(&mut self, matched: Option<Value<'_>>) -> Option<SmolStr> {
        let scope = self.profile.scope?;
        let fields = ["workspace", self.profile.kind_name(scope)];
        let value = fields.iter().find_map(|field| matched?.get(field))?;
        self.reference_to(scope, value).map(|id| self.told(scope, id))
    }
}
