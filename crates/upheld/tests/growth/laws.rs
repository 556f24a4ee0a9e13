//! How what is asked may grow when the world is ten times as large and the answer is not.

use crate::cost::Part;
use crate::worlds::System::{self, Access, Compliance, EnvoyGateway, Kgateway, KumaTags, KumaTargets, Network};

/// How something may grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// Not at all, but for what a deeper tree or a longer table takes.
    Flat,
    /// It looks at everything of a sort, and takes no memory for it.
    Sweeps(&'static str),
    /// With what it lists or compares.
    Lists(&'static str),
    /// It looks at all pairs of what it lists, and takes memory for what it lists.
    Pairs(&'static str),
    /// A known defect: so many times as much. The figure may only fall.
    Known(f64),
}

impl Law {
    /// How many times as much of something it may cost, when the world is ten times as large.
    pub(crate) fn most(self, part: Part) -> f64 {
        match self {
            Self::Sweeps(_) if part == Part::Steps => 13.0,
            Self::Flat | Self::Sweeps(_) => 1.3,
            Self::Pairs(_) if part == Part::Steps => 130.0,
            Self::Lists(_) | Self::Pairs(_) => 13.0,
            Self::Known(most) => most,
        }
    }
}

/// What is not flat: systems, or none for all; how the case begins; its law. The first that fits holds.
const LAWS: &[(&[System], &str, Law)] = &[
    (&[], "POST /v1/lint", Law::Lists("all policies")),
    (&[], "page /findings", Law::Lists("all policies")),
    (&[], "upheld lint", Law::Lists("all policies")),
    (&[], "start", Law::Lists("all documents")),
    (&[], "GET /v1/snapshot", Law::Lists("all documents")),
    (&[], "GET /v1/history", Law::Lists("all revisions, to be kept elsewhere")),
    (&[], "POST /v1/test", Law::Lists("the policies that no test decides")),
    (&[], "upheld test", Law::Lists("the policies that no test decides")),
    (&[], "upheld list", Law::Lists("all policies and objects")),
    (&[], "upheld graph", Law::Lists("all routes")),
    (&[], "upheld status", Law::Lists("all policies")),
    (&[], "GET /v1/graph", Law::Lists("all routes")),
    (&[], "page /gateway/map.svg", Law::Lists("all routes")),
    (&[Access], "POST /access/v1/search/", Law::Lists("the entries of the directory")),
    (&[Access], "POST /v1/reach", Law::Lists("the entries of the directory")),
    (&[Access], "upheld reach", Law::Lists("the entries of the directory")),
    (&[Compliance], "POST /v1/audit", Law::Lists("all relations")),
    (&[Compliance], "upheld audit (", Law::Lists("all relations")),
    (&[Compliance], "upheld audit", Law::Lists("all relations")),
    (&[Compliance], "page /compliance", Law::Lists("all relations, or what could be related")),
    (&[Compliance], "POST /v1/candidates", Law::Lists("what could be related")),
    (&[Compliance], "upheld candidates", Law::Lists("what could be related")),
    (&[Compliance], "POST /v1/affected", Law::Lists("the pairs of the policy")),
    (&[Compliance], "upheld affected", Law::Lists("the pairs of the policy")),
    (&[Compliance], "page /policy", Law::Lists("the pairs of the policy")),
    (&[KumaTags], "POST /v1/explain (all pairs)", Law::Pairs("proxies and services")),
    (&[KumaTargets], "GET /meshes/{mesh}/dataplanes/{name}/_layout", Law::Lists("all services that it can call")),
    (&[KumaTags, KumaTargets], "page /connections", Law::Pairs("proxies and services")),
    (&[], "GET /v1/search", Law::Lists("what has the text in its name")),
    (&[], "page /search", Law::Lists("what has the text in its name")),
    (&[Access], "POST /authz/api/explain", Law::Lists("all policies, as the original does")),
    (&[Compliance], "POST /v1/what-if", Law::Lists("the digest of a plan goes over all documents")),
    // A process makes for itself what a server keeps from question to question.
    (&[], "upheld explain", Law::Lists("what a server keeps")),
    (&[], "upheld resolve", Law::Lists("what a server keeps")),
    (&[], "upheld blame", Law::Lists("what a server keeps")),
    (&[], "upheld show", Law::Lists("what a server keeps")),
    (&[], "upheld why-not", Law::Lists("what a server keeps")),
    (&[], "upheld what-if", Law::Lists("what a server keeps")),
    (&[], "upheld inspect", Law::Lists("what a server keeps")),
    (&[], "upheld affected", Law::Lists("the documents of both sides")),
    (&[], "upheld diff", Law::Lists("the documents of both sides")),
    (&[], "upheld prove", Law::Lists("the documents of both sides")),
    // Which policies come nearest is found by a look at each, and which are of a name.
    (&[Access], "POST /v1/explain", Law::Sweeps("all policies")),
    (&[Access], "POST /v1/suppose", Law::Sweeps("all policies")),
    (&[Access, Network], "POST /v1/why-not", Law::Sweeps("the names of all policies")),
    (&[Access], "page /access", Law::Sweeps("all policies")),
    (&[KumaTags], "POST /v1/explain", Law::Sweeps("all policies")),
    (&[KumaTags], "POST /v1/suppose", Law::Sweeps("all policies")),
    (&[KumaTags], "page /connection", Law::Sweeps("all policies")),
    (&[KumaTargets], "POST /v1/explain (kind", Law::Sweeps("all policies")),
    (&[KumaTargets], "POST /v1/suppose (kind", Law::Sweeps("all policies")),
    (&[Network], "POST /v1/explain", Law::Sweeps("all policies")),
    (&[Network], "POST /v1/suppose", Law::Sweeps("all policies")),
    (&[Network], "POST /v1/survival", Law::Sweeps("all policies")),
    (&[Network], "GET /v1/objects/{kind}/{scope}/{name}/effective", Law::Sweeps("all policies")),
    (&[Network], "page /connection", Law::Sweeps("all policies")),
    (&[KumaTags], "POST /v1/affected", Law::Sweeps("all classes of proxies")),
    (&[KumaTags], "POST /v1/diff", Law::Sweeps("all classes of proxies")),
    (&[KumaTags], "POST /v1/prove", Law::Sweeps("all classes of proxies")),
    (&[KumaTags], "PUT /v1/documents/{kind}/{scope}/{name} (dry run)", Law::Sweeps("all classes of proxies")),
    (&[KumaTags], "page /changes", Law::Sweeps("all classes of proxies")),
    (&[KumaTags], "page /policy/{kind}/{scope}/{*name} (if deleted)", Law::Sweeps("all classes of proxies")),
    // Comparisons of two worlds that ask more than a change can reach.
    (&[EnvoyGateway, Kgateway, KumaTargets, Network], "POST /v1/affected", Law::Known(11.0)),
    (&[EnvoyGateway, Kgateway, KumaTargets, Network, Compliance], "POST /v1/diff", Law::Known(11.0)),
    (&[EnvoyGateway, Kgateway, KumaTargets, Network, Compliance], "POST /v1/prove", Law::Known(11.0)),
    (&[EnvoyGateway, Kgateway, KumaTargets, Network, Compliance], "page /changes", Law::Known(11.0)),
    (
        &[EnvoyGateway, Kgateway, KumaTargets, Network],
        "PUT /v1/documents/{kind}/{scope}/{name} (dry run)",
        Law::Known(11.0),
    ),
    (
        &[EnvoyGateway, Kgateway, KumaTargets, Network],
        "page /policy/{kind}/{scope}/{*name} (if deleted)",
        Law::Known(11.0),
    ),
];

/// The law of a case.
pub(crate) fn law(system: System, case: &str) -> Law {
    let fits = |(systems, begin, _): &&(&[System], &str, Law)| {
        (systems.is_empty() || systems.contains(&system)) && case.starts_with(begin)
    };
    LAWS.iter().find(fits).map_or(Law::Flat, |(_, _, law)| *law)
}

/// The beginnings of cases that have a law of their own: each must be asked, or its law goes.
pub(crate) fn named() -> impl Iterator<Item = (&'static [System], &'static str)> {
    LAWS.iter().map(|(systems, begin, _)| (*systems, *begin))
}
