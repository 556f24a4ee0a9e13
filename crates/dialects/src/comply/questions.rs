//! Questions about related objects and their tags.

mod asker;
mod audit;
mod change_request;
mod edits;
mod fix;
mod judged;
mod offers;
mod passing;
mod plan;
mod relation;
mod shown;
mod turned;
mod waivers;

use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Class, Comply, NotFound, ObjectId, Profile, Role};
use upheld_governance::{Actor, words};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Sym, Timestamp};
use upheld_report::Answer;

pub(super) use self::asker::{counting, own_scopes, proved};
pub use self::audit::{AuditQuestion, Audited};
pub use self::change_request::ChangeRequest;
pub use self::edits::{ByHand, FileEdits};
pub use self::fix::FixQuestion;
pub use self::judged::{Fared, JudgedRule, KnownRule, judged, rules, switched_off};
pub use self::offers::{OfferedObjects, OfferedValues, RecordedValue, RefusedObject, RefusedValue};
pub use self::passing::PassingChecks;
pub use self::plan::{Changes, WhatIf};
pub use self::shown::ShownObject;
pub use self::shown::{shown, shown_listed};
pub use self::turned::{AtMoment, Turned, TurnedViolation, ViolationCounts, next_turn, turned, violation_counts};
pub use self::waivers::WaiverQuestion;
use super::{Documented, Organisations};
use crate::question::{Asked, Connection, Refused, Thing, Words};

/// How a question is asked.
pub(super) const EXAMPLE: &str = "name two objects: `project/a~workspace/b`";

/// What words about two objects mean.
pub(super) fn parse(words: &Words) -> Option<Result<Thing, Refused>> {
    let what = words.what.as_ref().filter(|what| what.contains('~'))?;
    Some(Ok(Thing::Relation(what.clone())))
}

/// Answers questions about two objects.
pub(super) fn answer(asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
    let named = asked.question.kind.as_deref();
    let (what, kind) = match &asked.question.thing {
        Thing::Relation(what) => (what, named),
        Thing::Connection(Connection { what: Some(what), from: None, to: None, .. }) => {
            (what, Some(single(asked.snapshot, named, what)?))
        }
        _ => return None,
    };
    let organisation = match Organisation::of(asked.snapshot, kind, asked.options.now) {
        Ok(organisation) => organisation,
        Err(problem) => return Some(Err(problem.into())),
    };
    Some(organisation.relation(what).map(|report| Answer::about(what, vec![report])).map_err(Refused::from))
}

/// The kind of policies that can be about an object alone, if that is the reference of one.
fn single<'s>(snapshot: &'s Snapshot, named: Option<&str>, written: &str) -> Option<&'s str> {
    let mut all = snapshot.companion::<Organisations>().into_iter().flat_map(Organisations::iter);
    all.find_map(|(kind, own)| {
        let name = snapshot.text(kind);
        let is_meant = named.is_none_or(|named| name.eq_ignore_ascii_case(named));
        (is_meant && names_single(own.organisation.profile(), written)).then_some(name)
    })
}

/// Whether a reference names a kind of objects that policies can be about alone.
fn names_single(profile: &Profile, written: &str) -> bool {
    let kind = written.split_once('/').and_then(|(word, _)| profile.kind(word));
    kind.and_then(|kind| profile.subject_of(kind)).is_some_and(|subject| profile.alone(subject).is_some())
}

/// What is asked about, and when.
#[derive(Clone, Debug)]
pub struct Organisation<'s> {
    /// What it was made of.
    pub snapshot: &'s Snapshot,
    /// The kind of policy that governs them.
    pub kind: Sym,
    /// All objects and policies as they are at the moment of asking, and how they may change.
    pub governed: upheld_governance::Organisation,
    /// The moment of asking.
    pub now: Timestamp,
    /// Who asks, if that was proved: then nobody need be named.
    asked_by: Option<Actor>,
}

impl<'s> Organisation<'s> {
    /// The objects of the kind of policy that was named, or the only ones there are.
    pub fn of(snapshot: &'s Snapshot, named: Option<&str>, now: Timestamp) -> Result<Self, Diagnostic> {
        let (kind, documented) = documented_of(snapshot, named)?;
        Ok(Self { snapshot, kind, governed: documented.at(now), now, asked_by: None })
    }

    /// All objects and policies, as rules see them.
    pub fn comply(&self) -> &Comply {
        self.governed.comply()
    }

    /// An object by what the user wrote: `kind/id`, or a name that only one object has.
    pub fn object(&self, written: &str) -> Result<ObjectId, Diagnostic> {
        find(self.comply(), written)
    }

