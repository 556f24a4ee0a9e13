//! The law of rights, over random worlds of all systems and random callers: whoever may see a part is answered, on every endpoint and every page,
//! byte for byte as by a server that holds nothing but that part.
//!
//! Rights keep documents by kind, name and scope; roles in an organisation keep what belongs to other workspaces. What is kept is known here
//! from how the world was made, so both are held against the documentation. Verdicts of decisions and of admission are of everything; numbers
//! of revisions are the same on both servers, because every write has something that everybody may see.

mod requests;
mod worlds;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use upheld_server::Config;
use upheld_server::config::{Security, StoreLocation};
use upheld_store::{Batch, Change, Entry, Memory, Revision, Store};

use self::requests::{Form, Request, requests};
use self::worlds::{Caller, Document, Maker, Pattern, World};
use crate::rights_by_document::{Digests, comparable, difference};
use crate::support::{Answer, Served};

/// How many worlds are made: those of every run, or as many as somebody wants.
fn worlds() -> u64 {
    std::env::var("UPHELD_WORLDS").map_or(4, |count| count.parse().unwrap())
}

/// What worlds are made of; `cargo xtask seeds` names others.
fn seed() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").map_or(20_260_101, |seed| seed.parse().unwrap())
}

/// How many differences are shown.
fn shown() -> usize {
    std::env::var("UPHELD_SHOWN").map_or(5, |count| count.parse().unwrap())
}

