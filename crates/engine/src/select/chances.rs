//! What can ever become of a policy, whatever objects there are.
//!
//! The smallest question that a selector for each side matches has exactly their tags. Whatever matches there matches at every
//! question with more tags as well, and ranks depend on selectors alone: a policy that does not stand at one of its own smallest
//! questions stands nowhere.

use rustc_hash::FxHashMap;
use upheld_model::{Code, Reason, Side, Sym, TagSet, Want};

use super::{Question, Select, Specificity};
use crate::ask::{EntryId, Family, Hit, Scratch, gather, settle};
use crate::kind::Resolve;
use crate::snapshot::PolicyId;
use crate::witness::Silent;
use crate::work;

/// So many smallest questions of one policy are asked; beyond that, nothing is said about it.
const MOST_QUESTIONS: usize = 256;

/// So many pairs of policies are asked where they meet; beyond that, ties between them may be missing.
const MOST_JOINS: usize = 100_000;

/// What becomes of a policy at its smallest questions.
#[derive(Clone, Debug)]
pub struct Chance {
    /// The policy.
    pub policy: PolicyId,
    /// How many smallest questions it has.
    pub questions: usize,
    /// At how many it matches: none if it wants what its kind does not see.
    pub matches: usize,
    /// At how many it stands.
    pub stands: usize,
    /// Who stands in its place, each once.
    pub instead: Vec<PolicyId>,
    /// Whom it beats by something that says nothing about the matter: their names, or when they were made.
    pub ties: Vec<Tie>,
    /// Who would stand in its place, and stands back because of what it is about: each takes all that it says along.
    pub heirs: Vec<PolicyId>,
    /// Whom it beats by the number of its tags, though they name more exact values.
    pub outranked: Vec<Outranked>,
}

/// A policy that is beaten by one with more tags and fewer exact values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outranked {
    /// The one that gives way.
    pub policy: PolicyId,
    /// How many exact values the winner names.
    pub mine: usize,
    /// How many it names itself.
    pub theirs: usize,
}

/// Two policies that only an arbitrary rung tells apart.
#[derive(Clone, Debug)]
pub struct Tie {
    /// The one that gives way.
    pub loser: PolicyId,
    /// What tells them apart.
    pub reason: Reason,
}

impl Select {
    /// What can become of each policy, by identity; nothing where all that match count.
    pub fn chances(&self) -> Vec<Chance> {
        if self.kind.resolve == Resolve::All {
            return Vec::new();
        }
        let (mut all, mut scratch): (Vec<Chance>, Scratch<Self>) = (Vec::new(), Scratch::default());
        for id in self.entries() {
            let Some(entry) = self.entry(id) else { continue };
            let place = all.iter().rposition(|chance| chance.policy == entry.policy).unwrap_or_else(|| {
                all.push(Chance::none(entry.policy));
                all.len() - 1
            });
            let Some(chance) = all.get_mut(place) else { continue };
            let [sources, destinations] = Side::BOTH.map(|side| self.smallest(id, side));
            for source in &sources {
                for destination in &destinations {
                    if chance.questions < MOST_QUESTIONS {
                        let parts = |tags: &Option<TagSet>| tags.clone().into_iter().collect::<Vec<_>>();
                        let (source, destination) = (parts(source), parts(destination));
                        let question = Question { source: Some(&source), destination: Some(&destination) };
                        self.try_at(&question, &mut scratch, chance);
                    }
                }
            }
        }
        all.retain(|chance| chance.questions < MOST_QUESTIONS);
        self.add_joined_ties(&mut all, &mut scratch);
        self.add_joined_outranked(&mut all, &mut scratch);
        all
    }

    /// Two policies may also meet where one has more tags, and the other more exact values.
    fn add_joined_outranked(&self, all: &mut [Chance], scratch: &mut Scratch<Self>) {
        let meant: Vec<Meant> = self.entries().flat_map(|id| self.meant(id)).collect();
        let mut asked = 0;
        for one in meant.iter().filter(|one| one.tags() > one.exact()) {
            let beaten =
                |other: &&Meant| other.policy != one.policy && other.tags() < one.tags() && other.exact() > one.exact();
            for other in meant.iter().filter(beaten) {
                let Some(meeting) = Meeting::of(one, other) else { continue };
                asked += 1;
                if asked > MOST_JOINS {
                    return;
                }
                if let Some(chance) = all.iter_mut().find(|chance| chance.policy == one.policy) {
                    let met = self.chance_at(&meeting, one.policy, scratch);
                    let is_new = |new: &Outranked| chance.outranked.iter().all(|own| own.policy != new.policy);
                    let new: Vec<Outranked> = met.outranked.into_iter().filter(is_new).collect();
                    chance.outranked.extend(new);
                }
            }
        }
    }

