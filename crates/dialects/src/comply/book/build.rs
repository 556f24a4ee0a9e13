//! From the documents of one kind to its state: definitions first, for all others are held against them.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::{
    Action, Actor, Comply, Decision, Draft, Membership, Partners, Preexisting, Profile, Settings,
};
use upheld_engine::words::comply as words;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, NodeRef, SourceId, Timestamp};

use super::{MANIFEST_DEFINITION, OfKind, Organisation};
use crate::comply::changes::Change;
use crate::comply::links::Links;
use crate::comply::objects::Objects;
use crate::comply::problems::{self, located, twice};
use crate::comply::reader::Reader;
use crate::comply::shapes::{self, Whole};
use crate::comply::tagged::Schema;
use crate::shape::Checker;

/// Before everything: what is loaded has no clock of its own.
const BEGINNING: Timestamp = Timestamp(i64::MIN);

type Policies = Vec<(SmolStr, NodeRef)>;

impl<'f> OfKind<'f> {
    fn is_empty(&self) -> bool {
        self.definitions.is_empty()
            && self.policies.is_empty()
            && self.waivers.is_empty()
            && self.objects.is_empty()
            && self.mapped.is_empty()
            && self.links.is_empty()
            && self.changes.is_empty()
            && self.collections.is_empty()
    }

    /// The state, unless something is wrong, and the policies; nothing if there are no documents.
    pub(super) fn build(
        mut self,
        files: &'f Files,
        found: &mut Diagnostics,
    ) -> Option<(Option<Organisation>, Policies)> {
        if self.is_empty() {
            return None;
        }
        let before = found.errors();
        let (settings, defaults) = self.open_collections(found);
        let mut schema = Schema::default();
        let definitions = self.definitions(&mut schema, found);
        let profile = Arc::new(schema.loosened(&self.profile));
        let mut draft = Draft::new(Arc::clone(&profile), settings, BEGINNING);
        for definition in definitions {
            draft.define(definition);
        }
        let policies = self.read_policies(files, &profile, &schema, &mut draft, found);
        self.read_objects(files, &profile, &schema, &mut draft, found);
        if let Some((source, defaults)) = defaults {
            draft.defaults(Reader::new(source, &profile, found).tags(defaults));
        }
        problems::report(&draft, files, found);
        self.read_waivers(files, &profile, &mut draft, found);
        let mut changes = Vec::new();
        for (source, document) in &self.changes {
            changes.extend(Reader::new(*source, &profile, found).changes(*document, &Actor::System));
        }
        if found.errors() > before {
            return Some((None, policies));
        }
        let mut comply = draft.build();
        let history = replay(&mut comply, changes, files, found);
        Some((Some(Organisation { comply, history }), policies))
    }

    /// Puts what is in collecting documents where it belongs.
    fn open_collections(&mut self, found: &mut Diagnostics) -> (Settings, Option<(SourceId, Value<'f>)>) {
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
            self.links.extend(items("relationships").map(|value| (source, value)));
            for (field, known) in [("settings", &mut settings), ("userDefaultTags", &mut defaults)] {
                let Some(value) = document.get(field) else { continue };
                if known.replace((source, value)).is_some() {
                    let diagnostic = Diagnostic::error(Fault::DefinedTwice, format!("`{field}` is written twice"));
                    found.push(diagnostic.at_value(source, value, "the second one").help("keep one of them"));
                }
            }
        }
        // The first one stands, wherever it was written.
        for list in [&mut self.definitions, &mut self.policies, &mut self.waivers, &mut self.objects] {
            list.sort_by_key(|(source, value, _)| (*source, value.number()));
        }
        (settings.map_or_else(Settings::default, |(_, settings)| read_settings(settings)), defaults)
    }

    fn definitions(&self, schema: &mut Schema, found: &mut Diagnostics) -> Vec<upheld_engine::comply::Definition> {
        let mut known = Draft::new(Arc::clone(&self.profile), Settings::default(), BEGINNING);
        for (source, written, whole) in &self.definitions {
            let mut reader = Reader::new(*source, &self.profile, found);
            let manifest = written.get("kind").map(Value::text) == Some(MANIFEST_DEFINITION);
            let definition =
                if manifest { reader.manifest_definition(*written) } else { reader.definition(*written, *whole) };
            let Some(definition) = definition else { continue };
            if reader.check_definition(known.so_far(), &definition, *written) {
                schema.add(definition.clone());
                known.define(definition);
            }
        }
        known.so_far().definitions().to_vec()
    }

