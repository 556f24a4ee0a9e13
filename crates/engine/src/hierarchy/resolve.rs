//! From hits to what holds: ranked, grouped by scope and level, folded group by group; the witness hears what became of each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};
use upheld_model::{Code, Config, LayerContent, LayerMerge, MergeAction, Param, Reason, State, Uniques};

use super::answer::{Effective, Field, InScope, Member};
use super::fields::{self, FieldLayer, Folded, Level, Rules};
use super::index::{Attachment, Entry, Hierarchy};
use super::question::{EntrySource, OwnContent, OwnLayer, Question, Usable};
use super::rank::{Perspective, Ranked};
use super::scopes::{self, Key};
use super::wholes::{self, Stack, Whole, WholeJoin, WholeRules};
use crate::ask::{EntryId, Hit, Place};
use crate::kind::HierarchyFold;
use crate::witness::Witness;

impl Hierarchy {
    pub(super) fn resolved<W: Witness<Attachment>>(
        &self,
        question: &Question<'_>,
        hits: &mut Vec<Hit<Attachment>>,
        witness: &mut W,
    ) -> Effective {
        // Asked once for each: to find out may take a look at other documents.
        let mut broken: FxHashSet<(EntryId, Place)> = FxHashSet::default();
        hits.retain(|hit| match self.usable(question, hit) {
            Usable::Off(reason) => {
                witness.off(hit.entry, || reason);
                false
            }
            Usable::Broken(_) => {
                broken.insert((hit.entry, hit.place));
                true
            }
            Usable::Yes => true,
        });
        self.rank(question, hits);
        let order: Vec<Member> =
            hits.iter().map(|hit| Member { entry: hit.entry, place: hit.place, attachment: hit.measure }).collect();
        let is_broken = |hit: &Hit<Attachment>| broken.contains(&(hit.entry, hit.place));
        let broken = hits.iter().enumerate().filter(|(_, hit)| is_broken(hit)).map(|(place, _)| place).collect();
        let mut answer = Effective { order, broken, ..Effective::default() };
        if answer.broken.is_empty() {
            match &self.kind.fold {
                HierarchyFold::Fields { own, policies } => self.fold_fields(question, own, policies, &mut answer),
                HierarchyFold::Wholes(rules) => self.fold_wholes(question, rules, &mut answer),
            }
        }
        if W::RECORDS {
            self.tell(question, hits, &answer, witness);
        }
        answer
    }

    /// Whether an entry can be used where it is; what a target says itself can.
    pub(super) fn usable(&self, question: &Question<'_>, hit: &Hit<Attachment>) -> Usable {
        self.entry(hit.entry).map_or(Usable::Yes, |entry| (question.usable)(entry, hit.place))
    }

