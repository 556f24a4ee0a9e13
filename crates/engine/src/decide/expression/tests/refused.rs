//! What is refused, where it is underlined, and what is said.

use crate::decide::expression::{Expression, Problem};

fn problems(text: &str) -> Vec<Problem> {
    Expression::parse(text).map_or_else(|problems| problems, |_| panic!("{text} is fine"))
}

/// Text, what is underlined, the message, a part of the help.
type Row = (&'static str, &'static str, &'static str, &'static str);

#[track_caller]
fn refused(rows: &[Row]) {
    for (text, underlined, message, help) in rows {
        let problems = problems(text);
        let [problem] = problems.as_slice() else { panic!("{text}: {problems:?}") };
        assert_eq!(text.get(problem.range.clone()), Some(*underlined), "{text}");
        assert_eq!(problem.message, *message, "{text}");
        let said = problem.help.as_deref().unwrap_or_default();
        assert!(said.contains(help), "{text}: {said}");
    }
}

#[test]
fn grammar() {
    refused(&[
        ("", "", "expected a value, found the end", ""),
        ("1 ==", "", "expected a value, found the end", ""),
        ("(true", "", "expected `)`, found the end", ""),
        ("true)", ")", "expected an operator or the end, found `)`", ""),
        ("true and false", "and", "expected an operator or the end, found `and`", "`&&`"),
        ("true or false", "or", "expected an operator or the end, found `or`", "`||`"),
        ("1 < 2 < 3", "<", "comparisons cannot be chained", "`&&`"),
        ("subject.", "", "expected a name, found the end", "[\"name\"]"),
        ("subject.'a' == 1", "'a'", "expected a name, found a text", "[\"name\"]"),
        ("in == 1", "in", "expected a value, found `in`", ""),
        ("subject.id = 'a'", "=", "`=` is not valid here", "`==`"),
        ("true & false", "&", "`&` is not valid here", "`&&`"),
        ("true | false", "|", "`|` is not valid here", "`||`"),
        ("subject.id == 'a", "'a", "this text is not closed", "quote"),
        ("subject.id == 'a\n'", "'a", "this text is not closed", "quote"),
        (r"subject.id == 'a\d'", r"\d", "unknown escape", r"r'\d'"),
        (r"subject.id == '\ud800'", r"\ud800", "unknown escape", ""),
        ("subject.id == b'a'", "b'a'", "bytes are not supported", "without"),
        ("1x == 1", "1x", "this is not a valid number", "quotes"),
        (
            "18446744073709551616 == 1",
            "18446744073709551616",
            "this number cannot be represented",
            "18446744073709551615",
        ),
        ("1e999 == 1", "1e999", "this number cannot be represented", ""),
    ]);
}

#[test]
fn names() {
    refused(&[
        ("sujbect.id == 'a'", "sujbect", "there is no `sujbect`", "did you mean `subject`?"),
        ("user.id == 'a'", "user", "there is no `user`", "facts are under"),
        ("subject.id == ada", "ada", "there is no `ada`", "quotes"),
        ("'a' in subject.rols", "rols", "`subject` has no field `rols`", "did you mean `roles`?"),
        ("subject.department == 'a'", "department", "`subject` has no field `department`", "`subject.claims`"),
        ("subject['rols'] == 'a'", "'rols'", "`subject` has no field `rols`", "did you mean `roles`?"),
        ("request.subjct.id == 'a'", "subjct", "`request` has no field `subjct`", "did you mean `subject`?"),
        ("subject.id.x == 'a'", "x", "`subject.id` is a text and has no fields", "maps"),
        ("subject.roles.admin", "admin", "`subject.roles` is a list and has no fields", "`\"admin\" in subject.roles`"),
        ("subject.id.strtsWith('a')", "strtsWith", "there is no function `strtsWith`", "did you mean `startsWith`?"),
        ("foobar(1) == 1", "foobar", "there is no function `foobar`", "there are size"),
        ("sets.intersect([1], [1])", "intersect", "there is no function `sets.intersect`", "`sets.intersects`"),
        ("contains(subject.id, 'a')", "contains", "`contains` is not called like this", "value.contains(other)"),
        ("subject.id.int() == 1", "int", "`int` is not called like this", "int(value)"),
        ("subject.id.startsWith()", "startsWith", "`startsWith` is called with the wrong number of values", "write"),
        ("subject == 'a'", "subject", "`subject` is not a value", "field"),
        ("size(resource) == 1", "resource", "`resource` is not a value", "field"),
        ("has(subject)", "subject", "`has` takes a field", "has("),
        ("has(subject.id == 'a')", "subject.id == 'a'", "`has` takes a field", "has("),
        ("has()", "has()", "`has` takes one field", "has("),
    ]);
}