    fn read_policies(
        &self,
        files: &Files,
        profile: &Profile,
        schema: &Schema,
        draft: &mut Draft,
        found: &mut Diagnostics,
    ) -> Policies {
        let mut policies = Vec::new();
        for (source, written, whole) in &self.policies {
            let mut reader = Reader::new(*source, profile, found);
            let at = reader.place(*written);
            let Some(policy) = reader.policy(*written, *whole, Some(schema)) else { continue };
            let id = policy.id.clone();
            match draft.so_far().policy(&id).map(|known| known.at) {
                Some(first) => found.push(twice(format!("the policy `{id}` is defined twice"), files, at, first)),
                None if draft.policy(policy) => policies.push((id, at)),
                None => {}
            }
        }
        policies
    }

    fn read_objects(
        &self,
        files: &Files,
        profile: &Profile,
        schema: &Schema,
        draft: &mut Draft,
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
        for (source, written) in &self.links {
            links.read(&mut Reader::new(*source, profile, found), draft, *written);
        }
        objects.finish(draft);
        for (object, at, first) in objects.twice {
            let message = format!("`{}` is defined twice", draft.so_far().reference(object));
            found.push(twice(message, files, at, first));
        }
    }

    fn read_waivers(&self, files: &Files, profile: &Profile, draft: &mut Draft, found: &mut Diagnostics) {
        for (source, written, whole) in &self.waivers {
            let mut reader = Reader::new(*source, profile, found);
            let Some(waiver) = reader.waiver(*written, *whole) else { continue };
            let so_far = draft.so_far();
            if so_far.policy(&waiver.policy).is_none() {
                let ids: Vec<SmolStr> = so_far.policies().into_iter().map(|policy| policy.id.clone()).collect();
                let help = crate::comply_kind::or_nearest(&waiver.policy, ids.iter().map(SmolStr::as_str));
                let message = format!("there is no policy `{}`", waiver.policy);
                let at = written.get("policy").unwrap_or(*written);
                reader.wrong(Fault::DanglingReference, at, message, "not there", &help);
            }
            for side in [&waiver.a, &waiver.b, &waiver.scope].into_iter().flatten() {
                if let Err(refusal) = so_far.lookup(side) {
                    let message = words::refusal(profile, &refusal);
                    let at = written.get("match").unwrap_or(*written);
                    reader.wrong(Fault::DanglingReference, at, message, "not there", "");
                }
            }
            let (id, at) = (waiver.id.clone(), reader.place(*written));
            let first = so_far.waivers().iter().find(|known| known.id == id).and_then(|known| known.at);
            if !draft.waiver(waiver) {
                found.push(twice(format!("the waiver `{id}` is defined twice"), files, at, first));
            }
        }
    }
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

/// Does what was done, in the order of time. What would have been refused cannot have been done.
fn replay(comply: &mut Comply, changes: Vec<Change>, files: &Files, found: &mut Diagnostics) -> Vec<NodeRef> {
    let history = changes.iter().map(|change| change.place).collect();
    let mut dated: Vec<(Timestamp, Change)> = Vec::new();
    for change in changes {
        match change.at {
            Some(at) => dated.push((at, change)),
            None => {
                let message = "a change that was made needs a time";
                let diagnostic = Diagnostic::error(Fault::MissingField, message);
                let help = "add `at: 2026-02-03T12:00:00Z`; changes without a time are for `upheld what-if`";
                found.push(located(diagnostic.help(help), files, Some(change.place), "when was it?"));
            }
        }
    }
    dated.sort_by_key(|(at, _)| *at);
    for (at, change) in dated {
        comply.act(&Actor::System, &Action::Advance { to: at });
        let decision = comply.act(&change.actor, &change.action);
        if !decision.outcome.is_done() {
            let told = words::action(&change.action);
            let message = format!("this change would have been refused: {told}");
            let diagnostic = Diagnostic::error(Fault::RefusedChange, message);
            let diagnostic = reasons(comply, &decision).into_iter().fold(diagnostic, Diagnostic::help);
            found.push(located(diagnostic, files, Some(change.place), decision.outcome.word()));
        }
    }
    history
}

/// Why a change was refused.
fn reasons(comply: &Comply, decision: &Decision) -> Vec<String> {
    let refusal = decision.refusal.iter().map(|refusal| words::refusal(comply.profile(), refusal));
    let violations = decision.violations.iter().map(|violation| {
        let side = |side: &upheld_engine::comply::SideOf| {
            let values = if side.values.is_empty() { "(none)".to_owned() } else { side.values.join(", ") };
            format!("{} has {} {values}", side.object, side.tag)
        };
        format!("policy `{}`: {}, {}", violation.policy, side(&violation.a), side(&violation.b))
    });
    refusal.chain(violations).collect()
}
