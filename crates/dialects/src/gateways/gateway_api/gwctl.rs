//! What `gwctl` reads from a spec: `default` and `override`, and in a policy that is only merged with others also the rest.

use std::sync::Arc;

use upheld_model::{Config, Content};

use super::effective::{Inherited, effective};
use super::policy::{Policy, Side, Statement};
use super::profiles::Profile;

const DEFAULT: &str = "default";
const OVERRIDE: &str = "override";

/// A merged policy: the one whose identity it keeps, and its spec.
#[derive(Clone, Debug)]
pub struct MergedPolicy {
    /// The place of the innermost policy.
    pub identity: usize,
    /// Its spec with the origin of each field, `default` and `override` still apart.
    pub spec: Inherited,
}

/// A stanza that is not a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAMap {
    /// Which one.
    pub stanza: &'static str,
}

/// A spec as it takes part in a merge: everything gives way to what is inside, except `override`.
pub fn whole_spec(spec: &Arc<Config>) -> Vec<Statement> {
    let (overrides, others): (Vec<_>, Vec<_>) = spec.entries().iter().cloned().partition(|(key, _)| key == OVERRIDE);
    let map = |entries| Arc::new(Config { content: Content::Map(entries), at: spec.at });
    vec![Statement::on(Side::Defaults, map(others)), Statement::on(Side::Overrides, map(overrides))]
}

/// A spec as it takes part in an effective policy: nothing but the two stanzas.
pub fn stanzas(spec: &Config) -> Result<Vec<Statement>, NotAMap> {
    let mut says = Vec::new();
    for (stanza, side) in [(DEFAULT, Side::Defaults), (OVERRIDE, Side::Overrides)] {
        match spec.get(stanza) {
            Some(config) if matches!(config.content, Content::Map(_)) => says.push(Statement::on(side, config.clone())),
            Some(config) if config.content != Content::Null => return Err(NotAMap { stanza }),
            _ => {}
        }
    }
    Ok(says)
}

/// Merges policies of one kind, least specific level first. `None` if there are none.
pub fn merge(policies: &[Policy], levels: &[Vec<usize>]) -> Option<MergedPolicy> {
    let innermost = levels.iter().rev().find(|level| !level.is_empty())?;
    let age = |place: &usize| policies.get(*place).map(|policy| (policy.created, policy.identity()));
    let identity = innermost.iter().min_by_key(|place| age(place)).copied()?;
    Some(MergedPolicy { identity, spec: effective(&Profile::gwctl(), policies, levels, None) })
}
