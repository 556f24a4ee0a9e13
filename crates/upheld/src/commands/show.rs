//! `show`: one policy or object, with what it says and where it counts.

use indicatif::ProgressBar;
use serde_json::{Value as Json, json};
use upheld_dialects::access::SCOPE;
use upheld_dialects::comply::SCOPE as RELATED;
use upheld_dialects::kuma::ends::proxies;
use upheld_dialects::kuma::layered::ROUTE;
use upheld_dialects::kuma::rules::kinds;
use upheld_engine::{ObjectId, PolicyId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, NodeRef, Sym};

use super::all_pairs::{Tally, tally};
use super::inventory::tags_text;
use super::{Session, refuse};
use crate::cli::{Format, Show};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::style::{ANSWER, DIM, paint};
use crate::report::At;

#[derive(Clone, Copy)]
enum Thing {
    Policy(PolicyId),
    Object(ObjectId),
}

pub(super) fn run(session: &Session<'_>, show: &Show) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let snapshot = &loaded.snapshot;
    let thing = match find(snapshot, &show.name, session.settings.mesh.value.as_deref()) {
        Ok(thing) => thing,
        Err(problem) => match super::compliance::show::find(snapshot, &show.name) {
            Some(found) => return super::compliance::show::run(session, snapshot, found),
            None => return refuse(&[problem]),
        },
    };
    let report = Report::of(snapshot, thing);
    match session.screen.format {
        Format::Table | Format::Wide => session.screen.print(&report.text(snapshot)),
        Format::Name => print_plain(&format!("{}\n", report.identity())),
        _ => session.screen.print_data(&report.json(snapshot)),
    }
    Exit::Yes
}

/// Finds by `name`, `kind/name` or `kind/mesh/name`.
fn find(snapshot: &Snapshot, written: &str, mesh: Option<&str>) -> Result<Thing, Diagnostic> {
    let parts: Vec<&str> = written.splitn(3, '/').collect();
    let (kind, wanted_mesh, name) = match parts.as_slice() {
        [kind, mesh, name] => (Some(*kind), Some(*mesh), *name),
        [kind, name] => (Some(*kind), mesh, *name),
        _ => (None, mesh, written),
    };
    let fits = |of_kind: Sym, of_mesh: Sym, of_name: Sym| {
        snapshot.text(of_name) == name
            && kind.is_none_or(|kind| snapshot.text(of_kind).eq_ignore_ascii_case(kind))
            && wanted_mesh.is_none_or(|mesh| snapshot.text(of_mesh) == mesh)
    };
    let policies = snapshot.policies().iter().filter(|(_, p)| fits(p.kind, p.scope, p.name));
    // A route is a policy as well, and shown as such.
    let is_route = |kind: Sym| snapshot.text(kind) == ROUTE;
    let objects = snapshot.objects().iter().filter(|(_, o)| !is_route(o.kind) && fits(o.kind, o.scope, o.name));
    let mut things: Vec<Thing> =
        policies.map(|(id, _)| Thing::Policy(id)).chain(objects.map(|(id, _)| Thing::Object(id))).collect();
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
            Err(match near {
                Some(near) => diagnostic.help(format!("did you mean `upheld show {near}`?")),
                None => diagnostic,
            }
            .help("`upheld list` shows everything"))
        }
        several => {
            let message = format!("`{written}` could be any of {} things", several.len());
            Err(several.iter().fold(Diagnostic::error(Fault::Ambiguous, message), |diagnostic, thing| {
                diagnostic.help(format!("use `upheld show {}`", Report::of(snapshot, *thing).identity()))
            }))
        }
    }
}

struct Report {
    kind: String,
    mesh: String,
    name: String,
    node: NodeRef,
    created: Option<String>,
    /// Tags of each part.
    parts: Vec<(String, String, String)>,
    /// Where a policy counts, by kind.
    counts: Vec<(String, Tally)>,
    /// For policies in layers: the proxies that it is attached to, and how many there are.
    attached: Option<(Vec<String>, usize)>,
}

/// The proxies that a policy in layers is attached to.
fn attached(snapshot: &Snapshot, id: PolicyId) -> Option<(Vec<String>, usize)> {
    let policy = snapshot.policies().get(id)?;
    let all = kinds(snapshot, policy.scope);
    let rules = all.iter().find(|rules| rules.kind.governs == policy.kind)?;
    let own_slot = rules.merge.policies().find(|(_, known)| known.policy == id)?.0;
    let is_policy = |slot: u32| slot == own_slot;
    let own: Vec<_> = proxies(snapshot).map(|(_, proxy)| proxy).filter(|proxy| proxy.scope == policy.scope).collect();
    let reached = own.iter().filter(|proxy| rules.matched(proxy).iter().any(|admitted| is_policy(admitted.slot)));
    Some((reached.map(|proxy| snapshot.text(proxy.name).to_owned()).collect(), own.len()))
}

