//! Questions: what somebody wants to know, parsed once.
//!
//! ```text
//! flags, JSON, an address ──▶ Words ──(the dialect that owns the words)──▶ Question ──▶ every dialect that knows the thing
//! ```

mod meant;
mod options;
mod words;

use std::sync::Arc;

use upheld_engine::decide::Request;
use upheld_engine::{KindId, PolicyKind, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};
use upheld_report::{Answer, Depth};

pub use self::options::Options;
pub use self::words::Words;
pub(crate) use self::words::one_or_many;
use crate::dialect::{Dialect, dialects};
use crate::recognise::{Given, given_to};
pub use upheld_report::Refused;

/// What somebody wants to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What it is about.
    pub thing: Thing,
    /// The kind of policy; all kinds when left out.
    pub kind: Option<String>,
    /// One field of the result.
    pub field: Option<String>,
}

/// A thing that can be asked about.
#[derive(Clone, Debug, PartialEq)]
pub enum Thing {
    /// Who calls and who is called; one of them may be left out.
    Connection(Connection),
    /// Every connection there is.
    AllConnections,
    /// An object by its type and name, or a part of it.
    Object(Named),
    /// A request to a gateway.
    HttpRequest(HttpRequest),
    /// Requests that are permitted or denied.
    AccessRequests(Arc<[Request]>),
    /// Two related objects, as users write them: `project/a~workspace/b`.
    Relation(String),
    /// Nothing yet: something is missing.
    Nothing,
}

/// The ends of a connection, as users write them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// An end that was named without saying which.
    pub what: Option<String>,
    /// Who calls.
    pub from: Option<String>,
    /// Who is called.
    pub to: Option<String>,
    /// The port that is called.
    pub port: Option<u16>,
    /// The protocol, if it is not the usual one.
    pub protocol: Option<String>,
    /// The request that is made over it, if one was described.
    pub request: Option<HttpRequest>,
}

impl Connection {
    /// Who calls.
    pub fn source(&self) -> Option<&str> {
        self.from.as_deref().or(self.what.as_deref().filter(|_| !self.is_inbound()))
    }

    /// An inbound is asked for as what is called.
    fn is_inbound(&self) -> bool {
        self.to.is_none() && self.from.is_none() && self.what.as_deref().is_some_and(|what| what.contains('#'))
    }

    /// Who is called: the one that was named without saying which, if another calls it.
    pub fn destination(&self) -> Option<&str> {
        self.to.as_deref().or(self.what.as_deref().filter(|_| self.from.is_some() || self.is_inbound()))
    }
}

/// An object as users write it: `httproute/shop/cart#rule`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// All of it.
    pub written: String,
}

impl Named {
    /// The word before the first slash.
    pub fn noun(&self) -> &str {
        self.written.split_once('/').map_or("", |(noun, _)| noun)
    }
}

/// A request to a gateway or over a connection, as users write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// Its host; empty for requests over a connection.
    pub host: String,
    /// Its path, perhaps with a query; the root when left out.
    pub path: Option<String>,
    /// Its method; GET when left out.
    pub method: Option<String>,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// The port of the listener; any when left out.
    pub port: Option<u16>,
}

impl HttpRequest {
    /// Of words, for a host.
    pub fn of(words: &Words, host: &str) -> Result<Self, Diagnostic> {
        let headers = words.header.iter().map(|header| {
            let parts = header.split_once('=').or_else(|| header.split_once(": "));
            let (name, value) =
                parts.ok_or_else(|| Diagnostic::error(Fault::WrongValue, format!("`{header}` is not `name=value`")))?;
            Ok((name.to_owned(), value.to_owned()))
        });
        let headers = headers.collect::<Result<Vec<_>, Diagnostic>>()?;
        let (host, path, method) = (host.to_owned(), words.path.clone(), words.method.clone());
        Ok(Self { host, path, method, headers, port: words.port })
    }
}

impl Question {
    /// Parses words; the dialect that owns them says what they mean.
    pub fn parse(words: &Words, options: &Options) -> Result<Self, Refused> {
        let words = &words.with_plain_names();
        let thing = match dialects().find_map(|dialect| dialect.parse(words, options)) {
            Some(thing) => thing?,
            None => shared(words)?,
        };
        Ok(Self { thing, kind: words.kind.clone(), field: words.field.clone() })
    }

    /// A question about requests.
    pub fn about_requests(requests: impl Into<Arc<[Request]>>, kind: Option<&str>) -> Self {
        Self { thing: Thing::AccessRequests(requests.into()), kind: kind.map(str::to_owned), field: None }
    }
}

