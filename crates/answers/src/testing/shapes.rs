//! What documents with tests look like.

use upheld_dialects::access::arrivals;
use upheld_dialects::recognise::TESTS;
use upheld_dialects::shape::{Field, Shape, list, map_of, optional, required};

use super::invariants;

/// What can be decided.
pub(super) const DECISIONS: [&str; 3] = ["permit", "deny", "undecided"];

/// What becomes of a request that arrives.
const ENFORCED: [&str; 4] = ["permit", "deny", "undecided", "excluded"];

/// The parts of a request, in the order of a row.
pub(super) const PARTS: [&str; 4] = ["subject", "action", "resource", "environment"];

/// How questions about connections can end.
const OUTCOMES: [&str; 5] = ["decided", "aggregated", "merged", "default", "undecided"];

/// A whole document, for editors.
pub fn document() -> Shape {
    let cases = Shape::Either(Form::ALL.map(Form::shape).to_vec());
    let invariants = Shape::Either(invariants::Form::ALL.map(invariants::Form::shape).to_vec());
    frame(list(cases), list(invariants))
}

/// A document whose cases are checked one by one, each by its form.
pub(super) fn around() -> Shape {
    frame(list(map_of(Shape::Opaque)), list(map_of(Shape::Opaque)))
}

fn frame(cases: Shape, invariants: Shape) -> Shape {
    let parts = || map_of(Shape::Either(vec![Shape::Text, map_of(Shape::Opaque)]));
    let fixtures = Shape::Object(vec![
        optional("subjects", parts(), "who asks, by name"),
        optional("actions", parts(), "what is to be done, by name"),
        optional("resources", parts(), "with what, by name"),
        optional("environments", parts(), "under which circumstances, by name"),
    ]);
    Shape::Object(vec![
        optional("apiVersion", Shape::Choice(&["upheld/v1"]), "the edition of this format"),
        required("kind", Shape::Choice(&[TESTS]), "marks the document"),
        optional("name", Shape::Name, "what the document is called; servers keep it under this name"),
        optional("now", Shape::Text, "the moment at which all cases ask, for example 2025-03-01T12:00:00Z"),
        optional("fixtures", fixtures, "parts of requests that cases refer to by name"),
        optional("cases", cases, "questions with their answers"),
        optional("invariants", invariants, "what must hold for everything that could be asked"),
    ])
}

/// How a case asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One request.
    Request,
    /// Every combination of some parts.
    Matrix,
    /// A request and its decision a row.
    Table,
    /// A question to policies of another family.
    Explain,
    /// A request as a proxy or a program asks.
    Arrives,
    /// A change of related objects.
    Can,
    /// Who violates.
    Audit,
    /// Two related objects.
    Relation,
}

impl Form {
    const ALL: [Self; 8] = [
        Self::Request,
        Self::Matrix,
        Self::Table,
        Self::Explain,
        Self::Arrives,
        Self::Can,
        Self::Audit,
        Self::Relation,
    ];

