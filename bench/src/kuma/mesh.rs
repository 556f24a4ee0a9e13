//! Meshes with policies with target references, as documents. The same size gives the same mesh in every run.
//!
//! Proxies have labels: their app, which decides their team, and a version and a zone. Policies are attached by app, by app
//! and version, by team, by version, by zone, or to the whole mesh, so that some fifty of a thousand reach a proxy. Every
//! proxy has an instance label of its own that no policy names.

use upheld_dialects::kuma::rules::{Rules, kinds};
use upheld_engine::Snapshot;
use upheld_engine::merge::Subject;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};
use upheld_model::Object;

pub(super) use crate::workload::Size;
use crate::workload::random::Random;

/// The mesh that everything is in.
const MESH: &str = "default";

/// The types of policies.
pub(super) const TYPES: [&str; 6] =
    ["MeshTimeout", "MeshAccessLog", "MeshRateLimit", "MeshTrafficPermission", "MeshRetry", "MeshTrace"];

const TEAMS: usize = 20;
const VERSIONS: usize = 10;
const ZONES: usize = 5;

/// How the proxies of an app differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replicas {
    /// In nothing that a policy names.
    Alike,
    /// In version and zone, each proxy in its own way.
    Different,
}

/// Documents as JSON Lines.
#[derive(Debug)]
pub(super) struct Documents {
    text: String,
    apps: usize,
    services: usize,
    random: Random,
}

