//! Whoever leaves something out gets no further than with the worst that could have been there.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::{Value as Json, json};
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::{Edition, request};
use upheld_engine::Scratch;
use upheld_engine::decide::Outcome;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, SourceId};

use super::product::{self, Product, documents};
use super::random::{ADDRESSES, HOSTS, Maker, TIERS};
use super::worlds::{Ask, Http, Passed, Trusting, World};

/// Requests of one world.
const REQUESTS: usize = 12;

/// A world in which nothing hides what is unknown: `permit-unless-deny` does, as its documentation says.
fn open_world(maker: &mut Maker) -> World {
    loop {
        let world = maker.world();
        if !documents(&world).contains("permit-unless-deny") {
            return world;
        }
    }
}

/// What is decided, and which obligations come with it.
type Decided = (Outcome, BTreeSet<String>);

/// Decides as for people, who may say that they do not know something.
fn decided(decider: &Decider<'_>, body: &Json) -> Decided {
    let (file, _) = upheld_syntax::parse("request", Format::Json, body.to_string(), SourceId::new(0));
    let mut found = Diagnostics::default();
    let document = file.tree.documents().next().unwrap();
    let request = request::read_asked(SourceId::new(0), document, Edition::Strict, &mut found)
        .unwrap_or_else(|| panic!("{body}: {found:?}"));
    let request = decider.complete(request, None);
    let decision = decider.decision(&request, &mut Scratch::default());
    (decision.outcome, decision.obligations.iter().map(|duty| duty.id.clone()).collect())
}

/// Facts that can be left out, with all values that requests may have there.
fn facts() -> Vec<(&'static str, Vec<Json>)> {
    let texts = |list: &[&str]| list.iter().map(|text| json!(text)).collect::<Vec<_>>();
    // One of them, none, or all.
    let lists = |list: &[&str]| list.iter().map(|text| json!([text])).chain([json!([]), json!(list)]).collect();
    vec![
        ("/subject/id", texts(&["ann", "bob", "eve", "sam", "anonymous", "other"])),
        ("/subject/type", texts(&["user", "service", "other"])),
        ("/subject/roles", lists(&["admin", "user", "auditor", "clerk", "editor", "other"])),
        ("/subject/groups", lists(&["staff", "shop", "night", "other"])),
        ("/subject/claims/level", vec![json!(5), json!(1), json!(2), json!(9_007_199_254_740_993_u64), json!("5")]),
        ("/subject/claims/team", texts(&["red", "blue", "green"])),
        ("/subject/claims/tags", vec![json!(["x"]), json!(["z"]), json!("xyz")]),
        ("/subject/claims/suspended", vec![json!(true), json!(false)]),
        ("/subject/claims/from", texts(&["10.1.2.3", "192.0.2.9", "203.0.113.9"])),
        ("/action/method", texts(&["GET", "POST", "DELETE", "HEAD", "PURGE"])),
        ("/action/operation", texts(&["read", "write", "archive", "other"])),
        ("/action/risk", texts(&["low", "high"])),
        ("/resource/host", texts(&["a.example", "b.example", "2001:db8::1", "other"])),
        ("/resource/app", texts(&["a.example", "shop", "b.example", "other"])),
        ("/resource/state", texts(&["draft", "live"])),
        ("/resource/owner", texts(&["ann", "bob", "other"])),
        ("/resource/headers/x-tier", texts(&["free", "gold", "5"])),
        (
            "/resource/path",
            texts(&["/public/x", "/admin", "/admin/x", "/api/1", "/docs/7/edit", "/", "/public/../admin"]),
        ),
        ("/environment/ip", texts(&ADDRESSES)),
    ]
}

/// A request with a value somewhere; maps on the way are made.
fn with(body: &Json, pointer: &str, value: Json) -> Json {
    let mut body = body.clone();
    let mut place = &mut body;
    for part in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[part];
    }
    *place = value;
    body
}

