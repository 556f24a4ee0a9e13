//! Answers are those of a JavaScript engine.

use proptest::prelude::*;

use super::*;

/// A pattern, texts in which it is found, and texts in which it is not.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

#[rustfmt::skip]
const FOUND: &[Row] = &[
    // Letters, alternatives and anchors.
    ("", &["", "a"], &[]),
    ("b", &["abc"], &["ac", "B"]),
    ("a/b", &["a/b"], &["ab"]),
    ("^/a|/b$", &["/ax", "x/b"], &["x/a", "/bx"]),
    ("a|", &["", "z"], &[]),
    ("^(|a)$", &["", "a"], &["b"]),
    ("^a$", &["a"], &["a\n", "\na", "b\na"]),
    ("a^b|$a", &[], &["ab", "a", "a\nb"]),
    ("^ß#&~ $", &["ß#&~ "], &["ß"]),
    // The dot and characters of two code units.
    ("^.$", &["a", "é", "\u{FFFF}", "\u{85}"], &["", "\n", "\r", "\u{2028}", "\u{2029}", "😀"]),
    ("^..$", &["😀"], &["\u{FFFF}"]),
    ("^😀$", &["😀"], &["😁"]),
    ("^😀+$", &["😀"], &["😀😀"]),
    ("^[😀]$", &[], &["😀"]),
    ("^[😀]{2}$", &["😀"], &["😁"]),
    ("^\\ud83d\\ude00$", &["😀"], &["😁"]),
    ("^\\ud83d.$", &["😀", "😁"], &["𝒳"]),
    ("^[\\u0000-\\uffff]{2}$", &["😀", "ab"], &["a"]),
    ("^[^a]{2}$", &["😀"], &["aa", "a"]),
    ("^[\\ue000-\\uffff]$", &["\u{E000}"], &["😀", "\u{D7FF}"]),
    // Repetitions.
    ("^a{2}$", &["aa"], &["a", "aaa"]),
    ("^a{2,}$", &["aa", "aaaa"], &["a"]),
    ("^a{2,3}?$", &["aa", "aaa"], &["a", "aaaa"]),
    ("^a{0}b{1,1}c{01}$", &["bc"], &["abc"]),
    ("^a*?b+?c??$", &["b", "aabbc"], &["ac", "bcc"]),
    ("^(?:ab)*$", &["", "abab"], &["aba"]),
    ("^(a*)*$", &["", "aa"], &["b"]),
    ("^(?:^a)+$", &["a"], &["aa"]),
    // Braces and brackets that are letters.
    ("^{a}$", &["{a}"], &["a"]),
    ("^a{,3}$", &["a{,3}"], &["aaa"]),
    ("^a{}]}$", &["a{}]}"], &["a"]),
    ("^a{2$", &["a{2"], &["aa"]),
    ("^a{2 }$", &["a{2 }"], &["aa"]),
    ("^a{-1}$", &["a{-1}"], &["a"]),
    ("^a{+1}$", &["a{1}", "a{{1}"], &["a"]),
    ("^x{{2}$", &["x{{"], &["xx"]),
    ("^}*]+$", &["]", "}}]"], &["}"]),
    // Groups.
    ("^(a)(?:b)(?<name>c)$", &["abc"], &["ab"]),
    ("^(?<$ä_1>a)(?<\\u0061>b)(?<\\u{1d4b3}>c)$", &["abc"], &["a"]),
    ("^()$", &[""], &["a"]),
    // Classes.
    ("[]", &[], &["", "a", "]"]),
    ("^[]?a$", &["a"], &["]a"]),
    ("^[^]$", &["a", "\n"], &["", "ab"]),
    ("^[]]$", &[], &["]"]),
    ("^[^]]$", &["a]", "]]"], &["a"]),
    ("^[a-c]+$", &["abc"], &["d", "-"]),
    ("^[-a][a-][--0]$", &["---", "aa0", "-a."], &["bb1"]),
    ("^[a\\-z]+$", &["a-z"], &["b"]),
    ("^[\\d-z]+$", &["1-z"], &["a"]),
    ("^[a-\\d]+$", &["1-a"], &["b"]),
    ("^[\\w-a-c]+$", &["b-c"], &["."]),
    ("^[\\d\\D]$", &["1", "\n"], &["", "11"]),
    ("^[^\\W_]+$", &["aZ9"], &["_", "é"]),
    ("^[\\b\\B]+$", &["\u{8}B"], &["b"]),
    ("^[.*+?(|){}$^&&~~\\[/]+$", &[".*+?(|){}$^&~[/"], &["-", "]"]),
    ("^[[:alpha:]]$", &["a]", ":]"], &["a", "b"]),
    ("^[a&&b]$", &["a", "b", "&"], &[]),
    ("^[A-z]$", &["_", "\\"], &["{"]),
    ("^[\\1\\8\\07]+$", &["\u{1}8\u{7}"], &["1", "0"]),
    ("^[\\c1\\c_\\cA]+$", &["\u{11}\u{1F}\u{1}"], &["c", "\\"]),
    ("^[\\c]+$", &["c\\"], &["\u{3}"]),
    ("^[\\c*]+$", &["c\\*"], &["]"]),
    // Named sets.
    ("^\\d$", &["0", "9"], &["٣", "a"]),
    ("^\\D$", &["٣", "a"], &["0"]),
    ("^\\w+$", &["aZ_9"], &["é", "-"]),
    ("^\\W$", &["é", "-"], &["_"]),
    ("^\\s$", &["\t", "\n", "\u{B}", "\u{C}", "\r", " ", "\u{A0}", "\u{1680}", "\u{200A}", "\u{2028}", "\u{2029}",
        "\u{202F}", "\u{205F}", "\u{3000}", "\u{FEFF}"], &["\u{85}", "\u{180E}", "\u{200B}"]),
    ("^\\S$", &["\u{85}", "\u{180E}", "\u{200B}"], &["\u{FEFF}", " "]),
    ("\\bcat\\b", &["a cat", "écat"], &["cats", "_cat"]),
    ("é\\b", &["éa"], &["é", "é "]),
    ("\\Bé", &["é", " é"], &["aé"]),
    ("^\\B$", &[""], &["a"]),
    ("^é\\Bé$", &["éé"], &[]),
    // Escapes.
    ("^\\/\\.\\*\\a\\-\\é\\😀$", &["/.*a-é😀"], &[]),
    ("^\\t\\n\\v\\f\\r\\0$", &["\t\n\u{B}\u{C}\r\0"], &["tnvfr0"]),
    ("^\\x41\\u0042$", &["AB"], &[]),
    ("^\\x4\\u004\\xg$", &["x4u004xg"], &[]),
    ("^\\x+1\\u+001$", &["x1u001", "xx1uu001"], &[]),
    ("^\\u{3}$", &["uuu"], &["\u{3}"]),
    ("^\\p{L}\\z\\A\\k$", &["p{L}zAk"], &["L"]),
    ("^\\k<a>$", &["k<a>"], &[]),
    ("^\\cA\\cj$", &["\u{1}\n"], &[]),
    ("^\\c1*\\c$", &["\\c11\\c", "\\c\\c"], &["\u{11}"]),
    ("^\\1\\12\\8\\9$", &["\u{1}\n89"], &["1289"]),
    ("^(a)\\2$", &["a\u{2}"], &["aa"]),
    ("^(a)\\10$", &["a\u{8}"], &["aa0"]),
    ("^\\0\\00\\0000\\08\\377\\400\\1111$", &["\0\0\u{0}0\u{0}8\u{FF}\u{20}0I1"], &[]),
    ("^[(]\\1$", &["(\u{1}"], &[]),
    ("^\\(\\1$", &["(\u{1}"], &[]),
];

