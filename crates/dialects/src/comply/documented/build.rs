//! From the documents of one kind to its state: definitions first, for all others are held against them.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::{self, Finding, Partners, Profile, SideOf, Subject, Waiver};
use upheld_governance::{
    Actor, Attempt, Decision, Definition, Draft, Membership, Organisation, Preexisting, Settings, TagSchema, words,
};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, NodeRef, SourceId, Timestamp};

use super::{Documented, MANIFEST_DEFINITION, OfKind};
use crate::comply::accepted::{Accepted, AcceptedRecords};
use crate::comply::changes::Change;
use crate::comply::links::Links;
use crate::comply::objects::Objects;
pub(super) use crate::comply::problems::Twice;
use crate::comply::problems::{self, located};
use crate::comply::reader::Reader;
use crate::comply::shapes::{self, Whole};
use crate::comply::tagged::Schema;
use crate::shape::Checker;

/// Before everything: what is loaded has no clock of its own.
pub(super) const BEGINNING: Timestamp = Timestamp(i64::MIN);

pub(super) type Policies = Vec<(SmolStr, NodeRef)>;

/// A value of a document.
pub(super) type Written<'f> = (SourceId, Value<'f>);

impl<'f> OfKind<'f> {
    /// The state, unless something is wrong, and the policies; nothing if there are no documents.
    pub(super) fn build(mut self, twice: Twice<'f>, found: &mut Diagnostics) -> Option<(Option<Documented>, Policies)> {
        let files = twice.files;
        let documents = self.documents();
        if documents == 0 {
            return None;
        }
        let before = found.errors();
        let (settings, defaults) = self.open_collections(twice, found);
        let mut schema = Schema::default();
        let definitions = self.definitions(twice, &mut schema, found);
        let profile = Arc::new(schema.loosened(&self.profile));
        let given = settings.map_or_else(Settings::default, |(_, settings)| read_settings(settings));
        let mut draft = Draft::new(Arc::clone(&profile), given);
        for definition in definitions {
            draft.define(definition);
        }
        let policies = self.read_facts(twice, &schema, &mut draft.facts, found);
        if let Some((source, defaults)) = defaults {
            draft.defaults(Reader::new(source, &profile, found).tags(defaults));
        }
        problems::report(&draft.facts, files, found);
        for (source, written, _) in &self.policies {
            let id = written.get("id").or_else(|| written.get("name")).map_or("", Value::text);
            let Some(policy) = draft.so_far().policy(id).filter(|own| own.at == Some(place((*source, *written))))
            else {
                continue;
            };
            Reader::new(*source, &profile, found).check_selections(draft.so_far(), policy, *written);
        }
        for (source, written, waiver) in self.read_waivers(twice, &mut draft.facts, found) {
            Reader::new(source, &profile, found).check_waiver(draft.so_far(), &waiver, written);
        }
        let accepted = self.read_accepted(twice, &profile, found);
        let changes: Vec<NodeRef> = self.changes.iter().copied().map(place).collect();
        let past = read_changes(&changes, files, &profile, found);
        if found.errors() > before {
            return Some((None, policies));
        }
        let (base, told) = draft.build_with_mentions();
        let organisation = base.clone();
        let beginning = Documented {
            organisation,
            base,
            told,
            documents,
            changes,
            history: Vec::new(),
            last: BEGINNING,
            refused_today: 0,
            accepted,
        };
        Some((Some(beginning.replayed(past, files, found).remembering()), policies))
    }

    /// How many documents there are.
    pub(super) fn documents(&self) -> usize {
        self.definitions.len()
            + self.policies.len()
            + self.waivers.len()
            + self.objects.len()
            + self.mapped.len()
            + self.links.len()
            + self.changes.len()
            + self.accepted.len()
            + self.collections.len()
    }

    /// Reads policies, objects and relationships.
    pub(super) fn read_facts(
        &self,
        twice: Twice<'_>,
        schema: &Schema,
        draft: &mut comply::Draft,
        found: &mut Diagnostics,
    ) -> Policies {
        let profile = Arc::clone(draft.profile());
        let policies = self.read_policies(twice, &profile, schema, draft, found);
        self.read_objects(twice, &profile, schema, draft, found);
        policies
    }

