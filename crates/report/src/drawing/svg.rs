//! Drawings as pictures. Nothing but the one file is needed to look at them.

use std::collections::BTreeMap;

use super::layout::{Area, LETTER, Layout, PADDING, Route, SPACE, TEXT, layout};
use super::{Drawing, Line, Look, Node, Presence, Standing};
use crate::visible;

/// Letters of one width, so that texts are as wide as the layout takes them for.
const FONT: &str = "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"12\"";

pub(super) fn svg(drawing: &Drawing) -> String {
    let Layout { boxes, routes } = layout(drawing);
    let bottom = boxes.iter().map(|area| area.bottom()).max().unwrap_or(0) + SPACE;
    let legend = Legend::below(drawing, bottom);
    let right = boxes.iter().map(|area| area.right()).max().unwrap_or(0).max(legend.right);
    let (width, height) = (right + SPACE, legend.bottom + SPACE);
    let title = escaped(&drawing.title);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" {FONT}>\n<title>{title}</title>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#777\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (edge, route) in drawing.edges.iter().zip(&routes) {
        let dashes = if edge.line == Line::Delegates { " stroke-dasharray=\"6 4\"" } else { "" };
        text += &format!(
            "<path d=\"{}\" fill=\"none\" stroke=\"#777\"{dashes} marker-end=\"url(#arrow)\"/>\n",
            path(route)
        );
    }
    // After all lines, on white: a line that passes does not strike a label through.
    for (edge, route) in drawing.edges.iter().zip(&routes).filter(|(edge, _)| !edge.label.is_empty()) {
        let Area { left, top, width, height } = route.label;
        let (y, label) = (top + height - 2, escaped(&edge.label));
        text += &format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"white\" fill-opacity=\"0.85\"/>\
             <text x=\"{left}\" y=\"{y}\" fill=\"#444\" font-size=\"11\">{label}</text>\n"
        );
    }
    for (node, area) in drawing.nodes.iter().zip(&boxes) {
        text += &drawn(node, *area);
    }
    text + &legend.text + "</svg>\n"
}

fn drawn(node: &Node, area: Area) -> String {
    let Area { left, top, width, height } = area;
    let dashes = if node.presence == Presence::Missing { " stroke-dasharray=\"4 3\"" } else { "" };
    let (id, fill) = (escaped(&node.id), fill(node.look));
    let mut text = format!(
        "<g><title>{id}</title><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"{fill}\" \
         stroke=\"#444\"{dashes}/>\n"
    );
    let lines = node.lines();
    let first = top + (height - lines.len() * TEXT) / 2 + TEXT - 4;
    let badges = lines.len() - node.policies.len();
    for (number, line) in lines.iter().enumerate() {
        let (x, y) = (left + PADDING, first + number * TEXT);
        let badge = number.checked_sub(badges).and_then(|number| node.policies.get(number));
        let style = match badge {
            _ if number == 0 => " font-weight=\"bold\"",
            Some(badge) => style_of(badge.standing),
            None => " fill=\"#333\"",
        };
        text += &format!("<text x=\"{x}\" y=\"{y}\"{style}>{}</text>\n", escaped(line));
    }
    text + "</g>\n"
}

fn style_of(standing: Standing) -> &'static str {
    match standing {
        Standing::Effective | Standing::Partly => " fill=\"#7c2d12\"",
        Standing::Overridden => " fill=\"#777\" text-decoration=\"line-through\"",
        Standing::Refused => " fill=\"#b91c1c\" text-decoration=\"line-through\"",
    }
}

fn fill(look: Look) -> &'static str {
    match look {
        Look::Entry => "#dbeafe",
        Look::Group => "#ede9fe",
        Look::Part => "#e0e7ff",
        Look::Route => "#dcfce7",
        Look::Rule => "#fef9c3",
        Look::End => "#f3f4f6",
    }
}

/// A curve through all points; level parts stay straight.
fn path(route: &Route) -> String {
    let mut text = String::new();
    let mut before: Option<(usize, usize)> = None;
    for (x, y) in &route.points {
        text += &match before {
            None => format!("M{x} {y}"),
            Some((_, level)) if level == *y => format!("L{x} {y}"),
            Some((from, level)) => {
                let middle = from.midpoint(*x);
                format!("C{middle} {level} {middle} {y} {x} {y}")
            }
        };
        before = Some((*x, *y));
    }
    text
}

/// What is below the drawing: policies that are attached to nothing, and what everything means.
struct Legend {
    text: String,
    right: usize,
    bottom: usize,
}

impl Legend {
    fn below(drawing: &Drawing, top: usize) -> Self {
        let mut legend = Self { text: String::new(), right: 0, bottom: top };
        if !drawing.unattached.is_empty() {
            legend.line("Attached to nothing:", " font-weight=\"bold\"");
            for policy in &drawing.unattached {
                legend.line(&format!("  {policy}"), " fill=\"#b91c1c\"");
            }
            legend.bottom += SPACE / 2;
        }
        let kinds: BTreeMap<Look, &str> = drawing.nodes.iter().map(|node| (node.look, node.kind)).collect();
        let (y, mut left) = (legend.bottom + TEXT, SPACE);
        for (look, kind) in kinds {
            let fill = fill(look);
            let (x, top) = (left + 18, y - 10);
            legend.text += &format!(
                "<rect x=\"{left}\" y=\"{top}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{fill}\" stroke=\"#444\"/>\
                 <text x=\"{x}\" y=\"{y}\" fill=\"#444\">{}</text>\n",
                escaped(kind)
            );
            left = x + kind.chars().count() * LETTER + SPACE;
        }
        legend.right = legend.right.max(left);
        legend.bottom = y;
        for sign in drawing.signs() {
            legend.line(&sign, " fill=\"#444\"");
        }
        legend
    }

    fn line(&mut self, line: &str, style: &str) {
        self.bottom += TEXT;
        let (x, y) = (SPACE, self.bottom);
        self.text += &format!("<text x=\"{x}\" y=\"{y}\" xml:space=\"preserve\"{style}>{}</text>\n", escaped(line));
        self.right = self.right.max(SPACE + line.chars().count() * LETTER);
    }
}

fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
