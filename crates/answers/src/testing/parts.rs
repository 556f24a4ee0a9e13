//! Parts of requests as tests write them: a map, the name of a fixture, or a text as on the command line.

use std::collections::BTreeMap;

use upheld_dialects::access::{Edition, request};
use upheld_engine::decide::Request;
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

use upheld_dialects::access::questions::RequestWords;

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Subject,
    Action,
    Resource,
    Environment,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Subject, Self::Action, Self::Resource, Self::Environment];

    /// The part of a word.
    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.word() == word)
    }

    /// The word that users write.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Action => "action",
            Self::Resource => "resource",
            Self::Environment => "environment",
        }
    }

    /// Copies the part from one request to another.
    pub(super) fn copy(self, from: &Request, to: &mut Request) {
        match self {
            Self::Subject => to.subject = from.subject.clone(),
            Self::Action => to.action = from.action.clone(),
            Self::Resource => to.resource = from.resource.clone(),
            Self::Environment => to.environment = from.environment.clone(),
        }
    }

    /// Whether a text that is no fixture describes the part by itself. A bare name of a subject does not: a typo would
    /// be somebody whom no policy knows.
    fn describes(self, text: &str) -> bool {
        match self {
            Self::Action => true,
            Self::Resource => text.starts_with('/') || text.contains('='),
            Self::Subject | Self::Environment => text.contains('='),
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Subject => "id=alice,role=admin",
            Self::Action => "method=GET",
            Self::Resource => "/api/users",
            Self::Environment => "ip=192.0.2.7",
        }
    }
}

/// Reads parts of requests of one document.
#[derive(Debug)]
pub(super) struct Parts {
    source: SourceId,
    edition: Edition,
    /// Requests of which only one part counts.
    fixtures: BTreeMap<(Part, String), Request>,
}

impl Parts {
    /// With the fixtures of the document.
    pub(super) fn new(source: SourceId, edition: Edition, given: Option<Value<'_>>, found: &mut Diagnostics) -> Self {
        let mut parts = Self { source, edition, fixtures: BTreeMap::new() };
        let mut fixtures = BTreeMap::new();
        for part in Part::ALL {
            let of_part = given.and_then(|given| given.get(&format!("{}s", part.word())));
            for (name, value) in of_part.into_iter().flat_map(Value::entries) {
                let mut request = parts.nothing();
                parts.read(part, value, &mut request, found);
                fixtures.insert((part, name.text().to_owned()), request);
            }
        }
        parts.fixtures = fixtures;
        parts
    }

    /// A request that says nothing.
    pub(super) fn nothing(&self) -> Request {
        let mut nobody = Diagnostics::default();
        Request {
            subject: request::subject(self.source, None, self.edition, &mut nobody),
            action: request::action(self.source, None, self.edition, &mut nobody),
            resource: request::resource(self.source, None, self.edition, &mut nobody),
            environment: request::environment(self.source, None, self.edition, &mut nobody),
        }
    }

    /// Reads one part into a request.
    pub(super) fn read(&self, part: Part, value: Value<'_>, into: &mut Request, found: &mut Diagnostics) {
        let (source, edition) = (self.source, self.edition);
        match (value.kind(), part) {
            (Kind::Text, part) => self.text(part, value, into, found),
            (_, Part::Subject) => into.subject = request::subject(source, Some(value), edition, found),
            (_, Part::Action) => into.action = request::action(source, Some(value), edition, found),
            (_, Part::Resource) => into.resource = request::resource(source, Some(value), edition, found),
            (_, Part::Environment) => into.environment = request::environment(source, Some(value), edition, found),
        }
    }

    fn text(&self, part: Part, value: Value<'_>, into: &mut Request, found: &mut Diagnostics) {
        let text = value.text();
        if let Some(fixture) = self.fixtures.get(&(part, text.to_owned())) {
            part.copy(fixture, into);
            return;
        }
        if !part.describes(text) {
            found.push(self.no_fixture(part, value));
            return;
        }
        let mut flags = RequestWords::default();
        let given = [text.to_owned()];
        match part {
            Part::Subject => flags.subject(&given),
            Part::Action => flags.action(&given),
            Part::Resource => flags.resource(&given),
            Part::Environment => flags.environment(&given),
        }
        found.extend(flags.problems.into_iter().map(|problem| problem.at_value(self.source, value, "here")));
        part.copy(&flags.request, into);
    }

    fn no_fixture(&self, part: Part, value: Value<'_>) -> Diagnostic {
        let (word, text) = (part.word(), value.text());
        let names = self.fixtures.keys().filter(|(of, _)| *of == part).map(|(_, name)| name.as_str());
        let message = format!("there is no {word} `{text}` among the fixtures");
        let diagnostic = Diagnostic::error(Fault::NotFound, message).at_value(self.source, value, "no such fixture");
        let diagnostic = diagnostic.suggest_or(nearest(text, names), || format!("add it to `fixtures.{word}s`"));
        diagnostic.help(format!("or describe it, for example `{}`", part.example()))
    }
}
