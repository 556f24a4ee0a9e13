//! Topologies as they are written in cases, parent by parent with its children, and the paths through them.

use anyhow::Context;
use serde_json::Value as Json;

/// Who is below whom.
#[derive(Debug)]
pub(super) struct Topology<'c> {
    links: Vec<(&'c str, &'c str)>,
    nodes: Vec<&'c str>,
}

impl<'c> Topology<'c> {
    pub(super) fn read(written: &'c Json) -> anyhow::Result<Self> {
        let parents = written.as_object().context("the case has no topology")?;
        let (mut links, mut nodes) = (Vec::new(), Vec::new());
        for (parent, children) in parents {
            nodes.push(parent.as_str());
            for child in children.as_array().into_iter().flatten().filter_map(Json::as_str) {
                links.push((parent.as_str(), child));
                nodes.push(child);
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Self { links, nodes })
    }

    /// All paths from a root to a node, in the order of names. A node that nothing leads to is a root.
    pub(super) fn paths_to(&self, node: &'c str) -> Vec<Vec<&'c str>> {
        self.extended(vec![node])
    }

    /// All paths from a root to a leaf.
    pub(super) fn paths(&self) -> Vec<Vec<&'c str>> {
        let leaves = self.nodes.iter().filter(|node| self.links.iter().all(|(parent, _)| parent != *node));
        leaves.flat_map(|leaf| self.paths_to(leaf)).collect()
    }

    fn extended(&self, path: Vec<&'c str>) -> Vec<Vec<&'c str>> {
        let Some(first) = path.first() else { return Vec::new() };
        let above = self.links.iter().filter(|(parent, child)| child == first && !path.contains(parent));
        let mut parents: Vec<&str> = above.map(|(parent, _)| *parent).collect();
        parents.sort_unstable();
        parents.dedup();
        if parents.is_empty() {
            return vec![path];
        }
        let longer = |parent| std::iter::once(parent).chain(path.iter().copied()).collect();
        parents.into_iter().flat_map(|parent| self.extended(longer(parent))).collect()
    }
}

/// A path in the words of a case: the names of its nodes, without their kinds.
pub(super) fn shown(path: &[&str]) -> String {
    let name = |node: &&str| node.rsplit(' ').next().unwrap_or_default().to_owned();
    path.iter().map(name).collect::<Vec<_>>().join(" > ")
}
