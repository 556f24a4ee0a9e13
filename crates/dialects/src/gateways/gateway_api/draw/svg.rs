//! Graphs as pictures: columns by distance from the gateways, straight lines between boxes. Nothing but this file is needed to
//! look at them.

use super::{Badges, lines};
use crate::gateways::gateway_api::graph::{Graph, NodeKind};

const CHARACTER: usize = 7;
const LINE: usize = 16;
const GAP: usize = 60;
const SPACE: usize = 18;

/// One box.
struct Drawn {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    texts: Vec<String>,
    kind: NodeKind,
}

/// As a picture that browsers show.
pub fn svg(graph: &Graph, badges: &Badges) -> String {
    let boxes = placed(graph, badges);
    let width = boxes.iter().map(|one| one.left + one.width).max().unwrap_or(0) + SPACE;
    let height = boxes.iter().map(|one| one.top + one.height).max().unwrap_or(0) + SPACE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Gateways, routes and backends</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (boxes.get(edge.from), boxes.get(edge.to)) else { continue };
        let (x1, y1) = (from.left + from.width, from.top + from.height / 2);
        let (x2, y2) = (to.left, to.top + to.height / 2);
        text += &format!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#888\"/>\n");
        if !edge.label.is_empty() {
            let (x, y) = (x1.midpoint(x2), y1.midpoint(y2));
            let label = escaped(&edge.label);
            text += &format!(
                "<text x=\"{x}\" y=\"{y}\" fill=\"#555\" font-size=\"10\" text-anchor=\"middle\">{label}</text>\n"
            );
        }
    }
    for one in &boxes {
        let Drawn { left, top, width, height, .. } = one;
        let fill = match one.kind {
            NodeKind::Gateway => "#dbeafe",
            NodeKind::Listener => "#e0e7ff",
            NodeKind::Route => "#dcfce7",
            NodeKind::Rule => "#fef9c3",
            NodeKind::Backend => "#f3f4f6",
        };
        text += &format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"{fill}\" stroke=\"#444\"/>\n"
        );
        for (number, line) in one.texts.iter().enumerate() {
            let (x, y) = (left + 8, top + LINE * (number + 1));
            text += &format!("<text x=\"{x}\" y=\"{y}\">{}</text>\n", escaped(line));
        }
    }
    text + "</svg>\n"
}

fn placed(graph: &Graph, badges: &Badges) -> Vec<Drawn> {
    let columns = columns(graph);
    let mut boxes: Vec<Drawn> = graph
        .nodes
        .iter()
        .map(|node| {
            let texts: Vec<String> = lines(node, badges).map(str::to_owned);
            let longest = texts.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let (width, height) = (longest * CHARACTER + 16, texts.len() * LINE + 8);
            Drawn { left: 0, top: 0, width, height, texts, kind: node.kind }
        })
        .collect();
    let mut left = SPACE;
    for column in 0..=columns.iter().copied().max().unwrap_or(0) {
        let (mut top, mut widest) = (SPACE, 0);
        for (one, _) in boxes.iter_mut().zip(&columns).filter(|(_, of)| **of == column) {
            (one.left, one.top) = (left, top);
            top += one.height + SPACE;
            widest = widest.max(one.width);
        }
        left += widest + GAP;
    }
    boxes
}

/// How far each node is from the left: behind everything that leads to it. Circles end after as many rounds as there are nodes.
fn columns(graph: &Graph) -> Vec<usize> {
    let mut columns = vec![0; graph.nodes.len()];
    for _ in 0..graph.nodes.len().min(64) {
        let mut moved = false;
        for edge in &graph.edges {
            let wanted = columns.get(edge.from).copied().unwrap_or(0) + 1;
            if let Some(column) = columns.get_mut(edge.to).filter(|column| **column < wanted) {
                *column = wanted;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    columns
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