    /// Puts what is in collecting documents where it belongs.
    pub(super) fn open_collections(
        &mut self,
        twice: Twice<'_>,
        found: &mut Diagnostics,
    ) -> (Option<Written<'f>>, Option<Written<'f>>) {
        let (mut settings, mut defaults) = (None, None);
        for (source, document) in std::mem::take(&mut self.collections) {
            if !Checker::new(source, found).check(document, &shapes::collection()) {
                continue;
            }
            let items = |field: &str| document.get(field).into_iter().flat_map(Value::items);
            let item = |value: Value<'f>| (source, value, Whole::Item);
            self.definitions.extend(items("tagDefinitions").map(item));
            self.objects.extend(items("objects").map(item));
            self.policies.extend(items("policies").map(item));
            self.waivers.extend(items("waivers").map(item));
            self.links.extend(items("relationships").map(|value| place((source, value))));
            for (field, known) in [("settings", &mut settings), ("userDefaultTags", &mut defaults)] {
                let Some(value) = document.get(field) else { continue };
                if let Some(first) = known {
                    let diagnostic = Diagnostic::error(Fault::DefinedTwice, format!("`{field}` is written twice"));
                    let diagnostic = diagnostic.at_value(source, value, "the second one").help("keep one of them");
                    found.push(twice.beside(diagnostic, Some(place(*first))));
                } else {
                    *known = Some((source, value));
                }
            }
        }
        // The first one stands, wherever it was written.
        for list in [&mut self.definitions, &mut self.policies, &mut self.waivers, &mut self.objects] {
            list.sort_by_key(|(source, value, _)| (*source, value.number()));
        }
        (settings, defaults)
    }

    /// The definitions, by subject and key.
    fn definitions(&self, twice: Twice<'_>, schema: &mut Schema, found: &mut Diagnostics) -> Vec<Definition> {
        let mut known = TagSchema::default();
        let mut places: Vec<(Subject, SmolStr, NodeRef)> = Vec::new();
        for (source, written, whole) in &self.definitions {
            let mut reader = Reader::new(*source, &self.profile, found);
            let manifest = written.get("kind").map(Value::text) == Some(MANIFEST_DEFINITION);
            let definition =
                if manifest { reader.manifest_definition(*written) } else { reader.definition(*written, *whole) };
            let Some(definition) = definition else { continue };
            let (subject, key, at) = (definition.subject, definition.key.clone(), reader.place(*written));
            match reader.checked_definition(&known, &definition, *written) {
                Ok(()) => {
                    schema.add(definition.clone());
                    known.define(definition);
                    places.push((subject, key, at));
                }
                Err(diagnostic) if diagnostic.fault == Fault::DefinedTwice => {
                    let first = places.iter().find(|(own, known, _)| (*own, known) == (subject, &key));
                    found.push(twice.beside(diagnostic, first.map(|(_, _, at)| *at)));
                }
                Err(diagnostic) => found.push(diagnostic),
            }
        }
        let mut definitions = known.definitions().to_vec();
        definitions.sort_by(|a, b| (a.subject, &a.key).cmp(&(b.subject, &b.key)));
        definitions
    }

    fn read_policies(
        &self,
        twice: Twice<'_>,
        profile: &Profile,
        schema: &Schema,
        draft: &mut comply::Draft,
        found: &mut Diagnostics,
    ) -> Policies {
        let mut policies = Vec::new();
        for (source, written, whole) in &self.policies {
            let mut reader = Reader::new(*source, profile, found);
            let at = reader.place(*written);
            let Some(policy) = reader.policy(*written, *whole, Some(schema)) else { continue };
            let id = policy.id.clone();
            match draft.so_far().policy(&id).map(|known| known.at) {
                Some(first) => found.push(twice.tell(format!("the policy `{id}` is defined twice"), at, first)),
                None if draft.policy(policy) => policies.push((id, at)),
                None => {}
            }
        }
        policies
    }

