//! Who decides requests: the policies of one kind with all that belongs to them.
//!
//! Every request comes through here, wherever it came from. Before it is decided, what is written in many ways is written in one, and what is
//! known of subjects, resources and actions is filled in:
//!
//! | fact | becomes |
//! |---|---|
//! | the time, where nobody says when | now |
//! | hosts | their one form; a text that is no host is not known |
//! | names of headers | lower case; several values of one name are not known |
//! | the path of a resource of the type `route`, where nobody says it | its id |
//! | subjects, resources, actions | with what the directory has of them; what the request says wins, and what is null says nothing |
//! | a subject of an id that several types have | with facts that are not known: it may be any of them |
//! | roles and groups | with those that contain them |
//!
//! The original takes requests as they are written, so its edition does only what no request says: the time, and the directory.

use std::collections::hash_map::Entry as Place;
use std::ops::Deref;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, StrExt};
use upheld_engine::decide::{Action, Decide, Decided, Fact, Facts, Maybe, Names, Request, Resource, Subject};
use upheld_engine::{KindId, Scratch, Silent, Snapshot, ask};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Files, Timestamp};
use upheld_report::Decision;

use super::authzen::Directory;
use super::authzen::directory::{Entry, names_of};
use super::host::host_fact;
use super::manifest::Manifest;
use super::request::UNDEFINED;
use super::{Deciding, Edition, POLICY, reader};

/// Policies that decide requests, with all that belongs to them.
#[derive(Clone, Copy, Debug)]
pub struct Decider<'s> {
    /// Which kind they are of.
    pub kind: KindId,
    /// The policies.
    pub decide: &'s Decide,
    /// The settings beside them.
    pub manifest: &'s Manifest,
    /// What is known of those whom they decide about.
    pub directory: &'s Directory,
    /// Where they were written.
    pub files: &'s Files,
    /// How they and requests are read.
    pub edition: Edition,
}

/// Which kind of policies decides.
#[derive(Clone, Copy, Debug)]
pub enum WhichKind<'k> {
    /// This one, whichever others have policies: what is enforced does not depend on which documents are there.
    Named(&'k str),
    /// The only one that has policies.
    Only,
}

/// A setting: the kind of policies that decides requests where nobody names another.
#[derive(Clone, Debug)]
pub struct DecidingKind(pub String);

impl<'k> WhichKind<'k> {
    /// The one that a question names, or that is set.
    pub fn of(named: Option<&'k str>, set: Option<&'k str>) -> Self {
        named.or(set).map_or(Self::Only, Self::Named)
    }
}

static NO_SETTINGS: LazyLock<Manifest> = LazyLock::new(Manifest::default);
static NOBODY: LazyLock<Directory> = LazyLock::new(Directory::default);

impl<'s> Decider<'s> {
    /// Whoever decides requests in a snapshot.
    pub fn of(snapshot: &'s Snapshot, which: WhichKind<'_>, edition: Edition) -> Result<Self, Diagnostic> {
        let all: Vec<(KindId, &Decide)> = deciders(snapshot).collect();
        let name = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.name));
        let with_policies = || all.iter().filter(|(_, decide)| !decide.rules().is_empty());
        let found = match which {
            WhichKind::Named(named) => all.iter().find(|(id, _)| name(*id).eq_ignore_ascii_case(named)),
            WhichKind::Only if all.len() > 1 => match with_policies().collect::<Vec<_>>().as_slice() {
                [only] => Some(*only),
                several => {
                    let names: Vec<&str> = several.iter().map(|(id, _)| name(*id)).collect();
                    return Err(ambiguous(&names));
                }
            },
            WhichKind::Only => all.first(),
        };
        let Some((kind, decide)) = found.copied() else {
            return Err(match which {
                WhichKind::Named(named) => not_found(named, &all.iter().map(|(id, _)| name(*id)).collect::<Vec<_>>()),
                WhichKind::Only => nobody(),
            });
        };
        let governs = snapshot.kind(kind).map(|kind| (kind.name, snapshot.text(kind.governs)));
        let manifest = governs.and_then(|(name, _)| Deciding::of(snapshot)?.manifest(name)).unwrap_or(&NO_SETTINGS);
        // Kinds of users have no original to be compatible with.
        let edition = if governs.is_some_and(|(_, typed)| typed == POLICY) { edition } else { Edition::Strict };
        let directory = snapshot.companion::<Directory>().unwrap_or(&NOBODY);
        Ok(Self { kind, decide, manifest, directory, files: snapshot.files(), edition })
    }

    /// The outcome of a request, and the deciding policy: the hot path. Matching policies are in [`Scratch::hits`].
    pub fn decided(&self, request: &CompleteRequest, scratch: &mut Scratch<Decide>) -> Decided {
        ask(self.decide, &&request.0, scratch, &mut Silent)
    }

    /// The same with policy, reason and duties.
    pub fn decision(&self, request: &CompleteRequest, scratch: &mut Scratch<Decide>) -> Decision<'s> {
        let decided = self.decided(request, scratch);
        Decision::of(self.files, self.decide, request, &decided, scratch.hits())
    }
}

