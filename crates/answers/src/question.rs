//! Questions as they are asked, in words.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use crate::gateways;

/// What somebody wants to know. Everything may be left out; what is there says what it is about.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Question {
    /// The proxy, route, listener or backend in question, or two objects: `project/a~workspace/b`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Who calls: a proxy, a service, tags or an identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Who is called: a proxy, an inbound of it, a service, a real resource or tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The kind of policy; all kinds when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// One field of the result, for example `http.requestTimeout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Every proxy and every service of the mesh, under one kind of policy.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_pairs: bool,

    /// The host of a request to a gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The path of that request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its method; GET when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its headers, each `NAME=VALUE`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub header: Vec<String>,
    /// The port of the listener; any when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,

    /// A request for a decision, as documents write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Json>,
    /// Who wants something, in words: `role=admin,group=ops`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub subject: Vec<String>,
    /// What is to be done, in words: `DELETE`, or `operation=read`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub action: Vec<String>,
    /// With what, in words: `/api/audit/123`, or `type=doc,id=7`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub resource: Vec<String>,
    /// Under which circumstances, in words: `ip=192.0.2.7`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub env: Vec<String>,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// All connections of a mesh.
    AllPairs,
    /// A request that is permitted or denied.
    Decision,
    /// Two objects whose tags must agree.
    Relation,
    /// Gateways, their routes and backends.
    Gateways,
    /// A connection, or a proxy.
    Connection,
}

impl Question {
    /// What the question is about.
    pub fn about(&self) -> About {
        let words = [&self.subject, &self.action, &self.resource, &self.env];
        if self.all_pairs {
            About::AllPairs
        } else if self.request.is_some() || words.iter().any(|given| !given.is_empty()) {
            About::Decision
        } else if self.what.as_deref().is_some_and(|what| what.contains('~')) {
            About::Relation
        } else if gateways::is_asked(self) {
            About::Gateways
        } else {
            About::Connection
        }
    }

    /// Who calls.
    pub fn source(&self) -> Option<&str> {
        self.from.as_deref().or(self.what.as_deref().filter(|_| !self.is_inbound()))
    }

    /// An inbound of a proxy is asked for as what is called.
    fn is_inbound(&self) -> bool {
        self.to.is_none() && self.from.is_none() && self.what.as_deref().is_some_and(|what| what.contains('#'))
    }

    /// Who is called: the proxy in question, if another calls it.
    pub fn destination(&self) -> Option<&str> {
        self.to.as_deref().or(self.what.as_deref().filter(|_| self.from.is_some() || self.is_inbound()))
    }
}

/// A text stands for a list with nothing else in it, so that queries in addresses can ask, too.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Given::deserialize(from)? {
        Given::One(text) => vec![text],
        Given::Many(texts) => texts,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    fn about(question: Json) -> About {
        from_value::<Question>(question).expect("is a question").about()
    }

    #[test]
    fn what_is_given_says_what_it_is_about() {
        assert_eq!(about(json!({"from": "web-1", "to": "backend-1"})), About::Connection);
        assert_eq!(about(json!({"what": "dataplane/web-1"})), About::Connection);
        assert_eq!(about(json!({"what": "httproute/shop/cart"})), About::Gateways);
        assert_eq!(about(json!({"host": "shop.example", "header": "a=b"})), About::Gateways);
        assert_eq!(about(json!({"what": "project/a~workspace/b"})), About::Relation);
        assert_eq!(about(json!({"subject": ["role=admin"], "action": "GET"})), About::Decision);
        assert_eq!(about(json!({"request": {"subject": {"id": "alice"}}})), About::Decision);
        assert_eq!(about(json!({"allPairs": true, "kind": "TrafficLog"})), About::AllPairs);
    }

    #[test]
    fn a_misspelt_part_is_no_question() {
        assert!(from_value::<Question>(json!({"form": "web-1"})).is_err());
    }
}
