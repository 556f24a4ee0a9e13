//! A policy as rules: one that denies everything for each direction that it isolates, and one that permits for each of its own.
//!
//! What is asked is who calls (the subject), who is called (the resource) and on which port (the action). Facts that are not
//! known make a rule unknown, never false.

use std::collections::BTreeSet;
use std::sync::Arc;

use ipnet::IpNet;
use smol_str::{SmolStr, format_smolstr};
use upheld_engine::decide::{Effect, Fact, FactOf, FactTest, Matcher, Operator, Order, Rule, Target, Test, Truth};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId};

use super::workloads::namespace_of;
use crate::document::Resource;

/// The name of a fact: the namespace of a pod.
pub(super) const NAMESPACE: &str = "namespace";
/// How facts about labels of pods begin.
pub(super) const LABEL: &str = "label";
/// How facts about labels of namespaces begin.
pub(super) const NAMESPACE_LABEL: &str = "namespace label";
/// The name of a fact: an address outside of the cluster.
pub(super) const ADDRESS: &str = "address";
/// The name of a fact: the protocol of a connection.
pub(super) const PROTOCOL: &str = "protocol";
/// The name of a fact: the number of the port that is called.
pub(super) const PORT: &str = "port";

/// The name of a fact: what the called pod calls this port, as far as it tells whether this name is among it.
pub(super) fn port_name(wanted: &str) -> String {
    format!("port name {wanted}")
}

/// The rules of a policy.
#[derive(Debug)]
pub(super) struct Rules {
    /// What may leave the pods that it selects.
    pub(super) egress: Vec<Arc<Rule>>,
    /// What may come to them.
    pub(super) ingress: Vec<Arc<Rule>>,
}

/// What a policy looks at.
#[derive(Debug, Default)]
pub(super) struct Mentioned {
    /// Labels of pods.
    pub(super) labels: BTreeSet<SmolStr>,
    /// Labels of namespaces.
    pub(super) namespace_labels: BTreeSet<SmolStr>,
    /// Ports; both ends of ranges.
    pub(super) ports: BTreeSet<u16>,
    /// Names of ports.
    pub(super) port_names: BTreeSet<SmolStr>,
}

/// One end of a connection, and how sentences call it.
#[derive(Clone, Copy)]
struct End {
    of: FactOf,
    word: &'static str,
}

const SOURCE: End = End { of: FactOf::Subject, word: "source" };
const DESTINATION: End = End { of: FactOf::Resource, word: "destination" };

impl Rules {
    /// All of them, each with its number in its direction.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Arc<Rule>)> {
        self.egress.iter().enumerate().chain(self.ingress.iter().enumerate())
    }

    /// Reads a policy of the right shape; nothing if something else is wrong with it.
    pub(super) fn read(
        source: SourceId,
        resource: Resource<'_>,
        mentioned: &mut Mentioned,
        found: &mut Diagnostics,
    ) -> Option<Self> {
        let (before, namespace) = (found.errors(), namespace_of(resource));
        let name = format_smolstr!("{namespace}/{}", resource.kubernetes_name().0);
        let at = NodeRef { source, node: resource.document.number() };
        let mut policy = PolicyReader { source, name, namespace, at, mentioned, found };
        let rules = Self {
            egress: policy.direction(resource, "egress", SOURCE, DESTINATION),
            ingress: policy.direction(resource, "ingress", DESTINATION, SOURCE),
        };
        (found.errors() == before).then_some(rules)
    }
}

struct PolicyReader<'r> {
    source: SourceId,
    name: SmolStr,
    namespace: SmolStr,
    at: NodeRef,
    mentioned: &'r mut Mentioned,
    found: &'r mut Diagnostics,
}