#[test]
fn a_fact_that_is_not_known_opens_nothing_that_one_of_its_values_closes() {
    let (mut permitted, mut compared, mut failed) = (0, 0, Vec::new());
    for number in 0..super::worlds() {
        let mut maker = Maker::plain(super::seed().wrapping_add(number.wrapping_mul(2_000_003)));
        let world = open_world(&mut maker);
        let text = documents(&world);
        let loaded = load(vec![Input::text("world.yaml", Format::Yaml, text.clone())], &[]).unwrap();
        let decider = Decider::of(&loaded.snapshot, WhichKind::Only, Edition::Strict).unwrap();
        for _ in 0..REQUESTS {
            let body = maker.decide();
            for (pointer, values) in facts() {
                let unknown = with(&body, pointer, json!("?"));
                let (outcome, obligations) = decided(&decider, &unknown);
                if outcome != Outcome::Permit {
                    continue;
                }
                permitted += 1;
                for value in values {
                    let known = with(&body, pointer, value.clone());
                    let (outcome, more) = decided(&decider, &known);
                    compared += 1;
                    if outcome != Outcome::Permit || !more.is_subset(&obligations) {
                        failed.push(format!("{outcome:?} with {more:?}, {pointer} is {value} in {known}\n{text}"));
                    }
                }
            }
        }
    }
    failed.sort_by_key(String::len);
    for failed in failed.iter().take(super::shown()) {
        println!("{failed}\n");
    }
    assert!(failed.is_empty(), "{} values are not permitted that could be the one that is not known", failed.len());
    println!("{permitted} permits although something is not known, held against {compared} values");
    assert!(permitted > 100, "{permitted} permits say nothing");
}

/// What a proxy may not say, and what it says otherwise.
struct Omission {
    name: &'static str,
    /// The settings without it.
    without: fn(&mut Trusting),
    header: &'static str,
    values: &'static [&'static str],
}

const OMISSIONS: [Omission; 4] = [
    Omission {
        name: "a header under proxies that do not pass on all",
        without: |trust| trust.headers = Passed::Some,
        header: "x-tier",
        values: &TIERS,
    },
    Omission {
        name: "the header of the host",
        without: |trust| trust.host_header = None,
        header: "x-forwarded-host",
        values: &HOSTS,
    },
    Omission {
        name: "the number of hops",
        without: |trust| trust.hops = None,
        header: "x-forwarded-for",
        values: &ADDRESSES,
    },
    Omission { name: "trust", without: |trust| trust.peers = None, header: "x-debug", values: &["on", "off"] },
];

#[test]
fn a_proxy_that_says_less_opens_nothing_that_it_would_close() {
    let runtime = product::runtime();
    let (mut permitted, mut compared) = (0, 0);
    for number in 0..super::worlds().div_ceil(4) {
        let mut maker = Maker::plain(super::seed().wrapping_add(number.wrapping_mul(3_000_017)));
        let mut world = open_world(&mut maker);
        world.trust = Trusting {
            peers: Some("127.0.0.0/8"),
            hops: Some(1),
            app_header: None,
            host_header: Some("x-forwarded-host"),
            headers: Passed::All,
            ..world.trust
        };
        let mut whole = Product::start(&world, &runtime);
        for omission in &OMISSIONS {
            let mut less = world.clone();
            (omission.without)(&mut less.trust);
            let mut product = Product::start(&less, &runtime);
            for _ in 0..REQUESTS {
                let without = complete(&mut maker, omission.header);
                if !product.ask(&Ask::Forward(without.clone()), &runtime).word.opens() {
                    continue;
                }
                permitted += 1;
                for value in omission.values {
                    let mut with = without.clone();
                    with.headers.push((omission.header.to_owned(), (*value).to_owned()));
                    let said = whole.ask(&Ask::Forward(with), &runtime);
                    compared += 1;
                    assert!(
                        said.word.opens(),
                        "without {} it opens, with `{value}` it is {:?}: {}\n{without:?}\n{:?}\n{}",
                        omission.name,
                        said.word,
                        said.reason,
                        less.trust.settings(),
                        documents(&world)
                    );
                }
            }
        }
    }
    println!("{permitted} requests go on although something is not said, held against {compared} that say it");
    assert!(permitted > 100, "{permitted} requests say nothing");
}

/// A request of a proxy that says everything but one thing. Whoever asks is nobody in particular: trust has a law of its own.
fn complete(maker: &mut Maker, omitted: &str) -> Http {
    let all = [
        ("x-original-uri", maker.path()),
        ("x-original-method", maker.numbers.of(&["GET", "POST", "DELETE"]).to_owned()),
        ("x-forwarded-host", maker.numbers.of(&HOSTS).to_owned()),
        ("x-forwarded-for", maker.numbers.of(&ADDRESSES).to_owned()),
        ("x-tier", maker.numbers.of(&TIERS).to_owned()),
        ("x-debug", "on".to_owned()),
    ];
    let headers = all.into_iter().filter(|(name, _)| *name != omitted);
    Http {
        from: IpAddr::from([127, 0, 0, 1]),
        method: "GET".to_owned(),
        target: "/forward-auth".to_owned(),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value))
            .chain([("host".to_owned(), "localhost".to_owned())])
            .collect(),
    }
}
