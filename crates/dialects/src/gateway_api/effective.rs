//! The effective policy of a path.

use std::cmp::Ordering;
use std::sync::Arc;

use upheld_engine::merge::{Extent, Inherited, Side, Stance, Stanza, inherit};
use upheld_model::{Config, Content};

use super::policy::Policy;
use super::profiles::{Empty, Profile, SameLevel};

/// The effective policy of a path, least specific level first. A level names its policies by their places in `policies`;
/// origins are these places, too, and that of the object itself is the number of policies. All are of one kind.
pub fn effective(
    profile: &Profile,
    policies: &[Policy],
    levels: &[Vec<usize>],
    object: Option<&Arc<Config>>,
) -> Inherited {
    let mut stanzas = Vec::new();
    for level in levels {
        let stanza = |by: usize, wanted: Option<Side>| {
            let says = policies.get(by).into_iter().flat_map(|policy| &policy.says);
            let stanzas = says.map(move |saying| {
                let side = saying.side.unwrap_or(profile.bare.side);
                let bare = if saying.side.is_none() { profile.bare.extent } else { profile.extent };
                let stance = Stance { side, extent: saying.extent.unwrap_or(bare) };
                Stanza { by, config: counting(profile, side, &saying.config), stance }
            });
            stanzas.filter(move |stanza| wanted.is_none_or(|wanted| wanted == stanza.stance.side))
        };
        let oldest_first = oldest_first(policies, level);
        let newest_first = oldest_first.iter().rev();
        match profile.same_level {
            SameLevel::OlderOutside => stanzas.extend(oldest_first.iter().flat_map(|by| stanza(*by, None))),
            SameLevel::NewerOutside => stanzas.extend(newest_first.flat_map(|by| stanza(*by, None))),
            SameLevel::OlderWins => {
                stanzas.extend(newest_first.flat_map(|by| stanza(*by, Some(Side::Defaults))));
                stanzas.extend(oldest_first.iter().flat_map(|by| stanza(*by, Some(Side::Overrides))));
            }
        }
    }
    if let Some(object) = object {
        let stance = Stance { side: Side::Defaults, extent: Extent::Fields };
        let config = counting(profile, Side::Defaults, object);
        stanzas.push(Stanza { by: policies.len(), config, stance });
    }
    inherit(&profile.strategy, &stanzas)
}

/// The policies of a level, the oldest first. One that is attached twice counts once.
pub fn oldest_first(policies: &[Policy], level: &[usize]) -> Vec<usize> {
    let mut sorted = level.to_vec();
    let age = |a: &usize, b: &usize| match (policies.get(*a), policies.get(*b)) {
        (Some(a), Some(b)) => a.by_age(b),
        _ => Ordering::Equal,
    };
    sorted.sort_by(|a, b| age(a, b).then(a.cmp(b)));
    sorted.dedup();
    sorted
}

/// A configuration without what does not count.
fn counting(profile: &Profile, side: Side, config: &Arc<Config>) -> Arc<Config> {
    match (profile.empty, side) {
        (Empty::Nothing, Side::Defaults) => without_empty(config),
        (Empty::Nothing, Side::Overrides) | (Empty::Value, _) => config.clone(),
    }
}

fn without_empty(config: &Arc<Config>) -> Arc<Config> {
    let Content::Map(entries) = &config.content else { return config.clone() };
    let kept = entries.iter().filter(|(_, value)| !is_empty(value));
    let kept = kept.map(|(key, value)| (key.clone(), without_empty(value))).collect();
    Arc::new(Config { content: Content::Map(kept), at: config.at })
}

/// `false` is a value that somebody chose.
fn is_empty(value: &Config) -> bool {
    match &value.content {
        Content::Null => true,
        Content::Bool(_) => false,
        Content::Number(text) => text.parse() == Ok(0.0),
        Content::Text(text) => text.is_empty(),
        Content::List(items) => items.is_empty(),
        Content::Map(entries) => entries.is_empty(),
    }
}
