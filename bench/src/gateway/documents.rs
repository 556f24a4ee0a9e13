//! Gateways, routes and policies as JSON Lines. The same size gives the same documents in every run.
//!
//! There is one gateway with one listener; ten routes share a host. Routes are labelled with an app of their own and with a
//! group of ten. What a policy says differs from its neighbours, so that those of one group meet and partly hide each other.

use std::collections::BTreeMap;

use super::naive::{Policy, Target};
use crate::workload::random::Random;

const ROUTES: &str = "gateway.networking.k8s.io";
const SERVICES: usize = 100;
/// How many routes share a host and a group.
const TOGETHER: usize = 10;

/// What policies say about requests.
const FIELDS: [&str; 6] = [
    r#""cors":{"allowOrigins":["https://example.com"]}"#,
    r#""csrf":{"percentageEnabled":100}"#,
    r#""timeouts":{"request":"5s"}"#,
    r#""retry":{"attempts":3}"#,
    r#""buffer":{"maxRequestSize":"64Ki"}"#,
    r#""acl":{"defaultAction":"deny","rules":[{"action":"allow","cidrs":["10.0.0.0/8"]}]}"#,
];

/// How policies find their routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attachment {
    /// Each names a route of its own.
    ByName,
    /// Each selects a route of its own.
    ByLabel,
    /// By name, by label, and for ten routes at once, in turn.
    Mixed,
}

impl Attachment {
    pub(super) const ALL: [Self; 3] = [Self::ByName, Self::ByLabel, Self::Mixed];

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::ByName => "by name",
            Self::ByLabel => "by label",
            Self::Mixed => "mixed",
        }
    }
}

/// Documents, with what the naive rival knows of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents {
    pub(super) text: String,
    /// Labels of routes, by name.
    pub(super) routes: BTreeMap<String, BTreeMap<&'static str, String>>,
    /// Policies that are attached to routes.
    pub(super) policies: Vec<Policy>,
}

/// The labels of a route, and what a policy for it selects.
fn labels(number: usize) -> BTreeMap<&'static str, String> {
    BTreeMap::from([("app", format!("app-{number}")), ("group", format!("group-{}", number / TOGETHER))])
}

