//! Graphs as texts that other programs draw, DOT (Graphviz) and Mermaid, and as pictures.

mod svg;

pub use svg::svg;

use std::collections::BTreeMap;

use super::graph::{Graph, Node, NodeKind};

/// Texts to be written on nodes, by the id of the node: for example the policies that are attached there.
pub type Badges = BTreeMap<String, Vec<String>>;

/// In the language of Graphviz.
pub fn dot(graph: &Graph, badges: &Badges) -> String {
    let mut text = "digraph topology {\n  rankdir=LR;\n".to_owned();
    for (place, node) in graph.nodes.iter().enumerate() {
        let shape = match node.kind {
            NodeKind::Gateway => "house",
            NodeKind::Listener => "cds",
            NodeKind::Route => "box",
            NodeKind::Rule => "note",
            NodeKind::Backend => "ellipse",
        };
        text += &format!("  n{place} [shape={shape}, label=\"{}\"];\n", lines(node, badges).map(quoted).join("\\n"));
    }
    for edge in &graph.edges {
        let label = if edge.label.is_empty() { String::new() } else { format!(" [label=\"{}\"]", quoted(&edge.label)) };
        text += &format!("  n{} -> n{}{label};\n", edge.from, edge.to);
    }
    text + "}\n"
}

/// In the language of Mermaid.
pub fn mermaid(graph: &Graph, badges: &Badges) -> String {
    let mut text = "flowchart LR\n".to_owned();
    for (place, node) in graph.nodes.iter().enumerate() {
        let (open, close) = match node.kind {
            NodeKind::Gateway => ("[[", "]]"),
            NodeKind::Listener => (">", "]"),
            NodeKind::Route => ("[", "]"),
            NodeKind::Rule => ("(", ")"),
            NodeKind::Backend => ("([", "])"),
        };
        text += &format!("  n{place}{open}\"{}\"{close}\n", lines(node, badges).map(encoded).join("<br/>"));
    }
    for edge in &graph.edges {
        let label = if edge.label.is_empty() { String::new() } else { format!("|\"{}\"|", encoded(&edge.label)) };
        text += &format!("  n{} -->{label} n{}\n", edge.from, edge.to);
    }
    text
}

struct Lines<'g>(Vec<&'g str>);

impl Lines<'_> {
    fn map(self, change: impl Fn(&str) -> String) -> Vec<String> {
        self.0.into_iter().map(change).collect()
    }
}

fn lines<'g>(node: &'g Node, badges: &'g Badges) -> Lines<'g> {
    let badges = badges.get(&node.id).into_iter().flatten().map(String::as_str);
    Lines([node.label.as_str()].into_iter().chain(badges).collect())
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

/// Mermaid reads what looks like HTML.
fn encoded(text: &str) -> String {
    let encode = |letter: char| match letter {
        '"' | '#' | '<' | '>' | '&' | '`' | ';' => format!("#{};", u32::from(letter)),
        '\n' => " ".to_owned(),
        letter => letter.to_string(),
    };
    text.chars().map(encode).collect()
}
