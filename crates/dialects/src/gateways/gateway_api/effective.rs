//! The effective policy of a path that is given, without documents: every place lists its policies.

use std::sync::Arc;

use upheld_engine::hierarchy::{
    Effective, EntrySource, Hierarchy, Listed, OwnContent, OwnLayer, Question, Site, Usable,
};
use upheld_engine::merge::Merged;
use upheld_engine::{HierarchyFold, HierarchyKind, Levels, PolicyId, Scratch, Silent, ask};
use upheld_model::{Attachments, Config, NodeRef, Policy as Attached, PolicyContent, SourceId, Symbols};

use super::policy::{Policy, counting};
use super::profiles::Profile;

/// What holds on a path. Who says something is told by the places of policies; the object itself is the number of policies.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    answer: Effective,
    /// By place in the order of folding.
    speakers: Vec<usize>,
}

/// Something that one speaker lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Who lost.
    pub by: usize,
    /// To whom, in ascending order.
    pub to: Vec<usize>,
}

const NOWHERE: NodeRef = NodeRef { source: SourceId::FIRST, node: 0 };

/// The effective policy of a path, least specific level first. A level names its policies by their places in `policies`; all are
/// of one kind. `object` is what the target says itself.
pub fn effective(
    profile: &Profile,
    policies: &[Policy],
    levels: &[Vec<usize>],
    object: Option<&Arc<Config>>,
) -> Inherited {
    let mut symbols = Symbols::default();
    let word = symbols.intern("effective");
    let kind = HierarchyKind {
        group: word,
        reads: word,
        profile: None,
        rank: profile.ladder(&[]),
        ends: profile.ends(),
        fold: HierarchyFold::Wholes(profile.rules()),
        levels: Levels::Places,
        scopes: Vec::new(),
        places: Vec::new(),
        strategies: Vec::new(),
        unsaid: profile.unsaid(),
    };
    let mut hierarchy = Hierarchy::new(Arc::new(kind));
    let mut entries = Vec::new();
    for (place, policy) in policies.iter().enumerate() {
        let (namespace, name) = (symbols.intern(&policy.namespace), symbols.intern(&policy.name));
        let layers = policy.says.iter().map(|stanza| stanza.layer(profile.unsaid)).collect();
        let attachments = Attachments { layers, ..Attachments::default() };
        // Names need not be unique here, so each policy has a scope of its own.
        let scope = symbols.intern(&format!("{namespace:?}#{place}"));
        let attached = Attached {
            kind: word,
            scope,
            name,
            title: name,
            created: policy.created,
            at: NOWHERE,
            payload: None,
            says: PolicyContent::Attached(Arc::new(attachments)),
        };
        hierarchy.put_as(PolicyId::new(place), &attached, &policy.identity());
        entries.push(hierarchy.of_policy(scope, name).to_vec());
    }
    let own =
        object.map(|object| OwnLayer { says: OwnContent::Whole(counting(profile.unsaid.empty, object)), at: NOWHERE });
    let own: Vec<OwnLayer> = own.into_iter().collect();
    let at_level = |level: &Vec<usize>| -> Vec<Listed> {
        let policies = level.iter().filter_map(|place| entries.get(*place)).flatten();
        policies.map(|entry| Listed { entry: *entry, position: 0, at: NOWHERE }).collect()
    };
    let listed: Vec<Vec<Listed>> = levels.iter().rev().map(at_level).collect();
    let mut sites = vec![Site { scope: 0, level: 0, section: 0, looks: EntrySource::Own(&own) }];
    sites.extend((1..).zip(&listed).map(|(level, listed)| Site {
        scope: 1,
        level,
        section: 0,
        looks: EntrySource::Listed(listed),
    }));
    let question = Question { sites: &sites, levels: &[], omits: &[], omits_in: None, usable: &|_, _| Usable::Yes };
    let answer = ask(&hierarchy, &question, &mut Scratch::default(), &mut Silent);
    let speaker = |entry| hierarchy.entry(entry).map_or(policies.len(), |entry| entry.policy.index());
    let speakers = answer.order.iter().map(|member| speaker(member.entry)).collect();
    Inherited { answer, speakers }
}

impl Inherited {
    /// The value with its origins; `None` if nobody says anything.
    pub fn merged(&self) -> Option<&Merged> {
        self.answer.merged.as_ref()
    }

    /// The value alone.
    pub fn config(&self) -> Option<Arc<Config>> {
        self.merged().and_then(Merged::config)
    }

    /// Who is meant by a number in [`Self::merged`].
    pub fn speaker(&self, place: usize) -> usize {
        self.speakers.get(place).copied().unwrap_or(usize::MAX)
    }

    /// Whose words hold, in ascending order.
    pub fn origins(&self) -> Vec<usize> {
        let places = self.merged().map(Merged::contributors).unwrap_or_default();
        let mut origins: Vec<usize> = places.into_iter().map(|place| self.speaker(place)).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }

    /// Who lost something to whom, by loser.
    pub fn losses(&self) -> Vec<Loss> {
        let lost = self.answer.losses().map(|(_, lost)| (self.speaker(lost.by), self.speaker(lost.to)));
        let mut pairs: Vec<(usize, usize)> = lost.filter(|(loser, winner)| loser != winner).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let by_loser = pairs.chunk_by(|a, b| a.0 == b.0);
        let loss = |pairs: &[(usize, usize)]| {
            let by = pairs.first()?.0;
            Some(Loss { by, to: pairs.iter().map(|(_, winner)| *winner).collect() })
        };
        by_loser.filter_map(loss).collect()
    }
}

impl Policy {
    /// Namespace and name as one text. Compared as one, `a-b/x` comes before `a/x`.
    pub fn identity(&self) -> String {
        if self.namespace.is_empty() { self.name.to_string() } else { format!("{}/{}", self.namespace, self.name) }
    }
}
