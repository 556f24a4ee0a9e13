//! The rules of the game, taken apart.

use smol_str::SmolStr;

use super::{
    Class, Defaults, DerivedPair, Effect, EffectRow, End, Holds, Keys, KindSpec, NeedsScope, Order, Profile, Relation,
    Right, RoleSpec, Rules, Selectors, Subject, SubjectSpec, Trigger,
};
use crate::digest::{Encode, Encoder};

impl Encode for Profile {
    fn encode(&self, encoder: &mut Encoder) {
        let Self {
            name,
            kinds,
            subjects,
            scope,
            relations,
            pairs,
            order,
            rules,
            strategies,
            selectors,
            effects,
            roles,
        } = self;
        encoder.text(name);
        encoder.list(kinds, Encoder::one);
        encoder.list(subjects, Encoder::one);
        encoder.option(*scope, |encoder, scope| encoder.number(scope.0));
        encoder.list(relations, Encoder::one);
        encoder.list(pairs, |encoder, (a, b)| {
            encoder.number(a.0);
            encoder.number(b.0);
        });
        encoder.word(match order {
            Order::Either => "either",
            Order::Fixed => "fixed",
        });
        encoder.word(match rules {
            Rules::Many => "many",
            Rules::One => "one",
        });
        encoder.list(strategies, |encoder, strategy| encoder.word(strategy.word()));
        encoder.list(effects, Encoder::one);
        encoder.list(roles, Encoder::one);
        // What older kinds cannot say is not said of them.
        if *selectors == Selectors::Taken {
            encoder.word("selectors");
        }
    }
}

fn encode_names(encoder: &mut Encoder, name: &str, title: Option<&str>, aliases: &[SmolStr]) {
    encoder.text(name);
    encoder.option(title, Encoder::text);
    encoder.list(aliases, |encoder, alias| encoder.text(alias));
}

impl Encode for KindSpec {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { name, title, aliases, subject, defaults } = self;
        encode_names(encoder, name, title.as_deref(), aliases);
        encoder.number(subject.0);
        encoder.word(match defaults {
            Defaults::Given => "given",
            Defaults::None => "none",
        });
    }
}

impl Encode for SubjectSpec {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { name, title, aliases, keys } = self;
        encode_names(encoder, name, title.as_deref(), aliases);
        encoder.word(match keys {
            Keys::Defined => "defined",
            Keys::AnyUntilDefined => "any-until-defined",
            Keys::Any => "any",
        });
    }
}

impl Encode for Relation {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { a, b, role, holds, needs_scope, gives } = self;
        encoder.number(a.0);
        encoder.number(b.0);
        encoder.option(*role, |encoder, role| encoder.number(role.0));
        encoder.word(match holds {
            Holds::Owned => "owned",
            Holds::Related => "related",
        });
        encoder.word(match needs_scope {
            NeedsScope::Yes => "needs scope",
            NeedsScope::No => "stands alone",
        });
        encoder.list(gives, |encoder, DerivedPair { pair, a, b }| {
            encoder.number(pair.0);
            for end in [a, b] {
                encoder.word(match end {
                    End::A => "a",
                    End::B => "b",
                    End::Role => "role",
                    End::Scope => "scope",
                });
            }
        });
    }
}

impl Encode for EffectRow {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { on, of, with, by, effect } = self;
        encoder.word(match on {
            Trigger::Link => "link",
            Trigger::Tags => "tags",
        });
        for subject in [of, with] {
            encoder.option(*subject, |encoder, subject| encoder.number(subject.0));
        }
        encoder.option(*by, |encoder, class| encoder.word(class.word()));
        encoder.word(match effect {
            Effect::Block => "block",
            Effect::Record => "record",
        });
    }
}

impl Encode for RoleSpec {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { name, aliases, class, may } = self;
        encoder.text(name);
        encoder.list(aliases, |encoder, alias| encoder.text(alias));
        encoder.word(class.word());
        encoder.list(may, Encoder::one);
    }
}

impl Encode for Right {
    fn encode(&self, encoder: &mut Encoder) {
        let (word, subject): (_, Option<Subject>) = match *self {
            Self::Create(subject) => ("create", subject),
            Self::Delete(subject) => ("delete", subject),
            Self::Tag(subject) => ("tag", subject),
            Self::Link => ("link", None),
            Self::Policies => ("policies", None),
            Self::Definitions => ("definitions", None),
            Self::Waivers => ("waivers", None),
            Self::Violations => ("violations", None),
        };
        encoder.word(word);
        encoder.option(subject, |encoder, subject| encoder.number(subject.0));
    }
}

impl Class {
    /// What it is called outside.
    pub fn word(self) -> &'static str {
        match self {
            Self::EndUser => "endUser",
            Self::Administrator => "administrator",
        }
    }
}
