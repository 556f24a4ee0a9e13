//! Questions as they are asked: the words of flags, of JSON or of an address, and nothing but words.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;
use upheld_report::{explain_command, quoted};

/// What somebody wants to know. Everything may be left out; what is there says what it is about.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Words {
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
    /// The path of that request, or of one from who calls to who is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its method; GET when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its headers, each `NAME=VALUE`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub header: Vec<String>,
    /// The port of the listener, or of whom is called; any when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The protocol of a connection; the usual one when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,

    /// A request for a decision, as documents have it.
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

impl Words {
    /// The command that asks this, ready to paste.
    pub fn command(&self, mesh: Option<&str>) -> String {
        let mesh = mesh.map(|mesh| format!(" --mesh {}", quoted(mesh))).unwrap_or_default();
        explain_command(&mesh, &serde_json::to_value(self).unwrap_or_default())
    }

    /// The same, without the slash that names begin with where they are copied from paths.
    pub(super) fn with_plain_names(&self) -> Self {
        let plain = |name: &Option<String>| name.as_ref().map(|name| name.trim_start_matches('/').to_owned());
        Self { what: plain(&self.what), from: plain(&self.from), to: plain(&self.to), ..self.clone() }
    }
}

/// A text stands for a list with nothing else in it, so that queries in addresses can ask, too.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
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
