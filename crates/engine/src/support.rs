//! What the tests of several families share.

use upheld_model::{Draft, Files, NodeRef, SourceId, Sym};

use std::fmt::Debug;

use crate::ask::Family;
use crate::kind::{Choices, PolicyKind};
use crate::ruling::Ruling;
use crate::snapshot::{Indexed, Snapshot};

/// How rulings on less differ from the one that has everything: nearest ones are its beginning and count the rest, and one entry that is
/// asked for has in each what it has there.
pub(crate) fn differing<F: Family<Answer: Debug, Measure: Debug + PartialEq>>(
    family: &F,
    question: &F::Question<'_>,
) -> Option<String> {
    let all = Ruling::explain(family, question);
    let (matching, others): (Vec<_>, Vec<_>) =
        all.candidates.iter().copied().partition(|candidate| candidate.state.matched());
    let wrong = family.entries().find(|entry| {
        let alone = Ruling::matched(family, question).with_others(family, question, [*entry]);
        let own = |ruling: &Ruling<F>| {
            ruling.candidates.iter().copied().filter(|candidate| candidate.entry == *entry).collect::<Vec<_>>()
        };
        own(&alone) != own(&all)
    });
    if let Some(entry) = wrong {
        return Some(format!("{entry:?} alone has not what it has among all"));
    }
    (0..others.len() + 2).find_map(|most| {
        let few = Ruling::nearest(family, question, most, |_, _, distance| distance);
        let expected: Vec<_> = matching.iter().chain(others.iter().take(most)).copied().collect();
        let is_alike = few.candidates == expected
            && few.left_out == others.len().saturating_sub(most)
            && (few.default, few.decided, &few.notes) == (all.default, all.decided, &all.notes)
            && format!("{:?}", few.answer) == format!("{:?}", all.answer);
        (!is_alike).then(|| format!("{most} of {}: {:?} for {expected:?}", others.len(), few.candidates))
    })
}

/// Where things stand that were written nowhere.
pub(crate) const NOWHERE: NodeRef = NodeRef { source: SourceId::FIRST, node: 0 };

/// A snapshot with one kind of policies.
pub(crate) fn snapshot(draft: Draft, kind: Sym, choices: Choices) -> Snapshot {
    let kind = PolicyKind {
        name: kind,
        governs: kind,
        semantics: None,
        choices,
        payload: None,
        default_name: kind,
        default_means: kind,
        at: NOWHERE,
    };
    Snapshot::build(draft, vec![kind], Indexed::default(), Files::default().into()).expect("small worlds fit")
}
