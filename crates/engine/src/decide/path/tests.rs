//! How paths are read, against a closure over texts.

use super::*;
use crate::work;

fn all(path: &str, wanted: PathReading) -> Result<Vec<String>, BadPath> {
    let mut room = Readings::default();
    Ok(match read(path, wanted, &mut room)? {
        ReadPath::One(one) => vec![one.to_owned()],
        ReadPath::Several(several) => several.iter().map(ToString::to_string).collect(),
    })
}

#[test]
fn s1_a_path_that_is_given_up_leaves_nothing_for_the_next() {
    let (first, second) = ("/a/..%2fb", "/c/..%2fd;x/%5c");
    let mut room = Readings::default();
    let mut read_of = |path: &str| match read(path, PathReading::Every, &mut room) {
        Ok(ReadPath::Several(several)) => several.to_vec(),
        _ => Vec::new(),
    };
    let expected = read_of(first);
    assert!(!expected.is_empty());
    let given_up = work::Work::of_steps(2).during(|| read_of(second));
    assert_eq!(given_up, Err(work::Unfinished::OutOfSteps));
    assert_eq!(read_of(first), expected);
}

fn texts(forms: &Forms) -> Vec<String> {
    let mut texts = Vec::new();
    forms.add_texts(&mut texts);
    texts.into_iter().map(String::from).collect()
}

