//! What broken policies do to rules: these answer with an error, and the status of their route says so.

use upheld_engine::hierarchy::Effective;

use super::problems;
use crate::gateways::gateway_api::attachments::Reader;
use crate::gateways::gateway_api::gateways::{Absent, Network};
use crate::gateways::gateway_api::places::Asked;
use crate::gateways::gateway_api::topology::Topology;

impl Asked<'_> {
    /// What is wrong with the policies that are broken, each by its identity.
    pub fn broken(&self, answer: &Effective) -> Vec<String> {
        let network = self.network();
        let mut told = Vec::new();
        for member in answer.broken.iter().filter_map(|place| answer.order.get(*place)) {
            let (Some(entry), Some(Reader::Kgateway(policy))) =
                (self.kind().policies.entry(member.entry), self.reader())
            else {
                continue;
            };
            let section = self.target_at(member.place).and_then(|(_, section)| section);
            let section = section.map(|section| format!("/{section}")).unwrap_or_default();
            let kind = self.kind();
            let identity = [kind.policies.kind().group, kind.kind.governs, entry.namespace, entry.name];
            let identity = identity.map(|symbol| network.snapshot.text(symbol)).join("/");
            let problems = problems(network, policy, entry);
            told.extend(problems.iter().map(|problem| format!("{identity}{section}: {problem}")));
        }
        told
    }
}

impl Asked<'_> {
    /// What is taken to exist, because nothing of its type was read: for each policy what would be wrong with it otherwise.
    pub fn assumed(&self, answer: &Effective) -> Vec<(String, Vec<String>)> {
        let network = self.network();
        let Some(Reader::Kgateway(policy)) = self.reader() else { return Vec::new() };
        let mut assumed: Vec<(String, Vec<String>)> = Vec::new();
        for entry in answer.order.iter().filter_map(|member| self.kind().policies.entry(member.entry)) {
            let known = problems(network, policy, entry);
            let all = problems(network.taking(Absent::Missing), policy, entry);
            let more: Vec<String> = all.iter().filter(|problem| !known.contains(problem)).cloned().collect();
            let name = [entry.namespace, entry.name].map(|symbol| network.snapshot.text(symbol)).join("/");
            if !more.is_empty() && !assumed.iter().any(|(told, _)| *told == name) {
                assumed.push((name, more));
            }
        }
        assumed
    }
}

impl Network<'_> {
    /// Everything that leads somewhere, where rules with broken policies answer with an error.
    pub fn programmed(self) -> Topology {
        let mut topology = self.topology().clone();
        let kinds: Vec<_> = self.kinds().filter(|kind| !kind.policies.is_empty()).collect();
        for (place, way) in self.topology().ways() {
            let mut why = Vec::new();
            for kind in &kinds {
                let asked = self.under(*kind).route(&way.chain);
                why.extend(asked.broken(&asked.effective()));
            }
            if !why.is_empty() {
                topology.replace(place, &why.join("\n"));
            }
        }
        topology
    }
}
