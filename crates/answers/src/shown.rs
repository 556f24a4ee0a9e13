//! One policy or object, with what it says and where it counts.

use serde_json::{Value as Json, json};
use upheld_dialects::comply::questions::shown_listed;
use upheld_dialects::dialect::ListedObject;
use upheld_dialects::{Identity, dialects};
use upheld_engine::{ObjectId, PolicyId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, NodeRef, Sym, Timestamp};

use crate::all_pairs::{Tally, tally_of};
use crate::inventory::{computed, computed_json, is_policy_type, tags_text};
use crate::report::At;

#[derive(Clone, Copy)]
enum Thing {
    Policy(PolicyId),
    Object(ObjectId),
}

/// Finds by `name`, `kind/name` or `kind/mesh/name`.
fn find(snapshot: &Snapshot, written: &str, mesh: Option<&str>) -> Result<Thing, Diagnostic> {
    // Names that are copied from paths begin with a slash.
    let written = written.trim_start_matches('/');
    let parts: Vec<&str> = written.splitn(3, '/').collect();
    let (kind, wanted_mesh, name) = match parts.as_slice() {
        [kind, mesh, name] => (Some(*kind), Some(*mesh), *name),
        [kind, name] => (Some(*kind), mesh, *name),
        _ => (None, mesh, written),
    };
    let fits = |of_kind: Sym, of_mesh: Sym| {
        kind.is_none_or(|kind| snapshot.text(of_kind).eq_ignore_ascii_case(kind))
            && wanted_mesh.is_none_or(|mesh| snapshot.text(of_mesh) == mesh)
    };
    // A route is a policy as well, and shown as such.
    let is_route = |kind: Sym| is_policy_type(snapshot.text(kind));
    let symbols = snapshot.symbols();
    let own = symbols.get(name);
    let policies = own.into_iter().flat_map(|own| snapshot.policies().of_name(own, symbols));
    let policies = policies.filter(|id| snapshot.policies().get(*id).is_some_and(|p| fits(p.kind, p.scope)));
    let objects = own.into_iter().flat_map(|own| snapshot.objects().of_name(own, symbols));
    let objects =
        objects.filter(|id| snapshot.objects().get(*id).is_some_and(|o| !is_route(o.kind) && fits(o.kind, o.scope)));
    let mut things: Vec<Thing> = policies.map(Thing::Policy).chain(objects.map(Thing::Object)).collect();
    if things.is_empty() {
        // A name of Kubernetes without its namespace.
        let begins = |of_kind: Sym, of_mesh: Sym, of_name: Sym| {
            snapshot.text(of_name).strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
                && kind.is_none_or(|kind| snapshot.text(of_kind).eq_ignore_ascii_case(kind))
                && wanted_mesh.is_none_or(|mesh| snapshot.text(of_mesh) == mesh)
        };
        let policies = snapshot.policies().iter().filter(|(_, p)| begins(p.kind, p.scope, p.name));
        let objects = snapshot.objects().iter().filter(|(_, o)| !is_route(o.kind) && begins(o.kind, o.scope, o.name));
        things.extend(policies.map(|(id, _)| Thing::Policy(id)));
        things.extend(objects.map(|(id, _)| Thing::Object(id)));
    }
    match things.as_slice() {
        [only] => Ok(*only),
        [] => {
            let policies = snapshot.policies().iter().map(|(_, policy)| policy.name);
            let names = policies.chain(snapshot.objects().iter().map(|(_, object)| object.name));
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("nothing is called `{written}`"));
            let near = nearest(name, names.map(|name| snapshot.text(name)));
            Err(diagnostic
                .suggest(near.map(|near| format!("upheld show {near}")))
                .help("`upheld list` shows everything"))
        }
        several => {
            let message = format!("`{written}` could be any of {} things", several.len());
            Err(several.iter().fold(Diagnostic::error(Fault::Ambiguous, message), |diagnostic, thing| {
                let identity = found(snapshot, *thing).map(|(identity, _)| identity.to_string());
                diagnostic.help(format!("use `upheld show {}`", identity.unwrap_or_default()))
            }))
        }
    }
}

/// A policy or an object.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its type.
    pub kind: String,
    /// The mesh or namespace that it is in.
    pub mesh: String,
    /// Its name.
    pub name: String,
    /// Where it was written.
    pub node: NodeRef,
    /// When it was made.
    pub created: Option<String>,
    /// What its system makes of it besides, by name.
    pub computed: Vec<(&'static str, String)>,
    /// Role, section and tags of each part.
    pub parts: Vec<(String, String, String)>,
    /// Where a policy counts, by kind.
    pub counts: Vec<(String, Tally)>,
    /// For policies in layers: the proxies that it is attached to, and how many there are.
    pub attached: Option<(Vec<String>, usize)>,
}

/// The policy or object of a name.
pub(crate) fn shown(snapshot: &Snapshot, written: &str, mesh: Option<&str>) -> Result<Shown, Diagnostic> {
    find(snapshot, written, mesh).map(|thing| Shown::of(snapshot, thing))
}

/// Who the policy or object of a name is, and where it stands.
pub(crate) fn named(snapshot: &Snapshot, written: &str, mesh: Option<&str>) -> Result<(Identity, NodeRef), Diagnostic> {
    let found = found(snapshot, find(snapshot, written, mesh)?);
    found.ok_or_else(|| Diagnostic::error(Fault::NotFound, format!("nothing is called `{written}`")))
}

