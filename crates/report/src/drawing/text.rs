//! Drawings as texts that other programs draw: DOT (Graphviz) and Mermaid.

use super::{Drawing, Line, Look, Presence};
use crate::visible;

/// What policies stand under that are attached to nothing.
const UNATTACHED: &str = "attached to nothing";

pub(super) fn dot(drawing: &Drawing) -> String {
    let mut text = "digraph topology {\n  rankdir=LR;\n".to_owned();
    let signs = drawing.signs();
    if !signs.is_empty() {
        text += &format!("  label=\"{}\"; labelloc=b;\n", quoted(&signs.join("   ")));
    }
    for (place, node) in drawing.nodes.iter().enumerate() {
        let shape = match node.look {
            Look::Entry => "house",
            Look::Group => "folder",
            Look::Part => "cds",
            Look::Route => "box",
            Look::Rule => "note",
            Look::End => "ellipse",
        };
        let style = if node.presence == Presence::Missing { ", style=dashed" } else { "" };
        let lines: Vec<String> = node.lines().iter().map(|line| quoted(line)).collect();
        text += &format!("  n{place} [shape={shape}{style}, label=\"{}\"];\n", lines.join("\\n"));
    }
    for edge in &drawing.edges {
        let style = (edge.line == Line::Delegates).then(|| "style=dashed".to_owned());
        let label = (!edge.label.is_empty()).then(|| format!("label=\"{}\"", quoted(&edge.label)));
        let attributes: Vec<String> = style.into_iter().chain(label).collect();
        let attributes = if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
        text += &format!("  n{} -> n{}{attributes};\n", edge.from, edge.to);
    }
    if !drawing.unattached.is_empty() {
        text += &format!("  subgraph cluster_unattached {{\n    label=\"{UNATTACHED}\";\n");
        for (place, policy) in drawing.unattached.iter().enumerate() {
            text += &format!("    p{place} [shape=plain, label=\"{}\"];\n", quoted(policy));
        }
        text += "  }\n";
    }
    text + "}\n"
}

pub(super) fn mermaid(drawing: &Drawing) -> String {
    let signs = drawing.signs();
    let mut text =
        if signs.is_empty() { String::new() } else { format!("---\ntitle: \"{}\"\n---\n", quoted(&signs.join(", "))) };
    text += "flowchart LR\n";
    for (place, node) in drawing.nodes.iter().enumerate() {
        let (open, close) = match node.look {
            Look::Entry => ("[[", "]]"),
            Look::Group => ("[/", "/]"),
            Look::Part => (">", "]"),
            Look::Route => ("[", "]"),
            Look::Rule => ("(", ")"),
            Look::End => ("([", "])"),
        };
        let lines: Vec<String> = node.lines().iter().map(|line| encoded(line)).collect();
        text += &format!("  n{place}{open}\"{}\"{close}\n", lines.join("<br/>"));
    }
    for edge in &drawing.edges {
        let arrow = if edge.line == Line::Delegates { "-.->" } else { "-->" };
        let label = if edge.label.is_empty() { String::new() } else { format!("|\"{}\"|", encoded(&edge.label)) };
        text += &format!("  n{} {arrow}{label} n{}\n", edge.from, edge.to);
    }
    if !drawing.unattached.is_empty() {
        text += &format!("  subgraph unattached [\"{UNATTACHED}\"]\n");
        for (place, policy) in drawing.unattached.iter().enumerate() {
            text += &format!("    p{place}[\"{}\"]\n", encoded(policy));
        }
        text += "  end\n";
    }
    text
}

fn quoted(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Mermaid reads what looks like HTML.
fn encoded(text: &str) -> String {
    let encode = |letter: char| match letter {
        '"' | '#' | '<' | '>' | '&' | '`' | ';' => format!("#{};", u32::from(letter)),
        letter => letter.to_string(),
    };
    visible(text).chars().map(encode).collect()
}