    fn read_objects(
        &self,
        twice: Twice<'_>,
        profile: &Profile,
        schema: &Schema,
        draft: &mut comply::Draft,
        found: &mut Diagnostics,
    ) {
        let mut objects = Objects::new(profile, schema, &self.mapping);
        for (source, written, whole) in &self.objects {
            objects.read(&mut Reader::new(*source, profile, found), draft, *written, *whole);
        }
        for (source, written) in &self.mapped {
            let word = written.get("kind").or_else(|| written.get("type")).map_or("", Value::text);
            let maps = self.mapping.of(word).unwrap_or_default();
            objects.mapped(&mut Reader::new(*source, profile, found), draft, *written, maps);
        }
        let mut links = Links::new();
        for at in &self.links {
            if let Some(written) = twice.files.value(*at) {
                links.read(&mut Reader::new(at.source, profile, found), draft, written);
            }
        }
        for (object, at, first) in objects.twice {
            let message = format!("`{}` is defined twice", draft.so_far().reference(object));
            found.push(twice.tell(message, at, first));
        }
    }

    /// What was let through.
    fn read_accepted(&self, twice: Twice<'_>, profile: &Profile, found: &mut Diagnostics) -> AcceptedRecords {
        let mut accepted = AcceptedRecords::default();
        for (at, read) in self.each_accepted(profile, found) {
            let name = read.name().clone();
            if let Err(first) = accepted.add(at, Arc::new(read)) {
                found.push(twice.tell(format!("the record `{name}` is written twice"), at, Some(first)));
            }
        }
        accepted
    }

    /// The records that documents have, each with its place.
    pub(super) fn each_accepted(&self, profile: &Profile, found: &mut Diagnostics) -> Vec<(NodeRef, Accepted)> {
        let read = |(source, written): &Written<'f>| {
            let read = Reader::new(*source, profile, found).accepted(*written)?;
            Some((place((*source, *written)), read))
        };
        self.accepted.iter().filter_map(read).collect()
    }

    /// The waivers by name, each with where it was written: which one covers a violation does not depend on the order of files.
    pub(super) fn read_waivers(
        &self,
        twice: Twice<'_>,
        draft: &mut comply::Draft,
        found: &mut Diagnostics,
    ) -> Vec<(SourceId, Value<'f>, Waiver)> {
        let profile = Arc::clone(draft.profile());
        let mut waivers: Vec<(SourceId, Value<'f>, Waiver)> = Vec::new();
        for (source, written, whole) in &self.waivers {
            let mut reader = Reader::new(*source, &profile, found);
            let Some(waiver) = reader.waiver(*written, *whole) else { continue };
            let (id, at) = (&waiver.id, reader.place(*written));
            match waivers.iter().find(|(_, _, known)| known.id == *id) {
                Some((_, _, first)) => {
                    found.push(twice.tell(format!("the waiver `{id}` is defined twice"), at, first.at));
                }
                None => waivers.push((*source, *written, waiver)),
            }
        }
        waivers.sort_by(|(_, _, a), (_, _, b)| a.id.cmp(&b.id));
        for (_, _, waiver) in &waivers {
            draft.waiver(waiver.clone());
        }
        waivers
    }
}

/// Where a value was written.
pub(super) fn place((source, value): Written<'_>) -> NodeRef {
    NodeRef { source, node: value.number() }
}

/// The changes of some documents.
pub(super) fn read_changes(
    documents: &[NodeRef],
    files: &Files,
    profile: &Profile,
    found: &mut Diagnostics,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for at in documents {
        let document = files.value(*at).into_iter();
        changes.extend(document.flat_map(|own| Reader::new(at.source, profile, found).changes(own, &Actor::System)));
    }
    changes
}