impl Documents {
    /// A mesh without policies.
    pub(super) fn new(size: Size, apps: usize, replicas: Replicas) -> Self {
        let random = Random::new(2_026);
        let mut documents = Self { text: String::new(), apps, services: size.services, random };
        documents.line(&format!(r#"{{"type":"Mesh","name":"{MESH}"}}"#));
        for number in 0..size.services {
            documents.service(number);
        }
        for number in 0..size.proxies {
            documents.proxy(number, replicas);
        }
        documents
    }

    /// A mesh with policies.
    pub(super) fn with_policies(size: Size, apps: usize, replicas: Replicas) -> Self {
        let mut documents = Self::new(size, apps, replicas);
        for number in 0..size.policies {
            let top = documents.top(number);
            documents.policy(number, &format!("policy-{number:06}"), &top);
        }
        documents
    }

    /// Adds policies that reach nobody.
    pub(super) fn add_idle(&mut self, count: usize) {
        for number in 0..count {
            self.policy(number, &format!("idle-{number:06}"), &by_labels(&[("app", format!("gone-{number}"))]));
        }
    }

    /// Adds policies that reach everybody, each about a destination or a client of its own, or about the whole proxy.
    pub(super) fn add_matching(&mut self, count: usize) {
        for number in 0..count {
            let target = format!(r#"{{"kind":"MeshService","name":"service-{number}"}}"#);
            let items = format!(r#"[{{"targetRef":{target},"default":{{"idleTimeout":"1s"}}}}]"#);
            let (kind, field) = match number % 3 {
                0 => ("MeshTimeout", format!(r#""to":{items}"#)),
                1 => ("MeshTrafficPermission", format!(r#""from":{items}"#)),
                _ => ("MeshTrace", format!(r#""default":{{"backend":{{"b{number}":"1s"}}}}"#)),
            };
            let spec = format!(r#"{{"targetRef":{{"kind":"Mesh"}},{field}}}"#);
            self.line(&format!(r#"{{"type":"{kind}","mesh":"{MESH}","name":"all-{number:06}","spec":{spec}}}"#));
        }
    }

    /// Adds a document.
    pub(super) fn line(&mut self, json: &str) {
        self.text.push_str(json);
        self.text.push('\n');
    }

    /// Reads and indexes them.
    pub(super) fn load(&self, semantics: &[&str]) -> Result<Snapshot, String> {
        let input = Input::text("workload.jsonl", Format::JsonLines, self.text.as_str());
        match Choices::of_semantics(semantics).without_schemas().load(vec![input]) {
            Ok(loaded) => Ok(loaded.snapshot),
            Err(broken) => Err(format!("the workload cannot be read: {:?}", broken.diagnostics.as_slice().first())),
        }
    }

    fn service(&mut self, number: usize) {
        let team = number % TEAMS;
        self.line(&format!(
            r#"{{"type":"MeshService","mesh":"{MESH}","name":"service-{number}","labels":{{"kuma.io/display-name":"service-{number}","team":"team-{team}"}},"spec":{{"ports":[{{"name":"http","port":80}},{{"name":"grpc","port":81}}]}}}}"#
        ));
    }

    fn proxy(&mut self, number: usize, replicas: Replicas) {
        let app = number % self.apps;
        let (version, zone) = match replicas {
            Replicas::Alike => (app % VERSIONS, app % ZONES),
            Replicas::Different => (number / self.apps % VERSIONS, number / self.apps / VERSIONS % ZONES),
        };
        let team = app % TEAMS;
        let tags = format!(r#""kuma.io/service":"service-{app}","team":"team-{team}""#);
        self.line(&format!(
            r#"{{"type":"Dataplane","mesh":"{MESH}","name":"proxy-{number:06}","labels":{{"app":"app-{app}","team":"team-{team}","version":"v{version}","zone":"zone-{zone}","instance":"{number}"}},"networking":{{"address":"10.0.0.1","inbound":[{{"name":"http","port":8080,"tags":{{{tags}}}}},{{"name":"admin","port":9090,"tags":{{{tags}}}}}]}}}}"#
        ));
    }

    /// Whom a policy is attached to. The first ones name every app, version and zone.
    fn top(&mut self, number: usize) -> String {
        let (app, version, zone) = (number % self.apps, number % VERSIONS, number % ZONES);
        let kind = if number < self.apps { 0 } else { self.random.below(100) };
        match kind {
            0..60 => by_labels(&[("app", format!("app-{app}"))]),
            60..75 => by_labels(&[("app", format!("app-{app}")), ("version", format!("v{version}"))]),
            75..80 => by_labels(&[("team", format!("team-{}", number % TEAMS))]),
            80..90 => by_labels(&[("version", format!("v{version}"))]),
            90..98 => by_labels(&[("zone", format!("zone-{zone}"))]),
            _ => r#"{"kind":"Mesh"}"#.to_owned(),
        }
    }

    fn policy(&mut self, number: usize, name: &str, top: &str) {
        let kind = TYPES.get(number % TYPES.len()).copied().unwrap_or_default();
        let items = 1 + self.random.below(3);
        let mut fields = vec![format!(r#""targetRef":{top}"#)];
        if matches!(kind, "MeshTimeout" | "MeshAccessLog" | "MeshRateLimit" | "MeshRetry") {
            let to: Vec<String> = (0..items).map(|_| self.destination()).collect();
            fields.push(format!(r#""to":[{}]"#, to.join(",")));
        }
        if matches!(kind, "MeshTrafficPermission") {
            let from: Vec<String> = (0..items).map(|_| self.client()).collect();
            fields.push(format!(r#""from":[{}]"#, from.join(",")));
        }
        if matches!(kind, "MeshTrafficPermission" | "MeshTimeout") && self.random.one_in(3) {
            let caller = self.random.below(self.apps);
            let matches = format!(r#"[{{"spiffeID":{{"type":"Prefix","value":"spiffe://mesh/app-{caller}"}}}}]"#);
            fields.push(format!(r#""rules":[{{"matches":{matches},"default":{}}}]"#, self.conf()));
        }
        if kind == "MeshTrace" {
            fields.push(format!(r#""default":{}"#, self.conf()));
        }
        let spec = fields.join(",");
        self.line(&format!(r#"{{"type":"{kind}","mesh":"{MESH}","name":"{name}","spec":{{{spec}}}}}"#));
    }

    fn destination(&mut self) -> String {
        let service = self.random.below(self.services);
        let target = match self.random.below(8) {
            0 | 1 => r#"{"kind":"Mesh"}"#.to_owned(),
            2 => format!(r#"{{"kind":"MeshService","labels":{{"team":"team-{}"}}}}"#, service % TEAMS),
            3 => format!(r#"{{"kind":"MeshService","name":"service-{service}","sectionName":"http"}}"#),
            _ => format!(r#"{{"kind":"MeshService","name":"service-{service}"}}"#),
        };
        format!(r#"{{"targetRef":{target},"default":{}}}"#, self.conf())
    }

    fn client(&mut self) -> String {
        let team = self.random.below(TEAMS);
        let target = match self.random.below(4) {
            0 => r#"{"kind":"Mesh"}"#.to_owned(),
            1 => format!(r#"{{"kind":"MeshService","name":"service-{}"}}"#, self.random.below(self.apps)),
            _ => format!(r#"{{"kind":"MeshSubset","tags":{{"team":"team-{team}"}}}}"#),
        };
        format!(r#"{{"targetRef":{target},"default":{}}}"#, self.conf())
    }

    fn conf(&mut self) -> String {
        let seconds = 1 + self.random.below(60);
        match self.random.below(3) {
            0 => format!(r#"{{"idleTimeout":"{seconds}s","http":{{"requestTimeout":"{seconds}s"}}}}"#),
            1 => format!(r#"{{"http":{{"streamIdleTimeout":"{seconds}s","maxConnections":{seconds}}}}}"#),
            _ => format!(r#"{{"action":"Allow","tries":{seconds},"http":{{"requestTimeout":"{seconds}s"}}}}"#),
        }
    }
}

fn by_labels(labels: &[(&str, String)]) -> String {
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!(r#""{key}":"{value}""#)).collect();
    format!(r#"{{"kind":"Dataplane","labels":{{{}}}}}"#, labels.join(","))
}

/// The kinds with policies, in the order of listings.
pub(super) fn rules(snapshot: &Snapshot) -> Result<Vec<Rules<'_>>, String> {
    let mesh = snapshot.symbols().get(MESH).ok_or("no mesh")?;
    let rules = kinds(snapshot, mesh);
    if rules.is_empty() { Err("no policies".to_owned()) } else { Ok(rules) }
}

/// All proxies.
pub(super) fn proxies(snapshot: &Snapshot) -> Vec<&Object> {
    let kind = snapshot.symbols().get("Dataplane");
    snapshot.objects().iter().map(|(_, object)| object).filter(|object| Some(object.kind) == kind).collect()
}

/// All proxies as policies see them.
pub(super) fn subjects<'s>(proxies: &[&'s Object]) -> Vec<Subject<'s>> {
    proxies.iter().map(|proxy| Subject::of(proxy)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use upheld_engine::merge::ClassTable;

    /// Classes of a hundred proxies of twenty apps.
    fn classes(replicas: Replicas) -> usize {
        let size = Size { proxies: 100, services: 10, policies: 600 };
        let snapshot = Documents::with_policies(size, 20, replicas).load(&[]).unwrap();
        let rules = rules(&snapshot).unwrap();
        let proxies = proxies(&snapshot);
        let merges = rules.iter().map(|rules| rules.merge);
        let (table, work) = ClassTable::build(merges, &subjects(&proxies), |_, _| ());
        assert_eq!((work.computed, work.classified), (table.len(), size.proxies));
        table.len()
    }

    #[test]
    fn replicas_are_one_class_if_they_are_alike() {
        assert_eq!([Replicas::Alike, Replicas::Different].map(classes), [20, 100]);
    }
}