    /// All pairs of selectors of an entry, one for each side.
    fn meant(&self, id: EntryId) -> Vec<Meant> {
        let Some(entry) = self.entry(id) else { return Vec::new() };
        let [source, destination] = entry.lists;
        let mut all = Vec::new();
        for (from, ..) in self.side(Side::Source).list(source) {
            for (to, ..) in self.side(Side::Destination).list(destination) {
                all.push(Meant { policy: entry.policy, wants: [from.into(), to.into()] });
            }
        }
        all
    }

    /// Two policies that are about different connections may meet at those that both are about: the smallest of these has the tags
    /// of both. Only selectors of one rank can tie there.
    fn add_joined_ties(&self, all: &mut [Chance], scratch: &mut Scratch<Self>) {
        let mut by_rank: FxHashMap<(u64, &[i64]), Vec<Meant>> = FxHashMap::default();
        for id in self.entries() {
            let Some(entry) = self.entry(id) else { continue };
            let [source, destination] = entry.lists;
            for (from, _, from_rank) in self.side(Side::Source).list(source) {
                for (to, _, to_rank) in self.side(Side::Destination).list(destination) {
                    let meant = Meant { policy: entry.policy, wants: [from.into(), to.into()] };
                    by_rank.entry((from_rank + to_rank, &entry.fixed)).or_default().push(meant);
                }
            }
        }
        let mut asked = 0;
        let mut ranks: Vec<_> = by_rank.into_values().collect();
        ranks.sort_by_key(|meant| meant.first().map(|first| first.policy));
        let rivals = ranks.iter().map(|meant| (meant, Rivals::of(meant)));
        let ones = rivals.flat_map(|(meant, rivals)| {
            let after = meant.iter().enumerate().map(move |(place, one)| (one, rivals.after(place, one)));
            after.map(move |(one, places)| (one, places.into_iter().filter_map(|place| meant.get(place))))
        });
        for (one, others) in ones {
            for other in others.filter(|other| other.policy != one.policy) {
                work::step();
                let Some(meeting) = Meeting::of(one, other) else { continue };
                asked += 1;
                if asked > MOST_JOINS {
                    return;
                }
                let winner = crate::ask::ask(self, &meeting.question(), scratch, &mut Silent).winner;
                let winner = winner.and_then(|winner| self.entry(winner)).map(|entry| entry.policy);
                for policy in [one.policy, other.policy].into_iter().filter(|policy| Some(*policy) == winner) {
                    if let Some(chance) = all.iter_mut().find(|chance| chance.policy == policy) {
                        let met = self.chance_at(&meeting, policy, scratch);
                        let is_new = |tie: &Tie| chance.ties.iter().all(|known| known.loser != tie.loser);
                        let new: Vec<Tie> = met.ties.into_iter().filter(is_new).collect();
                        chance.ties.extend(new);
                    }
                }
            }
        }
    }

