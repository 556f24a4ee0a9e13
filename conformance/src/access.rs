//! The authorization corpora: one adapter for each family.
//!
//! - [`world`]: the policies of a case behind the reader that reads everybody's, and questions to them
//! - [`judged`]: answers of the original system, and those of a correct one
//! - [`tables`], [`trees`]: the combining rules of XACML, alone and in sets
//! - [`administration`]: the seed's API, which only a server has
//! - the others: what stands around decisions

mod administration;
mod enforcement;
mod judged;
mod patterns;
mod seeding;
mod store;
mod tables;
mod trees;
mod world;

use crate::Adapter;
use crate::case::Case;
use crate::outcome::Outcome;

/// Which adapter reads which family.
pub(crate) const ADAPTERS: [(&str, Adapter); 7] = [
    ("buntime-docs", judged::run_documented),
    ("buntime-http", administration::run),
    ("buntime-pdp", judged::run_original),
    ("buntime-pep", around),
    ("buntime-probes", judged::run_probe),
    ("xacml-oasis", trees::run),
    ("xacml-tables", tables::run),
];

/// What stands around decisions; each case says by its fields what it is about.
fn around(case: &Case) -> anyhow::Result<Outcome> {
    if case.says("pattern") {
        patterns::run(case)
    } else if case.says("http") {
        enforcement::run(case)
    } else if case.says("call") {
        seeding::run_call(case)
    } else if case.says("ops") {
        store::run(case)
    } else {
        seeding::run(case)
    }
}
