//! Who watches: numbers of violations and of what was said of writes, and events when violations begin and end.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value as Json;

use super::{CLASSIC, Company, token};

/// The events of a stream: their names and data.
struct Events(std::io::Lines<BufReader<TcpStream>>);

impl Events {
    fn of(company: &Company, who: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(company.served.base().trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let token = token(who);
        let request = format!("GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines();
        // From here on it is followed.
        assert!(lines.by_ref().map_while(Result::ok).any(|line| line.is_empty()));
        Self(lines)
    }

    fn next(&mut self) -> (String, Json) {
        let mut name = String::new();
        for line in self.0.by_ref().map_while(Result::ok) {
            if let Some(own) = line.strip_prefix("event: ") {
                own.clone_into(&mut name);
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (name, serde_json::from_str(data).unwrap());
            }
        }
        panic!("the stream ended");
    }
}

const MOVED: &str = "{ref: landingZone/lz-dev, tags: {env: [prod]}}";
const BACK: &str = "{ref: landingZone/lz-dev, tags: {env: [dev]}}";

#[test]
fn events_tell_what_begins_and_ends_to_violate_by_workspace() {
    let company = Company::open(CLASSIC);
    let mut events = Events::of(&company, "root", "");
    assert_eq!(company.write("root", MOVED).status, 201);
    let (name, opened) = events.next();
    assert_eq!(name, "violations", "{opened:#}");
    assert_eq!((&opened["after"], &opened["revision"]), (&Json::from(1), &Json::from(2)));
    let workspaces = opened["workspaces"].as_array().unwrap();
    assert_eq!(workspaces.len(), 1, "{opened:#}");
    assert_eq!(workspaces[0]["workspace"], "workspace/shop");
    assert_eq!(workspaces[0]["closed"], serde_json::json!([]));
    let violation = &workspaces[0]["opened"][0];
    assert_eq!((&violation["policy"], &violation["state"]), (&Json::from("project-on-zone"), &Json::from("soft")));
    assert!(violation["cause"].as_str().is_some_and(|cause| cause.contains("landingZone/lz-dev")), "{violation:#}");
    assert_eq!(events.next().0, "revision");
    assert_eq!(company.write("root", BACK).status, 201);
    let (name, closed) = events.next();
    assert_eq!(name, "violations", "{closed:#}");
    assert_eq!(closed["workspaces"][0]["opened"], serde_json::json!([]));
    assert_eq!(closed["workspaces"][0]["closed"][0]["id"], violation["id"]);
    assert_eq!(closed["workspaces"][0]["closed"][0]["state"], "pass");
    assert_eq!(events.next().0, "revision");
}

/// A waiver that ends soon, by the clock alone: nobody writes anything then.
#[test]
fn a_waiver_that_ends_by_the_clock_is_noticed() {
    let company = Company::open(CLASSIC);
    assert_eq!(company.write("root", MOVED).status, 201);
    let ends = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(4);
    let waiver = format!(
        "{{kind: Waiver, id: spared, policy: project-on-zone, match: {{a: project/web}}, reason: it moves, expiresAt: '{ends}'}}"
    );
    let granted = company.write("root", &waiver);
    assert_eq!(granted.status, 201, "{}", granted.text);
    let mut events = Events::of(&company, "root", "");
    let state = || {
        let audit = company.ask("root", "POST", "/v1/audit", "application/json", "{}").json();
        audit["violations"].as_array().unwrap().iter().map(|own| own["state"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(state(), [Json::from("waived")]);
    let numbers = || {
        let text = company.ask("root", "GET", "/metrics", "application/json", "").text;
        let is_meant = |line: &&str| line.starts_with("upheld_violations{") && line.ends_with(" 1");
        text.lines().filter(is_meant).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(numbers().iter().all(|line| line.contains("waived")), "{:?}", numbers());
    let revision = company.revision();
    let (name, data) = events.next();
    assert_eq!((name.as_str(), &data["revision"]), ("violations", &revision), "{data:#}");
    assert!(jiff::Timestamp::now() >= ends);
    assert_eq!(data["workspaces"][0]["opened"][0]["policy"], "project-on-zone");
    assert_eq!(company.revision(), revision, "nobody wrote anything");
    assert_eq!(state(), [Json::from("soft")]);
    assert!(numbers().iter().all(|line| line.contains("soft")), "{:?}", numbers());
}

#[test]
fn whoever_comes_back_hears_what_happened_in_between() {
    let company = Company::open(CLASSIC);
    assert_eq!(company.write("root", MOVED).status, 201);
    let mut events = Events::of(&company, "root", "last-event-id: 1\r\n");
    let (name, data) = events.next();
    assert_eq!(name, "violations", "{data:#}");
    assert_eq!(data["workspaces"][0]["opened"].as_array().map(Vec::len), Some(1));
    assert_eq!(events.next().0, "revision");
    let mut later = Events::of(&company, "root", "last-event-id: 2\r\n");
    assert_eq!(company.write("root", BACK).status, 201);
    assert_eq!(later.next().1["workspaces"][0]["closed"].as_array().map(Vec::len), Some(1));
}

#[test]
fn managers_hear_of_their_own_workspace_only() {
    let company = Company::open(CLASSIC);
    let (mut own, mut other) = (Events::of(&company, "mia", ""), Events::of(&company, "tom", ""));
    assert_eq!(company.write("root", MOVED).status, 201);
    assert_eq!(own.next().0, "violations");
    let (name, data) = other.next();
    assert_eq!(name, "revision", "what violates in the shop is nobody else's business: {data:#}");
}

#[test]
fn a_waiver_ends_a_violation_and_its_end_begins_it_again() {
    let company = Company::open(CLASSIC);
    assert_eq!(company.write("root", MOVED).status, 201);
    let mut events = Events::of(&company, "root", "");
    let waiver = "{kind: Waiver, id: w, policy: project-on-zone, match: {a: project/web}, reason: it moves as well}";
    assert_eq!(company.write("root", waiver).status, 201);
    let (name, data) = events.next();
    assert_eq!(name, "violations", "{data:#}");
    assert_eq!(data["workspaces"][0]["closed"][0]["state"], "waived", "{data:#}");
    assert_eq!(events.next().0, "revision");
    let gone = company.ask("root", "DELETE", "/v1/documents/Waiver/compliance/w", "", "");
    assert_eq!(gone.status, 201, "{}", gone.text);
    let (name, data) = events.next();
    assert_eq!(name, "violations", "{data:#}");
    assert_eq!(data["workspaces"][0]["opened"].as_array().map(Vec::len), Some(1), "{data:#}");
}

fn metric(text: &str, line: &str) -> Option<u64> {
    text.lines().find_map(|own| own.strip_prefix(line)?.trim().parse().ok())
}

#[test]
fn violations_and_what_was_said_of_writes_are_counted() {
    let company = Company::open(CLASSIC);
    let metrics = || company.ask("root", "GET", "/metrics", "", "").text;
    let violations = |state: &str| {
        let labels = format!("{{policy=\"project-on-zone\",level=\"enforce\",severity=\"none\",state=\"{state}\"}}");
        metric(&metrics(), &format!("upheld_violations{labels}"))
    };
    let admissions = |asked: &str, outcome: &str| {
        metric(&metrics(), &format!("upheld_admissions_total{{asked=\"{asked}\",outcome=\"{outcome}\"}}"))
    };
    assert_eq!((violations("hard"), violations("soft"), violations("waived")), (Some(0), Some(0), Some(0)));
    let before = admissions("write", "soft");
    assert_eq!(company.write("mia", "{a: project/web, b: landingZone/lz-prod}").status, 409);
    assert_eq!(admissions("write", "blocked"), Some(1));
    assert_eq!(company.write("root", MOVED).status, 201);
    assert_eq!((violations("soft"), admissions("write", "soft")), (Some(1), before.map(|count| count + 1)));
    let dry =
        company.ask("mia", "POST", "/v1/revisions?dryRun=true", "application/yaml", "{a: project/web, b: user/pat}");
    assert_eq!(dry.status, 409, "{}", dry.text);
    assert_eq!(admissions("dry-run", "blocked"), Some(1));
    assert_eq!(company.write("root", BACK).status, 201);
    assert_eq!(violations("soft"), Some(0));
}
