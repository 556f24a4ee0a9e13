//! A fingerprint of an organisation, and of what somebody wants to do with it.

use smol_str::SmolStr;
use upheld_engine::comply::{FindingId, FindingName, Tags};
use upheld_engine::digest::{Encode, Encoder, hex};
use upheld_model::Timestamp;

use crate::definition::{Definition, Immutable, Mandatory, Protects, Redefinition, Restricted};
use crate::plan::Step;
use crate::records::{Cause, Entry};
use crate::{
    Action, Actor, Description, Filling, Membership, NewLink, NewObject, Organisation, Preexisting, Settings, TagSchema,
};

impl Organisation {
    /// SHA-256 over everything that answers rest on: what policies judge, settings, definitions and default tags, and what
    /// happened.
    pub fn digest(&self, now: Timestamp) -> String {
        let Self { comply, schema, settings, records, keeping: _, version: _ } = self;
        let mut encoder = Encoder::default();
        encoder.text(&comply.digest(now));
        encoder.one(settings);
        encoder.one(&**schema);
        encoder.list(records.log(), |encoder, entry| {
            let Entry { cause, net } = entry;
            encoder.one(cause);
            for ids in [&net.begun, &net.ended] {
                // In which order they were found says nothing.
                let mut names: Vec<[SmolStr; 6]> = ids.iter().map(|id| self.names_of(*id)).collect();
                names.sort();
                encoder.list(names.iter().flatten(), |encoder, name| encoder.text(name));
            }
        });
        for (name, causes) in records.remembered().sorted() {
            let FindingName { scope, policy, rule, a, b } = name;
            for text in [scope.as_deref().unwrap_or_default(), policy, a, b, &rule.to_string()] {
                encoder.text(text);
            }
            encoder.list(causes, Encoder::one);
        }
        hex(&encoder.finish())
    }

    /// A fingerprint of steps to be taken, and of what they are taken in: what is meant counts, not how it is written.
    pub fn plan_id(&self, now: Timestamp, steps: &[Step]) -> String {
        let mut encoder = Encoder::default();
        encoder.text(&self.digest(now));
        encoder.list(steps, |encoder, (actor, action)| {
            encoder.one(actor);
            encoder.one(action);
        });
        let fingerprint = encoder.finish();
        hex(fingerprint.get(..6).unwrap_or(&fingerprint))
    }

    /// A rule and a pair, whatever became of either.
    fn names_of(&self, id: FindingId) -> [SmolStr; 6] {
        let FindingId { pair, entry } = id;
        let rule = self.comply.rule_of(entry).map(|(policy, rule)| [&policy.id, &rule.a, &rule.b].map(SmolStr::clone));
        let [policy, first, second] = rule.unwrap_or_default();
        let [a, b] = [pair.a, pair.b].map(|side| self.comply.reference(side));
        let scope = pair.scope.map(|scope| self.comply.reference(scope)).unwrap_or_default();
        [policy, first, second, a, b, scope]
    }
}

fn tags(encoder: &mut Encoder, tags: &Tags) {
    encoder.list(tags, |encoder, (key, values)| {
        encoder.text(key);
        texts(encoder, values);
    });
}

fn texts(encoder: &mut Encoder, values: &[SmolStr]) {
    encoder.list(values, |encoder, value| encoder.text(value));
}

impl Encode for Settings {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { preexisting, partners, membership } = self;
        encoder.word(match preexisting {
            Preexisting::Blocks => "block",
            Preexisting::Tolerated => "tolerate",
        });
        encoder.word(partners.word());
        encoder.word(match membership {
            Membership::Optional => "optional",
            Membership::Required => "required",
        });
    }
}

impl Encode for TagSchema {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { definitions, defaults, written } = self;
        let mut sorted: Vec<&Definition> = definitions.iter().collect();
        sorted.sort_by_key(|own| (own.subject, &own.key));
        encoder.list(sorted, Encoder::one);
        tags(encoder, defaults);
        let mut objects: Vec<(&SmolStr, &Tags)> = written.iter().collect();
        objects.sort_by_key(|(object, _)| *object);
        if objects.is_empty() {
            return;
        }
        encoder.list(objects, |encoder, (object, own)| {
            encoder.text(object);
            let mut sorted = own.clone();
            sorted.sort();
            tags(encoder, &sorted);
        });
    }
}

impl Encode for Definition {
    /// Where it was written says nothing about what it is.
    fn encode(&self, encoder: &mut Encoder) {
        let Self {
            subject,
            key,
            tag,
            options,
            withdrawn,
            regex,
            default,
            mandatory,
            restricted,
            immutable,
            protects,
            at: _,
        } = self;
        encoder.number(subject.0);
        encoder.text(key);
        encoder.word(tag.word());
        for values in [options, withdrawn, default] {
            texts(encoder, values);
        }
        encoder.option(regex.as_ref(), |encoder, regex| encoder.text(regex.source()));
        encoder.word(mandatory.word());
        encoder.word(restricted.word());
        encoder.word(immutable.word());
        // What is said seldom leaves no mark where it is not said.
        if *protects == Protects::Yes {
            encoder.word("protects");
        }
    }
}

