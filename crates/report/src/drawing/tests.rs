//! Nothing that is drawn lies on anything else, whatever leads where.

use super::layout::{Area, Layout, layout};
use super::{Badge, Drawing, Edge, Line, Look, Node, Presence, Standing};

fn node(id: usize, look: Look, details: usize) -> Node {
    Node {
        id: format!("n{id}"),
        kind: "Thing",
        look,
        label: format!("thing {id}"),
        details: (0..details).map(|number| format!("detail {number}")).collect(),
        presence: Presence::Read,
        policies: Vec::new(),
    }
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Layers of things, each led to by some of those before, also past layers.
fn drawing(seed: u64, nodes: usize) -> Drawing {
    let mut numbers = Numbers(seed);
    let mut drawing = Drawing { title: "Things".to_owned(), ..Drawing::default() };
    for id in 0..nodes {
        let details = numbers.below(4);
        drawing.nodes.push(node(id, Look::Route, details));
        for _ in 0..numbers.below(4).min(id) {
            let (from, label) = (numbers.below(id), "x".repeat(numbers.below(30)));
            let line = if numbers.below(3) == 0 { Line::Delegates } else { Line::Plain };
            let edge = Edge { from, to: id, line, label };
            if !drawing.edges.iter().any(|known| (known.from, known.to) == (from, id)) {
                drawing.edges.push(edge);
            }
        }
    }
    drawing
}

fn overlap(one: Area, other: Area) -> bool {
    one.left < other.right() && other.left < one.right() && one.top < other.bottom() && other.top < one.bottom()
}

#[test]
fn boxes_and_labels_lie_apart() {
    for seed in 0..60 {
        let drawing = drawing(seed, 4 + usize::try_from(seed).unwrap() * 5);
        let Layout { boxes, routes } = layout(&drawing);
        let labels = drawing.edges.iter().zip(&routes).filter(|(edge, _)| !edge.label.is_empty());
        let all: Vec<Area> = boxes.iter().copied().chain(labels.map(|(_, route)| route.label)).collect();
        for (place, one) in all.iter().enumerate() {
            for other in &all[place + 1..] {
                assert!(!overlap(*one, *other), "seed {seed}: {one:?} and {other:?}");
            }
        }
    }
}

#[test]
fn lines_lead_from_box_to_box() {
    let drawing = drawing(7, 40);
    let Layout { boxes, routes } = layout(&drawing);
    for (edge, route) in drawing.edges.iter().zip(&routes) {
        let (from, to) = (boxes[edge.from], boxes[edge.to]);
        let (first, last) = (route.points[0], route.points[route.points.len() - 1]);
        assert_eq!(first.0, from.right());
        assert!((from.top..=from.bottom()).contains(&first.1));
        assert_eq!(last.0, to.left);
        assert!((to.top..=to.bottom()).contains(&last.1), "{last:?} {to:?}");
    }
}

#[test]
fn what_leads_in_a_circle_is_drawn() {
    let edge = |from, to| Edge { from, to, line: Line::Plain, label: "again".to_owned() };
    let nodes = vec![node(0, Look::Route, 0), node(1, Look::Route, 0)];
    let drawing = Drawing { nodes, edges: vec![edge(0, 1), edge(1, 0)], ..Drawing::default() };
    assert_eq!(drawing.svg().matches(">again</text>").count(), 2);
}

#[test]
fn winners_losers_missing_things_and_what_is_attached_to_nothing_are_told_apart() {
    let badge = |policy: &str, standing| Badge { policy: policy.to_owned(), section: None, weight: None, standing };
    let mut first = node(0, Look::Entry, 0);
    first.policies = vec![
        badge("Policy wins", Standing::Effective),
        Badge { weight: Some(7), section: Some("http".to_owned()), ..badge("Policy partly", Standing::Partly) },
        badge("Policy loses", Standing::Overridden),
        badge("Policy wrong", Standing::Refused),
    ];
    let second = Node { presence: Presence::Missing, ..node(1, Look::End, 0) };
    let edges = vec![Edge { from: 0, to: 1, line: Line::Delegates, label: "weight 9 of 10".to_owned() }];
    let unattached = vec!["Policy lost".to_owned()];
    let drawing = Drawing { title: "T".to_owned(), nodes: vec![first, second], edges, unattached };
    for text in [drawing.dot(), drawing.mermaid(), drawing.svg()] {
        for expected in [
            "◆ Policy wins",
            "◐ Policy partly (http), weight 7",
            "◇ Policy loses",
            "✗ Policy wrong",
            "not read",
            "weight 9 of 10",
            "Policy lost",
            "◇ policy overridden everywhere",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        assert_eq!(text.matches("Policy lost").count(), 1);
    }
    assert_eq!(drawing.json()["nodes"][1]["missing"], true);
    assert_eq!(drawing.json()["unattached"][0], "Policy lost");
}
