//! What users call the ends of a connection, and what policies see of them.
//!
//! `web` alone finds the only workload of that name; `prod/web` and `deployment/prod/web` leave no doubt; `app=web` means all
//! workloads with that label, or a pod that nobody described; `203.0.113.7` is outside of the cluster.

use std::net::IpAddr;

use smol_str::{SmolStr, format_smolstr};
use upheld_engine::decide::{Fact, Facts};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::network::Network;
use super::rules::{ADDRESS, LABEL, NAMESPACE, NAMESPACE_LABEL};
use super::workloads::{
    DEFAULT_NAMESPACE, Labels, Made, NAMESPACE_NAME, Pod, PodNetwork, TYPES, Workload, WorkloadType,
};

/// One end of a connection.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// How it is called in answers.
    pub(super) title: String,
    /// What it is.
    pub(super) is: Is,
}

/// What an end is.
#[derive(Clone, Debug)]
pub(super) enum Is {
    /// A pod.
    Pod(Pod),
    /// An address outside of the cluster.
    Address(IpAddr),
    /// Nobody said who.
    Anyone,
}

impl End {
    /// Nobody said who.
    pub(super) fn anyone() -> Self {
        Self { title: "anyone".to_owned(), is: Is::Anyone }
    }

    fn workload(workload: &Workload) -> Self {
        Self { title: workload.title(), is: Is::Pod(workload.pod.clone()) }
    }

    /// The pod that it is.
    pub(super) fn pod(&self) -> Option<&Pod> {
        match &self.is {
            Is::Pod(pod) => Some(pod),
            Is::Address(_) | Is::Anyone => None,
        }
    }

    /// What policies see of it. Whatever some policy looks at and nobody knows is said to be unknown.
    pub(super) fn facts(&self, network: &Network) -> Facts {
        let mut facts = Facts::default();
        let mut unknown = |of: &str, keys: &mut dyn Iterator<Item = &SmolStr>| {
            for key in keys {
                facts.set(&format!("{of} {key}"), Fact::Unknown);
            }
        };
        let mentioned = &network.mentioned;
        match &self.is {
            Is::Address(address) => facts.set(ADDRESS, Fact::Text(format_smolstr!("{address}"))),
            Is::Anyone => {
                unknown(LABEL, &mut mentioned.labels.keys());
                unknown(NAMESPACE_LABEL, &mut mentioned.namespace_labels.keys());
                facts.set(NAMESPACE, Fact::Unknown);
                facts.set(ADDRESS, Fact::Unknown);
            }
            Is::Pod(pod) => {
                let labels = network.namespace(&pod.namespace);
                if labels.is_none() {
                    unknown(NAMESPACE_LABEL, &mut mentioned.namespace_labels.keys());
                }
                let name = (SmolStr::new_static(NAMESPACE_NAME), Fact::Text(pod.namespace.clone()));
                let of_namespace = labels.cloned().unwrap_or_else(|| Labels::from([name]));
                facts.set(NAMESPACE, Fact::Text(pod.namespace.clone()));
                for (of, labels) in [(LABEL, &pod.labels), (NAMESPACE_LABEL, &of_namespace)] {
                    for (key, fact) in labels {
                        facts.set(&format!("{of} {key}"), fact.clone());
                    }
                }
                // Which one it gets stands in no document, and whether blocks of addresses cover pods is not defined.
                facts.set(ADDRESS, Fact::Unknown);
            }
        }
        facts
    }
}

/// What a user wrote for an end; several where labels fit several workloads.
pub(super) fn find(network: &Network, written: &str) -> Result<Vec<End>, Diagnostic> {
    if let Ok(address) = written.parse::<IpAddr>() {
        let address = address.to_canonical();
        return Ok(vec![End { title: address.to_string(), is: Is::Address(address) }]);
    }
    let found = if written.contains('=') { by_labels(network, written)? } else { vec![by_name(network, written)?] };
    let ends = found.into_iter().map(|found| match found {
        Found::Workload(workload) if workload.network == PodNetwork::Node => Err(on_node(workload)),
        Found::Workload(workload) => Ok(End::workload(workload)),
        Found::Nobody(end) => Ok(end),
    });
    ends.collect()
}

enum Found<'n> {
    Workload(&'n Workload),
    /// A pod that nobody described.
    Nobody(End),
}