#[test]
fn whoever_sees_a_part_is_answered_as_if_there_was_nothing_else() {
    let mut compared = Compared::default();
    for number in 0..worlds() {
        compared.world(number);
    }
    let verdicts: usize = compared.verdicts.values().sum();
    println!("{} answers compared in {} worlds, {verdicts} verdicts of everything", compared.count(), worlds());
    for (endpoint, count) in &compared.counts {
        let judged = compared.verdicts.get(endpoint).copied().unwrap_or_default();
        println!("  {count:6} {endpoint}{}", if judged == 0 { String::new() } else { format!(", {judged} verdicts") });
    }
    let differing: Vec<u64> = compared.differing.iter().map(|(world, _)| *world).collect();
    let mut worlds_differing = differing.clone();
    worlds_differing.dedup();
    let told: Vec<&String> = compared.differing.iter().map(|(_, told)| told).take(shown()).collect();
    assert!(
        differing.is_empty(),
        "{} answers differ, in {} worlds:\n{}",
        differing.len(),
        worlds_differing.len(),
        told.into_iter().cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(verdicts * 10 <= compared.count(), "{verdicts} of {} are only verdicts", compared.count());
    every_endpoint_is_asked(&compared.counts);
}

/// What was compared so far.
#[derive(Default)]
struct Compared {
    counts: BTreeMap<String, usize>,
    /// Answers that are judged otherwise by all documents, by endpoint.
    verdicts: BTreeMap<String, usize>,
    differing: Vec<(u64, String)>,
}

impl Compared {
    fn count(&self) -> usize {
        self.counts.values().sum()
    }

    fn world(&mut self, number: u64) {
        let mut maker = Maker::new(seed().wrapping_add(number.wrapping_mul(1_000_003)));
        let world = maker.world();
        let whole = Whole::of(&world);
        let records = whole.records();
        for (place, caller) in world.callers.iter().enumerate() {
            let part = whole.part(&world, place, caller, &records);
            let ids: Vec<String> = records.iter().map(|(id, _)| id.clone()).collect();
            let hidden = hidden_names(&world, caller);
            for request in requests(&mut maker, &world, &ids, whole.last) {
                self.ask(&Round { number, place, whole: &whole, part: &part, hidden: &hidden }, &request);
            }
        }
    }

    fn ask(&mut self, round: &Round<'_>, request: &Request) {
        let Round { number, place, whole, part, hidden } = *round;
        // Decisions are made by everything, and say of which everything.
        let deciding = ["/v1/decide", "/access/v1", "/forward-auth", "/authz/api/e", "/v1/reach"];
        let is_of_everything = deciding.iter().any(|prefix| request.path.starts_with(prefix));
        let digests = if is_of_everything { Digests::OfEverything } else { Digests::Compared };
        let [of_whole, of_part] = [&whole.served, part].map(|served| asked(served, place, request, whole.last));
        let sent = format!("{} {}", request.path, request.body).replace("%2F", "/").replace("%7E", "~");
        let echoed = |name: &String| sent.contains(name.as_str());
        if let Some(name) =
            hidden.iter().filter(|name| !echoed(name)).find(|name| of_whole.text.contains(name.as_str()))
        {
            let told = format!(
                "world {number}, caller {place}: {} {} {} names `{name}`: {}",
                request.method,
                request.path,
                request.body,
                main_of(&of_whole.text)
            );
            self.differing.push((number, told));
            return;
        }
        *self.counts.entry(request.key()).or_default() += 1;
        let (one, other) =
            (plain(request, &of_whole, whole.served.base(), digests), plain(request, &of_part, part.base(), digests));
        if one == other {
            return;
        }
        if (is_of_everything || is_explained(request, &of_whole)) && request.endpoint != "/v1/reach"
            || (request.is_judged_by_everything() && is_verdict(&of_whole, &of_part))
        {
            *self.verdicts.entry(request.key()).or_default() += 1;
            return;
        }
        let asked = format!("world {number}, caller {place}: {} {} {}", request.method, request.path, request.body);
        let difference = if one.0 == other.0 && one.1 == other.1 {
            difference(&one.2, &other.2)
        } else {
            let told = |plain: &Plain| format!("{} {:?} {}", plain.0, plain.1, main_of(&plain.2));
            format!("  whole: {}\n  part:  {}", told(&one), told(&other))
        };
        self.differing.push((number, format!("{asked}\n{difference}")));
    }
}

/// What a page says, or the beginning of another text.
fn main_of(text: &str) -> String {
    let main = text.split_once("<main").map_or(text, |(_, main)| main);
    main.chars().take(2500).collect()
}

/// Whether an explanation tells only what everything comes to, because what the caller may see comes to something else.
fn is_explained(request: &Request, whole: &Answer) -> bool {
    let explains = [
        "/v1/explain",
        "/v1/objects/{kind}/{scope}/{name}/effective",
        "/connection",
        "/connections",
        "/layers",
        "/explain",
        "/access",
        "/gateway",
        "/ask",
    ];
    request.endpoint == "/v1/resolve"
        || explains.contains(&request.endpoint)
            && ["(hidden", "depends on documents that you may not see"].iter().any(|words| whole.text.contains(words))
}

/// Whether two writes are judged otherwise because of what the author may not see. Warnings about documents beside those that are written are told
/// where all of them may be read.
fn is_verdict(whole: &Answer, part: &Answer) -> bool {
    let is_judged = |answer: &Answer| {
        [403, 404, 409, 412, 422].contains(&answer.status)
            || answer.text.contains("\"admission\"")
            || answer.text.contains("\"allowed\"")
            || answer.text.contains("\"severity\":\"warning\"")
    };
    is_judged(whole) || is_judged(part)
}

/// Two servers, and who asks them.
#[derive(Clone, Copy)]
struct Round<'r> {
    number: u64,
    place: usize,
    whole: &'r Whole,
    part: &'r Served,
    hidden: &'r [String],
}

/// Names that nothing has that the caller may see.
fn hidden_names(world: &World, caller: &Caller) -> Vec<String> {
    let all = || world.first.iter().chain(&world.second);
    let seen: String = all().filter(|own| caller.sees(own)).map(|own| own.json.to_string()).collect();
    let telling = |own: &&Document| !["Link", "Namespace", "Mesh", "MeshPolicy"].contains(&own.kind());
    let hidden = all().filter(|own| !caller.sees(own)).filter(telling).map(|own| own.name().to_owned());
    hidden.filter(|name| !seen.contains(name.as_str())).collect()
}

/// A server with everything.
struct Whole {
    served: Served,
    entries: Vec<Entry>,
    last: u64,
    folder: TempDir,
    runtime: Runtime,
}

const ADMIN: usize = 99;