    /// The fields that tell the forms.
    pub(super) fn words() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::word)
    }

    /// The field that tells the form.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Matrix => "matrix",
            Self::Table => "table",
            Self::Explain => "explain",
            Self::Arrives => "arrives",
            Self::Can => "can",
            Self::Audit => "audit",
            Self::Relation => "relation",
        }
    }

    /// The form of a case with these fields; a base for rows and combinations is a request, too.
    pub(super) fn of(has: impl Fn(&str) -> bool) -> Self {
        let special = [Self::Arrives, Self::Explain, Self::Table, Self::Matrix, Self::Can, Self::Audit, Self::Relation];
        special.into_iter().find(|form| has(form.word())).unwrap_or(Self::Request)
    }

    /// What a case of this form looks like.
    pub(super) fn shape(self) -> Shape {
        let mut fields = vec![required("name", Shape::Name, "what it is about; unique in the document")];
        fields.extend(self.asks());
        fields.extend([
            optional("skip", Shape::Name, "why it is not run"),
            optional("tags", list(Shape::Name), "words to choose cases by"),
        ]);
        Shape::Object(fields)
    }

    fn asks(self) -> Vec<Field> {
        let kind = optional("kind", Shape::Name, "the kind of policies, if there are several that decide");
        let now = optional("now", Shape::Text, "the moment at which it asks");
        let expect = required("expect", decision(&DECISIONS), "what must come out");
        match self {
            Self::Request => vec![required("request", request(), "who wants to do what with what"), kind, now, expect],
            Self::Matrix => vec![
                required("matrix", matrix(), "every combination of these is asked"),
                optional("request", request(), "what all combinations have in common"),
                kind,
                now,
                expect,
                optional(
                    "except",
                    list(exception()),
                    "combinations that come out otherwise; the first that fits counts",
                ),
            ],
            Self::Table => {
                let row = list(Shape::Either(vec![Shape::Text, map_of(Shape::Opaque)]));
                vec![
                    required("table", list(row), "rows of subject, action, resource, decision and perhaps policy"),
                    optional("request", request(), "what all rows have in common"),
                    kind,
                    now,
                ]
            }
            Self::Arrives => vec![
                required("arrives", arrivals::shape(), "a request as a proxy or a program asks"),
                optional("trust", names(), "whom to believe what, as `upheld serve` is told: peer=127.0.0.1, hops=1"),
                optional("fulfils", names(), "obligations that the proxy fulfils"),
                kind,
                now,
                required("expect", decision(&ENFORCED), "what must come out"),
            ],
            Self::Can => vec![
                required(
                    "can",
                    words(),
                    "a change in the words of `upheld can`, for example link project/a~landingZone/z",
                ),
                optional(
                    "as",
                    Shape::Name,
                    "who would do it: user, admin or a role; with @workspace/ID where it holds there only",
                ),
                optional("in", Shape::Name, "where something is to be created"),
                optional("role", Shape::Name, "in which role things are related"),
                kind,
                now,
                required("expect", admission(), "what must come out"),
            ],
            Self::Audit => vec![
                required(
                    "audit",
                    audited(),
                    "what is audited, with the names of the flags of `upheld audit`; {} is everything",
                ),
                optional("as", Shape::Name, "who asks: only what they may see is audited"),
                kind,
                now,
                required("expect", found(), "what must come out"),
            ],
            Self::Relation => vec![
                required("relation", Shape::Name, "two objects, for example project/a~landingZone/z"),
                kind,
                now,
                required("expect", agreement(), "what must come out"),
            ],
            Self::Explain => vec![
                required("explain", question(), "a question, with the names of the flags of `upheld explain`"),
                required(
                    "expect",
                    ruling(),
                    "what must come out: one map for all answers, or a list with one for each",
                ),
            ],
        }
    }
}

fn part() -> Shape {
    Shape::Either(vec![Shape::Text, map_of(Shape::Opaque)])
}

fn request() -> Shape {
    let about = ["who asks", "what is to be done", "with what", "under which circumstances"];
    Shape::Object(PARTS.into_iter().zip(about).map(|(name, about)| optional(name, part(), about)).collect())
}

fn matrix() -> Shape {
    Shape::Object(PARTS.map(|name| optional(name, list(part()), "each of these")).to_vec())
}

fn exception() -> Shape {
    let values = || Shape::Either(vec![Shape::Text, map_of(Shape::Opaque), list(part())]);
    let when = Shape::Object(PARTS.map(|name| optional(name, values(), "one of these")).to_vec());
    Shape::Object(vec![
        required("when", when, "which combinations"),
        required("expect", decision(&DECISIONS), "what must come out there"),
    ])
}

fn names() -> Shape {
    list(Shape::Text)
}

/// A part with inner parts: a list of names, or by name what is stated of each.
fn stated() -> Shape {
    Shape::Either(vec![names(), map_of(Shape::Opaque)])
}

fn decision(words: &'static [&'static str]) -> Shape {
    Shape::Either(vec![
        Shape::Choice(words),
        Shape::Object(vec![
            optional("decision", Shape::Choice(words), "what becomes of the request"),
            optional("policy", Shape::Text, "the policy that decides; (default) if none does"),
            optional("reason", Shape::Text, "what its description says"),
            optional("determining", names(), "all policies that apply and have the effect that stands"),
            optional("obligations", stated(), "what must be done along with it"),
            optional("advice", stated(), "what may be done along with it"),
            optional("algorithm", Shape::Text, "how policies are combined"),
            optional("answer", Shape::Text, "the sentence that answers"),
            optional("candidates", stated(), "policies by name, for example {user-read: {state: SKIP}}"),
            optional("default", map_of(Shape::Opaque), "what becomes of the default effect"),
        ]),
    ])
}

/// Words with blanks between them, or a list of them.
fn words() -> Shape {
    Shape::Either(vec![Shape::Name, names()])
}

/// What can become of a change.
const ADMISSIONS: [&str; 5] = ["allowed", "soft", "blocked", "forbidden", "invalid"];

