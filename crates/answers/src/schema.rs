//! What a report looks like to programs, as a shape that prints as JSON Schema.

use upheld_dialects::shape::{Shape, list, map_of, optional, required};

/// A document with the answers to a question.
pub fn explanation() -> Shape {
    Shape::Object(vec![
        required("apiVersion", Shape::Choice(&["upheld/v2"]), "the edition of this format"),
        required("kind", Shape::Choice(&["Explanation"]), "marks the document"),
        required("semantics", list(Shape::Text), "the editions of the kinds that answered"),
        required("snapshot", Shape::Text, "the digest of everything that was read"),
        required("answers", list(report()), "a report for each kind of policy and each thing"),
    ])
}

/// What the policies of one kind come to for one thing, and why.
pub fn report() -> Shape {
    Shape::Object(vec![
        required(
            "family",
            Shape::Choice(&["select", "merge", "hierarchy", "decide", "comply"]),
            "how policies resolve",
        ),
        required("kind", Shape::Text, "the kind of policy"),
        optional("semantics", Shape::Text, "the edition of the rules"),
        required("about", about(), "what was asked about"),
        required("headline", phrase(), "the sentence that answers"),
        required("verdict", Shape::Choice(&VERDICTS), "what it comes to"),
        required("outcome", Shape::Choice(&OUTCOMES), "how it came about"),
        required("policies", names(), "the policies that the result comes from, best first"),
        required("summary", Shape::Text, "the result in a few words"),
        required("result", Shape::Opaque, "the result as it was written; a list when several apply"),
        required("fields", list(field()), "the result field by field"),
        optional("rung", rung(), "the rung that decided"),
        optional("ranking", phrase(), "how ranking went"),
        required(
            "candidates",
            list(candidate()),
            "policies that were looked at, best first; of those that do not match, the nearest",
        ),
        optional("leftOut", Shape::Integer, "how many other policies do not match; none where it is left out"),
        optional("default", default(), "what stands when no policy applies"),
        required("notes", list(phrase()), "what else is worth knowing"),
        optional("next", names(), "commands that lead on from here"),
        optional("detail", Shape::Either(vec![decision(), relation()]), "what only this family has"),
    ])
}

const VERDICTS: [&str; 11] =
    ["set", "unset", "permit", "deny", "foreign", "undecided", "error", "pass", "soft", "hard", "waived"];
const OUTCOMES: [&str; 5] = ["decided", "aggregated", "merged", "default", "undecided"];
const STATES: [&str; 9] = ["WON", "KEPT", "LOST", "UNKNOWN", "SKIP", "OFF", "PASS", "SOFT", "HARD"];
const DECISIONS: [&str; 4] = ["permit", "deny", "undecided", "foreign"];

fn names() -> Shape {
    list(Shape::Text)
}

fn phrase() -> Shape {
    Shape::Object(vec![
        required("code", Shape::Text, "what it says, for programs"),
        required("parameters", map_of(Shape::Opaque), "the names and numbers that it is said with"),
        required("text", Shape::Text, "the same in words"),
    ])
}

fn at() -> Shape {
    Shape::Object(vec![
        required("file", Shape::Text, "the name of the file"),
        required("line", Shape::Integer, "from one"),
        required("column", Shape::Integer, "in characters, from one"),
    ])
}

fn about() -> Shape {
    Shape::Object(vec![
        required("what", Shape::Text, "in words"),
        optional("scope", Shape::Text, "the mesh or namespace that it lives in"),
        optional("from", Shape::Text, "who calls; one of two related objects"),
        optional("to", Shape::Text, "who is called; the other object"),
        optional("place", Shape::Text, "where in a proxy it holds"),
        optional("for", names(), "everything with this answer"),
        optional("request", map_of(Shape::Opaque), "the request that was decided"),
    ])
}

fn field() -> Shape {
    let source = Shape::Object(vec![
        required("policy", Shape::Text, "the policy"),
        optional("via", Shape::Text, "how it is attached"),
        optional("at", at(), "where it says so"),
    ]);
    let over = Shape::Object(vec![
        required("value", Shape::Opaque, "the value"),
        required("policy", Shape::Text, "who says it"),
        optional("scope", Shape::Text, "the scope of that policy"),
        optional("at", at(), "where"),
        optional("via", Shape::Text, "how it is attached"),
        optional("takenBy", Shape::Text, "who goes before"),
        required("reason", phrase(), "why"),
    ]);
    Shape::Object(vec![
        required("field", Shape::Text, "its path"),
        optional("value", Shape::Opaque, "its value; nothing where nobody sets it any more"),
        optional("scope", Shape::Text, "the scope whose policy sets it"),
        required("from", list(source), "the policies that set it"),
        optional("reason", phrase(), "why this value holds"),
        optional("over", list(over), "what others say here, the best of them first"),
    ])
}

fn rung() -> Shape {
    Shape::Object(vec![
        required("number", Shape::Integer, "from one"),
        required("of", Shape::Integer, "how many rungs there are"),
        required("name", Shape::Text, "what it compares"),
        required("code", Shape::Text, "the same as a code"),
        required("arbitrary", Shape::Bool, "whether renaming a policy would flip it"),
    ])
}

