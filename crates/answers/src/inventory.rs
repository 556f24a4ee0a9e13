//! What was read: policies, objects, services, meshes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use upheld_dialects::dialect::ListedObject;
use upheld_dialects::{Identity, dialects};
use upheld_engine::{PolicyId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, NodeRef, Policy, Role, Sym, Timestamp};

use crate::all_pairs::{Tally, find_scope, tally};
use crate::report::At;

/// What can be listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Listed {
    /// Policies and objects.
    #[default]
    All,
    /// Policies.
    Policies,
    /// Proxies, external services, meshes, and objects whose tags must agree.
    Objects,
    /// Services that something offers or calls.
    Services,
    /// Meshes.
    Meshes,
}

/// Which rows are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What is listed.
    pub what: Listed,
    /// Only this type.
    pub kind: Option<String>,
    /// Whether to say for how many pairs a policy stands, which takes a while where there are many proxies.
    pub tallies: bool,
}

/// One row; columns that a thing does not have stay empty.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its type.
    pub kind: String,
    /// The mesh or namespace that it is in.
    pub mesh: String,
    /// Its name.
    pub name: String,
    /// `key=value,…`; parts of a proxy stand between bars.
    pub tags: String,
    /// For how many pairs of proxy and service a policy stands.
    pub stands: Option<Tally>,
    /// What its system makes of a policy besides, by name.
    pub computed: Vec<(&'static str, String)>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Where it was written.
    pub at: Option<At>,
}

impl Row {
    /// `KIND/SCOPE/NAME`: no two things of a sort have the same, and a store knows it by the same.
    pub fn id(&self) -> String {
        Identity::new(&self.kind, &self.mesh, &self.name).to_string()
    }