impl PolicyReader<'_> {
    /// The rules of one direction: for the pods at its own end, about those at the other.
    fn direction(&mut self, resource: Resource<'_>, field: &str, own: End, other: End) -> Vec<Arc<Rule>> {
        let mut selected = vec![self.own_namespace(own)];
        selected
            .extend(resource.field("podSelector").map(|labels| self.selector(labels, own, LABEL)).unwrap_or_default());
        let peers = if field == "ingress" { "from" } else { "to" };
        let written: Vec<Value<'_>> = resource.field(field).into_iter().flat_map(Value::items).collect();
        // What is wrong with a rule is reported even where it does not count.
        let permits = written.iter().enumerate().map(|(number, rule)| {
            let name = format_smolstr!("{}[{number}]", self.name);
            let at = NodeRef { source: self.source, node: rule.number() };
            let (peers, ports) = (self.peers(*rule, peers, other), self.ports(*rule));
            let target = target(own, vec![Matcher { tests: selected.clone() }], peers, ports);
            Arc::new(Rule::new(name, Effect::Permit, target, at))
        });
        let permits: Vec<Arc<Rule>> = permits.collect();
        if !isolates(resource, field) {
            return Vec::new();
        }
        let everything = target(own, vec![Matcher { tests: selected }], Vec::new(), Vec::new());
        let mut rules = vec![Arc::new(Rule::new(self.name.clone(), Effect::Deny, everything, self.at))];
        rules.extend(permits);
        rules
    }

    fn own_namespace(&self, end: End) -> Test {
        let own = Operator::In(vec![Fact::Text(self.namespace.clone())]);
        fact(end, NAMESPACE, own, Truth::False)
    }

    /// Who may be at the other end: any of these, or everybody where none is named.
    fn peers(&mut self, rule: Value<'_>, field: &str, end: End) -> Vec<Matcher> {
        let written: Vec<Value<'_>> = rule.get(field).into_iter().flat_map(Value::items).collect();
        written.into_iter().map(|peer| Matcher { tests: self.peer(peer, end) }).collect()
    }

    fn peer(&mut self, peer: Value<'_>, end: End) -> Vec<Test> {
        let part = |name: &str| peer.get(name).filter(|part| part.kind() != Kind::Null);
        match (part("ipBlock"), part("namespaceSelector"), part("podSelector")) {
            (Some(block), None, None) => self.block(block, end),
            (Some(block), ..) => {
                let message = "`ipBlock` cannot stand beside selectors: addresses have no labels";
                self.wrong(block, message, "give it an item of its own");
                Vec::new()
            }
            (None, None, None) => {
                self.wrong(peer, "this peer is nobody", "expected `podSelector`, `namespaceSelector` or `ipBlock`");
                Vec::new()
            }
            (None, None, Some(pods)) => {
                let mut tests = vec![self.own_namespace(end)];
                tests.extend(self.selector(pods, end, LABEL));
                tests
            }
            (None, Some(namespaces), pods) => {
                let mut tests = self.selector(namespaces, end, NAMESPACE_LABEL);
                tests.extend(pods.map(|pods| self.selector(pods, end, LABEL)).unwrap_or_default());
                // Addresses lack every label, so something must say that only pods are meant.
                if !tests.iter().any(needs_a_value) {
                    tests.insert(0, fact(end, NAMESPACE, Operator::Exists, Truth::False));
                }
                tests
            }
        }
    }

    fn block(&mut self, block: Value<'_>, end: End) -> Vec<Test> {
        let Some(cidr) = block.get("cidr") else { return Vec::new() };
        let whole = self.network(cidr);
        let written: Vec<Value<'_>> = block.get("except").into_iter().flat_map(Value::items).collect();
        let mut except = Vec::new();
        for part in written {
            let network = self.network(part);
            if let (Some(whole), Some(network)) = (whole, network)
                && !whole.contains(&network)
            {
                let message = format!("`{}` is not in `{}`", part.text(), cidr.text());
                self.wrong(part, message, "expected a part of `cidr`");
            }
            except.extend(network);
        }
        let within = |networks: Vec<IpNet>| fact(end, ADDRESS, Operator::Within(networks), Truth::False);
        let mut tests = vec![within(whole.into_iter().collect())];
        if !except.is_empty() {
            tests.push(Test::Not(Matcher { tests: vec![within(except)] }));
        }
        tests
    }

    fn network(&mut self, written: Value<'_>) -> Option<IpNet> {
        let network = written.text().parse().ok();
        if network.is_none() {
            self.wrong(written, format!("`{}` is no network", written.text()), "expected one such as 10.0.0.0/8");
        }
        network
    }

    /// What labels must be; an empty selector asks for nothing.
    fn selector(&mut self, selector: Value<'_>, end: End, of: &str) -> Vec<Test> {
        let mut tests = Vec::new();
        for (key, value) in selector.get("matchLabels").into_iter().flat_map(Value::entries) {
            tests.push(self.label(key.text(), end, of, Operator::In(vec![text(value)])));
        }
        for expression in selector.get("matchExpressions").into_iter().flat_map(Value::items) {
            let field = |name: &str| expression.get(name).map_or("", Value::text);
            let values: Vec<Fact> = expression.get("values").into_iter().flat_map(Value::items).map(text).collect();
            let operator = match (field("operator"), values.is_empty()) {
                ("In", false) => Operator::In(values),
                ("NotIn", false) => Operator::NotIn(values),
                ("Exists", true) => Operator::Exists,
                ("DoesNotExist", true) => Operator::Absent,
                (operator, true) => {
                    self.wrong(expression, format!("`{operator}` needs values"), "expected `values`");
                    continue;
                }
                (operator, false) => {
                    self.wrong(expression, format!("`{operator}` looks at no values"), "leave out `values`");
                    continue;
                }
            };
            tests.push(self.label(field("key"), end, of, operator));
        }
        tests
    }

    fn label(&mut self, key: &str, end: End, of: &str, operator: Operator) -> Test {
        let mentioned = if of == LABEL { &mut self.mentioned.labels } else { &mut self.mentioned.namespace_labels };
        mentioned.insert(SmolStr::new(key));
        // What is not there is none of the values that must not be.
        let absent = Truth::from(matches!(operator, Operator::NotIn(_)));
        fact(end, &format!("{of} {key}"), operator, absent)
    }

    /// Which ports: any of these, or all where none is named. Single ones of a protocol are one alternative.
    fn ports(&mut self, rule: Value<'_>) -> Vec<Matcher> {
        let mut single: Vec<(&str, Vec<Fact>)> = Vec::new();
        let mut others = Vec::new();
        for port in rule.get("ports").into_iter().flat_map(Value::items) {
            let part = |name: &str| port.get(name).filter(|part| part.kind() != Kind::Null);
            let protocol = part("protocol").map_or("TCP", Value::text);
            match self.port(part("port"), part("endPort")) {
                Some(Port::Single(number)) => match single.iter_mut().find(|(known, _)| *known == protocol) {
                    Some((_, numbers)) => numbers.push(Fact::Number(number.into())),
                    None => single.push((protocol, vec![Fact::Number(number.into())])),
                },
                Some(Port::Other(mut tests)) => {
                    tests.insert(0, protocol_is(protocol));
                    others.push(Matcher { tests });
                }
                None => {}
            }
        }
        let single = single.into_iter().map(|(protocol, numbers)| {
            let number = about_port(PORT, "port", Operator::In(numbers));
            Matcher { tests: vec![protocol_is(protocol), number] }
        });
        single.chain(others).collect()
    }

    fn port(&mut self, port: Option<Value<'_>>, last: Option<Value<'_>>) -> Option<Port> {
        match (port, last) {
            (None, None) => Some(Port::Other(Vec::new())),
            (None, Some(last)) => self.no_port(last, "`endPort` needs `port`", "where does the range begin?"),
            (Some(name), None) if name.kind() == Kind::Text => {
                if name.text().chars().all(|character| character.is_ascii_digit()) {
                    let help = "write it without quotes";
                    return self.no_port(name, format!("`{}` is a number, not the name of a port", name.text()), help);
                }
                self.mentioned.port_names.insert(SmolStr::new(name.text()));
                let named = Operator::Contains(text(name));
                Some(Port::Other(vec![about_port(&port_name(name.text()), "port name", named)]))
            }
            (Some(name), Some(last)) if name.kind() == Kind::Text => {
                self.no_port(last, "a range cannot begin with the name of a port", "expected a number in `port`")
            }
            (Some(first), None) => self.number(first).map(Port::Single),
            (Some(first), Some(end)) => {
                let (first, last) = (self.number(first)?, self.number(end)?);
                if last < first {
                    return self.no_port(end, format!("a range from {first} to {last} is empty"), "less than `port`");
                }
                let bound = |order, number: u16| about_port(PORT, "port", Operator::Order(order, number.into()));
                Some(Port::Other(vec![bound(Order::AtLeast, first), bound(Order::AtMost, last)]))
            }
        }
    }

    fn number(&mut self, written: Value<'_>) -> Option<u16> {
        let number = written.as_integer().and_then(|number| u16::try_from(number).ok()).filter(|number| *number > 0);
        if number.is_none() {
            self.wrong(written, format!("there is no port {}", written.text()), "expected 1 to 65535");
        }
        self.mentioned.ports.extend(number);
        number
    }

    fn wrong(&mut self, at: Value<'_>, message: impl Into<String>, expected: &str) {
        let problem = Diagnostic::error(Fault::WrongValue, message).at_value(self.source, at, expected);
        // Whom a policy selects is read for each direction.
        if !self.found.as_slice().contains(&problem) {
            self.found.push(problem);
        }
    }

    fn no_port(&mut self, at: Value<'_>, message: impl Into<String>, expected: &str) -> Option<Port> {
        self.wrong(at, message, expected);
        None
    }
}