#[test]
fn loops() {
    for name in ["all", "exists", "exists_one", "map", "filter"] {
        let text = format!("subject.roles.{name}(role, role == 'admin')");
        let problems = problems(&text);
        let [problem] = problems.as_slice() else { panic!("{text}: {problems:?}") };
        assert_eq!(text.get(problem.range.clone()), Some(name));
        assert_eq!(problem.message, format!("loops are not allowed, and `{name}` is one"));
        assert!(problem.help.as_deref().is_some_and(|help| help.contains("`element in list`, `sets.contains`")));
    }
}

#[test]
fn types() {
    refused(&[
        ("1 + 2", "1 + 2", "a condition is true or false, this is a number", "compare"),
        ("subject.id", "subject.id", "a condition is true or false, this is a text", "compare"),
        ("!5", "5", "`!` negates a boolean, this is a number", ""),
        ("-'a' == 1", "'a'", "`-` negates a number, this is a text", ""),
        ("true && 'a'", "'a'", "`&&` joins booleans, this is a text", ""),
        ("true || size('a')", "size('a')", "`||` joins booleans, this is a number", ""),
        ("1 ? true : false", "1", "`?` needs a boolean, this is a number", ""),
        ("true ? 1 : 2", "true ? 1 : 2", "a condition is true or false, this is a number", ""),
        ("'a' == 1", "'a' == 1", "a text never equals a number", "double("),
        ("subject.id != 5", "subject.id != 5", "a text never equals a number", "double("),
        ("subject.roles == 'admin'", "subject.roles == 'admin'", "a list never equals a text", "element in list"),
        ("'a' < 1", "'a' < 1", "a text cannot be ordered against a number", "double("),
        (
            "environment.time > '2030'",
            "environment.time > '2030'",
            "a moment cannot be ordered against a text",
            "timestamp(",
        ),
        ("[1] < 2", "[1]", "`<` orders numbers, texts, timestamps or durations, this is a list", ""),
        ("'a' in 'abc'", "'abc'", "`in` looks into a list or a map, this is a text", "contains"),
        ("1 in ['a', 'b']", "1 in ['a', 'b']", "a number is never in this list", ""),
        ("5 in subject.roles", "5 in subject.roles", "a number is never in this list", ""),
        ("subject.roles in ['a']", "subject.roles in ['a']", "a list is never in this list", "sets.intersects"),
        ("1 in subject.claims", "1", "fields have names, which are texts, this is a number", ""),
        ("[1] + [2] == [1, 2]", "[1] + [2]", "`+` does not go with a list and a list", "lists cannot be joined"),
        ("'a' + 1 == 'a1'", "'a' + 1", "`+` does not go with a text and a number", "string("),
        ("1 + 2 - 'a' == 1", "1 + 2 - 'a'", "`-` does not go with a number and a text", ""),
        (
            "environment.time + environment.time > environment.time",
            "environment.time + environment.time",
            "`+` does not go with a moment and a moment",
            "timestamp(",
        ),
        ("'a'.contains(1)", "1", "a text contains texts, this is a number", ""),
        ("size(5) == 1", "5", "`size` takes a text or a list or a map, this is a number", ""),
        ("subject.roles['a'] == 'a'", "'a'", "elements of a list have numbers, this is a text", ""),
        ("subject.claims[0] == 1", "0", "fields of a map have names, this is a number", ""),
        ("5[0] == 1", "5", "only lists and maps have an index, this is a number", ""),
        ("subject.id.getHours() == 1", "subject.id", "`getHours` takes a moment or a duration, this is a text", ""),
    ]);
}

#[test]
fn literals_that_functions_cannot_read() {
    refused(&[
        ("subject.id.matches('(')", "'('", "this is not a valid regular expression: unclosed group", "raw"),
        (
            "subject.id.matches(r'(a{500}){500}')",
            "r'(a{500}){500}'",
            "the regular expression is too large",
            "repetitions",
        ),
        ("subject.id.matches(resource.id)", "resource.id", "the pattern of `matches` must be a literal text", "`==`"),
        ("timestamp('yesterday') < environment.time", "'yesterday'", "this is not a valid timestamp", "2030-01-31"),
        ("duration('1d') > duration('1h')", "'1d'", "this is not a valid duration", "1h30m"),
        (
            "environment.time.getHours('Europe/Berlin') == 1",
            "'Europe/Berlin'",
            "time zones are only for conditions of type `time`",
            "UTC",
        ),
    ]);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let underlined = |text: &'static str| -> Vec<&str> {
        problems(text).into_iter().filter_map(|problem| text.get(problem.range)).collect()
    };
    assert_eq!(underlined("sujbect.id == 'a' && 'x' in subject.rols && !5"), ["sujbect", "rols", "5"]);
    assert_eq!(underlined("subject.id == “a” & true"), ["“", "”", "&"]);
    assert_eq!(underlined("foo.exists(x, x) || bar == 1"), ["foo", "exists", "bar"]);
}
