//! Questions, easy to write.

use serde_json::{Map, Value as Json};
use upheld_answers::Words;
use upheld_model::{Diagnostic, Fault};

use crate::Problems;

/// What somebody wants to know, in the words of the command line and of the server.
///
/// ```
/// use upheld::{Question, json};
///
/// let built = Question::between("web-1", "backend-1").kind("TrafficLog");
/// let written = Question::from_json(json!({"from": "web-1", "to": "backend-1", "kind": "TrafficLog"}))?;
/// assert_eq!(built, written);
/// # Ok::<(), upheld::Problems>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    words: Map<String, Json>,
}

impl Question {
    /// A connection: who calls, and who is called. Names (`web-1`), services (`backend`), inbounds (`backend-1#8080`), real
    /// resources (`meshservice/backend#http`) or tags (`kuma.io/service=web,cloud=?`).
    pub fn between(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self::nothing().with("from", from.into()).with("to", to.into())
    }

    /// One thing: a proxy (`dataplane/web-1`), a route (`httproute/shop/cart#rule0`), a listener, a backend; or two that must agree
    /// (`project/checkout~workspace/shop`).
    pub fn about(what: impl Into<String>) -> Self {
        Self::nothing().with("what", what.into())
    }

    /// May they? Who wants something (`role=admin,group=ops`), what they want to do (`DELETE`) and with what (`/api/audit/123`).
    pub fn may(subject: impl Into<String>, action: impl Into<String>, resource: impl Into<String>) -> Self {
        Self::nothing().with("subject", subject.into()).with("action", action.into()).with("resource", resource.into())
    }

    /// May they? A request as documents write it.
    pub fn request(document: Json) -> Self {
        Self::nothing().with("request", document)
    }

    /// A request that arrives at a gateway.
    pub fn arriving(host: impl Into<String>, path: impl Into<String>) -> Self {
        Self::nothing().with("host", host.into()).with("path", path.into())
    }

    /// The body of a question to the server.
    pub fn from_json(words: Json) -> Result<Self, Problems> {
        let Json::Object(words) = words else { return Err(unreadable("it is a map of words").into()) };
        let question = Self { words };
        question.read()?;
        Ok(question)
    }

    /// Under this kind of policy; else under all that there are.
    #[must_use]
    pub fn kind(self, kind: impl Into<String>) -> Self {
        self.with("kind", kind.into())
    }

    /// When just the result is wanted: this field of it, for example `http.requestTimeout`.
    #[must_use]
    pub fn field(self, path: impl Into<String>) -> Self {
        self.with("field", path.into())
    }

    /// With any other word that questions to the server have: `method`, `header`, `port`, `env`.
    #[must_use]
    pub fn with(mut self, word: &str, value: impl Into<Json>) -> Self {
        self.words.insert(word.to_owned(), value.into());
        self
    }

    /// All connections of a mesh are too many for reports.
    pub(crate) fn is_about_all_pairs(&self) -> bool {
        self.words.get("allPairs") == Some(&Json::Bool(true))
    }

    fn nothing() -> Self {
        Self { words: Map::new() }
    }

    /// The words that all ways of asking have in common.
    pub(crate) fn read(&self) -> Result<Words, Problems> {
        serde_json::from_value(Json::Object(self.words.clone())).map_err(|error| unreadable(&error.to_string()).into())
    }
}

fn unreadable(why: &str) -> Diagnostic {
    Diagnostic::error(Fault::IncompleteQuestion, format!("the question cannot be read: {why}"))
}
