//! Everybody or everything that would be permitted: each known entity is decided like any other request.
//!
//! Results come in the order of their ids. A page is computed when it is asked for, and no further. What the request says of the entities
//! that it looks for narrows the search: an entity that is known to be otherwise is none of them.

use std::ops::ControlFlow;

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::decide::{Decide, Facts, Outcome, Request};
use upheld_engine::{Scratch, Silent, ask};

use super::bad_request::BadRequest;
use super::page::{Asked, Fingerprint, Page, Place};
use super::parts::{self, Entity, Parts};
use super::{AuthZen, mapping};
use crate::access::facts::json_of_facts;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The results of this page.
    pub results: Vec<Match>,
    /// For clients that asked for pages, the token of the next one; empty at the end.
    pub next_token: Option<String>,
    /// How many known entities, up to the end of this page, nobody can decide about.
    pub undecided: usize,
    /// An entity that the search is about and nobody knows.
    pub stranger: Option<String>,
}

/// One result.
#[derive(Clone, Debug, PartialEq)]
pub enum Match {
    /// A subject or a resource.
    Entity {
        /// Its type.
        kind: SmolStr,
        /// Its id.
        id: SmolStr,
    },
    /// An action.
    Action {
        /// Its name.
        name: SmolStr,
        /// The properties that it must have to be permitted, if not with all.
        properties: Facts,
    },
}

impl Match {
    fn json(&self) -> Json {
        match self {
            Self::Entity { kind, id } => json!({"type": kind.as_str(), "id": id.as_str()}),
            Self::Action { name, properties } if properties.is_empty() => json!({"name": name.as_str()}),
            Self::Action { name, properties } => {
                json!({"name": name.as_str(), "properties": json_of_facts(properties)})
            }
        }
    }
}

impl Found {
    /// Whether each known entity, up to the end of this page, was decided.
    pub fn is_complete(&self) -> bool {
        self.undecided == 0 && self.stranger.is_none()
    }

    /// In the shape of the standard: `{page, context, results}`.
    pub fn json(&self) -> Json {
        let mut context = Map::new();
        context.insert("complete".to_owned(), json!(self.is_complete()));
        if self.undecided > 0 {
            context.insert("undecided".to_owned(), json!(self.undecided));
        }
        if let Some(stranger) = &self.stranger {
            context.insert("reason".to_owned(), json!(stranger));
        }
        let mut found = Map::new();
        if let Some(token) = &self.next_token {
            found.insert("page".to_owned(), json!({"next_token": token, "count": self.results.len()}));
        }
        found.insert("context".to_owned(), Json::Object(context));
        found.insert("results".to_owned(), self.results.iter().map(Match::json).collect());
        Json::Object(found)
    }
}

impl AuthZen<'_> {
    /// Subject Search: which subjects of a type may do this action on this resource?
    pub fn search_subject(self, request: &Json) -> Result<Found, BadRequest> {
        let fields = parts::fields(request)?;
        let parts = Parts::of(fields);
        let (wanted, action, resource) = (parts.any_subject()?, parts.action()?, parts.resource()?);
        let environment = mapping::environment(parts.context()?, self.now);
        let mut gathering = Gathering::new("subject", fields, parts)?;
        if self.decider.directory.resource(resource.kind, resource.id).is_none() {
            return Ok(gathering.without("resource", resource));
        }
        let action = mapping::action(action.name, mapping::facts(action.properties));
        let resource = mapping::resource(resource);
        let mut request = Request { action, resource, environment, ..Request::default() };
        for (id, stored) in self.decider.directory.subjects(wanted.kind, gathering.after().as_deref()) {
            if mapping::contradicts(wanted.properties, stored) {
                continue;
            }
            let entity = Entity { kind: wanted.kind, id, properties: wanted.properties };
            request.subject = mapping::subject(entity);
            if gathering.permits(self, &mut request) && gathering.entity(entity).is_break() {
                break;
            }
        }
        Ok(gathering.found())
    }

    /// Resource Search: on which resources of a type may this subject do this action?
    pub fn search_resource(self, request: &Json) -> Result<Found, BadRequest> {
        let fields = parts::fields(request)?;
        let parts = Parts::of(fields);
        let (subject, action, wanted) = (parts.subject()?, parts.action()?, parts.any_resource()?);
        let environment = mapping::environment(parts.context()?, self.now);
        let mut gathering = Gathering::new("resource", fields, parts)?;
        if self.decider.directory.subject(subject.kind, subject.id).is_none() {
            return Ok(gathering.without("subject", subject));
        }
        let action = mapping::action(action.name, mapping::facts(action.properties));
        let subject = mapping::subject(subject);
        let mut request = Request { subject, action, environment, ..Request::default() };
        for (id, stored) in self.decider.directory.resources(wanted.kind, gathering.after().as_deref()) {
            if mapping::contradicts(wanted.properties, stored) {
                continue;
            }
            let entity = Entity { kind: wanted.kind, id, properties: wanted.properties };
            request.resource = mapping::resource(entity);
            if gathering.permits(self, &mut request) && gathering.entity(entity).is_break() {
                break;
            }
        }
        Ok(gathering.found())
    }

    /// Action Search: which actions may this subject do on this resource? An action that is permitted only with some values of its
    /// properties is listed with these.
    pub fn search_action(self, request: &Json) -> Result<Found, BadRequest> {
        let fields = parts::fields(request)?;
        // There is no action to speak of.
        let parts = Parts { action: None, ..Parts::of(fields) };
        let (subject, resource) = (parts.subject()?, parts.resource()?);
        let environment = mapping::environment(parts.context()?, self.now);
        let mut gathering = Gathering::new("action", fields, parts)?;
        if self.decider.directory.subject(subject.kind, subject.id).is_none() {
            return Ok(gathering.without("subject", subject));
        }
        if self.decider.directory.resource(resource.kind, resource.id).is_none() {
            return Ok(gathering.without("resource", resource));
        }
        let (subject, resource) = (mapping::subject(subject), mapping::resource(resource));
        let mut request = Request { subject, resource, environment, ..Request::default() };
        for (name, known) in self.decider.directory.actions(gathering.after().as_deref()) {
            let variants = known.variants();
            let permitted = (0..).zip(&variants).filter(|(_, variant)| {
                request.action = mapping::action(name, (*variant).clone());
                gathering.permits(self, &mut request)
            });
            let permitted: Vec<(u32, &Facts)> = permitted.collect();
            if gathering.action(name, &permitted, variants.len()).is_break() {
                break;
            }
        }
        Ok(gathering.found())
    }
}