fn json(labels: &BTreeMap<&'static str, String>) -> String {
    let entries: Vec<String> = labels.iter().map(|(key, value)| format!(r#""{key}":"{value}""#)).collect();
    format!("{{{}}}", entries.join(","))
}

impl Documents {
    /// A gateway and services.
    pub(super) fn new() -> Self {
        let mut documents = Self::default();
        documents.line(&format!(
            r#"{{"apiVersion":"{ROUTES}/v1","kind":"Gateway","metadata":{{"name":"gateway"}},"spec":{{"gatewayClassName":"kgateway","listeners":[{{"name":"http","protocol":"HTTP","port":80}}]}}}}"#
        ));
        for number in 0..SERVICES {
            documents.line(&format!(
                r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"service-{number}"}},"spec":{{"ports":[{{"port":80}}]}}}}"#
            ));
        }
        documents
    }

    /// As many routes as policies, and a policy for the gateway and one for its listener.
    pub(super) fn many(size: usize, attachment: Attachment) -> Self {
        let mut documents = Self::new();
        for number in 0..size {
            documents.route(number);
        }
        for (section, field) in [
            ("", r#""cors":{"allowOrigins":["*"]}"#),
            (r#","sectionName":"http""#, r#""buffer":{"maxRequestSize":"1Mi"}"#),
        ] {
            let target = format!(r#"{{"group":"{ROUTES}","kind":"Gateway","name":"gateway"{section}}}"#);
            let name = if section.is_empty() { "for-gateway" } else { "for-listener" };
            documents.policy(name, 0, &format!(r#""targetRefs":[{target}],{field}"#));
        }
        let mut random = Random::new(7);
        for number in 0..size {
            let mut wanted = labels(number);
            let target = match (attachment, number % 3) {
                (Attachment::ByName, _) | (Attachment::Mixed, 0) => Target::Name(format!("route-{number}")),
                (Attachment::ByLabel, _) | (Attachment::Mixed, 1) => Target::Labels(wanted),
                (Attachment::Mixed, _) => {
                    wanted.remove("app");
                    Target::Labels(wanted)
                }
            };
            let says: Vec<&str> = FIELDS.into_iter().cycle().skip(random.below(FIELDS.len())).take(2).collect();
            documents.attach(number, random.below(86_400), target, &says.join(","));
        }
        documents
    }

    /// A route to a service, under a host that it shares.
    fn route(&mut self, number: usize) {
        self.labelled_route(number, labels(number));
    }

    /// The same with other labels.
    pub(super) fn labelled_route(&mut self, number: usize, labels: BTreeMap<&'static str, String>) {
        let (host, service) = (number / TOGETHER, number % SERVICES);
        let backend = format!(r#"{{"name":"service-{service}","port":80}}"#);
        let spec = format!(
            r#""parentRefs":[{{"name":"gateway"}}],"hostnames":["host-{host}.example.com"],{}"#,
            rules(&format!("/path-{number}"), &backend)
        );
        self.http_route(&format!("route-{number}"), &format!(r#""labels":{}"#, json(&labels)), &spec);
        self.routes.insert(format!("route-{number}"), labels);
    }

    /// A route of any sort.
    pub(super) fn http_route(&mut self, name: &str, metadata: &str, spec: &str) {
        self.line(&format!(
            r#"{{"apiVersion":"{ROUTES}/v1","kind":"HTTPRoute","metadata":{{"name":"{name}",{metadata}}},"spec":{{{spec}}}}}"#
        ));
    }

    /// A policy for routes, created at this second of a day.
    pub(super) fn attach(&mut self, number: usize, second: usize, target: Target, says: &str) {
        let name = format!("policy-{number}");
        let targets = match &target {
            Target::Name(route) => {
                format!(r#""targetRefs":[{{"group":"{ROUTES}","kind":"HTTPRoute","name":"{route}"}}]"#)
            }
            Target::Labels(labels) => format!(
                r#""targetSelectors":[{{"group":"{ROUTES}","kind":"HTTPRoute","matchLabels":{}}}]"#,
                json(labels)
            ),
        };
        self.policy(&name, second, &format!("{targets},{says}"));
        self.policies.push(Policy { name, target });
    }

    /// What policies name to authorize requests.
    pub(super) fn provider(&mut self, name: &str) {
        self.line(&format!(
            r#"{{"apiVersion":"gateway.kgateway.dev/v1alpha1","kind":"GatewayExtension","metadata":{{"name":"{name}"}},"spec":{{"extAuth":{{"grpcService":{{"backendRef":{{"name":"service-0","port":80}}}}}}}}}}"#
        ));
    }

    fn policy(&mut self, name: &str, second: usize, spec: &str) {
        let created = format!("2025-03-01T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60);
        self.line(&format!(
            r#"{{"apiVersion":"gateway.kgateway.dev/v1alpha1","kind":"TrafficPolicy","metadata":{{"name":"{name}","creationTimestamp":"{created}"}},"spec":{{{spec}}}}}"#
        ));
    }

    fn line(&mut self, document: &str) {
        self.text.push_str(document);
        self.text.push('\n');
    }
}

/// One rule under a path, with backends.
pub(super) fn rules(path: &str, backends: &str) -> String {
    let matches = format!(r#"[{{"path":{{"type":"PathPrefix","value":"{path}"}}}}]"#);
    format!(r#""rules":[{{"matches":{matches},"backendRefs":[{backends}]}}]"#)
}

/// A reference to another route.
pub(super) fn delegated(route: &str) -> String {
    format!(r#"{{"group":"{ROUTES}","kind":"HTTPRoute","name":"{route}"}}"#)
}