#[test]
fn answers_are_those_of_javascript() {
    for (pattern, found, not_found) in FOUND {
        let regex = JavaScriptRegex::new(pattern).unwrap_or_else(|refused| panic!("{pattern}: {refused}"));
        for text in *found {
            assert!(regex.is_found_in(text), "{pattern} in {text:?}: {regex:?}");
        }
        for text in *not_found {
            assert!(!regex.is_found_in(text), "{pattern} not in {text:?}: {regex:?}");
        }
    }
}

#[test]
fn what_javascript_refuses_is_invalid() {
    let refused: &[(&str, &[&str])] = &[
        (
            "there is nothing to repeat",
            &[
                "*a",
                "+",
                "?",
                "a**",
                "a+*",
                "a???",
                "a{2}{3}",
                "{2}",
                "a|*",
                "(*)",
                "(?:+)",
                "^*",
                "$+",
                "\\b?",
                "\\B{2}",
                "{1,}",
                "^{2}",
                "(?<=a)*",
                "(?<!a){2}",
                "a{3}+",
            ],
        ),
        ("a repetition has an upper bound below its lower one", &["a{3,2}", "(a){1,0}?"]),
        ("a group is not closed", &["(", "(a", "((a)", "(?:", "a(b|c", "(?=a"]),
        ("a group is closed that was not opened", &[")", "a)", "(a))", "[)])"]),
        ("`(?` does not begin a valid group", &["(?", "(?a)", "(?P<n>a)", "(?#a)", "(?*)", "(?i)a", "(?>a)"]),
        (
            "the name of a group is malformed",
            &[
                "(?<",
                "(?<a",
                "(?<>a)",
                "(?<1>a)",
                "(?<a b>c)",
                "(?<a\\>b)",
                "(?<\\u0031>a)",
                "(?<\\u{}>a)",
                "(?<\\ud800>a)",
                "(?<a>b)\\k<",
                "(?<😀>a)",
            ],
        ),
        ("`\\k` is not followed by the name of a group", &["\\k(?<a>b)", "(?<a>b)[\\k]"]),
        ("`\\k` names a group that does not exist", &["(?<a>b)\\k<c>"]),
        ("a class is not closed", &["[", "[a", "[^", "[a-", "[\\]", "a["]),
        ("a range of a class ends before it begins", &["[b-a]", "[a--]", "[\\uffff-😀]", "[\\n-\\0]", "[z-\\x61]"]),
        ("it ends with a backslash", &["\\", "a\\", "(?:a)\\"]),
    ];
    for (why, patterns) in refused {
        for pattern in *patterns {
            assert_eq!(JavaScriptRegex::new(pattern).err(), Some(Refused::Invalid(why)), "{pattern}");
        }
    }
}

