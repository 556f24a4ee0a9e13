//! `PolicyKind` documents of the family comply: which objects there are, how they are related, which pairs policies may be
//! about, what is refused, and who may do what.

mod names;
mod parts;
mod relations;
mod shapes;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::{
    Defaults, Effect, EffectRow, Keys, Kind, KindSpec, Order, Profile, RoleSpec, Rules, Selectors, Strategy, Subject,
    SubjectSpec, Trigger,
};
use upheld_engine::{Choices, ComplyKind};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

use self::names::Names;
pub(crate) use self::names::or_nearest;
use self::shapes::fields;
use super::mapping::Mapping;
use crate::policy_kind::KindForm;

/// How documents of such kinds are read.
pub(super) const FORM: KindForm = KindForm {
    name: "comply",
    family: "comply",
    is: |_| true,
    fields,
    read: |source, document, _, found| Choices::Comply(read(source, document, found)),
};

/// Places are kept in a byte.
const MOST: usize = 250;

/// Reads what is special about them; every mistake is reported.
fn read(source: SourceId, document: Value<'_>, found: &mut Diagnostics) -> ComplyKind {
    let before = found.errors();
    let profile = Reading { source, document, found }.profile();
    // What is wrong with the kinds would be said again of every document.
    if found.errors() == before {
        Mapping::read(source, document, &profile, found);
    }
    ComplyKind { profile: Arc::new(profile) }
}

/// A document that is being read.
struct Reading<'r> {
    source: SourceId,
    document: Value<'r>,
    found: &'r mut Diagnostics,
}

impl<'r> Reading<'r> {
    fn profile(&mut self) -> Profile {
        let (kinds, subjects) = self.kinds_and_subjects();
        let (order, rules, strategies) = self.resolve();
        let mut profile = Profile {
            name: self.name(),
            kinds,
            subjects,
            scope: None,
            relations: Vec::new(),
            pairs: Vec::new(),
            order,
            rules,
            strategies,
            selectors: self.selectors(),
            effects: Vec::new(),
            roles: Vec::new(),
        };
        profile.scope = self.document.get("scope").and_then(|scope| self.kind(&profile, scope));
        profile.pairs = self.pairs(&profile);
        profile.relations = self.relations(&profile);
        self.check_given(&profile);
        profile.effects = self.effects(&profile);
        profile.roles = self.roles(&profile);
        profile
    }

    /// The first edition that it belongs to; without one its own name.
    fn name(&self) -> SmolStr {
        let edition =
            self.document.get("semantics").and_then(|all| all.as_text().or(all.items().next().map(Value::text)));
        SmolStr::new(edition.unwrap_or_else(|| self.document.get("name").map_or("", Value::text)))
    }

    fn list(&self, field: &str) -> impl Iterator<Item = Value<'r>> + use<'r> {
        self.document.get(field).into_iter().flat_map(Value::items)
    }

