//! What a network policy looks like. What a shape cannot say is checked where rules are made.

use crate::document::metadata;
use crate::shape::{Field, Shape, list, map_of, optional, required};

/// Protocols that policies know.
pub(super) const PROTOCOLS: &[&str] = &["TCP", "UDP", "SCTP"];

/// A whole policy.
pub(super) fn policy() -> Shape {
    let spec = Shape::Object(vec![
        optional("podSelector", selector(), "the pods of its namespace that it is about; all when empty"),
        optional("policyTypes", list(Shape::Choice(&["Ingress", "Egress"])), "the directions that it isolates"),
        optional("ingress", list(rule("from", "who may call; everybody when empty")), "what may come in"),
        optional("egress", list(rule("to", "who may be called; everybody when empty")), "what may go out"),
    ]);
    Shape::Object(vec![
        required("apiVersion", Shape::Text, "`networking.k8s.io/v1`"),
        required("kind", Shape::Text, "`NetworkPolicy`"),
        required("metadata", metadata(), "name, namespace and the rest"),
        optional("spec", spec, "whom it isolates, and what it permits all the same"),
        optional("status", Shape::Opaque, "kept by Kubernetes"),
    ])
}

fn rule(peers: &str, about: &'static str) -> Shape {
    Shape::Object(vec![
        optional(peers, list(peer()), about),
        optional("ports", list(port()), "which ports of whom is called; all when empty"),
    ])
}

fn peer() -> Shape {
    let block = Shape::Object(vec![
        required("cidr", Shape::Text, "a network, such as 10.0.0.0/8"),
        optional("except", list(Shape::Text), "networks in it that do not count"),
    ]);
    Shape::Object(vec![
        optional("podSelector", selector(), "pods by their labels"),
        optional("namespaceSelector", selector(), "namespaces by their labels; those of the policy when left out"),
        optional("ipBlock", block, "addresses outside of the cluster"),
    ])
}

fn port() -> Shape {
    Shape::Object(vec![
        optional("protocol", Shape::Choice(PROTOCOLS), "TCP when left out"),
        optional("port", Shape::Either(vec![Shape::Integer, Shape::Name]), "a number, or the name of a container port"),
        optional("endPort", Shape::Integer, "the last one of a range that begins with `port`"),
    ])
}

fn selector() -> Shape {
    Shape::Object(selector_fields())
}

fn selector_fields() -> Vec<Field> {
    let operators = Shape::Choice(&["In", "NotIn", "Exists", "DoesNotExist"]);
    let expression = Shape::Object(vec![
        required("key", Shape::Name, "the name of a label"),
        required("operator", operators, "how its value is compared"),
        optional("values", list(Shape::Text), "the values of `In` and `NotIn`"),
    ]);
    vec![
        optional("matchLabels", map_of(Shape::Text), "labels that must be there"),
        optional("matchExpressions", list(expression), "what must hold for labels besides"),
    ]
}