/// `app=web,tier=front`, perhaps with a namespace before it.
fn by_labels<'n>(network: &'n Network, written: &str) -> Result<Vec<Found<'n>>, Diagnostic> {
    // A label may have a slash of its own.
    let (namespace, pairs) = match written.split_once('/') {
        Some((namespace, pairs)) if !namespace.contains(['=', ',', '.']) => (Some(namespace), pairs),
        _ => (None, written),
    };
    let mut labels = Labels::new();
    for pair in pairs.split(',') {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let problem = Diagnostic::error(Fault::WrongValue, format!("`{pair}` is no label"));
            return Err(problem
                .help("labels are written `app=web,tier=front`; `app=?` is a label that nobody knows anything of"));
        };
        let value = if value == "?" { Fact::Unknown } else { Fact::Text(SmolStr::new(value)) };
        labels.insert(SmolStr::new(key), value);
    }
    let fits = |workload: &&Workload| {
        let has =
            |(key, value): (&SmolStr, &Fact)| *value != Fact::Unknown && workload.pod.labels.get(key) == Some(value);
        namespace.is_none_or(|namespace| workload.pod.namespace == namespace) && labels.iter().all(has)
    };
    let all: Vec<&Workload> = network.workloads.iter().filter(fits).collect();
    // What another workload made is there for both.
    let own: Vec<&Workload> = all.iter().copied().filter(|workload| workload.made == Made::ByHand).collect();
    let found = if own.is_empty() { all } else { own };
    if !found.is_empty() {
        return Ok(found.into_iter().map(Found::Workload).collect());
    }
    let namespace = SmolStr::new(namespace.unwrap_or(DEFAULT_NAMESPACE));
    let title = format!("{namespace}/{pairs}");
    Ok(vec![Found::Nobody(End { title, is: Is::Pod(Pod { namespace, labels, ports: None }) })])
}

/// `web`, `prod/web`, `deployment/web` or `deployment/prod/web`.
fn by_name<'n>(network: &'n Network, written: &str) -> Result<Found<'n>, Diagnostic> {
    let parts: Vec<&str> = written.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, namespace, name] => (Some(named_type(kind).ok_or_else(|| unknown_type(kind))?), Some(*namespace), *name),
        [first, name] => match named_type(first) {
            Some(kind) => (Some(kind), None, *name),
            None => (None, Some(*first), *name),
        },
        _ => (None, None, written),
    };
    let found = network.named(kind.map(|kind| kind.name), namespace, name);
    match found.as_slice() {
        [only] => Ok(Found::Workload(only)),
        [] => Err(nothing(network, written, name)),
        several => Err(ambiguous(written, several)),
    }
}

fn named_type(word: &str) -> Option<&'static WorkloadType> {
    let word = word.to_lowercase();
    let is = |kind: &&WorkloadType| {
        let name = kind.name.to_lowercase();
        word == name || word == kind.short || word.strip_suffix('s') == Some(&name)
    };
    TYPES.iter().find(is)
}

fn unknown_type(word: &str) -> Diagnostic {
    let known: Vec<String> = TYPES.iter().map(|kind| kind.name.to_lowercase()).collect();
    let problem = Diagnostic::error(Fault::NotFound, format!("`{word}` is no type of objects with pods"));
    problem.suggest_or(nearest(word, known.iter().map(String::as_str)), || format!("types: {}", known.join(", ")))
}

fn nothing(network: &Network, written: &str, name: &str) -> Diagnostic {
    let problem = Diagnostic::error(Fault::NotFound, format!("there is no pod or workload `{written}`"));
    if network.workloads.is_empty() {
        return problem.help("none was read; ask by namespace and labels: `prod/app=web`");
    }
    let near = nearest(name, network.workloads.iter().map(|workload| workload.name.as_str()));
    let same = network.workloads.iter().find(|workload| Some(workload.name.as_str()) == near);
    problem.suggest(same.map(Workload::title)).help("`upheld list objects` shows what was read")
}

fn ambiguous(written: &str, several: &[&Workload]) -> Diagnostic {
    let mut titles: Vec<String> = several.iter().map(|workload| workload.title()).collect();
    titles.dedup();
    match titles.as_slice() {
        [title] => {
            let message = format!("`{title}` is written {} times", several.len());
            let problem = Diagnostic::error(Fault::Ambiguous, message);
            problem.help("read one of them at a time: `-f` takes single files and folders")
        }
        titles => {
            let message = format!("`{written}` could be any of {} workloads", titles.len());
            let problem = Diagnostic::error(Fault::Ambiguous, message);
            titles.iter().take(5).fold(problem, |problem, title| problem.help(format!("use `{title}`")))
        }
    }
}

fn on_node(workload: &Workload) -> Diagnostic {
    let message = format!("{} uses the network of its node (`hostNetwork: true`)", workload.title());
    let problem = Diagnostic::error(Fault::IncompleteQuestion, message);
    problem.help("what network policies do there is not defined: most networks take it for an address of the node")
}
