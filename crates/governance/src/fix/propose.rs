//! Which values one side of a violation could have so that the rule holds.

use smol_str::SmolStr;
use upheld_engine::comply::{Finding, Keys, NearMissKind, SideOf, Strategy, near_misses};

use super::Edit;
use super::harm::Harm;
use crate::Organisation;
use crate::definition::TagType;

/// The values of a side that are tried; more would not help anybody to choose.
pub(super) const TRIED: usize = 16;

/// A side of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    A,
    B,
}

impl End {
    pub(super) fn of(self, finding: &Finding) -> &SideOf {
        match self {
            Self::A => &finding.a,
            Self::B => &finding.b,
        }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// The side that an object is on.
    pub(super) fn with(finding: &Finding, object: &str) -> Option<Self> {
        // Of a single object the other side is what its policy allows.
        let ends: &[Self] = if finding.strategy.is_alone() { &[Self::A] } else { &[Self::B, Self::A] };
        ends.iter().copied().find(|end| end.of(finding).object == object)
    }
}

/// Values that a side could have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) after: Vec<SmolStr>,
    pub(super) nature: Nature,
}

/// How many values a tag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    One,
    Several,
}

/// What sort of edit it is, the better first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nature {
    /// The same value, spelled as on the other side.
    Respelled,
    /// Another value, or one more.
    Chosen,
    /// Something is taken away, and nothing comes.
    Removed,
}

/// What one object could have in some tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    pub(super) object: SmolStr,
    pub(super) tags: Vec<ProposedTag>,
    pub(super) nature: Nature,
    pub(super) harms: Vec<Harm>,
}

/// Other values of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProposedTag {
    tag: SmolStr,
    before: Vec<SmolStr>,
    after: Vec<SmolStr>,
}

impl Proposal {
    pub(super) fn edits(&self) -> Vec<Edit> {
        let edit = |own: &ProposedTag| {
            let only = |these: &[SmolStr], those: &[SmolStr]| -> Vec<SmolStr> {
                these.iter().filter(|value| !those.contains(value)).cloned().collect()
            };
            let (add, remove) = (only(&own.after, &own.before), only(&own.before, &own.after));
            Edit::Tag { object: self.object.clone(), tag: own.tag.clone(), add, remove }
        };
        self.tags.iter().filter(|own| own.before != own.after).map(edit).collect()
    }
}

impl Organisation {
    /// Every way to mend a finding by the values of one side, those first that come to mind first. Those of a later row are only worth a look
    /// where none of the rows before is any good.
    pub(super) fn proposals(&self, finding: &Finding, end: End, so_far: Option<&Proposal>) -> Vec<Vec<Proposal>> {
        let rows = self.values_for(finding, end);
        rows.into_iter()
            .map(|row| row.into_iter().map(|values| self.proposal(finding, end, values, so_far)).collect())
            .collect()
    }

    fn proposal(&self, finding: &Finding, end: End, values: Values, so_far: Option<&Proposal>) -> Proposal {
        let side = end.of(finding);
        let Values { after, nature } = values;
        let mut harms = so_far.map_or_else(Vec::new, |known| known.harms.clone());
        if nature != Nature::Respelled {
            let comes = after.iter().any(|value| !side.values.contains(value));
            if self.opens(finding, end) && (comes || after.is_empty()) {
                harms.push(Harm::Widens);
            }
            if self.lowers(side, &after) {
                harms.push(Harm::Lowers);
            }
            harms.sort_unstable();
            harms.dedup();
        }
        let mut tags = so_far.map_or_else(Vec::new, |known| known.tags.clone());
        match tags.iter_mut().find(|own| own.tag == side.tag) {
            Some(own) => own.after = after,
            None => tags.push(ProposedTag { tag: side.tag.clone(), before: side.values.clone(), after }),
        }
        let nature = so_far.map_or(nature, |known| known.nature.max(nature));
        Proposal { object: side.object.clone(), tags, nature, harms }
    }

    fn values_for(&self, finding: &Finding, end: End) -> Vec<Vec<Values>> {
        match finding.strategy {
            Strategy::Intersection | Strategy::Subset => self.values_between(finding, end),
            Strategy::Present | Strategy::Among | Strategy::PresentAmong if end == End::A => self.values_alone(finding),
            Strategy::Present | Strategy::Among | Strategy::PresentAmong => Vec::new(),
        }
    }

