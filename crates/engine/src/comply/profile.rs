//! What a kind of the comply family is: which objects there are, how they are related, which pairs policies may be about,
//! what is refused, and who may do what. All of it is data, read from a `PolicyKind` document.

mod digest;

use smol_str::{SmolStr, SmolStrBuilder};

use super::policy::Strategy;

/// The place of a kind of objects in [`Profile::kinds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(pub u8);

/// The place of a subject in [`Profile::subjects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject(pub u8);

/// The place of a pair in [`Profile::pairs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairKind(pub u8);

/// The place of a role in [`Profile::roles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Role(pub u8);

/// Everything that differs between editions, and between our kinds and those of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// How it is called, for example `acme/2026`.
    pub name: SmolStr,
    /// The kinds of objects.
    pub kinds: Vec<KindSpec>,
    /// What policies and tag definitions are about: a kind, or several kinds treated as one.
    pub subjects: Vec<SubjectSpec>,
    /// The kind in which others live and by which violations are listed.
    pub scope: Option<Kind>,
    /// How objects are related.
    pub relations: Vec<Relation>,
    /// Which pairs policies may be about; a subject with itself stands for every single object of it.
    pub pairs: Vec<(Subject, Subject)>,
    /// Whether policies may name the two sides the other way round.
    pub order: Order,
    /// Whether a policy may have several rules.
    pub rules: Rules,
    /// What rules between two objects may ask for; the first is the default.
    pub strategies: Vec<Strategy>,
    /// Whether policies may be cut to some objects.
    pub selectors: Selectors,
    /// What a violation does, the first row that fits; without one it is recorded.
    pub effects: Vec<EffectRow>,
    /// Who may do what; without roles everybody may do everything.
    pub roles: Vec<RoleSpec>,
}

/// A kind of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindSpec {
    /// The neutral name, which stands in references: `project`.
    pub name: SmolStr,
    /// What the house calls it: `meshProject`.
    pub title: Option<SmolStr>,
    /// Other names that are understood.
    pub aliases: Vec<SmolStr>,
    /// What it counts as in policies.
    pub subject: Subject,
    /// Whether default tags are added to its objects.
    pub defaults: Defaults,
}

/// Whether objects of a kind get the default tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// They do.
    Given,
    /// They do not.
    None,
}

/// What policies are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectSpec {
    /// The neutral name: `principal`.
    pub name: SmolStr,
    /// What the house calls it: `meshUser/Group`.
    pub title: Option<SmolStr>,
    /// Other names that are understood.
    pub aliases: Vec<SmolStr>,
    /// What tags its objects may carry.
    pub keys: Keys,
}

/// What tags objects may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Those with a definition.
    Defined,
    /// Any, as long as there is no definition for the subject.
    AnyUntilDefined,
    /// Any.
    Any,
}

/// How objects of two subjects are related, and which pairs that makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// One side.
    pub a: Subject,
    /// The other.
    pub b: Subject,
    /// The kind of what may qualify it.
    pub role: Option<Kind>,
    /// Whether the second side lives in the first.
    pub holds: Holds,
    /// Whether the second side has to be related to the scope of the first, too.
    pub needs_scope: NeedsScope,
    /// The pairs that it makes.
    pub gives: Vec<DerivedPair>,
}

/// Whether one side of a relation lives in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The second lives in the first, and nowhere else.
    Owned,
    /// They are only related.
    Related,
}

/// Whether a relation rests on one to the scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedsScope {
    /// It ends with it, and can be asked to need it.
    Yes,
    /// It stands alone.
    No,
}

/// A pair that a relation makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedPair {
    /// Which pair.
    pub pair: PairKind,
    /// Who is its first side.
    pub a: End,
    /// Who is its second side.
    pub b: End,
}

/// An end of a relation, or what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The first side.
    A,
    /// The second side.
    B,
    /// What qualifies it.
    Role,
    /// What the first side lives in.
    Scope,
}

/// Whether the two sides of a policy can change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Either may come first; the meaning is the same.
    Either,
    /// The first governs the second.
    Fixed,
}

/// How many rules a policy may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// One or more.
    Many,
    /// One.
    One,
}