    /// Two objects by what the user wrote: `a~b`.
    pub fn pair(&self, written: &str) -> Result<(ObjectId, ObjectId), Vec<Diagnostic>> {
        let Some((a, b)) = written.split_once('~') else {
            let message = format!("`{written}` is no pair");
            let help = "write two objects with a tilde: project/a~workspace/b";
            return Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help(help)]);
        };
        match (self.object(a), self.object(b)) {
            (Ok(a), Ok(b)) => Ok((a, b)),
            (a, b) => Err([a.err(), b.err()].into_iter().flatten().collect()),
        }
    }

    /// Two objects, or one with itself if policies can be about it alone.
    fn one_or_two(&self, written: &str) -> Result<(ObjectId, ObjectId), Vec<Diagnostic>> {
        if written.contains('~') || !names_single(self.comply().profile(), written) {
            return self.pair(written);
        }
        self.object(written).map(|object| (object, object)).map_err(|problem| vec![problem])
    }

    /// A scope by what the user wrote: its reference, or its name.
    pub fn scope(&self, written: &str) -> Result<ObjectId, Diagnostic> {
        let profile = self.comply().profile();
        let Some(scope) = profile.scope else {
            let message = "objects of this kind of policy live in no workspace";
            return Err(Diagnostic::error(Fault::NotFound, message));
        };
        let id = match written.split_once('/') {
            Some((kind, id)) if profile.kind(kind) == Some(scope) => id,
            _ => written,
        };
        self.object(&format!("{}/{id}", profile.kind_name(scope)))
    }

    /// Who asks: who is named, else who proved it, else somebody of the given class.
    fn asker(&self, written: Option<&str>, usual: Option<Class>) -> Result<Actor, Diagnostic> {
        match (&self.asked_by, written) {
            (Some(proved), None) => Ok(proved.clone()),
            _ => actor(self.comply(), written, usual),
        }
    }
}

fn organisations(snapshot: &Snapshot) -> impl Iterator<Item = (Sym, &Documented)> {
    snapshot.companion::<Organisations>().into_iter().flat_map(Organisations::iter)
}

/// The objects that are asked about: those of the kind of policy that was named, or the only ones there are.
fn documented_of<'s>(snapshot: &'s Snapshot, named: Option<&str>) -> Result<(Sym, &'s Documented), Diagnostic> {
    let all: Vec<(Sym, &Documented)> = organisations(snapshot).collect();
    let name = |kind: Sym| snapshot.text(kind);
    if let Some(named) = named {
        if let Some(found) = all.iter().find(|(kind, _)| name(*kind).eq_ignore_ascii_case(named)) {
            return Ok(*found);
        }
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("no objects of the kind `{named}` were read"));
        return Err(diagnostic.suggest_or(
            nearest(named, all.iter().map(|(kind, _)| name(*kind))).map(|meant| format!("--policies {meant}")),
            || "`upheld list policies` shows what was read".to_owned(),
        ));
    }
    match all.as_slice() {
        [only] => Ok(*only),
        [] => {
            let message = "there are no objects whose tags must agree";
            let help =
                "an object is `ref: project/a` with `tags:`, a policy `type: MeshPolicy`: see docs/compliance.md";
            Err(Diagnostic::error(Fault::NotFound, message).help(help))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(kind, _)| name(*kind)).collect();
            let message = format!("objects of several kinds of policies were read: {}", names.join(", "));
            Err(Diagnostic::error(Fault::Ambiguous, message)
                .help(format!("add `--policies {}`", names.first().unwrap_or(&""))))
        }
    }
}

/// An object by its reference, by the end of its id, or by a name that only one has.
pub(crate) fn find(comply: &Comply, written: &str) -> Result<ObjectId, Diagnostic> {
    let not_there = match comply.lookup(written) {
        Ok(object) => return Ok(object),
        Err(not_there) => not_there,
    };
    let kind = written.split_once('/').and_then(|(kind, _)| comply.profile().kind(kind));
    let id = kind.and_then(|_| written.split_once('/')).map_or(written, |(_, id)| id);
    let fits = |object: &ObjectId| {
        let reference = comply.reference(*object);
        let own = reference.split_once('/').map_or("", |(_, own)| own);
        let last = own.rsplit('/').next().unwrap_or(own);
        let same = own == id
            || last == id
            || comply.described(*object).and_then(|own| own.name.as_ref()).is_some_and(|name| name == id);
        same && kind.is_none_or(|kind| comply.kind_of(*object) == Some(kind))
    };
    let found: Vec<ObjectId> = comply.objects().into_iter().filter(fits).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] if written.contains('/') => Err(not_found(comply, &not_there)),
        [] => {
            let all: Vec<SmolStr> = comply.objects().into_iter().map(|object| comply.reference(object)).collect();
            let ids = all.iter().filter_map(|reference| reference.split_once('/').map(|(_, id)| id));
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("no object is called `{written}`"));
            Err(diagnostic.suggest_or(nearest(written, ids), || "`upheld list objects` shows what was read".to_owned()))
        }
        several => {
            let names: Vec<SmolStr> = several.iter().take(8).map(|object| comply.reference(*object)).collect();
            let message = format!("`{written}` can mean {} objects: {}", several.len(), names.join(", "));
            Err(Diagnostic::error(Fault::Ambiguous, message).help("write the whole reference"))
        }
    }
}

