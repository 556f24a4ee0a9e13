//! Which objects a policy is cut to: `where` and `except`.

use smol_str::SmolStr;
use upheld_engine::comply::{Comply, Policy, Selection, Selector, Subject};
use upheld_governance::words;
use upheld_model::Fault;
use upheld_model::tree::{Kind, Value};

use super::reader::{Reader, title};
use super::tagged::Schema;

/// A side of a policy that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolicySide<'s> {
    pub(super) subject: Subject,
    /// Which tags there are, if that is known.
    pub(super) schema: Option<&'s Schema>,
}

impl Reader<'_> {
    /// What a policy about single objects is cut to.
    pub(super) fn selection(&mut self, written: Value<'_>, side: PolicySide<'_>) -> Selection {
        let [among, except] = ["where", "except"].map(|clause| self.selectors(written.get(clause), side));
        Selection { among, except }
    }

    /// What a policy about two objects is cut to, in its order; `resident` is the side that lives where the two meet.
    pub(super) fn selections(
        &mut self,
        written: Value<'_>,
        sides: [PolicySide<'_>; 2],
        resident: Option<usize>,
    ) -> [Selection; 2] {
        let mut only = [Selection::default(), Selection::default()];
        for ((field, side), own) in ["a", "b"].into_iter().zip(sides).zip(&mut only) {
            let of = |clause: &str| written.get(clause).and_then(|clause| clause.get(field));
            own.among = self.selectors(of("where"), side);
            own.except = self.selectors(of("except"), side);
        }
        for clause in ["where", "except"] {
            let Some((at, scopes)) = written.get(clause).and_then(|clause| self.scopes(clause)) else { continue };
            match resident.and_then(|place| only.get_mut(place)) {
                None => self.nowhere(at, sides),
                Some(own) if clause == "except" => own.except.push(Selector { scopes, ..Selector::default() }),
                Some(own) if own.among.is_empty() => own.among.push(Selector { scopes, ..Selector::default() }),
                // All of it must fit: where the two meet, and what the side is besides.
                Some(own) => own.among.iter_mut().for_each(|selector| selector.scopes.clone_from(&scopes)),
            }
        }
        only
    }

    /// One selector, or several.
    fn selectors(&mut self, written: Option<Value<'_>>, side: PolicySide<'_>) -> Vec<Selector> {
        let Some(written) = written else { return Vec::new() };
        each(written).map(|item| self.selector(item, side)).collect()
    }

    fn selector(&mut self, written: Value<'_>, side: PolicySide<'_>) -> Selector {
        let mut tags = Vec::new();
        for (key, value) in written.get("tags").into_iter().flat_map(Value::entries) {
            let values = self.values(value);
            if let Some(schema) = side.schema {
                schema.allows_key(self, side.subject, key.text(), key);
            }
            if values.is_empty() {
                let message = format!("a selector needs values of `{}`", key.text());
                let help = "it selects objects that have one of them: `environment: [prod]`";
                self.wrong(Fault::MissingField, key, message, "no values", help);
            }
            tags.push((SmolStr::new(key.text()), values));
        }
        let mut objects = Vec::new();
        for item in written.get("ref").into_iter().flat_map(each) {
            let Some((kind, id)) = self.reference(item) else { continue };
            if self.profile.subject_of(kind) != Some(side.subject) {
                let subject = title(self.profile, side.subject);
                let message = format!("`{}` is no {subject}, so this selects nothing", item.text());
                self.wrong(Fault::WrongValue, item, message, "another kind of object", "");
            }
            objects.push(self.told(kind, id));
        }
        let scopes = self.scopes(written).map_or_else(Vec::new, |(_, scopes)| scopes);
        if tags.is_empty() && objects.is_empty() && scopes.is_empty() {
            let help = "name `tags`, `ref`, or where the objects live";
            self.wrong(Fault::MissingField, written, "a selector without conditions".to_owned(), "selects all", help);
        }
        Selector { tags, objects, scopes }
    }

    /// The scopes that are named, and where.
    fn scopes<'v>(&mut self, written: Value<'v>) -> Option<(Value<'v>, Vec<SmolStr>)> {
        let scope = self.profile.scope?;
        let fields = ["workspace", self.profile.kind_name(scope)];
        let at = fields.iter().find_map(|field| written.get(field))?;
        let items: Vec<Value<'v>> = each(at).collect();
        let told = items.into_iter().filter_map(|item| self.reference_to(scope, item).map(|id| self.told(scope, id)));
        let scopes: Vec<SmolStr> = told.collect();
        (!scopes.is_empty()).then_some((at, scopes))
    }

    fn nowhere(&mut self, at: Value<'_>, sides: [PolicySide<'_>; 2]) {
        let [a, b] = sides.map(|side| title(self.profile, side.subject).to_owned());
        let message = format!("policies about {a} and {b} cannot be cut to where they meet");
        let help = "neither of the two lives there; name `tags` or `ref` of one of them";
        self.wrong(Fault::WrongValue, at, message, "not known of these", help);
    }

    /// Whether there is what a policy is cut to, or leaves out; says so if not.
    pub(super) fn check_selections(&mut self, known: &Comply, policy: &Policy, written: Value<'_>) {
        for reference in policy.named() {
            let Err(not_found) = known.lookup(reference) else { continue };
            let message = words::refusal(self.profile, &not_found.into());
            let clauses = ["where", "except"].into_iter().filter_map(|clause| written.get(clause));
            let at = clauses.clone().find_map(|clause| naming(clause, reference)).or_else(|| clauses.clone().next());
            self.wrong(Fault::DanglingReference, at.unwrap_or(written), message, "does not exist", "");
        }
    }
}

/// A value by itself, or each of a list.
fn each(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let single = (value.kind() != Kind::List).then_some(value);
    single.into_iter().chain(value.items())
}

/// Where something within a value names a reference, with or without its kind.
fn naming<'v>(value: Value<'v>, reference: &str) -> Option<Value<'v>> {
    let id = reference.split_once('/').map_or(reference, |(_, id)| id);
    let own = |value: &Value<'_>| {
        matches!(value.kind(), Kind::Text | Kind::Integer) && (value.text() == reference || value.text() == id)
    };
    if own(&value) {
        return Some(value);
    }
    let inner = value.items().chain(value.entries().filter(|(key, _)| key.text() != "tags").map(|(_, value)| value));
    inner.into_iter().find_map(|value| naming(value, reference))
}