/// Whether policies may say which objects they are cut to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selectors {
    /// They may.
    Taken,
    /// Each is about all pairs of its subjects.
    None,
}

/// What happens to a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The change is refused.
    Block,
    /// The change is accepted, the violation recorded.
    Record,
}

/// A row of the table of effects; what is left out fits everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectRow {
    /// What was done.
    pub on: Trigger,
    /// To whom.
    pub of: Option<Subject>,
    /// Who the other side of the pair is.
    pub with: Option<Subject>,
    /// By whom.
    pub by: Option<Class>,
    /// What happens.
    pub effect: Effect,
}

/// What can make violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A relationship came to be, alone or with an object.
    Link,
    /// Tags of an object were changed.
    Tags,
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Somebody who works in a scope.
    EndUser,
    /// Somebody who looks after all of them.
    Administrator,
}

/// A role of people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSpec {
    /// How it is called.
    pub name: SmolStr,
    /// Other names that are understood.
    pub aliases: Vec<SmolStr>,
    /// What it counts as.
    pub class: Class,
    /// What it may do.
    pub may: Vec<Right>,
}

/// What a role may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Create objects of a subject, or of all.
    Create(Option<Subject>),
    /// Delete objects of a subject, or of all.
    Delete(Option<Subject>),
    /// Change tags of objects of a subject, or of all.
    Tag(Option<Subject>),
    /// Relate objects, and end that.
    Link,
    /// Change policies.
    Policies,
    /// Change tag definitions and default tags.
    Definitions,
    /// Grant and revoke waivers.
    Waivers,
    /// See violations: of the own scope, or all.
    Violations,
}