impl Report {
    fn of(snapshot: &Snapshot, thing: Thing) -> Self {
        let text = |symbol: Sym| snapshot.text(symbol).to_owned();
        let blank = Self {
            kind: String::new(),
            mesh: String::new(),
            name: String::new(),
            node: NodeRef { source: upheld_model::SourceId::new(usize::MAX), node: 0 },
            created: None,
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
                parts: Vec::new(),
                attached: attached(snapshot, id),
                counts: (snapshot.kinds().iter())
                    .filter(|(_, kind)| kind.governs == policy.kind && kind.select().is_some())
                    .map(|(kind, described)| {
                        (text(described.name), tally(snapshot, kind, policy.scope, &ProgressBar::hidden()).of(id))
                    })
                    .collect(),
            }),
            Thing::Object(id) => snapshot.objects().get(id).map(|object| Self {
                kind: text(object.kind),
                mesh: text(object.scope),
                name: text(object.name),
                node: object.at,
                created: object.created.map(|created| created.to_string()),
                parts: (object.parts.iter())
                    .map(|part| (part.role.word().to_owned(), text(part.section), tags_text(snapshot, &part.tags)))
                    .collect(),
                counts: Vec::new(),
                attached: None,
            }),
        }
        .unwrap_or(blank)
    }

    fn identity(&self) -> String {
        format!("{}/{}/{}", self.kind, self.mesh, self.name)
    }

    fn text(&self, snapshot: &Snapshot) -> String {
        let at = At::of(snapshot.files(), self.node).map(|at| at.to_string()).unwrap_or_default();
        // Policies about requests are in no mesh.
        let nowhere = self.mesh == SCOPE || self.mesh == RELATED;
        let mesh = if nowhere { String::new() } else { format!(" of mesh {}", self.mesh) };
        let mut text = paint(ANSWER, &format!("{} {}{mesh}", self.kind, self.name));
        text.push_str(&format!("   {}\n", paint(DIM, &at)));
        if let Some(created) = &self.created {
            text.push_str(&format!("  created {created}\n"));
        }
        for (kind, tally) in &self.counts {
            text.push_str(&format!("  {}\n", tally.sentence(kind)));
        }
        if let Some((names, of)) = &self.attached {
            let shown: Vec<&str> = names.iter().take(8).map(String::as_str).collect();
            let more = if names.len() > shown.len() { ", …" } else { "" };
            let list = if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) };
            text.push_str(&format!("  attached to {} of {of} proxies{list}\n", names.len()));
        }
        for (role, section, tags) in &self.parts {
            text.push_str(&format!("  {role} {section}  {tags}\n"));
        }
        text.push('\n');
        text.push_str(&self.source(snapshot));
        text
    }

    /// The document as it was written.
    fn source(&self, snapshot: &Snapshot) -> String {
        let written = snapshot.files().value(self.node).and_then(|value| {
            let text = snapshot.files().get(self.node.source)?.tree.text();
            let (start, end) = (value.span().start as usize, value.span().end as usize);
            let line = text.get(..start)?.rfind('\n').map_or(0, |newline| newline + 1);
            Some((text.get(start..end)?, start - line))
        });
        let (written, column) = written.unwrap_or_default();
        // What stands within a list begins further to the right.
        let moved = |line: &str| {
            let blanks = line.len() - line.trim_start_matches(' ').len();
            format!("  {}", line.get(blanks.min(column)..).unwrap_or_default()).trim_end().to_owned() + "\n"
        };
        written.trim_end().lines().filter(|line| *line != "---").map(moved).collect()
    }

    fn json(&self, snapshot: &Snapshot) -> Json {
        let parts: Vec<Json> = (self.parts.iter())
            .map(|(role, section, tags)| json!({"role": role, "section": section, "tags": tags}))
            .collect();
        let counts: serde_json::Map<String, Json> =
            self.counts.iter().map(|(kind, tally)| (kind.clone(), tally.json())).collect();
        json!({
            "kind": self.kind, "mesh": self.mesh, "name": self.name, "created": self.created,
            "at": At::of(snapshot.files(), self.node), "parts": parts, "counts": counts,
            "attached": self.attached.as_ref().map(|(names, of)| json!({"proxies": names, "of": of})),
            "document": snapshot.files().value(self.node),
        })
    }
}