    /// Puts hits into the order of folding. An entry that is at one level twice counts once, where it ranks better.
    fn rank(&self, question: &Question<'_>, hits: &mut Vec<Hit<Attachment>>) {
        let mut ranked: Vec<(Hit<Attachment>, Ranked<'_>)> =
            hits.iter().filter_map(|hit| Some((*hit, self.ranked(question, hit)?))).collect();
        ranked.sort_by(|(one_hit, one), (other_hit, other)| {
            self.compare(one, other)
                .then_with(|| (one_hit.place, one_hit.entry).cmp(&(other_hit.place, other_hit.entry)))
        });
        if ranked.len() > 1 {
            let mut seen = Uniques::default();
            ranked.retain(|(hit, ranked)| seen.is_new((hit.entry, ranked.site.scope, ranked.site.level)));
        }
        hits.clear();
        hits.extend(ranked.into_iter().map(|(hit, _)| hit));
    }

    fn fold_fields(&self, question: &Question<'_>, own: &Rules, policies: &Rules, answer: &mut Effective) {
        let site = |member: &Member| question.site(member.place.0 as usize);
        let scope = |member: &Member| site(member).map(|site| site.scope);
        let level = |member: &Member| site(member).map(|site| site.level);
        let own_words = self.own_words(question, &answer.order);
        let count = answer.order.chunk_by(|a, b| scope(a) == scope(b)).count();
        let mut scopes: Vec<InScope> = Vec::with_capacity(count);
        let mut first = 0;
        for group in answer.order.chunk_by(|a, b| scope(a) == scope(b)) {
            let members = first..first + group.len();
            let mut levels: Vec<Level<'_>> = Vec::new();
            let mut rules = policies;
            for group in group.chunk_by(|a, b| level(a) == level(b)) {
                let mut layers = Vec::with_capacity(group.len());
                for (by, member) in (first..).zip(group) {
                    let fields = match self.entry(member.entry) {
                        Some(entry) => policy_fields(entry),
                        None => {
                            rules = own;
                            own_words.of(by)
                        }
                    };
                    layers.push(FieldLayer { by, fields: Cow::Borrowed(fields) });
                }
                first += group.len();
                let number = group.first().and_then(level).unwrap_or_default();
                levels.push(Level { layers, inheritance: question.level(number).inheritance });
            }
            if let Some(scope) = group.first().and_then(scope) {
                scopes.push(InScope { scope, members, folded: fields::fold(rules, &levels) });
            }
        }
        // What a target says itself is behind all entries, each part under a number of its own.
        let who = |place: usize| answer.order.get(place).map_or(EntryId::new(usize::MAX), |member| member.entry);
        let key = |name| own_words.parts.get(name).map_or((name, None), Key::borrowed);
        let named = || {
            scopes.iter().map(|own| {
                let meant = own.folded.iter().filter(|(name, _)| !question.omits_in(own.scope, name));
                meant.map(|(name, joined)| (key(name), joined))
            })
        };
        let most = scopes.iter().map(|own| own.folded.len()).sum();
        let apart = |name: &str| policies.apart(name);
        let is_omitted = |name: &str| question.omits.contains(&name);
        let fields = scopes::across(named(), most, apart, who, |name| !is_omitted(name));
        if !question.omits.is_empty() {
            answer.omitted = scopes::across(named(), 0, apart, who, is_omitted);
        }
        if question.omits_in.is_some() {
            let there = scopes.iter().map(|own| {
                let omitted = own.folded.iter().filter(|(name, _)| question.omits_in(own.scope, name));
                omitted.map(|(name, joined)| (key(name), joined))
            });
            let omitted = scopes::across(there, 0, apart, who, |_| true);
            answer.omitted.extend(omitted);
        }
        answer.fields = fields;
        answer.scopes = scopes;
    }

    /// What the target says itself, by place in the order of folding.
    fn own_words(&self, question: &Question<'_>, order: &[Member]) -> OwnWords {
        let mut words = OwnWords::default();
        for (place, member) in order.iter().enumerate().filter(|(_, member)| self.entry(member.entry).is_none()) {
            let Some(OwnContent::Fields(own)) = own_layer(question, member).map(|layer| &layer.says) else { continue };
            let mut fields = Vec::with_capacity(own.len());
            for (name, part, value) in own {
                let whole = part.as_ref().map_or_else(|| name.clone(), |part| format_smolstr!("{name}.{part}"));
                words.parts.insert(whole.clone(), Key { name: name.clone(), part: part.clone() });
                fields.push((whole, value.clone()));
            }
            words.said.insert(place, fields);
        }
        words
    }

    fn fold_wholes(&self, question: &Question<'_>, rules: &WholeRules, answer: &mut Effective) {
        let scope = |member: &Member| question.site(member.place.0 as usize).map(|site| site.scope);
        let numbered: Vec<(usize, &Member)> = answer.order.iter().enumerate().collect();
        let mut stack = Stack::default();
        // Where the nearer one says how it meets the wider, what the target says itself stands aside: it lies over whatever they
        // come to.
        let apart = rules.across == Some(WholeJoin::AsTheBetterSays);
        let (own, numbered): (Vec<_>, Vec<_>) =
            numbered.into_iter().partition(|(_, member)| apart && self.entry(member.entry).is_none());
        for group in numbered.chunk_by(|(_, a), (_, b)| rules.across.is_none() || scope(a) == scope(b)) {
            let wholes = group.iter().filter_map(|(by, member)| self.whole(question, *by, member));
            stack.add(rules.across.unwrap_or_default(), Stack::within(rules.within, wholes));
        }
        let own = own.iter().filter_map(|(by, member)| self.whole(question, *by, member)).collect();
        let (merged, hidden) = stack.finish(own, &rules.strategies);
        answer.fields = wholes::fields(merged.as_ref());
        (answer.merged, answer.hidden) = (merged, hidden);
    }

    fn whole(&self, question: &Question<'_>, by: usize, member: &Member) -> Option<Whole> {
        let Some(entry) = self.entry(member.entry) else {
            let OwnContent::Whole(config) = &own_layer(question, member)?.says else { return None };
            let config = config.clone();
            // Others may fill its gaps.
            let meets = Some(LayerMerge { act: MergeAction::KeepOver, strategy: 0 });
            return Some(Whole { by, entry: member.entry, config, merged: None, meets });
        };
        let layer = entry.says()?;
        let LayerContent::Whole { config, merged } = &layer.says else { return None };
        Some(Whole { by, entry: member.entry, config: config.clone(), merged: merged.clone(), meets: layer.meets })
    }

    fn tell<W: Witness<Attachment>>(
        &self,
        question: &Question<'_>,
        hits: &[Hit<Attachment>],
        answer: &Effective,
        witness: &mut W,
    ) {
        if !answer.broken.is_empty() {
            for hit in hits {
                witness.state(hit, State::Off, || match self.usable(question, hit) {
                    Usable::Broken(reason) => reason,
                    Usable::Yes | Usable::Off(_) => Reason::new(Code::OffDiscarded, &[]),
                });
            }
            return;
        }
        let contributors = answer.contributors();
        let losses: Vec<_> = answer.losses().map(|(_, lost)| lost).collect();
        for (place, hit) in hits.iter().enumerate() {
            let fields = || answer.fields.iter().filter(|field| field.by.contains(&place)).count();
            if contributors.as_slice() == [place] {
                let beaten = losses.iter().filter(|lost| lost.to == place).min_by_key(|lost| lost.by);
                if let Some(separation) = beaten.and_then(|lost| self.separation(question, answer, place, lost.by)) {
                    witness.decided(separation.rung);
                }
                witness.state(hit, State::Won, || match beaten {
                    Some(lost) => self.because(question, answer, place, lost.by, lost.exception, Perspective::Winner),
                    None => Reason::new(Code::MergeOnly, &[]),
                });
            } else if contributors.contains(&place) {
                let fields = i64::try_from(fields()).unwrap_or(i64::MAX);
                witness.state(hit, State::Kept, || Reason::new(Code::MergeSets, &[Param::Number(fields)]));
            } else {
                let lost = losses.iter().find(|lost| lost.by == place);
                witness.state(hit, State::Lost, || match lost {
                    Some(lost) => self.why_lost(question, answer, lost),
                    None => Reason::new(Code::MergeSilent, &[]),
                });
            }
        }
    }
}

fn policy_fields(entry: &Entry) -> &[(SmolStr, Arc<Config>)] {
    match entry.says().map(|layer| &layer.says) {
        Some(LayerContent::Fields(fields)) => fields,
        Some(LayerContent::Whole { .. }) | None => &[],
    }
}

/// What a target says itself, under names that tell parts apart.
#[derive(Debug, Default)]
struct OwnWords {
    /// By place in the order of folding.
    said: BTreeMap<usize, Vec<(SmolStr, Arc<Config>)>>,
    /// The part of a field that such a name means.
    parts: BTreeMap<SmolStr, Key>,
}

impl OwnWords {
    fn of(&self, place: usize) -> &[(SmolStr, Arc<Config>)] {
        self.said.get(&place).map_or(&[], |fields| fields)
    }
}

fn own_layer<'q>(question: &Question<'q>, member: &Member) -> Option<&'q OwnLayer> {
    match question.site(member.place.0 as usize)?.looks {
        EntrySource::Own(layers) => layers.get(member.attachment.position as usize),
        EntrySource::Object { .. } | EntrySource::Listed(_) => None,
    }
}

impl Effective {
    /// What holds in one scope by itself.
    pub fn in_scope(&self, scope: u8) -> Option<&Folded> {
        self.scopes.iter().find(|known| known.scope == scope).map(|known| &known.folded)
    }

    /// A field by its name, and the part of it that is meant.
    pub fn field(&self, name: &str, part: Option<&str>) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name && field.part.as_deref() == part)
    }
}
