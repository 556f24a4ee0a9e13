//! What kinds of fields there are, and which act two sides meet by: data, so that semantics are rows of a table.
//!
//! | level says | plain field | deep field |
//! |---|---|---|
//! | shallow, child | keep | keep |
//! | shallow, parent | take | take |
//! | deep, child | keep, or take if [`PlainWhenDeep::Parent`] | accumulated over new |
//! | deep, parent | take, or keep if [`PlainWhenDeep::Child`] | new over accumulated |

use smol_str::SmolStr;

use upheld_model::MergeAction;

use super::super::scopes::FieldParts;
use crate::merge::Strategy;

/// How the fields of a kind meet. Fields without a rule are plain, and within a level the first one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The fields that are special.
    pub fields: Vec<FieldRule>,
    /// What a level that merges deep means for plain fields.
    pub plain_when_deep: PlainWhenDeep,
    /// How layers of one level meet.
    pub within: Within,
}

/// How one field meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRule {
    /// Its name.
    pub name: SmolStr,
    /// What two values of it come to.
    pub meeting: FieldMerge,
    /// How it meets within a level.
    pub same_level: SameLevel,
    /// Which parts of it hide each other between scopes.
    pub apart: FieldParts,
}

/// What two values of a field come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldMerge {
    /// One of them.
    Plain,
    /// One of them, or under a deep merge what a combiner makes of both.
    Deep(Combiner),
    /// Always both: lists, one after the other.
    Cumulative,
}

/// Fields with their own logic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Combiner {
    /// Lists of providers, each of which counts once, with a switch that turns all of them off.
    Providers(Switch),
    /// Operations on requests and responses, applied in order.
    Transformation,
    /// Rules about clients, with one default and one response.
    AccessList,
    /// Maps that meet as a patch.
    Patch(Strategy),
}

/// What a switch means that turns all providers off, where levels merge deep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// Whoever has it wins, and nobody can undo that.
    #[default]
    Absorbs,
    /// It is a value: the preferred side wins.
    Preferred,
}

/// How layers of one level meet, for one field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SameLevel {
    /// The better one counts.
    #[default]
    First,
    /// A deep field combines, the better one preferred.
    Combine,
}

/// How layers of one level meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// As the rule of each field says.
    #[default]
    ByField,
    /// In the same way as levels, by what their own level says.
    AsLevels,
}

/// What a level that merges deep means for plain fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainWhenDeep {
    /// What the level says: prefer child, or prefer parent.
    #[default]
    AsNamed,
    /// The child wins in any case.
    Child,
    /// The parent wins in any case.
    Parent,
}

/// How a level meets those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inheritance {
    /// How deep.
    pub reach: Reach,
    /// Who is preferred.
    pub prefer: Prefer,
}

/// How deep levels meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Field by field.
    #[default]
    Shallow,
    /// Into the fields that can be combined.
    Deep,
}

/// Who is preferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Prefer {
    /// The levels before, which are more specific.
    #[default]
    Child,
    /// The level itself.
    Parent,
}

/// Two acts, for plain and for deep fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// For plain fields.
    pub plain: MergeAction,
    /// For deep fields.
    pub deep: MergeAction,
}

impl Join {
    const KEEP: Self = Self { plain: MergeAction::Keep, deep: MergeAction::Keep };
    const TAKE: Self = Self { plain: MergeAction::Take, deep: MergeAction::Take };

    pub(super) const fn act(self, meeting: &FieldMerge) -> MergeAction {
        match meeting {
            FieldMerge::Plain => self.plain,
            FieldMerge::Deep(_) => self.deep,
            FieldMerge::Cumulative => MergeAction::KeepOver,
        }
    }
}

impl Rules {
    /// How a level meets those before it.
    pub const fn across(&self, inheritance: Inheritance) -> Join {
        match (inheritance.reach, inheritance.prefer) {
            (Reach::Shallow, Prefer::Child) => Join::KEEP,
            (Reach::Shallow, Prefer::Parent) => Join::TAKE,
            (Reach::Deep, prefer) => Join {
                plain: match (self.plain_when_deep, prefer) {
                    (PlainWhenDeep::Child, _) | (PlainWhenDeep::AsNamed, Prefer::Child) => MergeAction::Keep,
                    (PlainWhenDeep::Parent, _) | (PlainWhenDeep::AsNamed, Prefer::Parent) => MergeAction::Take,
                },
                deep: match prefer {
                    Prefer::Child => MergeAction::KeepOver,
                    Prefer::Parent => MergeAction::TakeOver,
                },
            },
        }
    }

    /// Sets how a field meets within a level.
    pub fn set_same_level(&mut self, name: &str, same_level: SameLevel) {
        match self.fields.iter_mut().find(|rule| rule.name == name) {
            Some(rule) => rule.same_level = same_level,
            None => {
                let rule =
                    FieldRule { name: name.into(), meeting: FieldMerge::Plain, same_level, apart: FieldParts::Whole };
                self.fields.push(rule);
            }
        }
    }

    pub(super) fn within(&self, name: &str, inheritance: Inheritance) -> Join {
        match (self.within, self.rule(name).map(|rule| rule.same_level).unwrap_or_default()) {
            (Within::AsLevels, _) => self.across(inheritance),
            (Within::ByField, SameLevel::First) => Join::KEEP,
            (Within::ByField, SameLevel::Combine) => Join { plain: MergeAction::Keep, deep: MergeAction::KeepOver },
        }
    }

    /// Which parts of a field hide each other between scopes.
    pub(in crate::hierarchy) fn apart(&self, name: &str) -> &FieldParts {
        self.rule(name).map_or(&FieldParts::Whole, |rule| &rule.apart)
    }

    pub(super) fn meeting(&self, name: &str) -> &FieldMerge {
        self.rule(name).map_or(&FieldMerge::Plain, |rule| &rule.meeting)
    }

    fn rule(&self, name: &str) -> Option<&FieldRule> {
        self.fields.iter().find(|rule| rule.name == name)
    }
}