impl Encode for Redefinition {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { subject, key, tag, options, regex, default, mandatory, restricted, immutable } = self;
        encoder.number(subject.0);
        encoder.text(key);
        encoder.option(*tag, |encoder, tag| encoder.word(tag.word()));
        for values in [options, default] {
            encoder.option(values.as_ref(), |encoder, values| texts(encoder, values));
        }
        encoder.option(regex.as_ref(), |encoder, regex| encoder.text(regex.source()));
        encoder.option(*mandatory, |encoder, own| encoder.word(own.word()));
        encoder.option(*restricted, |encoder, own| encoder.word(own.word()));
        encoder.option(*immutable, |encoder, own| encoder.word(own.word()));
    }
}

impl Mandatory {
    fn word(self) -> &'static str {
        match self {
            Self::Yes => "mandatory",
            Self::No => "optional",
        }
    }
}

impl Restricted {
    fn word(self) -> &'static str {
        match self {
            Self::Yes => "restricted",
            Self::No => "open",
        }
    }
}

impl Immutable {
    fn word(self) -> &'static str {
        match self {
            Self::Yes => "immutable",
            Self::No => "mutable",
        }
    }
}

impl Encode for Cause {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { action, object, change, role, name, at } = self;
        encoder.text(action);
        encoder.text(object);
        encoder.option(change.as_ref(), |encoder, (tag, before, after)| {
            encoder.text(tag);
            texts(encoder, before);
            texts(encoder, after);
        });
        encoder.option(role.as_deref(), Encoder::text);
        encoder.option(name.as_deref(), Encoder::text);
        encoder.number(at.0);
    }
}

impl Encode for Actor {
    fn encode(&self, encoder: &mut Encoder) {
        match self {
            Self::System => encoder.word("system"),
            Self::Person { role, scope, name } => {
                encoder.word("person");
                encoder.number(role.0);
                encoder.option(scope.as_deref(), Encoder::text);
                encoder.option(name.as_deref(), Encoder::text);
            }
            Self::Several(roles) => {
                encoder.word("several");
                encoder.list(roles, Encoder::one);
            }
        }
    }
}

impl Encode for NewObject {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { object, name, tags: own, links, partner, paid_by, filling } = self;
        encoder.text(object);
        encoder.option(name.as_deref(), Encoder::text);
        tags(encoder, own);
        encoder.list(links, |encoder, NewLink { other, role }| {
            encoder.text(other);
            encoder.option(role.as_deref(), Encoder::text);
        });
        encoder.word(partner.word());
        encoder.option(paid_by.as_deref(), Encoder::text);
        encoder.word(filling.word());
    }
}

impl Filling {
    fn word(self) -> &'static str {
        match self {
            Self::Defaults => "defaults",
            Self::AsWritten => "asWritten",
            Self::Mentioned => "mentioned",
        }
    }
}

impl Encode for Description {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { name, partner, paid_by, standing } = self;
        encoder.option(name.as_deref(), Encoder::text);
        encoder.word(partner.word());
        encoder.option(paid_by.as_deref(), Encoder::text);
        encoder.word(standing.word());
    }
}

impl Encode for Action {
    fn encode(&self, encoder: &mut Encoder) {
        encoder.word(self.word());
        match self {
            Self::Create(new) => encoder.one(new),
            Self::Delete { object } => encoder.text(object),
            Self::SetTags { object, tags: own } => {
                encoder.text(object);
                tags(encoder, own);
            }
            Self::Describe { object, description } => {
                encoder.text(object);
                encoder.one(description);
            }
            Self::Link { a, b, role } | Self::Unlink { a, b, role } | Self::End { a, b, role } => {
                encoder.text(a);
                encoder.text(b);
                encoder.option(role.as_deref(), Encoder::text);
            }
            Self::CreatePolicy(policy) | Self::UpdatePolicy(policy) => encoder.one(policy),
            Self::DeletePolicy { policy } => encoder.text(policy),
            Self::Define(definition) => encoder.one(definition),
            Self::Redefine(change) => encoder.one(change),
            Self::Undefine { subject, key } => {
                encoder.text(subject);
                encoder.text(key);
            }
            Self::SetDefaults { tags: own } => tags(encoder, own),
            Self::Grant(waiver) => encoder.one(waiver),
            Self::Revoke { waiver } => encoder.text(waiver),
            Self::Advance { to } => encoder.number(to.0),
        }
    }
}

impl Action {
    fn word(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Delete { .. } => "deleteObject",
            Self::SetTags { .. } => "setTags",
            Self::Describe { .. } => "describe",
            Self::Link { .. } => "link",
            Self::Unlink { .. } => "unlink",
            Self::End { .. } => "end",
            Self::CreatePolicy(_) => "createPolicy",
            Self::UpdatePolicy(_) => "updatePolicy",
            Self::DeletePolicy { .. } => "deletePolicy",
            Self::Define(_) => "createTagDefinition",
            Self::Redefine(_) => "updateTagDefinition",
            Self::Undefine { .. } => "deleteTagDefinition",
            Self::SetDefaults { .. } => "setUserDefaultTags",
            Self::Grant(_) => "grantWaiver",
            Self::Revoke { .. } => "revokeWaiver",
            Self::Advance { .. } => "advance",
        }
    }
}
