//! A fingerprint of everything that answers rest on.

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::facts::{Described, Link, ObjectId, ObjectState, Partner};
use super::policy::{Policy, Rule, Waiver};
use super::selection::{Selection, Selector};
use super::{Comply, Partners};
use crate::digest::{Encode, Encoder, Sum, hex};

impl Comply {
    /// SHA-256 over the profile, objects, tags, relationships, policies and waivers. Time passes always; what it changes
    /// counts: levels, and which waivers are in force.
    pub fn digest(&self, now: Timestamp) -> String {
        let mut encoder = Encoder::default();
        encoder.one(&**self.profile());
        encoder.word(self.partners.word());
        encoder.one(&self.facts());
        encoder.list(self.policies(), |encoder, policy| {
            encoder.one(policy);
            encoder.word(policy.level_at(now).word());
        });
        encoder.list(self.waivers(), |encoder, waiver| {
            encoder.one(waiver);
            encoder.word(if waiver.in_force(now) { "in force" } else { "not in force" });
        });
        hex(&encoder.finish())
    }

    /// The sum over all objects and relationships.
    fn facts(&self) -> Sum {
        let mut sum = Sum::default();
        for object in self.all_objects() {
            self.fact_of(object).into_iter().for_each(|fact| sum.add(&fact.fingerprint()));
        }
        for link in self.links.iter().flatten() {
            sum.add(&self.fact_of_link(link).fingerprint());
        }
        sum
    }

    /// What is said of an object; nothing if it takes no part.
    fn fact_of(&self, object: ObjectId) -> Option<ObjectFact> {
        let Described { name, standing, partner, paid_by, at: _ } =
            self.described(object).filter(|_| self.is_live(object))?;
        Some(ObjectFact {
            reference: self.reference(object),
            name: name.clone(),
            standing: *standing,
            partner: *partner,
            paid_by: paid_by.map(|payer| self.reference(payer)),
            tags: self.tags_of(object),
        })
    }

    fn fact_of_link(&self, link: &Link) -> LinkFact {
        let Link { a, b, role, relation: _ } = *link;
        LinkFact { a: self.reference(a), b: self.reference(b), role: role.map(|role| self.reference(role)) }
    }
}

struct ObjectFact {
    reference: SmolStr,
    name: Option<SmolStr>,
    standing: ObjectState,
    partner: Partner,
    paid_by: Option<SmolStr>,
    tags: super::Tags,
}

impl Encode for ObjectFact {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { reference, name, standing, partner, paid_by, tags } = self;
        encoder.word("object");
        encoder.text(reference);
        encoder.option(name.as_deref(), Encoder::text);
        encoder.word(standing.word());
        encoder.word(partner.word());
        encoder.option(paid_by.as_deref(), Encoder::text);
        encoder.list(tags, |encoder, (key, values)| {
            encoder.text(key);
            encoder.list(values, |encoder, value| encoder.text(value));
        });
    }
}

struct LinkFact {
    a: SmolStr,
    b: SmolStr,
    role: Option<SmolStr>,
}

impl Encode for LinkFact {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { a, b, role } = self;
        encoder.word("relationship");
        encoder.text(a);
        encoder.text(b);
        encoder.option(role.as_deref(), Encoder::text);
    }
}

impl Encode for Policy {
    /// Where it was written says nothing about what it is.
    fn encode(&self, encoder: &mut Encoder) {
        let Self {
            id,
            a,
            b,
            rules,
            strategy,
            values,
            only,
            level,
            enforce_from,
            description,
            how_to_fix,
            severity,
            at: _,
        } = self;
        encoder.text(id);
        encoder.number(a.0);
        encoder.number(b.0);
        encoder.list(rules, |encoder, Rule { a, b }| {
            encoder.text(a);
            encoder.text(b);
        });
        encoder.word(strategy.word());
        encoder.word(level.word());
        encoder.option(*enforce_from, |encoder, from| encoder.number(from.0));
        for text in [description, how_to_fix, severity] {
            encoder.option(text.as_deref(), Encoder::text);
        }
        // What policies about all pairs of their subjects do not say is not said of them.
        if strategy.is_alone() {
            encoder.list(values, |encoder, value| encoder.text(value));
        }
        if only.iter().any(|own| !own.is_everything()) {
            encoder.word("only");
            encoder.list(only, Encoder::one);
        }
    }
}

impl Encode for Selection {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { among, except } = self;
        encoder.list(among, Encoder::one);
        encoder.list(except, Encoder::one);
    }
}

impl Encode for Selector {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { tags, objects, scopes } = self;
        encoder.list(tags, |encoder, (key, values)| {
            encoder.text(key);
            encoder.list(values, |encoder, value| encoder.text(value));
        });
        for references in [objects, scopes] {
            encoder.list(references, |encoder, reference| encoder.text(reference));
        }
    }
}

impl Encode for Waiver {
    /// Where it was written says nothing about what it is.
    fn encode(&self, encoder: &mut Encoder) {
        let Self { id, policy, a, b, scope, category, reason, approved_by, ticket, not_before, expires, at: _ } = self;
        encoder.text(id);
        encoder.text(policy);
        encoder.text(reason);
        for text in [a, b, scope, category, approved_by, ticket] {
            encoder.option(text.as_deref(), Encoder::text);
        }
        for moment in [not_before, expires] {
            encoder.option(*moment, |encoder, moment| encoder.number(moment.0));
        }
    }
}

impl ObjectState {
    /// What it is called outside.
    pub fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Disabled => "disabled",
            Self::Deleted => "deleted",
        }
    }
}

impl Partner {
    /// What it is called outside.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "partner",
            Self::No => "managed",
        }
    }
}

impl Partners {
    /// What it is called outside.
    pub fn word(self) -> &'static str {
        match self {
            Self::Judged => "judged",
            Self::Exempt => "exempt",
        }
    }
}
