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
    /// `more-tags-in: sources`
    MoreTagsInSources,
    /// `newest`
    Newest,
    /// `oldest`
    Oldest,
    /// `name`
    Name,
}

/// The choices of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NaiveKind {
    /// How it ranks.
    pub ladder: Vec<NaiveRung>,
    /// `sees`: the only tag of a destination that is visible.
    pub sees: Option<String>,
    /// `empty: everything` of `sources`.
    pub empty_sources_match: bool,
    /// `counts: false` of `sources`.
    pub sources_do_not_count: bool,
    /// `split: sources`
    pub split_sources: bool,
}

/// Whether a selector matches tags.
pub fn matches(selector: &Tags, tags: &Tags) -> bool {
    selector.iter().all(|(key, wanted)| tags.get(key).is_some_and(|value| wanted == "*" || wanted == value))
}

/// All matching policies, best first; a policy whose sources are split may come more than once.
pub fn ranking<'p>(
    policies: &'p [NaivePolicy],
    kind: &NaiveKind,
    sources: &[Tags],
    destinations: &[Tags],
) -> Vec<&'p NaivePolicy> {
    pieces(policies, kind, sources, destinations).into_iter().map(|piece| piece.policy).collect()
}

/// The rung, by number, on which the winner goes before the best of another policy; one beyond the ladder where only identities
/// tell them apart.
pub fn margin(policies: &[NaivePolicy], kind: &NaiveKind, sources: &[Tags], destinations: &[Tags]) -> Option<usize> {
    let all = pieces(policies, kind, sources, destinations);
    let (winner, others) = all.split_first()?;
    let rival = others.iter().find(|piece| !std::ptr::eq(piece.policy, winner.policy))?;
    let differs = |rung: &NaiveRung| winner.on_rung(rival, *rung).is_ne();
    Some(kind.ladder.iter().position(differs).unwrap_or(kind.ladder.len()))
}

fn pieces<'p>(
    policies: &'p [NaivePolicy],
    kind: &NaiveKind,
    sources: &[Tags],
    destinations: &[Tags],
) -> Vec<Piece<'p>> {
    let mut matching: Vec<Piece<'p>> = Vec::new();
    let visible: Vec<Tags> = destinations.iter().map(|tags| kind.visible(tags)).collect();
    for policy in policies {
        for (number, selectors) in kind.pieces(policy).enumerate() {
            let mut best: Option<Counts> = None;
            for source in selectors.iter().filter(|selector| sources.iter().any(|tags| matches(selector, tags))) {
                for destination in
                    policy.destinations.iter().filter(|selector| visible.iter().any(|tags| matches(selector, tags)))
                {
                    let counted = if kind.sources_do_not_count { &Tags::new() } else { source };
                    let counts = Counts::of(counted, destination);
                    if best.is_none_or(|best| counts.compare(best, &kind.ladder).is_gt()) {
                        best = Some(counts);
                    }
                }
            }
            let first = selectors.first().map_or(0, Tags::len);
            matching.extend(best.map(|counts| Piece { policy, number, first, counts }));
        }
    }
    matching.sort_by(|a, b| a.compare(b, &kind.ladder));
    matching
}

/// The one policy that stands.
pub fn winner<'p>(
    policies: &'p [NaivePolicy],
    kind: &NaiveKind,
    sources: &[Tags],
    destinations: &[Tags],
) -> Option<&'p NaivePolicy> {
    ranking(policies, kind, sources, destinations).into_iter().next()
}

impl NaiveKind {
    fn visible(&self, tags: &Tags) -> Tags {
        let seen = |key: &String| self.sees.as_ref().is_none_or(|only| only == key);
        tags.iter().filter(|(key, _)| seen(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The source selectors of each entry of a policy.
    fn pieces<'p>(&self, policy: &'p NaivePolicy) -> impl Iterator<Item = &'p [Tags]> {
        static EVERYTHING: [Tags; 1] = [Tags::new()];
        let all_match = policy.sources.is_empty() && self.empty_sources_match && !self.split_sources;
        let sources: &[Tags] = if all_match { &EVERYTHING } else { &policy.sources };
        sources.chunks(if self.split_sources { 1 } else { sources.len().max(1) })
    }
}

struct Piece<'p> {
    policy: &'p NaivePolicy,
    number: usize,
    /// Tags of its first source selector.
    first: usize,
    counts: Counts,
}

impl Piece<'_> {
    /// Less is better.
    fn compare(&self, other: &Self, ladder: &[NaiveRung]) -> Ordering {
        let decided = ladder.iter().map(|rung| self.on_rung(other, *rung)).find(|order| order.is_ne());
        decided.unwrap_or_else(|| (&self.policy.name, self.number).cmp(&(&other.policy.name, other.number)))
    }

    fn on_rung(&self, other: &Self, rung: NaiveRung) -> Ordering {
        let (a, b) = (self.policy, other.policy);
        match rung {
            NaiveRung::Newest => b.created.cmp(&a.created),
            NaiveRung::Oldest => a.created.cmp(&b.created),
            NaiveRung::Name => a.name.cmp(&b.name),
            NaiveRung::MoreTagsInSources => other.first.cmp(&self.first),
            rung => other.counts.compare(self.counts, &[rung]),
        }
    }
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
                _ => Ordering::Equal,
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}