/// Words that several dialects have in common.
fn shared(words: &Words) -> Result<Thing, Diagnostic> {
    let Words { what, from, to, port, protocol, .. } = words.clone();
    let described = words.path.is_some() || words.method.is_some() || !words.header.is_empty();
    if described && to.is_none() {
        let message = "a path, a method or headers describe a request, but to whom?";
        let help = "add `--to` and `--from` for a request from a proxy, or `--host` for one to a gateway";
        return Err(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
    }
    let request = described.then(|| HttpRequest::of(words, "")).transpose()?;
    Ok(match (words.all_pairs, &what, &from, &to) {
        (true, ..) => Thing::AllConnections,
        (false, None, None, None) => Thing::Nothing,
        _ => Thing::Connection(Connection { what, from, to, port, protocol, request }),
    })
}

/// A question, and what it is asked of.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Everything that was read.
    pub snapshot: &'a Snapshot,
    /// What is asked.
    pub question: &'a Question,
    /// How it is answered.
    pub options: &'a Options,
    /// How much of the answer is wanted.
    pub depth: Depth,
}

impl<'a> Asked<'a> {
    /// The kind that was named.
    pub fn kind(&self) -> Result<Option<(KindId, &'a PolicyKind)>, Diagnostic> {
        let Some(name) = &self.question.kind else { return Ok(None) };
        let id = find_kind(self.snapshot, name)?;
        Ok(self.snapshot.kind(id).map(|kind| (id, kind)))
    }

    /// Asks all dialects: those that know the thing answer together.
    pub fn answer(&self) -> Result<Answer, Refused> {
        self.kind()?;
        let mut answers: Vec<Answer> = Vec::new();
        let mut refused: Vec<(bool, &dyn Dialect, Refused)> = Vec::new();
        for (dialect, answer) in dialects().filter_map(|dialect| Some((dialect, dialect.answer(self)?))) {
            match answer {
                Ok(answer) => answers.push(answer),
                Err(problem) => refused.push((dialect.example(self.snapshot).is_none(), dialect, problem)),
            }
        }
        // An answer that says nothing does not hide what is wrong with the question.
        if !refused.is_empty() {
            answers.retain(|answer| !answer.reports.is_empty());
        }
        if let Some(mut answer) = answers.into_iter().reduce(Answer::with) {
            answer.notes.extend(self.given_namespaces(&answer));
            return Ok(answer.with_skipped(&self.options.skipped));
        }
        // Who has nothing to be asked about knows least of what was meant.
        refused.sort_by_key(|(has_nothing, ..)| *has_nothing);
        let Some((has_nothing, dialect, mut problem)) = refused.into_iter().next() else {
            return Err(unanswered(self.snapshot).into());
        };
        if let (true, Some(name)) = (has_nothing, meant::name_in(self.question)) {
            problem = meant::nothing_called(name).into();
        }
        let meant = |problem| meant::with_meant(problem, dialect, self);
        problem.diagnostics = problem.diagnostics.into_iter().map(meant).collect();
        Err(problem)
    }
}

impl Asked<'_> {
    /// Which namespaces documents are taken to be in that name none.
    fn given_namespaces(&self, answer: &Answer) -> Vec<String> {
        let given = given_to(self.snapshot, || answer.rests_on(self.snapshot.files()));
        let note = |Given { namespace, by }: &Given| {
            format!("note: documents that name no namespace are taken to be in {namespace}, as {by} beside them says")
        };
        given.into_iter().map(note).collect()
    }
}

/// The kind of a name, in any case; a typo gets the nearest.
pub fn find_kind(snapshot: &Snapshot, name: &str) -> Result<KindId, Diagnostic> {
    let text = |kind: &PolicyKind| snapshot.text(kind.name);
    let found = snapshot.kinds().iter().find(|(_, kind)| text(kind).eq_ignore_ascii_case(name));
    found.map(|(id, _)| id).ok_or_else(|| {
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no kind `{name}`"));
        let diagnostic = diagnostic.suggest(
            nearest(name, snapshot.kinds().iter().map(|(_, kind)| text(kind)))
                .map(|nearest| format!("--kind {nearest}")),
        );
        diagnostic.help("`upheld kinds` lists all of them")
    })
}

/// A question about nothing, or about something that nobody knows, with what could be asked here.
fn unanswered(snapshot: &Snapshot) -> Diagnostic {
    let problem = Diagnostic::error(Fault::IncompleteQuestion, "what is the question about?");
    let here = dialects().filter_map(|dialect| Some((dialect, dialect.example(snapshot)?)));
    let examples: Vec<String> = here
        .map(|(dialect, usual)| meant::own_example(dialect, snapshot).unwrap_or_else(|| usual.to_owned()))
        .collect();
    let all = || dialects().filter_map(Dialect::usual_example).map(str::to_owned);
    let examples = if examples.is_empty() { all().collect() } else { examples };
    let problem = examples.into_iter().fold(problem, Diagnostic::help);
    problem.help("`upheld list` shows what there is")
}