/// The results of one page, while they are gathered.
struct Gathering {
    search: Fingerprint,
    page: Page,
    last: Option<Place>,
    results: Vec<Match>,
    rest: Rest,
    undecided: usize,
    scratch: Scratch<Decide>,
}

/// What comes after a page.
#[derive(PartialEq, Eq)]
enum Rest {
    Nothing,
    More,
}

impl Gathering {
    fn new(search: &str, fields: &Map<String, Json>, parts: Parts<'_>) -> Result<Self, BadRequest> {
        let search = Fingerprint::of(search, &[parts.subject, parts.action, parts.resource, parts.context]);
        let page = Page::read(fields, search)?;
        let (results, scratch) = (Vec::new(), Scratch::default());
        Ok(Self { search, page, last: None, results, rest: Rest::Nothing, undecided: 0, scratch })
    }

    /// The id after which this page begins.
    fn after(&self) -> Option<SmolStr> {
        self.page.after.as_ref().map(|place| place.id.clone())
    }

    fn permits(&mut self, authzen: AuthZen<'_>, request: &mut Request) -> bool {
        authzen.decider.complete(request, authzen.now);
        let request = &*request;
        match ask(authzen.decider.decide, &request, &mut self.scratch, &mut Silent).outcome {
            Outcome::Permit => true,
            Outcome::Deny => false,
            Outcome::Undecided | Outcome::Foreign => {
                self.undecided += 1;
                false
            }
        }
    }

    fn entity(&mut self, entity: Entity<'_>) -> ControlFlow<()> {
        let (kind, id) = (SmolStr::new(entity.kind), SmolStr::new(entity.id));
        self.add(Place { id: id.clone(), variant: 0 }, Match::Entity { kind, id })
    }

    fn action(&mut self, name: &str, permitted: &[(u32, &Facts)], variants: usize) -> ControlFlow<()> {
        let name = SmolStr::new(name);
        if permitted.len() == variants {
            let place = Place { id: name.clone(), variant: u32::MAX };
            return self.add(place, Match::Action { name, properties: Facts::default() });
        }
        permitted.iter().try_for_each(|(variant, properties)| {
            let place = Place { id: name.clone(), variant: *variant };
            self.add(place, Match::Action { name: name.clone(), properties: (*properties).clone() })
        })
    }

    /// Adds a result unless it was on an earlier page; breaks if it is for the next one.
    fn add(&mut self, place: Place, result: Match) -> ControlFlow<()> {
        if self.page.after.as_ref().is_some_and(|after| place <= *after) {
            return ControlFlow::Continue(());
        }
        let count = u64::try_from(self.results.len()).unwrap_or(u64::MAX);
        if self.page.limit.is_some_and(|limit| count >= limit) {
            self.rest = Rest::More;
            return ControlFlow::Break(());
        }
        self.last = Some(place);
        self.results.push(result);
        ControlFlow::Continue(())
    }

    fn found(self) -> Found {
        let Self { search, page, last, results, rest, undecided, .. } = self;
        let next_token = match (page.asked, rest) {
            (Asked::No, _) => None,
            (Asked::Yes, Rest::Nothing) => Some(String::new()),
            (Asked::Yes, Rest::More) => Some(page.next(search, last.as_ref())),
        };
        Found { results, next_token, undecided, stranger: None }
    }

    /// Nothing, because nobody knows what the search is about.
    fn without(self, part: &str, entity: Entity<'_>) -> Found {
        let stranger = format!("the directory has no {part} `{}` of type `{}`", entity.id, entity.kind);
        Found { stranger: Some(stranger), ..self.found() }
    }
}
