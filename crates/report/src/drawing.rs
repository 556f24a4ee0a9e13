//! What leads where, with the policies that are attached, to be drawn: one value, and a renderer for each format.

mod layout;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;
use serde_json::{Value as Json, json};

/// Objects and what leads from one to the other, with the policies that they carry.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// What it shows, in a few words.
    pub title: String,
    /// The objects, in the order of listings.
    pub nodes: Vec<Node>,
    /// What leads from one to the other.
    pub edges: Vec<Edge>,
    /// Policies that are attached to none of the objects.
    pub unattached: Vec<String>,
}

/// An object, or a part of one.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// What it is known by.
    pub id: String,
    /// What it is; the legend says so too.
    pub kind: &'static str,
    /// How it is drawn.
    #[serde(skip)]
    pub look: Look,
    /// What is written on it first.
    pub label: String,
    /// What is written below.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Whether it was read.
    #[serde(rename = "missing", skip_serializing_if = "Presence::is_read")]
    pub presence: Presence,
    /// The policies that are attached to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<Badge>,
}

/// How a node is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// Where everything begins.
    Entry,
    /// A group of parts of an entry.
    Group,
    /// A part of an entry.
    Part,
    /// What leads on.
    Route,
    /// A part of a route.
    Rule,
    /// Where everything ends.
    End,
}

/// Whether an object is among the documents that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is.
    Read,
    /// Something refers to it, and no document describes it.
    Missing,
}

impl Presence {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_read(&self) -> bool {
        *self == Self::Read
    }
}

impl Serialize for Presence {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*self == Self::Missing)
    }
}

/// A policy at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// Its kind and name.
    pub policy: String,
    /// The part of the node that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Its own weight, unless that is zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
    /// What comes of it.
    pub standing: Standing,
}

/// What comes of a policy, at all places that it is attached to together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is in effect.
    Effective,
    /// Something of it is overridden somewhere.
    Partly,
    /// Everything that it sets is overridden everywhere.
    Overridden,
    /// The controller does not accept it.
    Refused,
}

impl Standing {
    const ALL: [Self; 4] = [Self::Effective, Self::Partly, Self::Overridden, Self::Refused];

    fn mark(self) -> char {
        match self {
            Self::Effective => '◆',
            Self::Partly => '◐',
            Self::Overridden => '◇',
            Self::Refused => '✗',
        }
    }

    /// What its mark means.
    fn words(self) -> &'static str {
        match self {
            Self::Effective => "policy in effect",
            Self::Partly => "policy in effect in part",
            Self::Overridden => "policy overridden everywhere",
            Self::Refused => "policy refused",
        }
    }
}

impl Badge {
    /// As it is written on a node.
    fn line(&self) -> String {
        let section = self.section.as_ref().map(|section| format!(" ({section})")).unwrap_or_default();
        let weight = self.weight.map(|weight| format!(", weight {weight}")).unwrap_or_default();
        format!("{} {}{section}{weight}", self.standing.mark(), self.policy)
    }
}

/// What is written on an object that something refers to.
const MISSING: &str = "not read";

/// A line between two nodes, which are places in [`Drawing::nodes`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// How it is drawn.
    pub line: Line,
    /// What is written beside it; may be empty.
    pub label: String,
}

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Leads on.
    Plain,
    /// Hands over what belongs to the first to the second.
    Delegates,
}

impl Drawing {
    /// For programs.
    pub fn json(&self) -> Json {
        let id = |place: usize| self.nodes.get(place).map(|node| node.id.as_str());
        let edges: Vec<Json> = (self.edges.iter())
            .map(|edge| {
                let mut json = json!({"from": id(edge.from), "to": id(edge.to), "label": edge.label});
                if let (Line::Delegates, Some(json)) = (edge.line, json.as_object_mut()) {
                    json.insert("delegates".to_owned(), true.into());
                }
                json
            })
            .collect();
        json!({"nodes": self.nodes, "edges": edges, "unattached": self.unattached})
    }

    /// For Graphviz.
    pub fn dot(&self) -> String {
        text::dot(self)
    }

    /// For Mermaid.
    pub fn mermaid(&self) -> String {
        text::mermaid(self)
    }

    /// As a picture that browsers show.
    pub fn svg(&self) -> String {
        svg::svg(self)
    }

    /// The names of what is drawn.
    pub fn names(&self) -> Vec<&str> {
        self.nodes.iter().map(|node| node.id.as_str()).collect()
    }

    /// What the signs mean that occur in this drawing.
    fn signs(&self) -> Vec<String> {
        let occurs = |standing| self.nodes.iter().flat_map(|node| &node.policies).any(|own| own.standing == standing);
        let marks = Standing::ALL.into_iter().filter(|standing| occurs(*standing));
        let marks = marks.map(|standing| format!("{} {}", standing.mark(), standing.words()));
        let delegates = self.edges.iter().any(|edge| edge.line == Line::Delegates);
        marks.chain(delegates.then(|| "dashed line: delegates".to_owned())).collect()
    }
}

impl Node {
    /// What is written on it, line by line.
    fn lines(&self) -> Vec<String> {
        let missing = (self.presence == Presence::Missing).then(|| MISSING.to_owned());
        let badges = self.policies.iter().map(Badge::line);
        std::iter::once(self.label.clone()).chain(missing).chain(self.details.iter().cloned()).chain(badges).collect()
    }
}