impl<'s> Decider<'s> {
    /// Decides one request of a batch. When the batch has used its steps, what is left of it is undecided.
    pub fn decision_within(
        &self,
        request: &CompleteRequest,
        scratch: &mut Scratch<Decide>,
        budget: &mut BatchBudget,
    ) -> Decision<'s> {
        if budget.is_over() {
            return Decision::undecided(BATCH_IS_OVER);
        }
        let decision = self.decision(request, scratch);
        budget.left = budget.left.saturating_sub(self.decide.steps(request, scratch.hits()));
        decision
    }
}

/// Steps that are left for the requests of one batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchBudget {
    left: usize,
}

/// Steps that the requests of one batch may take together: ten thousand ordinary requests take a tenth of them.
pub const STEPS_OF_BATCH: usize = 1 << 22;
pub(super) const BATCH_IS_OVER: &str = "undecided: the batch has used its 4 194 304 steps; send fewer requests at once";

impl BatchBudget {
    /// Whether there are no steps left.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }
}

impl Default for BatchBudget {
    fn default() -> Self {
        Self { left: STEPS_OF_BATCH }
    }
}

/// A request with all that is known of it: only such requests are decided.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteRequest(Request);

impl Deref for CompleteRequest {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.0
    }
}

impl Decider<'_> {
    /// A request with all that is known of it.
    pub fn complete(&self, mut request: Request, now: Option<Timestamp>) -> CompleteRequest {
        if request.environment.time == Maybe::Absent {
            request.environment.time = now.into();
        }
        let resource = &mut request.resource;
        let is_route = matches!(&resource.kind, Maybe::Is(kind) if kind == ROUTE);
        if self.edition == Edition::Strict && is_route && resource.path == Maybe::Absent {
            resource.path = resource.id.clone();
        }
        if !self.directory.is_empty() {
            self.fill_subject(&mut request.subject);
            self.fill_resource(&mut request.resource);
            self.fill_action(&mut request.action);
        }
        if self.edition == Edition::Strict {
            in_one_way(&mut request.resource.facts);
        }
        CompleteRequest(request)
    }

    fn fill_subject(&self, subject: &mut Subject) {
        let known = match (&subject.kind, &subject.id) {
            (_, Maybe::Absent) => Entry::None,
            (Maybe::Is(kind), Maybe::Is(id)) => {
                self.directory.subject(kind, id).map_or(Entry::None, |facts| Entry::One(kind, facts))
            }
            (Maybe::Absent, Maybe::Is(id)) => self.directory.subject_of_any_type(id),
            // It is one of those whose type or id this may be, or none of them.
            (kind, id) => {
                let may_be = self.directory.has_subject(kind.known(), id.known());
                if may_be { Entry::Several } else { Entry::None }
            }
        };
        match known {
            Entry::None => {}
            Entry::One(kind, facts) => {
                let kind = Maybe::Is(SmolStr::new(kind));
                for (names, fields) in
                    [(&mut subject.roles, ["roles", "role"]), (&mut subject.groups, ["groups", "group"])]
                {
                    let is_known = fields.iter().any(|field| facts.get(field).is_some());
                    if is_known && self.lists_none(names) {
                        *names = names_of(facts, fields);
                    }
                }
                fill(&mut subject.claims, facts);
                subject.kind = kind;
            }
            Entry::Several => {
                subject.kind = Maybe::Unknown;
                for names in [&mut subject.roles, &mut subject.groups] {
                    if self.lists_none(names) {
                        *names = Names::Unknown;
                    }
                }
                leave_open(&mut subject.claims);
            }
        }
        self.directory.contain(&mut subject.roles, &mut subject.groups);
    }

    fn fill_resource(&self, resource: &mut Resource) {
        let stored = match (&resource.kind, &resource.id) {
            (Maybe::Absent, _) | (_, Maybe::Absent) => None,
            (Maybe::Is(kind), Maybe::Is(id)) => self.directory.resource(kind, id).map(Some),
            // It is one of those whose type or id this may be, or none of them.
            (kind, id) => self.directory.has_resource(kind.known(), id.known()).then_some(None),
        };
        match stored {
            Some(Some(facts)) => fill(&mut resource.facts, facts),
            Some(None) => leave_open(&mut resource.facts),
            None => return,
        }
        for (place, name) in [(&mut resource.app, "app"), (&mut resource.path, "path")] {
            if let Some(known) = resource.facts.get(name).filter(|_| self.is_left_out(place)) {
                *place = text_of(Some(known));
            }
        }
    }

    fn fill_action(&self, action: &mut Action) {
        let known = match &action.operation {
            Maybe::Is(name) => self.directory.action(name).map(Some),
            Maybe::Unknown => self.directory.actions().next().is_some().then_some(None),
            Maybe::Absent => None,
        };
        match known {
            Some(Some(known)) => fill(&mut action.facts, &known.properties()),
            Some(None) => leave_open(&mut action.facts),
            None => return,
        }
        match (&action.method, action.facts.get("method")) {
            (method, Some(known)) if self.is_left_out(method) => action.method = text_of(Some(known)),
            // It is said already, and is the same thing.
            (Maybe::Is(method), Some(_)) => {
                let method = Fact::Text(method.clone());
                action.facts.set("method", method);
            }
            _ => {}
        }
    }

    /// Whoever lists none says nothing about them. The original fails there, so what is left out is not known.
    fn lists_none(&self, names: &Names) -> bool {
        *names == Names::default() || self.edition == Edition::Compat && *names == Names::Unknown
    }

    /// Whether a request does not say something. The original fails where it would need it, or takes the word that JavaScript has for nothing.
    fn is_left_out(&self, value: &Maybe<SmolStr>) -> bool {
        match value {
            Maybe::Absent => true,
            Maybe::Unknown => self.edition == Edition::Compat,
            Maybe::Is(text) => self.edition == Edition::Compat && text == UNDEFINED,
        }
    }
}