    fn wrong(&mut self, at: Value<'_>, message: String, label: &str, help: Option<String>) {
        let diagnostic = Diagnostic::error(Fault::BrokenKind, message).at_value(self.source, at, label);
        self.found.push(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }

    /// Objects, and what they count as: as members of a group, or for themselves.
    fn kinds_and_subjects(&mut self) -> (Vec<KindSpec>, Vec<SubjectSpec>) {
        let objects: Vec<Value<'_>> = self.list("objects").collect();
        let groups: Vec<Value<'_>> = self.list("subjects").collect();
        if objects.is_empty() || objects.len() + groups.len() > MOST {
            let at = self.document.get("objects").unwrap_or(self.document);
            let message = format!("a kind has between 1 and {MOST} objects and subjects");
            self.wrong(at, message, "too many, or none", None);
        }
        let mut names = Names::default();
        for item in objects.iter().chain(&groups) {
            names.add(self, *item);
        }
        self.no_slashes(&objects);
        let group_of = |item: Value<'_>| groups.iter().position(|group| names_kind(*group, parts::text(item, "name")));
        let alone = |item: &&Value<'_>| group_of(**item).is_none();
        let mut subjects: Vec<SubjectSpec> = objects.iter().filter(alone).map(|item| subject_spec(*item)).collect();
        let first_group = subjects.len();
        let (mut kinds, mut next) = (Vec::new(), 0);
        for item in objects.iter().take(MOST) {
            let group = group_of(*item);
            let subject = match group {
                Some(group) => first_group + group,
                None => next,
            };
            next += usize::from(group.is_none());
            if let (Some(group), Some(keys)) = (group.and_then(|group| groups.get(group)), item.get("keys")) {
                let (own, group) = (parts::name(*item), parts::name(*group));
                self.wrong(keys, format!("the keys of `{own}` are those of `{group}`"), "move it there", None);
            }
            kinds.push(KindSpec {
                name: parts::name(*item),
                title: parts::title(*item),
                aliases: parts::aliases(*item),
                subject: parts::subject_at(subject),
                defaults: if parts::flag(*item, "defaults") { Defaults::Given } else { Defaults::None },
            });
        }
        subjects.extend(groups.iter().map(|group| subject_spec(*group)));
        self.check_groups(&groups, &kinds);
        (kinds, subjects)
    }

    /// References end their kind at the first slash.
    fn no_slashes(&mut self, objects: &[Value<'_>]) {
        for object in objects {
            let named = [object.get("name"), object.get("title")].into_iter().flatten();
            let aliases = object.get("aliases").into_iter().flat_map(Value::items);
            for name in named.chain(aliases).filter(|name| name.text().contains('/')) {
                let message = format!("`{}` cannot be used in references: it has a slash", name.text());
                let help = "a reference is `kind/id`; the kind ends at the first slash".to_owned();
                self.wrong(name, message, "without slashes", Some(help));
            }
        }
    }

    /// Every kind of a group is there, and in one group only.
    fn check_groups(&mut self, groups: &[Value<'_>], kinds: &[KindSpec]) {
        let mut seen: Vec<&str> = Vec::new();
        for group in groups {
            let members: Vec<Value<'_>> = group.get("objects").into_iter().flat_map(Value::items).collect();
            if members.is_empty() {
                let message = format!("the subject `{}` names no objects", parts::text(*group, "name"));
                self.wrong(*group, message, "expected `objects: [...]`", None);
            }
            for member in members {
                if !kinds.iter().any(|kind| kind.name == member.text()) {
                    let names = kinds.iter().map(|kind| kind.name.as_str());
                    self.unknown("kind of object", member, names);
                } else if seen.contains(&member.text()) {
                    let message = format!("`{}` counts as two subjects", member.text());
                    self.wrong(member, message, "already listed above", None);
                } else {
                    seen.push(member.text());
                }
            }
        }
    }

    fn resolve(&mut self) -> (Order, Rules, Vec<Strategy>) {
        let resolve = self.document.get("resolve");
        let word = |field: &str| resolve.map_or("", |resolve| parts::text(resolve, field));
        let order = if word("order") == "fixed" { Order::Fixed } else { Order::Either };
        let rules = if word("rules") == "one" { Rules::One } else { Rules::Many };
        let listed = resolve.and_then(|resolve| resolve.get("strategies"));
        let strategies: Vec<Strategy> =
            listed.into_iter().flat_map(Value::items).filter_map(|word| Strategy::of(word.text())).collect();
        if let (Some(listed), true) = (listed, strategies.is_empty()) {
            let message = "policies need at least one strategy".to_owned();
            self.wrong(listed, message, "expected `intersection` or `subset`", None);
        }
        (order, rules, if strategies.is_empty() { vec![Strategy::Intersection] } else { strategies })
    }

    fn selectors(&self) -> Selectors {
        let taken = self.document.get("resolve").is_some_and(|resolve| parts::flag(resolve, "selectors"));
        if taken { Selectors::Taken } else { Selectors::None }
    }

    fn effects(&mut self, profile: &Profile) -> Vec<EffectRow> {
        let rows: Vec<Value<'_>> = self.list("enforcement").collect();
        let mut effects = Vec::new();
        for row in rows {
            let mut side = |field: &str| row.get(field).map(|word| self.subject(profile, word));
            let (of, with) = (side("of"), side("with"));
            // A row about somebody unknown would fit everybody.
            if of == Some(None) || with == Some(None) {
                continue;
            }
            effects.push(EffectRow {
                on: if parts::text(row, "on") == "tags" { Trigger::Tags } else { Trigger::Link },
                of: of.flatten(),
                with: with.flatten(),
                by: row.get("by").map(|by| parts::class(by.text())),
                effect: if parts::text(row, "effect") == "block" { Effect::Block } else { Effect::Record },
            });
        }
        effects
    }

    fn roles(&mut self, profile: &Profile) -> Vec<RoleSpec> {
        let items: Vec<Value<'_>> = self.list("roles").collect();
        let mut names = Names::default();
        let mut roles = Vec::new();
        for item in items.into_iter().take(MOST) {
            names.add(self, item);
            let rights: Vec<Value<'_>> = item.get("may").into_iter().flat_map(Value::items).collect();
            let may = rights.into_iter().filter_map(|right| self.right(profile, right)).collect();
            let class = parts::class(parts::text(item, "class"));
            roles.push(RoleSpec { name: parts::name(item), aliases: parts::aliases(item), class, may });
        }
        roles
    }

    /// An object by its own name; a subject with several is not one.
    fn kind(&mut self, profile: &Profile, word: Value<'_>) -> Option<Kind> {
        let kind = profile.kind(word.text());
        if kind.is_none() {
            self.unknown("kind of object", word, profile.kinds.iter().map(|kind| kind.name.as_str()));
        }
        kind
    }

    /// A subject by its name. A kind that counts as another subject is not one.
    fn subject(&mut self, profile: &Profile, word: Value<'_>) -> Option<Subject> {
        let subject = profile.subject(word.text());
        if subject.is_none() {
            match profile.kind(word.text()).and_then(|kind| profile.subject_of(kind)) {
                Some(group) => {
                    let group = profile.subject_name(group);
                    let message = format!("`{}` is not a subject of its own: it counts as `{group}`", word.text());
                    self.wrong(word, message, "not a subject", Some(format!("write `{group}`")));
                }
                None => {
                    self.unknown("subject", word, profile.subjects.iter().map(|subject| subject.name.as_str()));
                }
            }
        }
        subject
    }

    fn unknown<'n>(&mut self, what: &str, word: Value<'_>, names: impl Iterator<Item = &'n str>) {
        let help = names::or_nearest(word.text(), names);
        self.wrong(word, format!("there is no {what} `{}`", word.text()), "unknown", Some(help));
    }
}

fn names_kind(group: Value<'_>, kind: &str) -> bool {
    group.get("objects").into_iter().flat_map(Value::items).any(|member| member.text() == kind)
}

fn subject_spec(item: Value<'_>) -> SubjectSpec {
    let keys = match parts::text(item, "keys") {
        "any" => Keys::Any,
        "any-until-defined" => Keys::AnyUntilDefined,
        _ => Keys::Defined,
    };
    SubjectSpec { name: parts::name(item), title: parts::title(item), aliases: parts::aliases(item), keys }
}