    /// The policies that match some pair of these ends: what one side can have does not depend on the other.
    pub fn matching_policies<'e>(
        &self,
        sources: impl Iterator<Item = &'e [TagSet]>,
        destinations: impl Iterator<Item = &'e [TagSet]>,
    ) -> Vec<PolicyId> {
        let mut lists =
            [vec![false; self.side(Side::Source).lists()], vec![false; self.side(Side::Destination).lists()]];
        let [of_sources, of_destinations] = &mut lists;
        let mut found = Vec::new();
        let mut mark = |side: Side, parts: &[TagSet], known: &mut Vec<bool>| {
            self.side(side).matching(parts, &mut found);
            for matching in &found {
                if let Some(known) = known.get_mut(matching.list.index()) {
                    *known = true;
                }
            }
        };
        sources.for_each(|parts| mark(Side::Source, parts, of_sources));
        destinations.for_each(|parts| mark(Side::Destination, parts, of_destinations));
        let is_marked = |known: &[bool], list: usize| known.get(list).copied().unwrap_or(false);
        let mut policies: Vec<PolicyId> = (self.entries())
            .filter_map(|id| self.entry(id))
            .filter(|entry| {
                let [source, destination] = entry.lists;
                is_marked(of_sources, source.index()) && is_marked(of_destinations, destination.index())
            })
            .map(|entry| entry.policy)
            .collect();
        policies.dedup();
        policies
    }

    /// What becomes of a policy where it meets another one.
    fn chance_at(&self, meeting: &Meeting, policy: PolicyId, scratch: &mut Scratch<Self>) -> Chance {
        let mut met = Chance::none(policy);
        self.try_at(&meeting.question(), scratch, &mut met);
        met
    }

    fn try_at(&self, question: &Question<'_>, scratch: &mut Scratch<Self>, chance: &mut Chance) {
        chance.questions += 1;
        // Hits of all entries are wanted, also of those that are as good as the best but for their names.
        gather(self, question, scratch, &mut crate::witness::Matched::default());
        let hits: Vec<Hit<_>> = scratch.hits().to_vec();
        let policy_of = |entry: EntryId| self.entry(entry).map(|entry| entry.policy);
        let own = |hit: &&Hit<_>| policy_of(hit.entry) == Some(chance.policy);
        if !hits.iter().any(|hit| own(&hit)) {
            return;
        }
        chance.matches += 1;
        let winner = settle(self, question, scratch, &mut Silent).winner;
        let Some(winning) = winner.and_then(|winner| hits.iter().find(|hit| hit.entry == winner)) else { return };
        let winner = policy_of(winning.entry);
        if winner != Some(chance.policy) {
            let new = winner.filter(|winner| !chance.instead.contains(winner));
            chance.instead.extend(new);
            return;
        }
        chance.stands += 1;
        for hit in hits.iter().filter(|hit| !own(hit)) {
            let Some((_, reason)) = self.separation(winning, hit) else { continue };
            let loser = policy_of(hit.entry).filter(|loser| chance.ties.iter().all(|tie| tie.loser != *loser));
            if let (Some(loser), true) = (loser, is_arbitrary(reason.code)) {
                chance.ties.push(Tie { loser, reason });
            }
            let [mine, theirs] = [winning, hit].map(|hit| usize::from(hit.measure.exact));
            if let (Code::SelectMoreTags, true, Some(policy)) = (reason.code, theirs > mine, policy_of(hit.entry))
                && chance.outranked.iter().all(|known| known.policy != policy)
            {
                chance.outranked.push(Outranked { policy, mine, theirs });
            }
        }
        self.add_heir(question, winning, hits.iter().filter(|hit| !own(hit)).copied().collect(), chance);
    }

    /// Who stands without a policy, if it is not by name or age alone that it stands back.
    fn add_heir(
        &self,
        question: &Question<'_>,
        winning: &Hit<Specificity>,
        mut rest: Vec<Hit<Specificity>>,
        chance: &mut Chance,
    ) {
        let others = rest.clone();
        let heir = self.resolve(question, &mut <Self as Family>::Scratch::default(), &mut rest, &mut Silent).winner;
        let Some(hit) = heir.and_then(|heir| others.iter().find(|hit| hit.entry == heir)) else { return };
        let policy = self.entry(hit.entry).map(|entry| entry.policy);
        let separated = self.separation(winning, hit).is_some_and(|(_, reason)| !is_arbitrary(reason.code));
        chance.heirs.extend(policy.filter(|policy| separated && !chance.heirs.contains(policy)));
    }

    /// The tags of each selector of an entry, with values that nobody names in place of wildcards; nothing at all where the kind
    /// does not look at the side.
    fn smallest(&self, id: EntryId, side: Side) -> Vec<Option<TagSet>> {
        let Some(entry) = self.entry(id) else { return Vec::new() };
        if self.kind.side(side).is_none() {
            return vec![Some(TagSet::default())];
        }
        let [source, destination] = entry.lists;
        let list = if side == Side::Source { source } else { destination };
        let fresh = Sym::MAX;
        let value = |want: Want| match want {
            Want::Exactly(value) => value,
            Want::Any => fresh,
        };
        let selectors = self.side(side).list(list);
        let tags = selectors.map(|(wants, ..)| TagSet::new(wants.iter().map(|(key, want)| (*key, Some(value(*want))))));
        tags.map(Some).collect()
    }
}

/// One selector for each side.
struct Meant {
    policy: PolicyId,
    wants: [Wanted; 2],
}

type Wanted = Box<[(Sym, Want)]>;

