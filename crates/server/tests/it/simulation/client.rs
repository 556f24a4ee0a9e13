//! Clients: each asks one thing after the other, and asks again where it cannot know what came of a write.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tokio::time::sleep;

use super::history::{Condition, Edit, Question, Reader, Which, Write, message};
use super::world::{World, request};

const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// How often a write is asked for again.
const TRIES: usize = 3;

pub(super) struct Client {
    number: usize,
    /// The newest revision that it knows.
    knows: u64,
    /// When documents were changed, as far as it knows.
    changed: BTreeMap<&'static str, u64>,
    /// What it wrote last.
    text: Option<u64>,
    /// How many writes it asked for.
    writes: u64,
}

impl Client {
    pub(super) fn new(number: usize) -> Self {
        Self { number, knows: 0, changed: BTreeMap::new(), text: None, writes: 0 }
    }

    pub(super) async fn lives(mut self, world: &World) {
        let times = world.random(|random| random.below(10)) + 4;
        for _ in 0..times {
            let pause =
                world.random(|random| if random.one_in(3) { random.milliseconds(0, 40_000) } else { random.pause() });
            sleep(pause).await;
            self.asks(world).await;
        }
    }

    async fn asks(&mut self, world: &World) {
        let key = world.random(|random| random.of_all(&KEYS).copied()).unwrap_or("a");
        match world.random(|random| random.below(10)) {
            0..=3 => self.puts(world, key).await,
            4 => self.deletes(world, key).await,
            5 | 6 => self.reads(world, key).await,
            7 => self.decides(world, key).await,
            _ => self.lists(world).await,
        }
    }

    fn place(world: &World) -> usize {
        world.random(|random| random.below(world.hosts()))
    }

    async fn puts(&mut self, world: &World, key: &'static str) {
        let condition = match (world.random(|random| random.below(4)), self.changed.get(key)) {
            (0 | 1, Some(revision)) => Condition::Unchanged(*revision),
            (2, _) => Condition::Absent,
            _ => Condition::None,
        };
        let together = condition == Condition::None && world.random(|random| random.one_in(3));
        let other = KEYS.into_iter().find(|other| *other != key).filter(|_| together);
        let changes = [Some(key), other].into_iter().flatten().map(|key| (key, Edit::Put)).collect();
        self.writes(world, changes, condition).await;
    }

    async fn deletes(&mut self, world: &World, key: &'static str) {
        let condition = self.changed.get(key).map_or(Condition::None, |revision| Condition::Unchanged(*revision));
        self.writes(world, vec![(key, Edit::Delete)], condition).await;
    }

    async fn writes(&mut self, world: &World, changes: Vec<(&'static str, Edit)>, condition: Condition) {
        self.writes += 1;
        let number = u64::try_from(self.number).unwrap() * 1000 + self.writes;
        let text = world.random(|random| random.one_in(3)).then_some(self.text).flatten().unwrap_or(number);
        self.text = Some(text);
        let write = Write { number, text, changes, condition };
        let question = Question::Write(write.clone());
        for _ in 0..TRIES {
            let answer = world.ask(self.number, Self::place(world), &question, write_request(&write)).await;
            if let Some(answer) = &answer {
                let revision = answer.body["revision"].as_u64().filter(|_| matches!(answer.status, 200 | 201));
                self.learns(revision);
                for (key, edit) in &write.changes {
                    match (revision, edit) {
                        (Some(revision), Edit::Put) => drop(self.changed.insert(key, revision)),
                        _ => drop(self.changed.remove(key)),
                    }
                }
            }
            if answer.is_some_and(|answer| answer.status != 503) {
                return;
            }
        }
    }

    fn learns(&mut self, revision: Option<u64>) {
        self.knows = self.knows.max(revision.unwrap_or_default());
    }

    async fn reads(&mut self, world: &World, key: &'static str) {
        let path = format!("/v1/documents/AccessPolicy/access/{key}");
        let asked = request("GET", &path, Reader::Admin, &[], String::new());
        let answer = world.ask(self.number, Self::place(world), &Question::Document { key }, asked).await;
        let Some(answer) = answer else { return };
        self.learns(answer.revision);
        if let Some(revision) = answer.body["changed"].as_u64() {
            self.changed.insert(key, revision);
        }
    }

    async fn decides(&mut self, world: &World, key: &'static str) {
        let body =
            json!({"subject": {"id": "ann"}, "action": {"method": "GET"}, "resource": {"path": format!("/{key}")}});
        let asked = request("POST", "/v1/decide", Reader::Admin, &[], body.to_string());
        let answer = world.ask(self.number, Self::place(world), &Question::Decision { key }, asked).await;
        self.learns(answer.and_then(|answer| answer.revision));
    }

    async fn lists(&mut self, world: &World) {
        let knows = self.knows;
        let (reader, which) = world.random(|random| {
            let reader = if random.one_in(2) { Reader::Guest } else { Reader::Admin };
            let which = match random.below(4) {
                0 => Which::AtLeast(knows),
                1 if knows > 0 => Which::At(knows),
                _ => Which::Current,
            };
            (reader, which)
        });
        let path = match which {
            Which::Current => "/v1/documents".to_owned(),
            Which::AtLeast(revision) => format!("/v1/documents?minRevision={revision}"),
            Which::At(revision) => format!("/v1/documents?at={revision}"),
        };
        let asked = request("GET", &path, reader, &[], String::new());
        let question = Question::List { reader, which };
        let answer = world.ask(self.number, Self::place(world), &question, asked).await;
        if which != Which::At(knows) {
            self.learns(answer.and_then(|answer| answer.revision));
        }
    }
}

fn document(key: &str, text: u64) -> Json {
    json!({"id": key, "effect": "permit", "description": message(text), "subjects": [],
        "resources": [{"path": format!("/{key}")}], "actions": []})
}

fn write_request(write: &Write) -> axum::http::Request<axum::body::Body> {
    let Write { number, text, changes, condition } = write;
    let mut headers = vec![("idempotency-key", message(*number))];
    match condition {
        Condition::None => {}
        Condition::Unchanged(revision) => headers.push(("if-match", format!("\"{revision}\""))),
        Condition::Absent => headers.push(("if-none-match", "*".to_owned())),
    }
    match changes.as_slice() {
        [(key, edit)] => {
            let path = format!("/v1/documents/AccessPolicy/access/{key}?message={}", message(*number));
            let (method, body) = match edit {
                Edit::Put => ("PUT", document(key, *text).to_string()),
                Edit::Delete => ("DELETE", String::new()),
            };
            request(method, &path, Reader::Admin, &headers, body)
        }
        several => {
            let put: Vec<Json> = several.iter().map(|(key, _)| document(key, *text)).collect();
            let body = json!({"message": message(*number), "put": put}).to_string();
            request("POST", "/v1/revisions", Reader::Admin, &headers, body)
        }
    }
}
