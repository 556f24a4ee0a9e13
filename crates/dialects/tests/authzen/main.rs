//! The Authorization API of `AuthZEN`, over a small library: who may read, lend and change which books.
#![cfg(test)]

mod batch;
mod directory;
mod evaluation;
mod mapping;
mod paging;
mod search;

use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;
use upheld_dialects::access::authzen::{AuthZen, Directory};
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_engine::Snapshot;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, SourceId};

const POLICIES: &str = "
- id: members-read
  description: members read books
  effect: permit
  subjects: [{type: member}]
  resources: [{type: book}]
  actions: [{operation: read}]
- id: rare-books-stay-closed
  description: rare books are for the staff
  effect: deny
  subjects: [{not: {role: staff}}]
  resources: [{type: book, property: {name: rare, value: true}}]
  actions: []
  duties:
    - {kind: obligation, id: ask-first, type: notification, on: deny, properties: {to: desk}}
- id: staff-reads
  effect: permit
  subjects: [{role: staff}]
  resources: [{type: book}]
  actions: [{operation: read}]
  duties:
    - {kind: obligation, id: gloves, on: permit}
    - {kind: advice, id: smile, type: custom, on: permit, properties: {wide: true}}
- id: authors-change-their-books
  effect: permit
  subjects: []
  resources: [{type: book}]
  actions: [{operation: change}]
  conditions: [{type: custom, expression: resource.author == subject.claims.email}]
- id: branch-lends
  effect: permit
  subjects: [{group: lenders}]
  resources: [{type: book}]
  actions: [{operation: lend, property: {name: weeks, value: 2}}]
  conditions: [{type: custom, expression: resource.branch == subject.claims.branch}]
- id: shelves
  effect: permit
  subjects: []
  resources: [{path: ['/shelves/{shelf}', /open/*]}]
  actions: [{method: GET}]
- id: rooms-by-day
  effect: permit
  subjects: [{type: member}]
  resources: [{type: room}]
  actions: [{operation: enter}]
  conditions: [{type: time, after: '08:00', before: '18:00'}, {type: ip, cidr: 10.0.0.0/8}]
";

const DIRECTORY: &str = "
kind: Directory
subjects:
  - {type: member, id: ann, properties: {email: ann@books.example, branch: north, groups: [lenders]}}
  - {type: member, id: bob, properties: {role: staff, branch: south, group: lenders}}
  - {type: member, id: cid}
  - {type: robot, id: r2, properties: {roles: [staff]}}
resources:
  - {type: book, id: atlas, properties: {rare: true, branch: north, author: eve@books.example}}
  - {type: book, id: bible, properties: {branch: north, author: ann@books.example}}
  - {type: book, id: comic, properties: {branch: south, author: ann@books.example}}
  - {type: room, id: hall}
actions:
  - {name: read}
  - {name: change}
  - {name: lend, properties: {weeks: [1, 2, 4]}}
";

/// Policies and a directory to ask.
struct World {
    snapshot: Snapshot,
    directory: Directory,
}

impl World {
    fn new() -> Self {
        Self::with(POLICIES, DIRECTORY)
    }

    #[track_caller]
    fn with(policies: &str, directory: &str) -> Self {
        let loaded = load(vec![Input::text("policies.yaml", Format::Yaml, policies)], &["access/strict"]);
        let snapshot = loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics)).snapshot;
        let (directory, found) = read(directory);
        assert_eq!(found.as_slice(), []);
        Self { snapshot, directory }
    }

    fn authzen(&self) -> AuthZen<'_> {
        let decider = Decider::of(&self.snapshot, WhichKind::Only, Edition::Strict).expect("policies");
        AuthZen::new(Decider { directory: &self.directory, ..decider }, None)
    }

    #[track_caller]
    fn decision(&self, request: &Json) -> bool {
        self.authzen().evaluation(request).expect("a good request").decision()
    }
}

/// A directory, and what is wrong with its document.
fn read(text: &str) -> (Directory, Diagnostics) {
    let source = SourceId::new(0);
    let (file, problems) = upheld_syntax::parse("directory.yaml", Format::Yaml, text.to_owned(), source);
    assert!(problems.is_empty(), "{problems:#?}");
    let (mut directory, mut found) = (Directory::default(), Diagnostics::default());
    for document in file.tree.documents() {
        directory.read(source, document, &mut found);
    }
    (directory, found)
}

/// `ann read book atlas`: a member, an action, a resource.
fn request(words: &str) -> Json {
    let words: Vec<&str> = words.split(' ').collect();
    json!({
        "subject": {"type": "member", "id": words[0]},
        "action": {"name": words[1]},
        "resource": {"type": words[2], "id": words[3]},
    })
}

/// A request with another part.
fn with(mut request: Json, part: &str, value: Json) -> Json {
    request[part] = value;
    request
}