/// Where the policy or object of a name stands.
pub(crate) fn node_of(snapshot: &Snapshot, written: &str, mesh: Option<&str>) -> Result<NodeRef, Diagnostic> {
    named(snapshot, written, mesh).map(|(_, at)| at)
}

fn found(snapshot: &Snapshot, thing: Thing) -> Option<(Identity, NodeRef)> {
    let (parts, at) = match thing {
        Thing::Policy(id) => snapshot.policies().get(id).map(|one| ([one.kind, one.scope, one.name], one.at)),
        Thing::Object(id) => snapshot.objects().get(id).map(|one| ([one.kind, one.scope, one.name], one.at)),
    }?;
    let [kind, scope, name] = parts.map(|symbol| snapshot.text(symbol));
    Some((Identity::new(kind, scope, name), at))
}

impl Shown {
    fn of(snapshot: &Snapshot, thing: Thing) -> Self {
        let text = |symbol: Sym| snapshot.text(symbol).to_owned();
        let blank = Self {
            kind: String::new(),
            mesh: String::new(),
            name: String::new(),
            node: NodeRef { source: upheld_model::SourceId::new(usize::MAX), node: 0 },
            created: None,
            computed: Vec::new(),
            parts: Vec::new(),
            counts: Vec::new(),
            attached: None,
        };
        match thing {
            Thing::Policy(id) => snapshot.policies().get(id).map(|policy| Self {
                kind: text(policy.kind),
                mesh: text(policy.scope),
                name: text(policy.name),
                node: policy.at,
                created: policy.created.map(|created| created.to_string()),
                computed: computed(snapshot, policy.at, Some(policy)),
                parts: Vec::new(),
                attached: dialects().find_map(|dialect| dialect.attached(snapshot, id)),
                counts: (snapshot.kinds().iter())
                    .filter(|(_, kind)| kind.governs == policy.kind && kind.select().is_some())
                    .filter_map(|(kind, described)| Some((text(described.name), tally_of(snapshot, kind, id)?)))
                    .collect(),
            }),
            Thing::Object(id) => snapshot.objects().get(id).map(|object| Self {
                kind: text(object.kind),
                mesh: text(object.scope),
                name: text(object.name),
                node: object.at,
                created: object.created.map(|created| created.to_string()),
                computed: computed(snapshot, object.at, None),
                parts: (object.parts.iter())
                    .map(|part| (part.role.word().to_owned(), text(part.section), tags_text(snapshot, &part.tags)))
                    .collect(),
                counts: Vec::new(),
                attached: None,
            }),
        }
        .unwrap_or(blank)
    }

    /// `KIND/SCOPE/NAME`.
    pub fn identity(&self) -> String {
        Identity::new(&self.kind, &self.mesh, &self.name).to_string()
    }

    /// As programs get it, with the document.
    pub fn json(&self, snapshot: &Snapshot) -> Json {
        let parts: Vec<Json> = (self.parts.iter())
            .map(|(role, section, tags)| json!({"role": role, "section": section, "tags": tags}))
            .collect();
        let counts: serde_json::Map<String, Json> =
            self.counts.iter().map(|(kind, tally)| (kind.clone(), tally.json())).collect();
        let computed = computed_json(&self.computed);
        json!({
            "kind": self.kind, "mesh": self.mesh, "name": self.name, "created": self.created, "computed": computed,
            "at": At::of(snapshot.files(), self.node), "parts": parts, "counts": counts,
            "attached": self.attached.as_ref().map(|(names, of)| json!({"proxies": names, "of": of})),
            "document": snapshot.files().value(self.node), "source": source(snapshot, self.node),
        })
    }
}

/// The lines of a document as they were written, and the number of the first: nothing before it and nothing after it, which may be of others.
fn source(snapshot: &Snapshot, at: NodeRef) -> Option<Json> {
    let (file, value) = (snapshot.files().get(at.source)?, snapshot.files().value(at)?);
    let (span, whole) = (value.span(), file.tree.text());
    let (start, end) = (usize::try_from(span.start).ok()?, usize::try_from(span.end).ok()?);
    let (line, column) = file.tree.position(span.start);
    // What comes before it on its line is indentation, or the mark of a list.
    let begin = whole.get(..start)?.rfind('\n').map_or(0, |end| end + 1);
    let indented = whole.get(begin..start)?.chars().map(|letter| if letter.is_whitespace() { letter } else { ' ' });
    let text: String =
        indented.take(column.saturating_sub(1)).chain(whole.get(start..end)?.trim_end().chars()).collect();
    Some(json!({"line": line, "text": text}))
}

/// An object that its dialect keeps apart from those of others, by the id that lists have, as programs get it.
pub(crate) fn listed(snapshot: &Snapshot, identity: &Identity, now: Timestamp) -> Option<Json> {
    let object = dialects().find_map(|dialect| dialect.object(snapshot, identity))?;
    let tags = object.tags_text();
    let ListedObject { kind, scope, name, owner, at, .. } = object;
    let mut shown = json!({
        "kind": kind, "mesh": scope, "name": name, "owner": owner, "tags": tags,
        "at": at.and_then(|at| At::of(snapshot.files(), at)), "document": at.and_then(|at| snapshot.files().value(at)),
        "source": at.and_then(|at| source(snapshot, at)),
    });
    let more = shown_listed(snapshot, identity, now).map(|related| related.json());
    if let (Some(shown), Some(Json::Object(more))) = (shown.as_object_mut(), more) {
        let added =
            more.into_iter().filter(|(field, _)| ["ref", "tags", "related", "violations"].contains(&field.as_str()));
        shown.extend(added);
    }
    Some(shown)
}
