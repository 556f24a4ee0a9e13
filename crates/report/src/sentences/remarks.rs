//! Remarks: what else is worth knowing, under the code of a fault.

use serde::Serialize;
use serde_json::{Map, Value as Json};
use upheld_model::Fault;

use super::access;
use crate::Phrase;

/// A remark: something else worth knowing, under the code of a fault.
#[expect(missing_docs, reason = "fields of sentences are named for what stands in their place")]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Remark {
    /// Only the order of names puts a policy before another.
    Tie { before: String },
    /// Fields rest on the order of names alone.
    TiedFields { fields: usize },
    /// More tags win before exact values are compared.
    WildcardsWin { policy: String, exact: usize, against: usize },
    /// More groups of clients than are shown.
    NotShown { more: usize },
    /// More groups of clients than are listed.
    NotListed { limit: usize },
    /// Other editions come to something else.
    OtherEdition { edition: String, fields: Vec<String> },
    /// A rule answers by itself.
    AnsweredDirectly { by: Vec<String> },
    /// Something is wrong, so that requests fail.
    Problem { problem: String },
    /// A parent was not read.
    ParentNotRead { parent: String, of: String },
    /// The parent is a service of a mesh.
    MeshParent { parent: String, of: String },
    /// The class of a gateway was not read, so that nobody knows who runs it.
    ClassNotRead { class: String, gateway: String, kind: String },
    /// A controller whose rules are not known runs a gateway.
    OtherController { gateway: String, controller: String },
    /// What was asked about was not read.
    TargetNotRead { what: String },
    /// What a filter does is not known.
    FilterNotKnown { filter: String },
    /// What a backend does is not known.
    BackendNotKnown { backend: String },
    /// Parts of host names are put in later, and then they may be the one that was asked for.
    HostNotKnown { hosts: Vec<String>, host: String },
    /// Nothing that was read leads to something.
    NothingLeadsTo { what: String },
    /// A backend takes no requests: so many of all would go there.
    NoBackend { problem: String, weight: u64, of: u64, may_exist: bool, status: u16 },
    /// Of two timeouts only the one for the backend is waited for.
    BackendTimeout { request: String, backend: String },
    /// What a policy uses was not read, nor anything of its type.
    TakenToExist { policy: String, problems: Vec<String> },
    /// What would let a policy in was not read, and is taken not to be there.
    TakenNotToExist { what: String, policy: String, namespace: String },
    /// Policies have no creation time, so that they count as the newest.
    NoCreationTime { policies: Vec<String> },
    /// Another kind about the same matter counts instead.
    Superseded { kind: String, by: String },
    /// Another kind about the same matter says nothing, so this one counts.
    NotYetSuperseded { kind: String, by: String },
    /// An edition does not have a kind any more.
    KindIsGone { kind: String, by: String, edition: String },
    /// The default effect permits.
    OpenDefault {},
    /// An algorithm does not look at what is not known.
    HiddenDoubt {
        algorithm: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        set: Option<String>,
        policy: String,
    },
    /// Only the order of the store puts a policy before another that says the opposite.
    OrderOfStore { policy: String, other: String, priority: f64 },
}