fn not_found(comply: &Comply, not_there: &NotFound) -> Diagnostic {
    let message = words::refusal(comply.profile(), &not_there.clone().into());
    let diagnostic = Diagnostic::error(Fault::NotFound, message);
    match not_there {
        NotFound::Kind { nearest: None, .. } => {
            let kinds: Vec<&str> = comply.profile().kinds.iter().map(|kind| kind.name.as_str()).collect();
            diagnostic.help(format!("kinds: {}", kinds.join(", ")))
        }
        NotFound::Object { nearest: None, .. } => diagnostic.help("`upheld list objects` shows what was read"),
        NotFound::Kind { .. } | NotFound::Object { .. } => diagnostic,
    }
}

/// Somebody of a class, anywhere.
pub(super) fn actor_of_class(comply: &Comply, class: Class) -> Actor {
    let role = comply.profile().role_of(class);
    role.map_or(Actor::System, |role| Actor::Person { role, scope: None, name: None })
}

/// Who has a role that was proved, `role` or `role@workspace/w`; nothing if it is no role of this kind of policies. A role in a scope that is
/// not there holds nowhere, not everywhere.
fn person(comply: &Comply, role: &str) -> Option<Actor> {
    let (word, scope) = role.split_once('@').map_or((role, None), |(word, scope)| (word, Some(scope)));
    // Nobody proves to be this program.
    let found = actor(comply, Some(word).filter(|word| *word != "system"), None).ok()?;
    let Actor::Person { role, .. } = found else { return None };
    let scope =
        scope.map(|scope| find(comply, scope).map_or_else(|_| SmolStr::new(scope), |own| comply.reference(own)));
    Some(Actor::Person { role, scope, name: None })
}

/// The word for this program itself.
const SYSTEM: &str = "system";

fn plain(word: &str) -> String {
    word.to_ascii_lowercase().replace(['-', '_'], "")
}

/// The role that a word names: a class, a role, or a person of the usual class.
fn role_of(profile: &Profile, word: &str) -> Option<Role> {
    match plain(word).as_str() {
        SYSTEM => None,
        "user" | "enduser" => profile.role_of(Class::EndUser),
        "admin" | "administrator" => profile.role_of(Class::Administrator),
        _ if word.contains('/') => profile.role_of(Class::EndUser),
        _ => profile.role(word),
    }
}

/// What the role counts as that a word names.
pub(super) fn class_of_role(profile: &Profile, word: &str) -> Option<Class> {
    profile.role_spec(role_of(profile, word)?).map(|spec| spec.class)
}

/// Who acts: a class, a role, or a person of the usual class; `@workspace/w` says where.
fn actor(comply: &Comply, written: Option<&str>, usual: Option<Class>) -> Result<Actor, Diagnostic> {
    let profile = comply.profile();
    let Some(written) = written else {
        return Ok(usual.map_or(Actor::System, |class| actor_of_class(comply, class)));
    };
    let (word, scope) = match written.split_once('@') {
        Some((word, scope)) => (word, Some(comply.reference(find(comply, scope)?))),
        None => (written, None),
    };
    if plain(word) == SYSTEM {
        return Ok(Actor::System);
    }
    let person = word.split_once('/').map(|(_, name)| SmolStr::new(name));
    match role_of(profile, word) {
        Some(role) => Ok(Actor::Person { role, scope, name: person }),
        // Without roles everybody may do everything.
        None if profile.roles.is_empty() => Ok(Actor::System),
        None => {
            let known: Vec<&str> = profile.roles.iter().map(|role| role.name.as_str()).collect();
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no role `{word}`"));
            Err(diagnostic
                .suggest_or(nearest(word, known.iter().copied()).map(|meant| format!("--as {meant}")), || {
                    format!("write user, admin or a role: {}", known.join(", "))
                }))
        }
    }
}
