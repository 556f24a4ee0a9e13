//! Which values a single object could have so that the rule about its own tag holds.

use smol_str::SmolStr;
use upheld_engine::comply::{Finding, Policy, SideOf, Strategy, Verdict};
use upheld_model::nearest::nearest;

use super::propose::{Nature, TRIED, Takes, Values, respelled};
use crate::Organisation;
use crate::definition::Definition;

impl Organisation {
    /// Values of the tag with which the rule holds: what was probably meant, the default, then all others that are allowed, and none.
    pub(super) fn values_alone(&self, finding: &Finding) -> Vec<Vec<Values>> {
        let (own, allowed) = (&finding.a, finding.b.values.as_slice());
        let takes = self.takes(own);
        let is_excess = |value: &&SmolStr| finding.verdict != Verdict::Absent && !allowed.contains(value);
        let (excess, kept): (Vec<&SmolStr>, Vec<&SmolStr>) = own.values.iter().partition(is_excess);
        let chosen = |values: Vec<SmolStr>| {
            let mut after: Vec<SmolStr> = if takes == Takes::One { Vec::new() } else { cloned(&kept) };
            for value in values {
                if !after.contains(&value) {
                    after.push(value);
                }
            }
            Values { after, nature: Nature::Chosen }
        };
        let mut row = respelled(own, &finding.b, takes);
        row.extend(meant(&excess, allowed).map(chosen));
        let others = self.choices(own, allowed).into_iter().filter(|value| !own.values.contains(value));
        row.extend(others.take(TRIED).map(|value| chosen(vec![value])));
        if !excess.is_empty() && (!kept.is_empty() || finding.strategy == Strategy::Among) {
            row.push(Values { after: cloned(&kept), nature: Nature::Removed });
        }
        let mut seen: Vec<Vec<SmolStr>> = vec![own.values.clone()];
        row.retain(|values| {
            let is_new = !seen.contains(&values.after);
            seen.push(values.after.clone());
            is_new
        });
        vec![row]
    }

    /// What a tag could be set to: its default first, then what the policy allows, else what its definition or other policies do.
    fn choices(&self, side: &SideOf, allowed: &[SmolStr]) -> Vec<SmolStr> {
        let subject = self.subject_named(&side.object);
        let definition = subject.and_then(|subject| self.schema.definition(subject, &side.tag));
        let looks = |policy: &&Policy| {
            Some(policy.a) == subject
                && policy.strategy.is_alone()
                && policy.rules.iter().any(|rule| rule.a == side.tag)
        };
        let known: Vec<SmolStr> = if allowed.is_empty() {
            let options = definition.into_iter().flat_map(|own| own.options.iter());
            let named = self.comply.policies().into_iter().filter(looks).flat_map(|policy| &policy.values);
            options.chain(named).cloned().collect()
        } else {
            allowed.to_vec()
        };
        let usual = definition.into_iter().flat_map(Definition::filled_in);
        let usual = usual.filter(|value| allowed.is_empty() || allowed.contains(value));
        let mut choices: Vec<SmolStr> = Vec::new();
        for value in usual.chain(known.iter().cloned()) {
            if !choices.contains(&value) {
                choices.push(value);
            }
        }
        choices
    }
}

/// For each value the one that was probably meant; nothing unless that is known of all of them.
fn meant(excess: &[&SmolStr], allowed: &[SmolStr]) -> Option<Vec<SmolStr>> {
    let near = |value: &&SmolStr| nearest(value, allowed.iter().map(SmolStr::as_str)).map(SmolStr::new);
    let meant: Option<Vec<SmolStr>> = excess.iter().map(near).collect();
    meant.filter(|all| !all.is_empty())
}

fn cloned(values: &[&SmolStr]) -> Vec<SmolStr> {
    values.iter().map(|value| (*value).clone()).collect()
}