enum Port {
    Single(u16),
    Other(Vec<Test>),
}

/// Whether a policy has a say in a direction: as it states, or else in what comes, and in what goes where it has rules for that.
fn isolates(resource: Resource<'_>, field: &str) -> bool {
    let items = |name: &str| resource.field(name).into_iter().flat_map(Value::items);
    let mut stated = items("policyTypes").peekable();
    match stated.peek() {
        Some(_) => stated.any(|direction| direction.text().eq_ignore_ascii_case(field)),
        None => field == "ingress" || items("egress").next().is_some(),
    }
}

fn target(own: End, selected: Vec<Matcher>, peers: Vec<Matcher>, actions: Vec<Matcher>) -> Target {
    match own.of {
        FactOf::Subject => Target { subjects: selected, resources: peers, actions },
        _ => Target { subjects: peers, resources: selected, actions },
    }
}

fn fact(end: End, name: &str, operator: Operator, absent: Truth) -> Test {
    let name = SmolStr::new(name);
    let (called, path) = (Some(format_smolstr!("{} {name}", end.word)), vec![name.clone()]);
    Test::Fact(FactTest { of: end.of, name, called, path, operator, absent, mismatch: Truth::Error })
}

fn about_port(name: &str, called: &'static str, operator: Operator) -> Test {
    let (name, called) = (SmolStr::new(name), Some(SmolStr::new_static(called)));
    let path = vec![name.clone()];
    Test::Fact(FactTest {
        of: FactOf::Action,
        name,
        called,
        path,
        operator,
        absent: Truth::False,
        mismatch: Truth::Error,
    })
}

fn protocol_is(protocol: &str) -> Test {
    about_port(PROTOCOL, "protocol", Operator::In(vec![Fact::Text(SmolStr::new(protocol))]))
}

/// Whether a test fails where there is no value.
fn needs_a_value(test: &Test) -> bool {
    matches!(test, Test::Fact(FactTest { operator: Operator::In(_) | Operator::Exists, .. }))
}

fn text(value: Value<'_>) -> Fact {
    Fact::Text(SmolStr::new(value.text()))
}