impl Remark {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Tie { before } => format!("a tie: only the order of names puts it before {before}"),
            Self::TiedFields { fields: 1 } => "a tie: 1 field rests on the order of names alone".to_owned(),
            Self::TiedFields { fields } => format!("a tie: {fields} fields rest on the order of names alone"),
            Self::WildcardsWin { policy, exact, against } => format!(
                "more tags win before exact values are compared: {policy} has {exact} exact values against {against} \
                 and still lost"
            ),
            Self::NotShown { more } => format!("{more} more groups of clients are not shown; ask for one with --from"),
            Self::NotListed { limit } => {
                format!("there are more groups of clients than the {limit} that are listed; ask for one with --from")
            }
            Self::OtherEdition { edition, fields } => {
                format!("under --semantics {edition} these fields differ: {}", fields.join(", "))
            }
            Self::AnsweredDirectly { by } => format!("answered without a backend, by {}", by.join(", ")),
            Self::Problem { problem } => problem.clone(),
            Self::ParentNotRead { parent, of } => {
                format!(
                    "{parent}, which {of} names as its parent, was not read: what it says is not part of this answer"
                )
            }
            Self::MeshParent { parent, of } => {
                format!("the parent of {of} is {parent}: requests come from inside a mesh, through no gateway")
            }
            Self::ClassNotRead { class, gateway, kind } => format!(
                "the GatewayClass {class} of {gateway} was not read: its controller is taken for one that knows {kind}"
            ),
            Self::OtherController { gateway, controller } => format!(
                "{controller} runs {gateway}: its policies and its rules are not known here, and not part of this answer"
            ),
            Self::TargetNotRead { what } => format!(
                "{what} was not read: this is what policies say that name it, and nothing around it is part of this answer"
            ),
            Self::FilterNotKnown { filter } => {
                format!("the filter {filter} is not known here: what it does is not part of this answer")
            }
            Self::BackendNotKnown { backend } => {
                format!(
                    "the backend {backend} is not known here: what becomes of requests there is not part of this answer"
                )
            }
            Self::HostNotKnown { hosts, host } => format!(
                "{} may be {host}, once everything is put into it: its routes are not part of this answer",
                hosts.join(", ")
            ),
            Self::NothingLeadsTo { what } => {
                format!(
                    "nothing that was read leads to {what}: what gateways and parent routes say is not part of this answer"
                )
            }
            Self::NoBackend { problem, weight, of, may_exist, status } => {
                let unless = if *may_exist { "unless that exists elsewhere, " } else { "" };
                let share = if weight == of { "requests".to_owned() } else { format!("{weight} of {of} requests") };
                format!("{problem}: {unless}{share} get {status}, after all policies")
            }
            Self::BackendTimeout { request, backend } => format!(
                "timeouts.request is {backend}: without retries the proxy waits for timeouts.backendRequest ({backend}), and the \
                 rule's own timeouts.request ({request}) has no effect"
            ),
            Self::TakenToExist { policy, problems } => format!(
                "{policy} uses what was not read ({}): nothing of that type was, so it is taken to exist",
                problems.join("; ")
            ),
            Self::TakenNotToExist { what, policy, namespace } => format!(
                "no {what} in the namespace {namespace} that lets {policy} count here was read: it is taken not to exist; where it \
                 does, this answer is another one"
            ),
            Self::NoCreationTime { policies } => {
                let (noun, is) = if policies.len() == 1 { ("has", "it counts") } else { ("have", "they count") };
                format!("{} {noun} no creation time: {is} as newer than all others", policies.join(", "))
            }
            Self::Superseded { kind, by } => {
                format!("{by} took the place of {kind}: where both say something, {by} counts and {kind} has no effect")
            }
            Self::NotYetSuperseded { kind, by } => {
                format!("no {by} says anything here, so {kind} counts, whose place it took")
            }
            Self::KindIsGone { kind, by, edition } => {
                format!(
                    "control planes of {edition} do not know {kind}, which has no effect there: {by} took its place"
                )
            }
            Self::OpenDefault {} => {
                "the default effect is permit, so every request that no policy matches is permitted".to_owned()
            }
            Self::HiddenDoubt { algorithm, set, policy } => {
                let of = set.as_ref().map(|set| format!(" of {}", access::a_set(set))).unwrap_or_default();
                format!("{algorithm}{of} ignores what is not known: {policy} could change the decision")
            }
            Self::OrderOfStore { policy, other, priority } => format!(
                "a tie: {policy} and {other} have the same priority ({priority}) and opposite effects; only their order in \
                 the store puts {policy} first"
            ),
        }
    }

    fn fault(&self) -> Fault {
        match self {
            Self::Tie { .. } | Self::TiedFields { .. } => Fault::ArbitraryTie,
            Self::WildcardsWin { .. } => Fault::WildcardsOutrank,
            Self::NotShown { .. } | Self::NotListed { .. } => Fault::Limit,
            Self::OtherEdition { .. } => Fault::OtherEdition,
            Self::AnsweredDirectly { .. } => Fault::AnsweredDirectly,
            Self::Problem { .. } => Fault::BrokenPolicy,
            Self::ParentNotRead { .. }
            | Self::MeshParent { .. }
            | Self::ClassNotRead { .. }
            | Self::OtherController { .. }
            | Self::FilterNotKnown { .. }
            | Self::TargetNotRead { .. }
            | Self::BackendNotKnown { .. }
            | Self::HostNotKnown { .. }
            | Self::NothingLeadsTo { .. }
            | Self::NotYetSuperseded { .. }
            | Self::TakenToExist { .. }
            | Self::TakenNotToExist { .. }
            | Self::NoCreationTime { .. } => Fault::Assumed,
            Self::NoBackend { .. } => Fault::NoBackend,
            Self::BackendTimeout { .. } | Self::Superseded { .. } | Self::KindIsGone { .. } => Fault::NoEffect,
            Self::OpenDefault {} => Fault::OpenDefault,
            Self::HiddenDoubt { .. } => Fault::HiddenDoubt,
            Self::OrderOfStore { .. } => Fault::OrderDecides,
        }
    }
}

impl From<Remark> for Phrase {
    fn from(remark: Remark) -> Self {
        let parameters = match serde_json::to_value(&remark) {
            Ok(Json::Object(parameters)) => parameters,
            _ => Map::new(),
        };
        Self::of_fault(remark.fault(), parameters, remark.text())
    }
}