fn admission() -> Shape {
    Shape::Either(vec![
        Shape::Choice(&ADMISSIONS),
        Shape::Object(vec![
            optional("outcome", Shape::Choice(&ADMISSIONS), "what becomes of the change"),
            optional("policies", names(), "the policies that it violates"),
            optional("violations", stated(), "violations by the name of their policy"),
            optional("answer", Shape::Text, "the sentence that answers"),
        ]),
    ])
}

fn audited() -> Shape {
    Shape::Object(vec![
        optional("workspace", Shape::Name, "only this workspace"),
        optional("policy", Shape::Name, "only this policy"),
        optional("kind", Shape::Name, "only pairs with an object of this kind"),
        optional("object", Shape::Name, "only pairs with this object"),
    ])
}

fn found() -> Shape {
    let number = |name, about| optional(name, Shape::Integer, about);
    Shape::Object(vec![
        number("pairs", "how many pairs are checked"),
        number("passed", "how many checks pass"),
        number("hard", "how many are enforced, violated and let through by nobody"),
        number("soft", "how many are violated and accepted"),
        number("waived", "how many are waived"),
        number("vacuous", "how many pass because neither side has the tag"),
        optional("violating", names(), "the pairs that violate something, as a~b, the worst first"),
        optional("violations", stated(), "violations by the name of their policy"),
        optional("policies", stated(), "policies by name, for example {env: {hard: 0}}"),
        optional("answer", Shape::Text, "the sentence that answers"),
    ])
}

/// How two related objects can fare.
const AGREEMENTS: [&str; 5] = ["pass", "soft", "hard", "waived", "unset"];

fn agreement() -> Shape {
    Shape::Either(vec![
        Shape::Choice(&AGREEMENTS),
        Shape::Object(vec![
            optional(
                "verdict",
                Shape::Choice(&AGREEMENTS),
                "the worst that a rule ends in; unset if none is about them",
            ),
            optional("related", Shape::Bool, "whether they are related"),
            optional("policies", names(), "the policies that are about them"),
            optional("candidates", stated(), "policies by name, for example {env: {state: HARD}}"),
            optional("answer", Shape::Text, "the sentence that answers"),
        ]),
    ])
}

fn question() -> Shape {
    let headers = Shape::Either(vec![Shape::Text, names(), map_of(Shape::Text)]);
    Shape::Object(vec![
        optional("kind", Shape::Name, "the kind of policy; all kinds when left out"),
        optional("what", Shape::Name, "the proxy, route, listener or backend in question"),
        optional("from", Shape::Name, "who calls"),
        optional("to", Shape::Name, "who is called"),
        optional("field", Shape::Name, "one field of the result"),
        optional("host", Shape::Name, "the host of a request to a gateway"),
        optional("path", Shape::Text, "its path"),
        optional("method", Shape::Text, "its method; GET when left out"),
        optional("header", headers, "its headers"),
        optional("port", Shape::Integer, "the port of the listener"),
        optional("protocol", Shape::Text, "the protocol of a connection"),
    ])
}

fn ruling() -> Shape {
    let one = || {
        Shape::Object(vec![
            optional("outcome", Shape::Choice(&OUTCOMES), "how it ends"),
            optional("policies", names(), "the policies that stand, best first"),
            optional("fields", stated(), "fields of the result with their values; null is not set"),
            optional("result", Shape::Opaque, "the result as it was written"),
            optional("granted", Shape::Bool, "whether this caller may"),
            optional("summary", Shape::Text, "the result in a few words"),
            optional("answer", Shape::Text, "the sentence that answers"),
            optional("rung", map_of(Shape::Opaque), "the rung that decides"),
            optional("candidates", stated(), "policies by name, for example {catch-all: {state: LOST}}"),
            optional("kind", Shape::Text, "the kind of policy"),
            optional("semantics", Shape::Text, "the edition of the rules"),
            optional("mesh", Shape::Text, "the mesh"),
            optional("from", Shape::Text, "who calls"),
            optional("to", Shape::Text, "who is called"),
            optional("for", names(), "the connections that it holds for"),
            optional("place", Shape::Text, "where in a proxy it holds"),
            optional("default", map_of(Shape::Opaque), "what becomes of the default"),
            optional("target", Shape::Text, "for gateways: what it is about"),
            optional("ways", names(), "for gateways: the ways of requests that get there"),
            optional("overridden", stated(), "for gateways: fields that do not hold"),
            optional("broken", names(), "for gateways: what makes requests fail"),
        ])
    };
    Shape::Either(vec![one(), list(one())])
}
