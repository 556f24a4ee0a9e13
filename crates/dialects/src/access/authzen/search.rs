//! Everybody or everything that would be permitted, in the shapes of the standard; `reach` decides.
//!
//! Results come in the order of their ids. A page is computed when it is asked for, and no further. What the request says of the entities
//! that it looks for narrows the search: an entity that is known to be otherwise is none of them.

use std::ops::ControlFlow;

use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::decide::{Action, Facts, Outcome, Request};

use super::bad_request::BadRequest;
use super::page::{Asked, Page};
use super::parts::{self, Entity, Parts, Wanted};
use super::{AuthZen, mapping};
use crate::access::facts::json_of_facts;
use crate::access::reach::token::Fingerprint;
use crate::access::reach::{Pattern, Place, Reached, Sought};

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
        let gathering = Gathering::new("subject", fields, parts)?;
        if self.decider.directory.resource(resource.kind, resource.id).is_none() {
            return Ok(gathering.without("resource", resource));
        }
        let request = Request {
            subject: mapping::subject(any(wanted)),
            action: mapping::action(action.name, mapping::facts(action.properties)),
            resource: mapping::resource(resource),
            environment,
        };
        let (subject, resource, action) = (Sought::OfType(wanted.kind.into()), Sought::Given, Sought::Given);
        Ok(gathering.of(self, &Pattern { request, subject, resource, action }))
    }

    /// Resource Search: on which resources of a type may this subject do this action?
    pub fn search_resource(self, request: &Json) -> Result<Found, BadRequest> {
        let fields = parts::fields(request)?;
        let parts = Parts::of(fields);
        let (subject, action, wanted) = (parts.subject()?, parts.action()?, parts.any_resource()?);
        let environment = mapping::environment(parts.context()?, self.now);
        let gathering = Gathering::new("resource", fields, parts)?;
        if self.decider.directory.subject(subject.kind, subject.id).is_none() {
            return Ok(gathering.without("subject", subject));
        }
        let request = Request {
            subject: mapping::subject(subject),
            action: mapping::action(action.name, mapping::facts(action.properties)),
            resource: mapping::resource(any(wanted)),
            environment,
        };
        let (subject, resource, action) = (Sought::Given, Sought::OfType(wanted.kind.into()), Sought::Given);
        Ok(gathering.of(self, &Pattern { request, subject, resource, action }))
    }

    /// Action Search: which actions may this subject do on this resource? An action that is permitted only with some values of its
    /// properties is listed with these.
    pub fn search_action(self, request: &Json) -> Result<Found, BadRequest> {
        let fields = parts::fields(request)?;
        // There is no action to speak of.
        let parts = Parts { action: None, ..Parts::of(fields) };
        let (subject, resource) = (parts.subject()?, parts.resource()?);
        let environment = mapping::environment(parts.context()?, self.now);
        let gathering = Gathering::new("action", fields, parts)?;
        if self.decider.directory.subject(subject.kind, subject.id).is_none() {
            return Ok(gathering.without("subject", subject));
        }
        if self.decider.directory.resource(resource.kind, resource.id).is_none() {
            return Ok(gathering.without("resource", resource));
        }
        let (subject, resource) = (mapping::subject(subject), mapping::resource(resource));
        let request = Request { subject, resource, environment, action: Action::default() };
        let (subject, resource, action) = (Sought::Given, Sought::Given, Sought::All);
        Ok(gathering.of(self, &Pattern { request, subject, resource, action }))
    }
}

/// What is said of everybody who is looked for.
fn any(wanted: Wanted<'_>) -> Entity<'_> {
    Entity { kind: wanted.kind, id: "", properties: wanted.properties }
}

/// The results of one page, while they are gathered.
struct Gathering {
    search: Fingerprint,
    page: Page,
    last: Option<Place>,
    results: Vec<Match>,
    rest: Rest,
    undecided: usize,
    /// Of the action that is gathered, the variants that are permitted.
    permitted: Vec<(Place, Facts)>,
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
        let (results, permitted) = (Vec::new(), Vec::new());
        Ok(Self { search, page, last: None, results, rest: Rest::Nothing, undecided: 0, permitted })
    }

    /// The page of what a pattern finds.
    fn of(mut self, authzen: AuthZen<'_>, pattern: &Pattern) -> Found {
        let after = self.page.after.clone();
        if authzen.decider.reach(pattern, after.as_ref(), authzen.now, |found| self.take(found)).is_break() {
            self.rest = Rest::More;
        }
        self.found()
    }

    fn take(&mut self, found: &Reached<'_, '_>) -> ControlFlow<()> {
        let is_permitted = match found.outcome() {
            Outcome::Permit => true,
            Outcome::Deny => false,
            Outcome::Undecided | Outcome::Foreign => {
                self.undecided += 1;
                false
            }
        };
        let Place { subject, resource, action, .. } = found.place;
        if !action.is_empty() {
            return self.action(found, is_permitted);
        }
        let (kind, id) = if subject.0.is_empty() { resource.clone() } else { subject.clone() };
        if is_permitted {
            self.add(found.place.clone(), Match::Entity { kind, id })?;
        }
        ControlFlow::Continue(())
    }

    /// An action that is permitted in all variants is listed once.
    fn action(&mut self, found: &Reached<'_, '_>, is_permitted: bool) -> ControlFlow<()> {
        if is_permitted {
            self.permitted.push((found.place.clone(), found.properties.clone()));
        }
        if usize::try_from(found.place.variant).is_ok_and(|variant| variant + 1 < found.variants) {
            return ControlFlow::Continue(());
        }
        let permitted = std::mem::take(&mut self.permitted);
        let name = &found.place.action;
        if permitted.len() == found.variants {
            let place = Place { variant: u32::MAX, ..found.place.clone() };
            return self.add(place, Match::Action { name: name.clone(), properties: Facts::default() });
        }
        permitted
            .into_iter()
            .try_for_each(|(place, properties)| self.add(place, Match::Action { name: name.clone(), properties }))
    }

    /// Adds a result; breaks if it is for the next page.
    fn add(&mut self, place: Place, result: Match) -> ControlFlow<()> {
        let count = u64::try_from(self.results.len()).unwrap_or(u64::MAX);
        if self.page.limit.is_some_and(|limit| count >= limit) {
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
            (Asked::Yes, Rest::More) => Some(page.next(search, last)),
        };
        Found { results, next_token, undecided, stranger: None }
    }

    /// Nothing, because nobody knows what the search is about.
    fn without(self, part: &str, entity: Entity<'_>) -> Found {
        let stranger = format!("the directory has no {part} `{}` of type `{}`", entity.id, entity.kind);
        Found { stranger: Some(stranger), ..self.found() }
    }
}