impl Meant {
    /// How many tags both sides want.
    fn tags(&self) -> usize {
        self.wants.iter().map(|wants| wants.len()).sum()
    }

    /// How many of them with one value.
    fn exact(&self) -> usize {
        self.wants.iter().flatten().filter(|(_, want)| matches!(want, Want::Exactly(_))).count()
    }

    fn side(&self, side: Side) -> &[(Sym, Want)] {
        let [source, destination] = &self.wants;
        if side == Side::Source { source } else { destination }
    }
}

/// The members of a group by what they want of one tag: those that want different values of it never meet.
#[derive(Default)]
struct Rivals {
    /// The tag that most of them want with one value, with the end that it is of.
    tag: Option<(Side, Sym)>,
    by_value: FxHashMap<Sym, Vec<usize>>,
    /// Those that want no one value of it.
    open: Vec<usize>,
}

impl Rivals {
    fn of(meant: &[Meant]) -> Self {
        let mut known: FxHashMap<(Side, Sym), usize> = FxHashMap::default();
        for (one, side) in meant.iter().flat_map(|one| Side::BOTH.map(|side| (one, side))) {
            for (key, want) in one.side(side) {
                *known.entry((side, *key)).or_default() += usize::from(matches!(want, Want::Exactly(_)));
            }
        }
        let tag = known.into_iter().max_by_key(|((side, key), count)| (*count, *side, *key));
        let mut rivals = Self { tag: tag.map(|(tag, _)| tag), ..Self::default() };
        for (place, one) in meant.iter().enumerate() {
            match rivals.value(one) {
                Some(value) => rivals.by_value.entry(value).or_default().push(place),
                None => rivals.open.push(place),
            }
        }
        rivals
    }

    fn value(&self, one: &Meant) -> Option<Sym> {
        let (side, wanted) = self.tag?;
        one.side(side).iter().find_map(|(key, want)| match want {
            Want::Exactly(value) if *key == wanted => Some(*value),
            _ => None,
        })
    }

    /// Those after a place that the one there may meet, in order.
    fn after(&self, place: usize, one: &Meant) -> Vec<usize> {
        let mut after: Vec<usize> = match self.value(one) {
            Some(value) => self.by_value.get(&value).into_iter().flatten().copied().collect(),
            None => self.by_value.values().flatten().copied().collect(),
        };
        after.extend(&self.open);
        after.retain(|known| *known > place);
        after.sort_unstable();
        after
    }
}

/// The smallest question that two policies are both about.
struct Meeting {
    ends: [[TagSet; 1]; 2],
}

impl Meeting {
    /// Nothing if they never meet.
    fn of(one: &Meant, other: &Meant) -> Option<Self> {
        let [source, destination] = Side::BOTH.map(|side| joined(one.side(side), other.side(side)));
        Some(Self { ends: [[source?], [destination?]] })
    }

    fn question(&self) -> Question<'_> {
        let [source, destination] = &self.ends;
        Question { source: Some(source), destination: Some(destination) }
    }
}

/// The fewest tags that two selectors match; nothing if they want different values of one.
fn joined(one: &[(Sym, Want)], other: &[(Sym, Want)]) -> Option<TagSet> {
    let mut tags: Vec<(Sym, Option<Sym>)> = Vec::with_capacity(one.len() + other.len());
    for (key, want) in one.iter().chain(other) {
        let known = tags.iter_mut().find(|(known, _)| known == key);
        match (known, want) {
            (Some((_, Some(value))), Want::Exactly(wanted)) if *value == Sym::MAX => *value = *wanted,
            (Some((_, Some(value))), Want::Exactly(wanted)) if value != wanted => return None,
            (Some(_), _) => {}
            (None, Want::Exactly(wanted)) => tags.push((*key, Some(*wanted))),
            (None, Want::Any) => tags.push((*key, Some(Sym::MAX))),
        }
    }
    Some(TagSet::new(tags))
}

impl Chance {
    fn none(policy: PolicyId) -> Self {
        Self {
            policy,
            questions: 0,
            matches: 0,
            stands: 0,
            instead: Vec::new(),
            ties: Vec::new(),
            heirs: Vec::new(),
            outranked: Vec::new(),
        }
    }
}

/// Whether a reason says nothing about the matter itself.
fn is_arbitrary(code: Code) -> bool {
    matches!(code, Code::SelectNameOrder | Code::SelectIdentity | Code::SelectNewer | Code::SelectOlder)
}
