//! What expressions mean.

use super::holds;
use crate::decide::truth::Truth;

#[track_caller]
fn all(expected: Truth, expressions: &[&str]) {
    for text in expressions {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn literals() {
    all(
        Truth::True,
        &[
            "true",
            "!false",
            "1 == 1.0 && 1u == 1 && 0x1F == 31 && 1e2 == 100 && .5 == 0.5 && -1 < 0 && 2.5e-1 == 0.25",
            "null == null",
            r#"'a' == "a""#,
            r#"'\x41\u0042\U00000043\104\n\t\\\'\"\?\`' == "ABCD\n\t\\'\"?`""#,
            r"r'\d' == '\\d'",
            r#"R"a\" == 'a\\'"#,
            "'''a\n'b''' == 'a\\n\\'b'",
            r#""""x"y""" == 'x"y'"#,
            "'' == \"\"",
            "'é€🦀'.size() == 3",
            "[1, 2, ] == [1, 2]",
            "[] == []",
            "// why\ntrue // so",
        ],
    );
}

#[test]
fn facts_of_the_request() {
    all(
        Truth::True,
        &[
            "subject.type == 'user' && subject.id == 'ada'",
            "'admin' in subject.roles && !('root' in subject.roles)",
            "subject.roles == ['admin', 'editor']",
            "subject.roles[1] == 'editor'",
            "subject.claims.level == 4",
            "subject['claims'][\"level\"] == 4",
            "request.subject.claims.level == 4",
            "request.context.tier == 'gold' && context.tier == environment.tier",
            "action.method == 'GET' && action.cost == 10",
            "resource.type == 'doc' && resource.app == 'docs' && resource.owner == subject.id",
            "resource.path == '/b'",
            "resource.headers['x-tenant'] == 'north'",
            "resource['own' + 'er'] == 'ada'",
            "subject['claims']['lev' + 'el'] == 4",
            "subject.claims.people[0].name == 'Charles'",
            "subject.claims.org.unit == 'engines' && subject.claims.org == subject.claims.same",
            "'unit' in subject.claims.org && !('x' in subject.claims.org) && 'owner' in resource && 'id' in subject",
            "subject.claims.nothing == null && subject.claims.level != null",
            "environment.ip.startsWith('10.')",
        ],
    );
    all(
        Truth::Error,
        &[
            "subject.claims.gone == 1",
            "subject.claims.gone == null",
            "subject.claims.hidden == 1",
            "'a' in subject.groups",
            "resource.id == 'x'",
            "action.operation == 'x'",
            "subject.claims.level.deeper == 1",
            "subject.claims.name.first == 'Ada'",
            "subject.claims.numbers[3] == 1",
            "subject.claims.numbers[-1] == 1",
            "subject.claims.numbers[0.5] == 1",
            "subject.claims.numbers['a'] == 1",
            "subject.claims.org[0] == 1",
            "subject.claims.level",
            "subject.claims.level && true",
            "!subject.claims.name",
            "-subject.claims.name == 1",
        ],
    );
}

#[test]
fn presence() {
    all(Truth::True, &["has(subject.claims.level)", "has(resource.headers['x-tenant'])"]);
    all(Truth::True, &["has(subject.claims.people[0].name)", "has(subject.claims)", "has(subject.roles)"]);
    all(
        Truth::False,
        &[
            "has(subject.claims.nothing)",
            "has(subject.claims.gone)",
            "has(action.operation)",
            "has(subject.claims.people[0].age)",
        ],
    );
    all(Truth::Error, &["has(subject.claims.hidden)", "has(subject.claims.gone.deeper)", "has(resource.id)"]);
    all(Truth::Error, &["has(subject.claims.name.first)", "has(subject.groups)", "has(subject.claims.numbers[0].x)"]);
}

#[test]
fn comparisons() {
    all(
        Truth::True,
        &[
            "1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2",
            "'a' < 'b' && 'B' < 'a' && 'a' < 'aa'",
            "false < true",
            // Types that are known only now are not equal, and that is not an error.
            "subject.claims.level != 'four'",
            "!(subject.claims.name == 4)",
            "subject.claims.numbers == [1, 2, 3] && subject.claims.numbers != [1, 2] && subject.claims.numbers != [3, 2, 1]",
            "[subject.id, 'x'] == ['ada', 'x']",
            "[[1], [2]] == [[1], [2]]",
            "subject.claims.holes != ['blue', 'green']",
        ],
    );
    all(
        Truth::Error,
        &[
            "subject.claims.level < 'four'",
            "subject.claims.name > 1",
            "subject.claims.numbers < 1",
            "subject.claims.nothing < 1",
            "subject.claims.holes == ['red', 'green']",
        ],
    );
}

#[test]
fn arithmetic() {
    all(
        Truth::True,
        &[
            "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 10 - 4 - 3 == 3 && 7 / 2 == 3.5 && 7 % 4 == 3 && -7 % 4 == -3",
            "-subject.claims.level == -4 && --1 == 1",
            "'a' + 'b' + 'c' == 'abc'",
            "subject.claims.name + '!' == 'Ada Lovelace!'",
        ],
    );
    all(
        Truth::Error,
        &[
            "1 / (subject.claims.level - 4) == 1",
            "1 % 0 == 1",
            "1e308 * 10 > 0",
            "subject.claims.name + subject.claims.level == ''",
            "subject.claims.numbers + subject.claims.numbers == []",
        ],
    );
}

#[test]
fn errors_are_absorbed_in_either_order() {
    let error = "subject.claims.gone";
    for (text, expected) in [
        ("E && false", Truth::False),
        ("false && E", Truth::False),
        ("E && true", Truth::Error),
        ("true && E", Truth::Error),
        ("E || true", Truth::True),
        ("true || E", Truth::True),
        ("E || false", Truth::Error),
        ("false || E", Truth::Error),
        ("true && E && false", Truth::False),
        ("!E", Truth::Error),
        ("true ? true : E", Truth::True),
        ("false ? E : true", Truth::True),
        ("E ? true : true", Truth::Error),
        ("subject.claims.level && false", Truth::False),
        ("subject.claims.name || true", Truth::True),
    ] {
        assert_eq!(holds(&text.replace('E', error)), expected, "{text}");
    }
}

#[test]
fn lists_and_sets() {
    all(
        Truth::True,
        &[
            "subject.claims.level in [1, 4] && !(subject.claims.level in [])",
            "subject.id in [resource.owner, 'x']",
            "subject.claims.words.contains('red') && !subject.claims.words.contains('blue')",
            "subject.roles.contains('admin')",
            "'red' in subject.claims.holes",
            "sets.contains(subject.roles, ['admin']) && sets.contains(subject.roles, [])",
            "!sets.contains(['admin'], subject.roles)",
            "sets.intersects(subject.roles, ['x', 'admin']) && !sets.intersects(subject.roles, ['x'])",
            "!sets.intersects([], subject.roles)",
            "sets.equivalent([1, 2, 2], [2, 1]) && !sets.equivalent([1], [1, 2])",
            "sets.intersects(subject.claims.holes, ['red'])",
            "size(subject.roles) == 2 && subject.claims.numbers.size() == 3 && size(subject.claims.org) == 2",
        ],
    );
    all(
        Truth::Error,
        &[
            "'green' in subject.claims.holes",
            "1 in subject.claims.level",
            "1 in subject.claims.org",
            "sets.contains(subject.claims.holes, ['green'])",
            "sets.contains(subject.claims.level, [])",
            "size(subject.claims.level) == 1",
        ],
    );
}

#[test]
fn texts() {
    all(
        Truth::True,
        &[
            "subject.claims.name.contains('Love') && subject.id.startsWith('a') && subject.id.endsWith('da')",
            "subject.claims.name.lowerAscii() == 'ada lovelace' && 'É1a'.upperAscii() == 'É1A'",
            "subject.id.matches('^a.a$') && subject.claims.name.matches('Love') && !subject.id.matches('^b')",
            "matches(subject.id, r'^\\w+$')",
            r"'a-1 b'.matches(r'^[\w-]+\s\w$') && '\\d'.matches(r'^\\d$') && !'5'.matches(r'^\\d$')",
            r"'42'.matches(r'^\d{1,3}$') && !'४२'.matches(r'^\d+$') && 'é'.matches(r'^\W$') && 'é'.matches(r'^\p{L}$')",
            r"'ada@example.com'.matches(r'^\w+@\w+\.\w+$') && '\t'.matches(r'^\s$') && 'x'.matches(r'^[^\s\d]\S*$')",
            "subject.claims.name.lowerAscii().contains('ada')",
            "string(4) == '4' && string(0.5) == '0.5' && string(true) == 'true' && string('a') == 'a'",
            "int('12') == 12 && int(-3.7) == -3 && double('1.5') == 1.5 && double(2) == 2",
            "size('abc') == 3",
        ],
    );
    all(
        Truth::Error,
        &[
            "subject.claims.level.contains('a')",
            "subject.claims.name.contains(subject.claims.level)",
            "subject.claims.level.matches('a')",
            "int('1.5') == 1",
            "double('x') == 1",
            "double('inf') > 1",
            "int('18446744073709551616') > 1",
            "string(subject.claims.words) == ''",
            "subject.claims.level.lowerAscii() == ''",
        ],
    );
}

#[test]
fn times() {
    all(
        Truth::True,
        &[
            "environment.time > timestamp('2030-01-01T00:00:00Z')",
            "environment.time == timestamp('2030-03-02T15:05:09+01:00')",
            "environment.time - timestamp('2030-03-02T13:05:09Z') == duration('1h')",
            "environment.time + duration('55m') >= timestamp('2030-03-02T15:00:09Z')",
            "duration('1m') + environment.time > environment.time - duration('1ns')",
            "duration('1h30m') == duration('90m') && duration('-1.5s') < duration('0') && duration('1d'.size() == 2 ? '1ms' : '1us') > duration('1us')",
            "duration('1h') - duration('30m') == duration('1800s')",
            "timestamp(subject.claims.expires) > environment.time && timestamp(subject.claims.born) < environment.time",
            "timestamp(1.5) - timestamp(0) == duration('1500ms')",
            "int(timestamp('1970-01-01T00:01:00.9Z')) == 60",
            "string(timestamp('2030-01-31T00:00:00Z')) == '2030-01-31T00:00:00Z'",
            "string(duration('1h')) == '3600s' && string(duration('-1.5s')) == '-1.5s'",
            "environment.time.getFullYear() == 2030 && environment.time.getMonth() == 2",
            "environment.time.getDate() == 2 && environment.time.getDayOfMonth() == 1",
            "environment.time.getDayOfWeek() == 6 && environment.time.getDayOfYear() == 60",
            "environment.time.getHours() == 14 && environment.time.getMinutes() == 5 && environment.time.getSeconds() == 9",
            "environment.time.getHours('UTC') == 14",
            "duration('90m').getHours() == 1 && duration('90m').getMinutes() == 90",
        ],
    );
    all(
        Truth::Error,
        &[
            "timestamp(subject.claims.name) > environment.time",
            "timestamp(1e300) > environment.time",
            "duration(subject.claims.name) > duration('1s')",
            "subject.claims.level.getHours() == 1",
            "environment.time + duration('2500000h') > environment.time",
            "environment.time > subject.claims.level",
        ],
    );
}
