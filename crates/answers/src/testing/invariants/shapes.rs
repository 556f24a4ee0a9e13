//! What invariants look like.

use upheld_dialects::access::invariants;
use upheld_dialects::shape::{Shape, list, map_of, optional, required};

/// How an invariant is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::testing) enum Form {
    /// Nothing of this may come out.
    Never,
    /// Only this may come out.
    Always,
    /// Everything of a sort has something.
    Every,
    /// Answers are what they were.
    Unchanged,
}

impl Form {
    pub(in crate::testing) const ALL: [Self; 4] = [Self::Never, Self::Always, Self::Every, Self::Unchanged];

    /// The field that tells the form.
    pub(in crate::testing) fn word(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Always => "always",
            Self::Every => "every",
            Self::Unchanged => "unchanged",
        }
    }

    /// What an invariant of this form looks like.
    pub(in crate::testing) fn shape(self) -> Shape {
        let tags = || map_of(Shape::Either(vec![Shape::Text, list(Shape::Text)]));
        let mut fields = vec![required("name", Shape::Name, "what it is about; unique in the document")];
        fields.extend(match self {
            Self::Never | Self::Always => vec![
                required(
                    self.word(),
                    Shape::Choice(&["permit", "deny", "undecided", "connect"]),
                    "what becomes of requests, or of connections",
                ),
                optional("where", invariants::shape(), "the requests, written as policies are; all when left out"),
                optional("from", tags(), "the callers, by their tags; all when left out"),
                optional("to", tags(), "the called ones, by their tags; all when left out"),
            ],
            Self::Every => vec![
                required("every", Shape::Name, "connection, proxy, route, gateway, backend, or a type of objects"),
                optional("where", tags(), "only those with these tags; `*` is any value"),
                optional("from", tags(), "of connections: the callers, by their tags"),
                optional("to", tags(), "of connections: the called ones, by their tags"),
                required(
                    "holds",
                    Shape::Either(vec![Shape::Name, list(Shape::Name)]),
                    "what each has: `http.requestTimeout <= 30s`, `costCenter exists`",
                ),
            ],
            Self::Unchanged => {
                let mut region = invariants::fields();
                region.push(optional("from", tags(), "of connections: the callers, by their tags"));
                region.push(optional("to", tags(), "of connections: the called ones, by their tags"));
                vec![required("unchanged", Shape::Object(region), "requests, written as policies are; or connections")]
            }
        });
        fields.extend([
            optional("kind", Shape::Name, "the kind of policies"),
            optional("skip", Shape::Name, "why it is not looked at"),
            optional("tags", list(Shape::Name), "words to choose invariants by"),
        ]);
        Shape::Object(fields)
    }
}