#[test]
fn what_needs_backtracking_or_too_much_is_not_supported() {
    let deep = format!("{}a{}", "(".repeat(65), ")".repeat(65));
    let long = "a".repeat(1025);
    let refused: &[(&str, &[&str])] = &[
        ("lookahead", &["a(?=b)", "(?!a)*", "(?=a)(?<=b)"]),
        ("lookbehind", &["(?<=a)b", "(?<!a)"]),
        ("a backreference", &["(a)\\1", "\\1(a)", "(?<a>b)\\k<a>", "\\k<a>*(?<a>b)", "(a)(b)\\2{3}"]),
        ("one name for two groups", &["(?<a>b)|(?<a>c)"]),
        ("flags inside", &["(?i:a)", "(?s-m:a)"]),
        ("too many states", &["(?:a{1000}){1000}", "a{99999999999999}", "(?:a|){4294967295}", "((a{99}){99}){99}"]),
        ("more than 64 groups inside each other", &[&deep]),
        ("more than 1024 characters", &[&long]),
    ];
    for (what, patterns) in refused {
        for pattern in *patterns {
            assert_eq!(JavaScriptRegex::new(pattern).err(), Some(Refused::Unsupported(what)), "{pattern}");
        }
    }
}

#[test]
fn invalid_is_said_rather_than_not_supported() {
    for pattern in ["(?=a)**", "(?<=a)(", "(a)\\1)", "(a)\\1**"] {
        assert!(matches!(JavaScriptRegex::new(pattern), Err(Refused::Invalid(_))), "{pattern}");
    }
}