fn read_settings(written: Value<'_>) -> Settings {
    let flag = |field: &str| written.get(field).and_then(Value::as_bool) == Some(true);
    let tolerated = written.get("preexisting").map(Value::text) == Some("tolerate");
    Settings {
        preexisting: if tolerated { Preexisting::Tolerated } else { Preexisting::Blocks },
        partners: if flag("exemptPartnerWorkspaces") { Partners::Exempt } else { Partners::Judged },
        membership: if flag("requireWorkspaceMembership") { Membership::Required } else { Membership::Optional },
    }
}

impl Documented {
    /// With what was done since, in the order of time. What makes no sense or nobody had the right to do cannot have been done; what policies
    /// would refuse today was done before they were there, perhaps, and is only told.
    pub(super) fn replayed(mut self, changes: Vec<Change>, files: &Files, found: &mut Diagnostics) -> Self {
        let mut dated: Vec<(Timestamp, Change)> = Vec::new();
        for change in changes {
            match change.at {
                Some(at) => dated.push((at, change)),
                None => {
                    let message = "a change that was made needs a time";
                    let diagnostic = Diagnostic::error(Fault::MissingField, message);
                    let help = "add `at: 2026-02-03T12:00:00Z`; changes without a time are for `upheld what-if`";
                    found.push(located(diagnostic.help(help), files, Some(change.place), "`at` is missing here"));
                }
            }
        }
        dated.sort_by_key(|(at, _)| *at);
        self.organisation = self.organisation.happening();
        let Self { organisation, history, last, refused_today, .. } = &mut self;
        for (at, change) in dated {
            let tried = take_place(organisation, last, at, &change);
            *refused_today += usize::from(tried.outcome.is_done() && !tried.blocking.is_empty());
            let reported = words::action(&change.action);
            if tried.outcome.is_done() && !tried.blocking.is_empty() {
                let message = format!("this change would be refused today: {reported}");
                let diagnostic = Diagnostic::warning(Fault::RefusedChange, message);
                let diagnostic = tried.blocking.iter().map(against).fold(diagnostic, Diagnostic::help);
                found.push(located(diagnostic, files, Some(change.place), "taken as it was done, and recorded"));
            } else if !tried.outcome.is_done() {
                let decision = organisation.decision(tried);
                let message = format!("this change would have been refused: {reported}");
                let diagnostic = Diagnostic::error(Fault::RefusedChange, message);
                let reasons = reasons(organisation.profile(), &decision).into_iter();
                let diagnostic = reasons.fold(diagnostic, Diagnostic::help);
                found.push(located(diagnostic, files, Some(change.place), decision.outcome.word()));
            }
            history.push((at, Arc::new(change)));
        }
        self.organisation = self.organisation.documented();
        self
    }

    /// With what is known of violations that were let through.
    pub(super) fn remembering(mut self) -> Self {
        self.organisation.remember(self.accepted.remembered().clone());
        self
    }

    /// As it was at a moment in the past.
    pub(super) fn replayed_until(&self, now: Timestamp) -> Organisation {
        let (mut organisation, mut last) = (self.base.clone(), BEGINNING);
        for (at, change) in self.history.iter().take_while(|(at, _)| *at <= now) {
            take_place(&mut organisation, &mut last, *at, change);
        }
        organisation.remember(self.accepted.remembered().clone());
        organisation
    }
}

/// A change happens, and never before the one that happened last.
fn take_place(organisation: &mut Organisation, last: &mut Timestamp, at: Timestamp, change: &Change) -> Attempt {
    let tried = organisation.commit_past((*last).max(at), &change.actor, &change.action);
    *last = tried.at;
    tried
}

/// Why a change was refused.
fn reasons(profile: &Profile, decision: &Decision) -> Vec<String> {
    let refusal = decision.refusal.iter().map(|refusal| words::refusal(profile, refusal));
    refusal.chain(decision.violations.iter().map(against)).collect()
}

/// What is against a change.
fn against(violation: &Finding) -> String {
    let side = |side: &SideOf| {
        let values = if side.values.is_empty() { "(none)".to_owned() } else { side.values.join(", ") };
        format!("{} has {} {values}", side.object, side.tag)
    };
    format!("policy `{}`: {}, {}", violation.policy, side(&violation.a), side(&violation.b))
}