impl Whole {
    fn of(world: &World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        callers(folder.path(), world);
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let served = served(folder.path(), Arc::clone(&store));
        let put = |documents: &[Document], gone: &[Document], marker: usize| {
            // Everybody may see something of every write.
            let seen = json!({"type": "Mesh", "name": format!("open{marker}")});
            let put: Vec<&Json> = documents.iter().map(|own| &own.json).chain([&seen]).collect();
            let delete: Vec<&str> = gone.iter().map(|own| own.id.as_str()).collect();
            let body = json!({"put": put, "delete": delete, "message": format!("write {marker}")}).to_string();
            let request =
                Request { method: "POST", endpoint: "", path: "/v1/revisions".to_owned(), body, form: Form::Json };
            let written = asked(&served, ADMIN, &request, 0);
            assert_eq!(written.status, 201, "{}", written.text);
        };
        put(&world.first, &[], 1);
        put(&world.second, &[], 2);
        put(&world.moved, &[], 3);
        put(&[], &world.gone, 4);
        let runtime = Runtime::new().unwrap();
        let entries = runtime.block_on(store.entries(Revision::ZERO, 1000)).unwrap();
        let last = entries.last().unwrap().revision.0;
        Self { served, entries, last, folder, runtime }
    }

    /// The violations on record that the server wrote.
    fn records(&self) -> Vec<(String, Json)> {
        let changes = self.entries.iter().flat_map(|entry| &entry.changes);
        let record = |change: &Change| match change {
            Change::Put { key, text } if key.kind() == "AcceptedViolations" => {
                Some((key.to_string(), serde_json::from_str(text).unwrap()))
            }
            _ => None,
        };
        changes.filter_map(record).collect()
    }

    /// A server with what a caller may see, and nothing else, written at the same times.
    fn part(&self, world: &World, place: usize, caller: &Caller, records: &[(String, Json)]) -> Served {
        // By what they say: ids are the product's.
        let all = || world.first.iter().chain(&world.second).chain(&world.moved);
        let mut known: BTreeMap<String, &Document> = BTreeMap::new();
        for change in self.entries.iter().flat_map(|entry| &entry.changes) {
            let Change::Put { key, text } = change else { continue };
            let json: Json = serde_json::from_str(text).unwrap();
            if let Some(document) = all().find(|own| own.json == json) {
                known.insert(key.to_string(), document);
            }
        }
        assert_eq!(known.len(), world.first.len() + world.second.len(), "every document is known by what it says");
        let sees = |change: &&Change| {
            let id = change.key().to_string();
            match (known.get(&id), records.iter().find(|(known, _)| *known == id)) {
                (Some(document), _) => caller.sees(document),
                (None, Some((id, record))) => caller.sees_record(id, record),
                (None, None) => true,
            }
        };
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        for entry in &self.entries {
            let changes: Vec<Change> = entry.changes.iter().filter(sees).cloned().collect();
            let message = entry.message.clone().filter(|_| changes.len() == entry.changes.len());
            let (after, actor) = (Revision(entry.revision.0 - 1), entry.actor.clone());
            let batch = Batch { after, seen: None, time: entry.time, actor, message, changes, idempotency: None };
            self.runtime.block_on(store.append(batch)).unwrap();
        }
        assert!(place < world.callers.len());
        served(self.folder.path(), store)
    }
}

fn token(place: usize) -> String {
    format!("upheld_caller{place}-0123456789abcdef0123456789abcdef")
}

/// Writes who may do what.
fn callers(folder: &Path, world: &World) {
    let mut tokens = vec![(ADMIN, vec!["admin".to_owned()])];
    let mut policies = vec![
        json!({"id": "admins", "effect": "permit", "subjects": [{"role": "admin"}], "resources": [], "actions": []}),
        json!({"id": "all", "effect": "permit", "subjects": [{"role": "reader"}], "resources": [], "actions": []}),
    ];
    for (place, caller) in world.callers.iter().enumerate() {
        let mut roles = vec!["reader".to_owned(), format!("caller{place}")];
        roles.extend(caller.roles.iter().cloned());
        tokens.push((place, roles));
        let resources: Vec<Json> = caller.kept.iter().flat_map(Pattern::resources).collect();
        if !resources.is_empty() {
            policies.push(
                json!({"id": format!("kept{place}"), "effect": "deny", "subjects": [{"role": format!("caller{place}")}],
                "resources": resources, "actions": []}),
            );
        }
    }
    let rights = json!({"combiningAlgorithm": "deny-overrides", "defaultEffect": "deny", "policies": policies});
    let tokens: Vec<Json> = tokens
        .into_iter()
        .map(|(place, roles)| {
            let hash = format!("{:x}", Sha256::digest(token(place).as_bytes()));
            json!({"name": format!("caller{place}"), "roles": roles, "sha256": hash})
        })
        .collect();
    fs::write(folder.join("rights.yaml"), rights.to_string()).unwrap();
    fs::write(folder.join("tokens.yaml"), json!({"tokens": tokens}).to_string()).unwrap();
}