    fn values_between(&self, finding: &Finding, end: End) -> Vec<Vec<Values>> {
        let (own, other) = (end.of(finding), end.other().of(finding));
        if other.values.is_empty() {
            let removed = Values { after: Vec::new(), nature: Nature::Removed };
            return vec![if own.values.is_empty() { Vec::new() } else { vec![removed] }];
        }
        let takes = self.takes(own);
        let mut first = respelled(own, other, takes);
        let mut second = Vec::new();
        let chosen = |after: Vec<SmolStr>| Values { after, nature: Nature::Chosen };
        let alone = |value: &SmolStr| chosen(vec![value.clone()]);
        let near = nearest_first(own, other);
        match (finding.strategy, end) {
            (Strategy::Subset, End::B) => {
                let inside: Vec<SmolStr> =
                    own.values.iter().filter(|value| other.values.contains(value)).cloned().collect();
                if inside.is_empty() {
                    first.extend(near.iter().map(alone));
                } else {
                    first.push(Values { after: inside, nature: Nature::Removed });
                    second.extend(near.iter().map(alone));
                }
            }
            (Strategy::Subset, End::A) => {
                let missing = other.values.iter().filter(|value| !own.values.contains(value));
                match (takes, other.values.as_slice()) {
                    (Takes::Several, _) => first.push(chosen(own.values.iter().chain(missing).cloned().collect())),
                    (Takes::One, [only]) => first.push(alone(only)),
                    (Takes::One, _) => {}
                }
            }
            _ => {
                let kept: &[SmolStr] = if takes == Takes::One { &[] } else { &own.values };
                first.extend(near.iter().map(|value| chosen(kept.iter().chain([value]).cloned().collect())));
                if !kept.is_empty() {
                    second.extend(near.iter().map(alone));
                }
            }
        }
        let mut seen: Vec<Vec<SmolStr>> = vec![own.values.clone()];
        for row in [&mut first, &mut second] {
            row.retain(|values| {
                let is_new = !seen.contains(&values.after);
                seen.push(values.after.clone());
                is_new
            });
        }
        vec![first, second]
    }

    /// Whether a tag takes one value only; where there is no schema, as for labels, that is what there can be.
    pub(super) fn takes(&self, side: &SideOf) -> Takes {
        let subject = self.subject_named(&side.object);
        let is_single = match subject.and_then(|subject| self.schema.definition(subject, &side.tag)) {
            Some(definition) => definition.tag != TagType::MultiSelect,
            None => {
                let spec = subject.and_then(|subject| self.profile().subject_spec(subject));
                spec.is_some_and(|own| own.keys == Keys::Any) && side.values.len() < 2
            }
        };
        if is_single { Takes::One } else { Takes::Several }
    }
}

/// The values of a side with those spelled as the other side does that were probably meant to be the same.
pub(super) fn respelled(own: &SideOf, other: &SideOf, takes: Takes) -> Vec<Values> {
    let misses = near_misses(&own.values, &other.values).into_iter();
    let same = misses.filter(|miss| miss.kind != NearMissKind::OneEdit);
    let respelled = same.map(|miss| {
        let spelled = |value: &SmolStr| if *value == miss.a { miss.b.clone() } else { value.clone() };
        let after = match takes {
            Takes::One => vec![miss.b.clone()],
            Takes::Several => own.values.iter().map(spelled).collect(),
        };
        Values { after, nature: Nature::Respelled }
    });
    respelled.take(TRIED).collect()
}

/// The values of the other side, those that nearly agree with own ones first.
fn nearest_first(own: &SideOf, other: &SideOf) -> Vec<SmolStr> {
    let misses = near_misses(&own.values, &other.values);
    let is_near = |value: &SmolStr| misses.iter().any(|miss| miss.b == *value);
    let (near, far): (Vec<&SmolStr>, Vec<&SmolStr>) = other.values.iter().partition(|value| is_near(value));
    near.into_iter().chain(far).take(TRIED).cloned().collect()
}