/// What is left out may have any value.
fn leave_open(given: &mut Facts) {
    given.retain_facts(|fact| *fact != Fact::Null);
    *given = std::mem::take(given).and_others_unknown();
}

/// Fills in what a request leaves out. What is null is left out; what is unknown is not.
fn fill(given: &mut Facts, stored: &Facts) {
    given.retain_facts(|fact| *fact != Fact::Null);
    if given.are_all_listed() {
        given.add_missing(stored.iter().cloned());
    }
}

/// A text, if it is one; anything else is not known, which is something else than absent.
pub(super) fn text_of(fact: Option<&Fact>) -> Maybe<SmolStr> {
    match fact {
        Some(Fact::Text(text)) => Maybe::Is(text.clone()),
        None | Some(Fact::Null) => Maybe::Absent,
        Some(_) => Maybe::Unknown,
    }
}

/// Hosts and headers are the same in capital and small letters.
fn in_one_way(facts: &mut Facts) {
    if let Some(host) = facts.get("host").filter(|fact| **fact != Fact::Null) {
        let host = match host {
            Fact::Text(host) => host_fact(host),
            _ => Fact::Unknown,
        };
        facts.set("host", host);
    }
    let Some(headers) = facts.get("headers").filter(|fact| **fact != Fact::Null) else { return };
    let headers = match headers {
        Fact::Map(headers) => Fact::Map(headers_of(headers)),
        _ => Fact::Unknown,
    };
    facts.set("headers", headers);
}

/// Headers by their names in lower case; of one that is there twice, nobody knows which counts.
pub(super) fn headers_of(given: &Facts) -> Facts {
    let mut places: FxHashMap<SmolStr, usize> = FxHashMap::default();
    let mut headers: Vec<(SmolStr, Fact)> = Vec::with_capacity(given.len());
    for (name, fact) in given {
        let name = name.to_lowercase_smolstr();
        let value = match fact {
            Fact::List(values) => match values.as_slice() {
                [only] => only.clone(),
                _ => Fact::Unknown,
            },
            other => other.clone(),
        };
        match places.entry(name.clone()) {
            Place::Occupied(place) => {
                if let Some((_, twice)) = headers.get_mut(*place.get()) {
                    *twice = Fact::Unknown;
                }
            }
            Place::Vacant(place) => {
                place.insert(headers.len());
                headers.push((name, value));
            }
        }
    }
    let headers: Facts = headers.into_iter().collect();
    if given.are_all_listed() { headers } else { headers.and_others_unknown() }
}

/// The type of resources whose id is a path, or the template of one.
pub(super) const ROUTE: &str = "route";

/// The methods of HTTP.
pub(super) const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"];

/// The method of HTTP that a word names, in any case.
pub(super) fn method_of(word: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|method| method.eq_ignore_ascii_case(word))
}

/// All policies that decide access requests, by kind.
pub fn deciders(snapshot: &Snapshot) -> impl Iterator<Item = (KindId, &Decide)> {
    let governs = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.governs));
    snapshot.decides().filter(move |(id, _)| !reader::is_owned_by_another(governs(*id)))
}

fn not_found(named: &str, all: &[&str]) -> Diagnostic {
    let message = format!("no policy of kind `{named}` decides requests here");
    let meant = nearest(named, all.iter().copied()).map(|meant| format!("--kind {meant}"));
    Diagnostic::error(Fault::NotFound, message)
        .suggest_or(meant, || "`upheld list policies` shows what was read".to_owned())
}

fn nobody() -> Diagnostic {
    let help = "an access policy has `id`, `effect`, `subjects`, `resources` and `actions`: see docs/access.md";
    Diagnostic::error(Fault::NotFound, "there are no policies that decide requests").help(help)
}

fn ambiguous(names: &[&str]) -> Diagnostic {
    let message = format!("policies of several kinds decide requests: {}", names.join(", "));
    Diagnostic::error(Fault::Ambiguous, message).help(format!("add `--kind {}`", names.first().unwrap_or(&"")))
}