fn served(folder: &Path, store: Arc<dyn Store>) -> Served {
    let (tokens, rights) = (Some(folder.join("tokens.yaml")), Some(folder.join("rights.yaml")));
    let security = Security { tokens, rights, ..Security::default() };
    Served::guarded(Config { security, store: StoreLocation::Given(store), ..Config::default() })
}

fn asked(served: &Served, place: usize, request: &Request, last: u64) -> Answer {
    let bearer = format!("Bearer {}", token(place));
    let mut headers = vec![("authorization", bearer.as_str()), ("x-request-id", "law")];
    let here = served.base().to_owned();
    match request.form {
        Form::Json => headers.push(("content-type", "application/json")),
        Form::Accepting(format) => headers.extend([("content-type", "application/json"), ("accept", format)]),
        Form::Page => headers.push(("accept", "text/html")),
        Form::Sent => headers.extend([
            ("accept", "text/html"),
            ("origin", here.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
        ]),
        Form::Stream => return streamed(served, &bearer, &request.path, last),
    }
    served.ask(request.method, &request.path, &headers, &request.body)
}

/// What a stream tells until the last revision.
fn streamed(served: &Served, bearer: &str, path: &str, last: u64) -> Answer {
    let mut stream = served.connect();
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {bearer}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let (mut read, mut room) = (String::new(), [0; 4096]);
    let end = format!("id: {last}\n");
    // After the number of an event comes what it tells.
    while !read.split_once(&end).is_some_and(|(_, rest)| rest.contains("\n\n")) {
        let count = stream.read(&mut room).unwrap();
        assert!(count > 0, "{read}");
        read.push_str(&String::from_utf8_lossy(&room[..count]));
    }
    let mut told: Vec<String> =
        read.lines().filter(|line| line.starts_with("id:") || line.starts_with("data:")).map(str::to_owned).collect();
    for line in &mut told {
        let Some(mut data) = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Json>(data).ok())
        else {
            continue;
        };
        // Violations are told at the moment of asking.
        data.as_object_mut().unwrap().remove("time");
        *line = data.to_string();
    }
    Answer { status: 200, headers: Vec::new(), text: told.join("\n") }
}

type Plain = (u16, Vec<(String, String)>, String);

/// An answer without what no two servers have in common.
fn plain(request: &Request, answer: &Answer, base: &str, digests: Digests) -> Plain {
    let (status, headers, text) = comparable(answer, base, digests);
    if !matches!(request.form, Form::Page | Form::Sent) {
        return (status, headers, text);
    }
    // The pill has the age of the snapshot.
    let (before, pill) = text.split_once("id=\"pill\"").unwrap_or((&text, ""));
    (status, headers, format!("{before}{}", pill.split_once("</a>").map_or(pill, |(_, after)| after)))
}

/// Every endpoint of the description, and every page of the router.
fn every_endpoint_is_asked(counts: &BTreeMap<String, usize>) {
    let served = Served::start(Config::default());
    let description = served.get("/openapi.json").json();
    let mut missing = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap().keys();
        for method in methods.filter(|name| ["get", "put", "post", "delete", "patch"].contains(&name.as_str())) {
            let key = format!("{} {path}", method.to_uppercase());
            // All paths of a system are one handler, and so are all methods and paths that wait in a proxy.
            let is_known = path.starts_with("/meshes") && counts.contains_key("GET /meshes")
                || path.starts_with("/forward-auth") && counts.contains_key("GET /forward-auth/{path}");
            if !is_known && !counts.contains_key(&key) {
                missing.push(key);
            }
        }
    }
    let router = include_str!("../../src/http/pages.rs");
    let pages = router.split("page(\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(path, _)| path);
    // The way out has nothing to show, and the stream of pages tells numbers of revisions alone.
    let pages: Vec<&str> = pages.filter(|path| !["/sign-out", "/pages/events"].contains(path)).collect();
    assert!(pages.len() > 20, "{pages:?}");
    missing.extend(pages.iter().map(|path| format!("GET {path}")).filter(|key| !counts.contains_key(key)));
    assert!(missing.is_empty(), "these are not asked: {missing:?}");
}