#[test]
fn limits_are_inclusive() {
    let deep = format!("^{}a{}$", "(?:b|x(".repeat(32), ")+)+".repeat(32));
    assert!(JavaScriptRegex::new(&deep).unwrap().is_found_in(&format!("{}a", "x".repeat(32))));
    assert!(JavaScriptRegex::new(&"😀".repeat(512)).is_ok());
    assert!(wildcard(&"a".repeat(1024)).is_ok());
    assert!(wildcard(&"a".repeat(1025)).is_err());
}

#[test]
fn refusals_are_sentences() {
    let sentence = |pattern| JavaScriptRegex::new(pattern).unwrap_err().to_string();
    assert_eq!(sentence("*"), "this is not a valid JavaScript regular expression: there is nothing to repeat");
    assert_eq!(sentence("(?=a)"), "a regular expression with lookahead is not supported");
}

#[test]
fn stars_of_wildcards_cross_everything_but_ends_of_lines() {
    #[rustfmt::skip]
    let rows: &[Row] = &[
        ("*", &["", "a", "/a/b"], &["a\nb"]),
        ("**", &["", "/a/b"], &["\n"]),
        ("/admin/*", &["/admin/", "/admin/a/b"], &["/admin", "/x/admin/"]),
        ("/admin/**", &["/admin/", "/admin/a/b"], &["/admin"]),
        ("/**/x", &["//x", "/a/b/x"], &["/x"]),
        ("", &[""], &["a"]),
        // Nothing is escaped.
        ("a.c", &["a.c", "abc"], &["ac"]),
        ("a+b?", &["aaab", "a"], &["a+b"]),
        ("/a|/b", &["/ax", "x/b"], &["x/a"]),
        ("[*]", &["*", "."], &["a"]),
        ("\\*", &["", ".", "..."], &["*", "a"]),
        ("user:{id}", &["user:{id}"], &["user:1"]),
        ("a{2}", &["aa"], &["a{2}"]),
        ("a\\", &["a$b"], &["a\\", "a"]),
    ];
    for (pattern, found, not_found) in rows {
        let regex = wildcard(pattern).unwrap();
        assert!(found.iter().all(|text| regex.is_found_in(text)), "{pattern}");
        assert!(!not_found.iter().any(|text| regex.is_found_in(text)), "{pattern}");
    }
    for pattern in ["(", "[", "+", "a|+"] {
        assert!(matches!(wildcard(pattern), Err(Refused::Invalid(_))), "{pattern}");
    }
}

/// Texts of which many are nearly patterns.
fn patterns() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "-", "/", "é", "😀", "\n", "0", "1", "8", ".", "^", "$", "|", "*", "+", "?", "(", ")", "(?:",
        "(?<n>", "(?=", "(?<!", "[", "[^", "]", "{", "}", "{2}", "{1,}", "{0,2}", "{,", ",", "\\", "\\b", "\\d", "\\W",
        "\\s", "\\1", "\\0", "\\c", "\\x", "\\x41", "\\u", "\\u0061", "\\ud83d", "\\k<n>", "&&", "\\B", "<", ">", ":",
        "=",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_pattern_panics(pattern in prop_oneof![patterns(), any::<String>()], text in any::<String>()) {
        for regex in [JavaScriptRegex::new(&pattern), wildcard(&pattern)].into_iter().flatten() {
            regex.is_found_in(&text);
        }
    }

    #[test]
    fn translations_are_well_formed(pattern in prop_oneof![patterns(), any::<String>()]) {
        if let Ok(regex) = translate::translate(&units::split(&pattern)) {
            prop_assert!(!matches!(Regex::new(&regex), Err(regex::Error::Syntax(_))), "{} became {}", pattern, regex);
        }
    }

    #[test]
    fn patterns_without_signs_are_found_where_they_are_written(pattern in "[a-c/😀é]{0,3}", text in "[a-c/😀é]{0,8}") {
        prop_assert_eq!(JavaScriptRegex::new(&pattern).unwrap().is_found_in(&text), text.contains(&pattern));
    }
}