impl Profile {
    /// A kind by its name, title or another name; case does not matter.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        let place = self.kinds.iter().position(|kind| kind.name == name).or_else(|| {
            self.kinds.iter().position(|kind| {
                let others = kind.title.iter().chain(&kind.aliases);
                std::iter::once(&kind.name).chain(others).any(|known| known.eq_ignore_ascii_case(name))
            })
        });
        place.and_then(|place| u8::try_from(place).ok()).map(Kind)
    }

    /// A subject by its name, title or another name; case does not matter.
    pub fn subject(&self, name: &str) -> Option<Subject> {
        let place = self.subjects.iter().position(|subject| {
            let others = subject.title.iter().chain(&subject.aliases);
            std::iter::once(&subject.name).chain(others).any(|known| known.eq_ignore_ascii_case(name))
        });
        place.and_then(|place| u8::try_from(place).ok()).map(Subject)
    }

    /// A role by its name or another name; case does not matter.
    pub fn role(&self, name: &str) -> Option<Role> {
        let place = self.roles.iter().position(|role| {
            std::iter::once(&role.name).chain(&role.aliases).any(|known| known.eq_ignore_ascii_case(name))
        });
        place.and_then(|place| u8::try_from(place).ok()).map(Role)
    }

    /// The role of somebody of whom only the class is known: the first of that class.
    pub fn role_of(&self, class: Class) -> Option<Role> {
        let place = self.roles.iter().position(|role| role.class == class);
        place.and_then(|place| u8::try_from(place).ok()).map(Role)
    }

    /// What is known of a kind.
    pub fn kind_spec(&self, kind: Kind) -> Option<&KindSpec> {
        self.kinds.get(usize::from(kind.0))
    }

    /// What is known of a subject.
    pub fn subject_spec(&self, subject: Subject) -> Option<&SubjectSpec> {
        self.subjects.get(usize::from(subject.0))
    }

    /// What is known of a role.
    pub fn role_spec(&self, role: Role) -> Option<&RoleSpec> {
        self.roles.get(usize::from(role.0))
    }

    /// What a kind counts as.
    pub fn subject_of(&self, kind: Kind) -> Option<Subject> {
        self.kind_spec(kind).map(|spec| spec.subject)
    }

    /// The kinds that count as a subject.
    pub fn kinds_of_subject(&self, subject: Subject) -> impl Iterator<Item = Kind> {
        let kinds = (0..).map(Kind).zip(&self.kinds);
        kinds.filter(move |(_, spec)| spec.subject == subject).map(|(kind, _)| kind)
    }

    /// The kinds whose objects get the default tags.
    pub fn kinds_with_defaults(&self) -> impl Iterator<Item = Kind> {
        let kinds = (0..).map(Kind).zip(&self.kinds);
        kinds.filter(|(_, spec)| spec.defaults == Defaults::Given).map(|(kind, _)| kind)
    }

    /// The pair of single objects of a subject, if policies can be about them.
    pub fn alone(&self, subject: Subject) -> Option<PairKind> {
        let place = self.pairs.iter().position(|pair| *pair == (subject, subject))?;
        u8::try_from(place).ok().map(PairKind)
    }

    /// Whether policies can be about single objects.
    pub fn has_single_objects(&self) -> bool {
        self.pairs.iter().any(|(a, b)| a == b)
    }

    /// Whether policies can be about two objects.
    pub fn has_two_objects(&self) -> bool {
        self.pairs.iter().any(|(a, b)| a != b)
    }

    /// Whether a pair is an object with itself.
    pub fn is_alone(&self, pair: PairKind) -> bool {
        self.sides(pair).is_some_and(|(a, b)| a == b)
    }

    /// The side of a pair that lives where the pair does, whatever makes it: 0 or 1; nothing if neither always does.
    pub fn resident_side(&self, pair: PairKind) -> Option<usize> {
        if self.is_alone(pair) {
            return Some(0);
        }
        let made: Vec<&DerivedPair> =
            self.relations.iter().flat_map(|relation| &relation.gives).filter(|given| given.pair == pair).collect();
        let lives = |end: End| matches!(end, End::A | End::Scope);
        let side = |end: fn(&DerivedPair) -> End| !made.is_empty() && made.iter().all(|given| lives(end(given)));
        if side(|given| given.a) { Some(0) } else { side(|given| given.b).then_some(1) }
    }

    /// The two subjects of a pair.
    pub fn sides(&self, pair: PairKind) -> Option<(Subject, Subject)> {
        self.pairs.get(usize::from(pair.0)).copied()
    }

    /// The reference of an object, `kind/id`.
    pub fn reference(&self, kind: Kind, id: &str) -> SmolStr {
        let mut reference = SmolStrBuilder::new();
        reference.push_str(self.kind_name(kind));
        reference.push('/');
        reference.push_str(id);
        reference.finish()
    }

    /// The name of a kind as it stands in references.
    pub fn kind_name(&self, kind: Kind) -> &str {
        self.kind_spec(kind).map_or("", |spec| spec.name.as_str())
    }

    /// The name of a subject.
    pub fn subject_name(&self, subject: Subject) -> &str {
        self.subject_spec(subject).map_or("", |spec| spec.name.as_str())
    }

    /// The pair of two subjects and whether they stand the other way round; `None` if policies cannot be about them.
    pub fn pair(&self, a: Subject, b: Subject) -> Option<(PairKind, Swapped)> {
        let at = |wanted: (Subject, Subject)| self.pairs.iter().position(|pair| *pair == wanted);
        let swapped = || if self.order == Order::Either { at((b, a)) } else { None };
        let (place, way) = match at((a, b)) {
            Some(place) => (place, Swapped::No),
            None => (swapped()?, Swapped::Yes),
        };
        u8::try_from(place).ok().map(|place| (PairKind(place), way))
    }

    /// What happens to a violation.
    pub fn effect(&self, on: Trigger, of: Subject, with: Subject, by: Option<Class>) -> Effect {
        let fits = |row: &&EffectRow| {
            row.on == on
                && row.of.is_none_or(|wanted| wanted == of)
                && row.with.is_none_or(|wanted| wanted == with)
                && (row.by.is_none() || row.by == by)
        };
        self.effects.iter().find(fits).map_or(Effect::Record, |row| row.effect)
    }
}

/// Whether the sides of a policy stand the other way round than those of its pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Swapped {
    /// The same way.
    No,
    /// The other way round.
    Yes,
}

impl Swapped {
    /// Both sides in the other order: those of the pair in the order of the policy, and back.
    pub fn turn<T>(self, [first, second]: [T; 2]) -> [T; 2] {
        match self {
            Self::No => [first, second],
            Self::Yes => [second, first],
        }
    }
}