/// Every reading by texts alone, as often as there are forms.
fn naive_readings(path: &str) -> Result<Vec<String>, BadPath> {
    let mut forms = vec![path.to_owned()];
    let (mut next, mut length) = (0, path.len());
    while next < forms.len() {
        for step in Step::ALL {
            let Some(form) = step.take(&forms[next])? else { continue };
            if !forms.contains(&form) {
                length += form.len();
                if forms.len() == MOST_FORMS || length > MOST_TEXT {
                    return Err(BadPath::TooManyReadings);
                }
                forms.push(form);
            }
        }
        next += 1;
    }
    let mut readings: Vec<String> = Vec::new();
    for form in forms {
        let reading = Step::DecodesAll.take(&form)?.unwrap_or(form);
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    Ok(readings)
}

/// Paths of so many parts at most, plain and tricky ones.
fn random_paths(count: usize, most_parts: u64) -> impl Iterator<Item = String> {
    const PARTS: [&str; 40] = [
        "/",
        "/",
        "/",
        "/a",
        "/a/b",
        "/c/",
        "//",
        "a",
        "b",
        ".",
        "..",
        "/../",
        "/..",
        ";",
        ";x",
        "%2f",
        "%2F",
        "%5c",
        "\\",
        "%3b",
        "%2e",
        "%25",
        "%2525",
        "%20",
        " ",
        "?",
        "%3f",
        "%23",
        "\t",
        "%09",
        "%ff",
        "%25ff",
        "%e0%a4%a0",
        "ठ",
        "é",
        "%c3%a9",
        "%25c0",
        "%2500",
        "%",
        "%2e%2E",
    ];
    let mut random = 7_u64;
    let mut below = move |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    (0..count).map(move |_| {
        let parts = below(most_parts);
        (0..parts).fold("/".to_owned(), |path, _| path + PARTS[usize::try_from(below(40)).unwrap()])
    })
}

#[test]
fn p37_forms_in_pieces_are_those_of_texts() {
    let (mut several, mut refused, mut given_up, mut forms) = (0, 0, 0, Forms::default());
    for path in random_paths(12_000, 14) {
        let own = forms.read(&path).map(|()| texts(&forms));
        let naive = naive_readings(&path);
        several += usize::from(naive.as_ref().is_ok_and(|readings| readings.len() > 1));
        refused += usize::from(naive.is_err());
        // Only here the effort is bounded, and how long all readings are together.
        let length: usize = naive.iter().flatten().map(String::len).sum();
        if own == Err(BadPath::TooManyReadings) && own != naive {
            assert!(forms.effort() > Forms::most_effort(&path) || length > Forms::most_read(&path), "{path:?}");
            given_up += 1;
        } else {
            assert_eq!(own, naive, "{path:?}");
        }
    }
    assert!(several > 4_000 && refused > 500 && given_up < several / 3, "{several} {refused} {given_up}");
}

/// However a path is made, reading it ends soon after its effort is too much.
#[test]
fn p37_no_path_takes_more_effort_than_its_length_allows() {
    let tricks = [
        format!("/{}..%2f;x/%5c//%3f0", "a/".repeat(100)),
        format!("/..%2f;x/%5c//%3f0/{}", "a/".repeat(100)),
        format!("/{}..%2f;x/%5c/{}", "a/".repeat(50), "a/".repeat(50)),
        format!("/%{}41/..;x/%2e%2e0", "25".repeat(90)),
        format!("/{}", "..%2f;x/%5c/".repeat(17)),
        format!("/{}", "a%2f..;/%252e%252e/\\b//".repeat(9)),
        format!("/{}a", "/".repeat(215)),
        "/a/..;/..%3b/..%253b/..\\..%5c..%255c/..%2f..%252f%2e./%252e%2e/x".to_owned(),
    ];
    for path in random_paths(4_000, 40).chain(tricks) {
        let mut forms = Forms::default();
        let _ = forms.read(&path);
        // One step may be begun that is too much.
        let most = Forms::most_effort(&path) + 2 * path.len();
        assert!(forms.effort() <= most, "{} of {most} for {path}", forms.effort());
    }
}

#[test]
fn p37_one_step_over_pieces_is_that_over_texts() {
    let mut forms = Forms::default();
    for path in random_paths(4_000, 10) {
        for step in Step::ALL {
            let own = forms.read_one(&path, step, Decoding::Done).map(|()| texts(&forms).remove(0));
            assert_eq!(own, step.take(&path).map(|taken| taken.unwrap_or_else(|| path.clone())), "{path:?} {step:?}");
        }
    }
}

#[test]
fn what_everybody_reads_alike_has_one_reading() {
    for (path, expected) in [
        ("/admin", "/admin"),
        ("/admin/", "/admin/"),
        ("/Admin", "/Admin"),
        ("/%61dmin", "/admin"),
        ("/a.b/x..c/d.", "/a.b/x..c/d."),
        ("/caf%C3%A9", "/café"),
        ("/cafe\u{301}", "/cafe\u{301}"),
        ("/my%20files", "/my files"),
        ("/a?b=/../c", "/a"),
        ("/", "/"),
        ("*", "*"),
        ("/..c", "/..c"),
        ("/.d", "/.d"),
        ("/100%25", "/100%"),
    ] {
        assert_eq!(all(path, PathReading::Every), Ok(vec![expected.to_owned()]), "{path:?}");
    }
}

#[test]
fn tricks_have_every_reading_that_somebody_has() {
    for (path, some) in [
        ("/public/../admin", &["/public/../admin", "/admin"][..]),
        ("/public/%2e%2e/admin", &["/public/../admin", "/admin"]),
        ("/public%2F..%2fadmin", &["/public/../admin", "/admin"]),
        ("/admin/x%2F..%2F..%2Fpublic/y", &["/admin/x/../../public/y", "/public/y"]),
        ("/public/..;/admin/x", &["/public/..;/admin/x", "/admin/x", "/public/../admin/x"]),
        ("/public/..\\admin", &["/public/..\\admin", "/admin"]),
        ("/public/..%5cadmin", &["/public/..\\admin", "/admin"]),
        ("//admin", &["//admin", "/admin"]),
        ("/%2561dmin", &["/%61dmin", "/admin"]),
        ("/public/%252e%252e/admin", &["/public/%2e%2e/admin", "/admin"]),
        ("/a;b=c/..", &["/a;b=c/..", "/"]),
        ("/admin/.", &["/admin/.", "/admin/"]),
        ("/..", &["/..", "/"]),
        ("", &["", "/"]),
        ("?x", &["", "/"]),
    ] {
        let readings = all(path, PathReading::Every).unwrap();
        for one in some {
            assert!(readings.iter().any(|reading| reading == one), "{path:?} as {one:?}: {readings:?}");
        }
    }
}

#[test]
fn a_reading_may_be_wanted_by_name() {
    for (path, rfc3986, decoded) in [
        ("/public/../admin", "/admin", "/admin"),
        ("/public/%2e%2e/admin", "/admin", "/admin"),
        ("/a%2F..%2Fb", "/a/../b", "/b"),
        ("//admin", "//admin", "//admin"),
        ("/a;b", "/a;b", "/a;b"),
    ] {
        assert_eq!(all(path, PathReading::Rfc3986), Ok(vec![rfc3986.to_owned()]), "{path:?}");
        assert_eq!(all(path, PathReading::Decoded), Ok(vec![decoded.to_owned()]), "{path:?}");
    }
}

#[test]
fn what_nobody_can_read_is_said() {
    for (path, expected) in [
        ("/admin%00", BadPath::Nul),
        ("/admin\0", BadPath::Nul),
        ("/%", BadPath::BrokenEscape),
        ("/%2", BadPath::BrokenEscape),
        ("/%zz", BadPath::BrokenEscape),
        ("/%u002e", BadPath::BrokenEscape),
        ("/%ff", BadPath::NotUtf8),
        ("/%c0%ae", BadPath::NotUtf8),
        ("/a#b", BadPath::Fragment),
        ("/a#/../b?c", BadPath::Fragment),
        ("admin", BadPath::Relative),
        ("./admin", BadPath::Relative),
        (".admin", BadPath::Relative),
        ("..", BadPath::Relative),
        ("http://a/b", BadPath::Relative),
        ("\\admin", BadPath::Relative),
    ] {
        assert_eq!(all(path, PathReading::Every), Err(expected), "{path:?}");
    }
    assert_eq!(all("/%2500", PathReading::Every), Err(BadPath::Nul));
    assert_eq!(all("/%25c0%25ae", PathReading::Every), Err(BadPath::NotUtf8));
}

#[test]
fn a_path_with_too_many_readings_is_not_read() {
    let long = format!("/{}", "a/../".repeat(20_000));
    assert_eq!(all(&long, PathReading::Every), Err(BadPath::TooManyReadings));
    let forms = "/a/..;/..%3b/..%253b/..\\..%5c..%255c/..%2f..%252f%2e./%252e%2e/x";
    assert_eq!(all(forms, PathReading::Every), Err(BadPath::TooManyReadings));
    let nested = format!("/%{}41", "25".repeat(1000));
    assert_eq!(all(&nested, PathReading::Every), Err(BadPath::TooManyReadings));
    // What is only long is read.
    let plain = format!("/{}", "%C3%A9".repeat(20_000));
    assert!(all(&plain, PathReading::Every).is_ok());
}

/// The short cut sees every letter that matters, wherever it stands in paths of every length.
#[test]
fn what_a_step_changes_is_not_plain_at_any_place() {
    for length in 1..60 {
        let plain = format!("/{}", "b".repeat(length));
        assert!(is_plain(&plain), "{plain}");
        for (before, after) in (1..=length).filter_map(|place| plain.split_at_checked(place)) {
            for letters in ["%41", "\\", ";", "?", "#", "\0", "\n", "//", "/.", "/./", "/../"] {
                let path = format!("{before}{letters}{after}");
                assert!(!is_plain(&path), "{path:?}");
            }
            for letters in ["/", ".", "~", "\u{e4}", " ", "b..", ".b/", "@:!$&'()*+,="] {
                let path = format!("{before}b{letters}{after}");
                assert_eq!(is_plain(&path), !path.ends_with(' '), "{path:?}");
            }
        }
    }
    for path in ["", "b", "./b", "//", "/.", "/ ", "b/c"] {
        assert!(!is_plain(path), "{path:?}");
    }
    assert!(is_plain("/"));
}

/// What clients send that mean well is read with less than half of the effort.
#[test]
fn p37_ordinary_addresses_take_a_part_of_the_effort() {
    for path in [
        "/api/v4/projects/group%2Fsub%2Fproject/repository/files/app%2Fmodels%2Fkey%2Erb/raw",
        "/shop/cart;jsessionid=0A1B2C3D?item=5",
        "/maps;zoom=3;layer=a%2Fb/tiles//7/11.png",
        "/wiki/C%23_(language)/Caf%C3%A9%20au%20lait",
        "/static/../assets/./logo.svg",
        "/files/my%20folder/100%25%20sure/report%3B2.pdf",
        "/odata/Products(Name='a%2Fb;c')/Orders",
        "/bucket//folder//object%2Bname",
        "/redirect/https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%26d",
        "/share/C:%5CUsers%5Cann%5Cfile.txt",
    ] {
        let mut forms = Forms::default();
        assert_eq!(forms.read(path), Ok(()), "{path}");
        assert!(forms.effort() * 2 < Forms::most_effort(path), "{} for {path}", forms.effort());
    }
}
