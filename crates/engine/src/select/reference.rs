//! The naive twin of the family: plain maps of strings, every policy looked at, a full sort. Obviously right, and slow.
//!
//! It shares no code with the engine. Tests compare the two; benches print the ratio.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// Tags of an object, or what a selector wants (`*` is any value).
pub type Tags = BTreeMap<String, String>;

/// A policy as people write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaivePolicy {
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created: Option<i64>,
    /// Selectors of the caller.
    pub sources: Vec<Tags>,
    /// Selectors of the called one.
    pub destinations: Vec<Tags>,
}

/// A rung, by its name in a `PolicyKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveRung {
    /// `more-tags`
    MoreTags,
    /// `more-exact-tags`
    MoreExactTags,
    /// `fewer-wildcards`
    FewerWildcards,
    /// `newest`
    Newest,
    /// `oldest`
    Oldest,
    /// `name`
    Name,
}

/// Whether a selector matches tags.
pub fn matches(selector: &Tags, tags: &Tags) -> bool {
    selector.iter().all(|(key, wanted)| tags.get(key).is_some_and(|value| wanted == "*" || wanted == value))
}

/// All matching policies, best first.
pub fn ranking<'p>(
    policies: &'p [NaivePolicy],
    ladder: &[NaiveRung],
    sources: &[Tags],
    destinations: &[Tags],
) -> Vec<&'p NaivePolicy> {
    let mut matching: Vec<(&NaivePolicy, Counts)> = Vec::new();
    for policy in policies {
        let mut best: Option<Counts> = None;
        for source in policy.sources.iter().filter(|selector| sources.iter().any(|tags| matches(selector, tags))) {
            for destination in
                policy.destinations.iter().filter(|selector| destinations.iter().any(|tags| matches(selector, tags)))
            {
                let counts = Counts::of(source, destination);
                if best.is_none_or(|best| counts.compare(best, ladder).is_gt()) {
                    best = Some(counts);
                }
            }
        }
        matching.extend(best.map(|counts| (policy, counts)));
    }
    matching.sort_by(|(a, mine), (b, theirs)| {
        ladder
            .iter()
            .map(|rung| match rung {
                NaiveRung::Newest => b.created.cmp(&a.created),
                NaiveRung::Oldest => a.created.cmp(&b.created),
                NaiveRung::Name => a.name.cmp(&b.name),
                rung => theirs.compare(*mine, &[*rung]),
            })
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.name.cmp(&b.name))
    });
    matching.into_iter().map(|(policy, _)| policy).collect()
}

/// The one policy that stands.
pub fn winner<'p>(
    policies: &'p [NaivePolicy],
    ladder: &[NaiveRung],
    sources: &[Tags],
    destinations: &[Tags],
) -> Option<&'p NaivePolicy> {
    ranking(policies, ladder, sources, destinations).into_iter().next()
}

#[derive(Clone, Copy, Debug)]
struct Counts {
    exact: usize,
    wild: usize,
}

impl Counts {
    fn of(source: &Tags, destination: &Tags) -> Self {
        let wild = source.values().chain(destination.values()).filter(|value| *value == "*").count();
        Self { exact: source.len() + destination.len() - wild, wild }
    }

    fn compare(self, other: Self, ladder: &[NaiveRung]) -> Ordering {
        ladder
            .iter()
            .map(|rung| match rung {
                NaiveRung::MoreTags => (self.exact + self.wild).cmp(&(other.exact + other.wild)),
                NaiveRung::MoreExactTags => self.exact.cmp(&other.exact),
                NaiveRung::FewerWildcards => Reverse(self.wild).cmp(&Reverse(other.wild)),
                NaiveRung::Newest | NaiveRung::Oldest | NaiveRung::Name => Ordering::Equal,
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}
