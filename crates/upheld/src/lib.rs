//! Which policies apply, which one wins, what is the effective result, and why.
//!
//! `upheld` reads the policies that you already have and answers questions about them, with every loser, every reason and every
//! source line. The command line and the server of the same name are made of this library; it needs neither.
//!
//! ```toml
//! [dependencies]
//! upheld = { path = "../upheld/crates/upheld", default-features = false }
//! ```
//!
//! # One idea
//!
//! **A kind of policy is three choices: how it matches, how it ranks, how it resolves.** Kinds that choose alike are a family,
//! and all families are asked in the same way: read documents into [`Policies`], ask a [`Question`], look at the [`Report`]s
//! of the [`Answer`].
//!
//! # Select: the most specific policy wins
//!
//! Kuma's `TrafficLog` matches both ends of a connection by tags; more tags rank higher.
//!
//! ```
//! # use upheld::{Policies, Question};
//! let policies = Policies::from_text("
//! {type: TrafficLog, mesh: default, name: all, sources: [{match: {kuma.io/service: '*'}}], destinations: [{match: {kuma.io/service: '*'}}], conf: {backend: logstash}}
//! ---
//! {type: TrafficLog, mesh: default, name: web, sources: [{match: {kuma.io/service: web, cloud: aws}}], destinations: [{match: {kuma.io/service: backend}}], conf: {backend: splunk}}
//! ")?;
//! let question = Question::between("kuma.io/service=web,cloud=aws", "kuma.io/service=backend").kind("TrafficLog");
//! let report = &policies.explain(&question)?.reports[0];
//! assert_eq!(report.result["backend"], "splunk");
//! assert_eq!(report.candidates[1].reason.text, "fewer tags (2 against 3)");
//! # Ok::<(), upheld::Problems>(())
//! ```
//!
//! # Merge: layers become one configuration
//!
//! Kuma's `MeshTimeout` is laid over others field by field; each field says who sets it.
//!
//! ```
//! # use upheld::{Policies, Question};
//! let policies = Policies::from_text("
//! {type: Dataplane, mesh: default, name: web-1, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
//! ---
//! {type: MeshTimeout, mesh: default, name: base, spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 5s, idleTimeout: 1h}}]}}
//! ---
//! {type: MeshTimeout, mesh: default, name: fast, spec: {targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}}
//! ")?;
//! let report = &policies.explain(&Question::between("web-1", "kuma.io/service=backend").kind("MeshTimeout"))?.reports[0];
//! assert_eq!((&report.result["connectionTimeout"], &report.result["idleTimeout"]), (&"1s".into(), &"1h".into()));
//! assert_eq!(report.fields[0].from[0].policy, "fast");
//! # Ok::<(), upheld::Problems>(())
//! ```
//!
//! Policies of gateways are laid over each other, too: here a policy that a rule names, and one that names the rule.
//!
//! ```
//! # use upheld::{Policies, Question};
//! let policies = Policies::from_paths(&["../../examples/kgateway-policy-application-and-merging"])?;
//! let report = &policies.explain(&Question::about("httproute/example-route").kind("TrafficPolicy"))?.reports[0];
//! let cors = &report.fields[0];
//! assert_eq!(cors.from[0].policy, "default/extensionref-policy");
//! assert_eq!(cors.over[0].policy, "default/policy-with-section-name");
//! # Ok::<(), upheld::Problems>(())
//! ```
//!
//! # Decide: permit or deny
//!
//! Access policies vote on a request, and an algorithm combines their votes.
//!
//! ```
//! # use upheld::{Policies, Question, Verdict};
//! let policies = Policies::from_text("
//! - {id: admins, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: [{method: '*'}]}
//! - {id: audit, effect: deny, subjects: [{role: '*'}], resources: [{path: /api/audit/**}], actions: [{method: DELETE}]}
//! ")?;
//! assert_eq!(policies.verdict(&Question::may("role=admin", "GET", "/api/audit/123"))?, Verdict::Permit);
//! assert_eq!(policies.verdict(&Question::may("role=admin", "DELETE", "/api/audit/123"))?, Verdict::Deny);
//! # Ok::<(), upheld::Problems>(())
//! ```
//!
//! # Comply: related objects agree in their tags
//!
//! ```
//! # use upheld::{Policies, Question, Verdict};
//! let policies = Policies::from_text("
//! {kind: Compliance, objects: [{ref: customer/shop, tags: {environment: [dev, qa]}}, {ref: project/checkout, workspace: shop, tags: {environment: prod}}]}
//! ---
//! {type: MeshPolicy, name: environments, a: {kind: meshProject, tag: environment}, b: {kind: meshCustomer, tag: environment}}
//! ")?;
//! let report = &policies.explain(&Question::about("project/checkout~workspace/shop"))?.reports[0];
//! assert_eq!((report.verdict, report.policies[0].as_str()), (Verdict::Hard, "environments"));
//! # Ok::<(), upheld::Problems>(())
//! ```
//!
//! # What else there is
//!
//! - [`Policies::resolve`] gives just the result, [`Policies::document`] the JSON of the command line, [`Policies::ask`] a
//!   [`World`] with every other question: audits and fixes ([`compliance`]), tests ([`testing`]), lists ([`inventory`]).
//! - [`Policies::put`] and [`Policies::remove`] make the next policies out of these, and share what did not change.
//! - Whatever is wrong is in [`Problems`]: all of it, with file, line, column and what to do next. Broken documents answer nothing.
//! - What dialects are reported besides the documents goes into [`Choices::with`]; [`dialects`] has what there is.
//! - [`Policies::decider`] decides typed requests without an allocation, for enforcement points ([`access`]).
//!
//! Features: `cli` builds the program, `server` its commands `serve`, `export` and `import`. Both are on by default, and the
//! library needs neither.

mod decider;
mod policies;
mod problems;
mod question;

pub use decider::{Decider, Decision};
pub use policies::Policies;
pub use problems::Problems;
pub use question::Question;
pub use serde_json::{Value as Json, json};
pub use upheld_answers::report::{self, Candidate, Family, Field, Outcome, Report, Verdict};
pub use upheld_answers::{Answer, Options, Refused, Resolution, Resolved, World};
pub use upheld_answers::{compliance, formats, inventory, testing};
pub use upheld_dialects as dialects;
pub use upheld_engine::Snapshot;
pub use upheld_loader::load::Choices;
pub use upheld_loader::{Content, Format, Input, discover, discover_at};
pub use upheld_model::{self as model, Diagnostic, Fault, Severity, State, Timestamp};

/// The parts of a request, as a [`Decider`] takes them.
pub mod access {
    pub use upheld_answers::report::Duty;
    pub use upheld_engine::decide::{
        Action, Environment, Fact, Facts, Maybe, Names, Number, Outcome, Request, Resource, Subject,
    };
}

/// The programs in the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
mod documentation {}