    /// What its system makes of it, by name.
    pub fn computed(&self, name: &str) -> Option<&str> {
        self.computed.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The row as programs get it.
    pub fn json(&self) -> Json {
        let mut row = json!({
            "kind": self.kind, "mesh": self.mesh, "name": self.name, "tags": self.tags,
            "stands": self.stands.map(|tally| tally.json()),
            "created": self.created.map(|created| created.to_string()), "at": self.at,
        });
        if let Some(row) = row.as_object_mut().filter(|_| !self.computed.is_empty()) {
            row.insert("computed".to_owned(), computed_json(&self.computed));
        }
        row
    }
}

/// Lists what is wanted, in the order of a snapshot.
pub(crate) fn rows(snapshot: &Snapshot, mesh: Option<&str>, wanted: &Wanted) -> Result<Vec<Row>, Diagnostic> {
    let policies = || policies(snapshot, wanted.tallies);
    let objects = || objects(snapshot).into_iter().chain(related(snapshot));
    let mut rows: Vec<Row> = match wanted.what {
        Listed::All => policies().into_iter().chain(objects()).collect(),
        Listed::Policies => policies(),
        Listed::Objects => objects().collect(),
        Listed::Services => service_rows(snapshot),
        Listed::Meshes => mesh_rows(snapshot),
    };
    if let Some(mesh) = mesh {
        find_scope(snapshot, mesh).transpose()?;
        rows.retain(|row| row.mesh == mesh);
    }
    if let Some(kind) = &wanted.kind {
        rows.retain(|row| row.kind.eq_ignore_ascii_case(kind));
        // What is listed has a type, whoever knows it.
        if let Some(problem) = unknown_type(snapshot, kind).filter(|_| rows.is_empty()) {
            return Err(problem);
        }
    }
    Ok(rows)
}

fn policies(snapshot: &Snapshot, counted: bool) -> Vec<Row> {
    // Only those who look for it pay for all pairs.
    let mut tallies = if counted { tallies(snapshot) } else { BTreeMap::new() };
    let mut row = |id: PolicyId, policy: &Policy| Row {
        stands: tallies.remove(&id),
        // Objects have tags instead.
        computed: policy.layers().map_or_else(Vec::new, |_| computed(snapshot, policy.at, Some(policy))),
        kind: snapshot.text(policy.kind).to_owned(),
        mesh: snapshot.text(policy.scope).to_owned(),
        name: snapshot.text(policy.name).to_owned(),
        tags: String::new(),
        created: policy.created,
        at: at(snapshot, policy.at),
    };
    let mut rows: Vec<Row> = snapshot.policies().iter().map(|(id, policy)| row(id, policy)).collect();
    rows.sort_by(|a, b| a.kind.cmp(&b.kind));
    rows
}

/// Where each policy stands; of several kinds that govern it, the one that it stands for most.
fn tallies(snapshot: &Snapshot) -> BTreeMap<PolicyId, Tally> {
    let mut tallies: BTreeMap<PolicyId, Tally> = BTreeMap::new();
    for (id, kind) in snapshot.kinds().iter() {
        for mesh in scopes(snapshot) {
            if snapshot.select(id, mesh).is_none() {
                continue;
            }
            let pairs = tally(snapshot, id, mesh, &());
            let found = pairs.tallies();
            let policies = snapshot.policies().iter();
            for (policy, _) in policies.filter(|(_, policy)| policy.kind == kind.governs && policy.scope == mesh) {
                let tally = found.get(&Some(policy)).copied().unwrap_or_else(|| pairs.none());
                let best = tallies.entry(policy).or_insert(tally);
                if tally.pairs > best.pairs {
                    *best = tally;
                }
            }
        }
    }
    tallies
}

fn objects(snapshot: &Snapshot) -> Vec<Row> {
    let row = |object: &upheld_model::Object| Row {
        stands: None,
        computed: Vec::new(),
        kind: snapshot.text(object.kind).to_owned(),
        mesh: snapshot.text(object.scope).to_owned(),
        name: snapshot.text(object.name).to_owned(),
        tags: (object.parts.iter())
            .filter(|part| part.role != Role::Outbound)
            .map(|part| tags_text(snapshot, &part.tags))
            .collect::<Vec<_>>()
            .join(" | "),
        created: object.created,
        at: at(snapshot, object.at),
    };
    // Routes are listed as the policies that they are.
    let own = snapshot.objects().iter().filter(|(_, object)| !is_policy_type(snapshot.text(object.kind)));
    own.map(|(_, object)| row(object)).collect()
}

/// What an object belongs to, among what its system makes of it.
pub const OWNER: &str = "owner";

/// Objects that dialects keep apart from those of others.
fn related(snapshot: &Snapshot) -> Vec<Row> {
    let all = dialects().flat_map(|dialect| dialect.objects(snapshot));
    let row = |(object, tags): (ListedObject, String)| Row {
        stands: None,
        computed: object.owner.map(|owner| (OWNER, owner)).into_iter().collect(),
        kind: object.kind,
        mesh: object.scope,
        name: object.name,
        tags,
        created: None,
        at: object.at.and_then(|node| at(snapshot, node)),
    };
    let with_text = |object: ListedObject| {
        let text = object.tags_text();
        (object, text)
    };
    all.map(with_text).map(row).collect()
}

fn scopes(snapshot: &Snapshot) -> Vec<Sym> {
    dialects().flat_map(|dialect| dialect.scopes(snapshot)).collect()
}

/// Whether objects of a type are listed as the policies that they are, too.
pub(crate) fn is_policy_type(kind: &str) -> bool {
    dialects().any(|dialect| dialect.is_policy_type(kind))
}

fn service_rows(snapshot: &Snapshot) -> Vec<Row> {
    let row = |kind: &str, mesh: Sym, name: Sym, tags: String| Row {
        stands: None,
        computed: Vec::new(),
        kind: kind.to_owned(),
        mesh: snapshot.text(mesh).to_owned(),
        name: snapshot.text(name).to_owned(),
        tags,
        created: None,
        at: None,
    };
    let services = dialects().flat_map(|dialect| dialect.services(snapshot));
    services
        .map(|service| {
            let tags = format!("{}={}", snapshot.text(service.tag), snapshot.text(service.name));
            row("Service", service.scope, service.name, tags)
        })
        .collect()
}

fn mesh_rows(snapshot: &Snapshot) -> Vec<Row> {
    let row = |mesh: Sym| Row {
        stands: None,
        computed: Vec::new(),
        kind: "Mesh".to_owned(),
        mesh: snapshot.text(mesh).to_owned(),
        name: snapshot.text(mesh).to_owned(),
        tags: String::new(),
        created: None,
        at: None,
    };
    scopes(snapshot).into_iter().map(row).collect()
}

/// `key=value,…` by key.
pub(crate) fn tags_text(snapshot: &Snapshot, tags: &upheld_model::TagSet) -> String {
    let mut pairs: Vec<String> = (tags.as_slice().iter())
        .map(|tag| format!("{}={}", snapshot.text(tag.key), tag.value.map_or("?", |value| snapshot.text(value))))
        .collect();
    pairs.sort();
    pairs.join(",")
}

/// What the system of a document makes of it besides what is written there.
pub(crate) fn computed(snapshot: &Snapshot, at: NodeRef, policy: Option<&Policy>) -> Vec<(&'static str, String)> {
    dialects().flat_map(|dialect| dialect.computed(snapshot, at, policy)).collect()
}

/// The same as programs get it.
pub(crate) fn computed_json(computed: &[(&'static str, String)]) -> Json {
    Json::Object(computed.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect())
}

fn at(snapshot: &Snapshot, node: NodeRef) -> Option<At> {
    At::of(snapshot.files(), node)
}

fn unknown_type(snapshot: &Snapshot, kind: &str) -> Option<Diagnostic> {
    let mut known: Vec<&str> = snapshot.kinds().iter().map(|(_, known)| snapshot.text(known.governs)).collect();
    known.extend(dialects().flat_map(|dialect| -> Vec<&str> { dialect.object_types() }));
    let related = snapshot.complies().flat_map(|(_, comply)| &comply.profile().kinds);
    known.extend(related.map(|kind| kind.name.as_str()));
    known.sort_unstable();
    known.dedup();
    if known.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
        return None;
    }
    let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no type `{kind}`"));
    Some(diagnostic.suggest_or(nearest(kind, known.iter().copied()).map(|nearest| format!("--kind {nearest}")), || {
        format!("types: {}", known.join(", "))
    }))
}