fn candidate() -> Shape {
    let fact = Shape::Object(vec![
        required("name", Shape::Text, "what it is"),
        required("value", Shape::Opaque, "a number, or what the policy wants"),
        optional("holds", Shape::Choice(&["yes", "no", "unknown"]), "whether what is wanted is there"),
        optional("index", Shape::Integer, "its place in the list of the policy"),
        optional("others", Shape::Integer, "how many alternatives there are besides"),
        optional("misses", list(phrase()), "what does not fit"),
    ]);
    Shape::Object(vec![
        required("state", Shape::Choice(&STATES), "what became of it"),
        required("policy", Shape::Text, "its name"),
        optional("scope", Shape::Text, "its mesh or namespace"),
        optional("item", Shape::Integer, "which part of it"),
        optional("facts", list(fact), "what it was matched and ranked by"),
        optional("distance", Shape::Integer, "how many parts would have to be otherwise before it applied"),
        required("reason", phrase(), "why it ended so"),
        optional("at", at(), "where it was written"),
    ])
}

fn default() -> Shape {
    Shape::Object(vec![
        required("state", Shape::Choice(&STATES), "what became of it"),
        required("name", Shape::Text, "what it is called"),
        required("means", Shape::Text, "what it means"),
        required("reason", phrase(), "why it stands or does not"),
        optional("at", at(), "the settings that say so"),
    ])
}

fn decision() -> Shape {
    let duty = || {
        list(Shape::Object(vec![
            required("id", Shape::Text, "its name"),
            required("type", Shape::Text, "what sort: step-up, notification, session_termination, custom"),
            optional("from", Shape::Text, "the policy that asks for it"),
            optional("properties", Shape::Opaque, "with what"),
        ]))
    };
    let other = Shape::Object(vec![
        required("algorithm", Shape::Text, "another way to combine"),
        required("decision", Shape::Choice(&DECISIONS), "what it would say"),
        optional("by", Shape::Text, "the policy, or (default)"),
    ]);
    let operation = Shape::Object(vec![
        required("op", Shape::Choice(&["add", "remove", "replace"]), "what is done"),
        required("path", Shape::Text, "where, as a JSON Pointer"),
        optional("value", Shape::Opaque, "the new value"),
    ]);
    let change = Shape::Object(vec![
        required("change", Shape::Choice(&["policies", "request"]), "what is changed"),
        required("policies", names(), "those that are removed, or that apply then"),
        optional("patch", list(operation), "the same as a JSON Patch (RFC 6902) of the request in `about`"),
        required("text", Shape::Text, "the change in words"),
    ]);
    Shape::Object(vec![
        required("algorithm", Shape::Text, "how votes were combined"),
        optional("reason", Shape::Text, "what the policy that decided says about itself, or why there is none"),
        required("determining", names(), "all policies that apply and have the effect that stands"),
        optional("otherAlgorithms", list(other), "what other ways to combine would say"),
        optional("changes", list(change), "the smallest changes that would flip the decision"),
        required("obligations", duty(), "what must be done along with it"),
        required("advice", duty(), "what may be done along with it"),
    ])
}

fn relation() -> Shape {
    Shape::Object(vec![
        required("related", Shape::Bool, "whether they are related"),
        required("checks", list(check()), "every rule that is about the two"),
        optional("outOfScope", list(out_of_scope()), "policies that are cut to other objects"),
        required("others", names(), "policies that are about other pairs, or switched off"),
    ])
}

fn out_of_scope() -> Shape {
    Shape::Object(vec![
        required("policy", Shape::Text, "its name"),
        required("reason", phrase(), "why it does not count here"),
        optional("at", at(), "where it is written"),
    ])
}

fn check() -> Shape {
    let side = || {
        Shape::Object(vec![
            required("ref", Shape::Text, "kind/id"),
            required("kind", Shape::Text, "the kind of the object"),
            required("title", Shape::Text, "what the kind is called"),
            required("name", Shape::Text, "its name"),
            required("tag", Shape::Text, "the tag that is looked at"),
            required("values", names(), "the values of the tag"),
            optional("at", at(), "where the object was written"),
        ])
    };
    let reason =
        Shape::Object(vec![required("code", Shape::Text, "for programs"), required("text", Shape::Text, "in words")]);
    Shape::Object(vec![
        required("id", Shape::Text, "a fingerprint that stays"),
        optional("workspace", Shape::Text, "where it belongs"),
        required("policy", Shape::Text, "the policy"),
        required("rule", Shape::Integer, "the number of the rule in its policy, from zero"),
        required("a", side(), "one side"),
        required("b", side(), "the affected side, where a policy has a direction"),
        required("strategy", Shape::Text, "how the values must agree"),
        required("level", Shape::Choice(&["enforce", "warn", "audit", "off"]), "what becomes of violations"),
        required("state", Shape::Choice(&["pass", "soft", "hard", "waived"]), "how it ended"),
        required("vacuous", Shape::Bool, "whether it passed only because neither side has the tag"),
        required("reason", reason, "why"),
        required("message", Shape::Text, "all of it in one line"),
        optional(
            "severity",
            Shape::Choice(&["critical", "high", "medium", "low", "info"]),
            "how bad it is, as the policy says",
        ),
        optional("firstSeen", Shape::Text, "since when"),
        optional("cause", map_of(Shape::Opaque), "who brought it about"),
        optional("waiver", map_of(Shape::Opaque), "the waiver that covers it"),
        optional("nearMiss", list(map_of(Shape::Opaque)), "values that nearly agree"),
        optional("howToFix", Shape::Text, "the hint of the policy"),
        optional("baselineState", Shape::Choice(&["new", "unchanged", "updated"]), "whether an earlier audit had it"),
        optional("fixes", list(map_of(Shape::Opaque)), "changes that end the violation"),
    ])
}
