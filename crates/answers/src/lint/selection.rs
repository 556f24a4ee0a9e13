//! Kinds of which the most specific policy stands: can each ever win, what does a name alone decide, does it match anything?

use std::collections::BTreeSet;

use upheld_dialects::dialect::Finding;
use upheld_dialects::dialects;
use upheld_engine::select::chances::{Chance, Outranked, Tie};
use upheld_engine::snapshot::of_document;
use upheld_engine::{Granularity, KindId, PolicyId, PolicyKind, Select, Snapshot};
use upheld_model::{Code, Diagnostic, Fault, Side, Sym, TagSet};

use super::values::{is_set, leaves, quoted};
use super::{at_document, beside};

pub(super) fn findings(snapshot: &Snapshot) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, kind) in snapshot.kinds().iter().filter(|(_, kind)| kind.select().is_some()) {
        let scopes: BTreeSet<Sym> = snapshot.policies().iter().map(|(_, policy)| policy.scope).collect();
        for scope in scopes {
            let Some(select) = snapshot.select(id, scope) else { continue };
            found.extend(OfKind { snapshot, kind, id, scope, select }.findings());
        }
    }
    found
}

/// The policies of one kind in one mesh.
struct OfKind<'s> {
    snapshot: &'s Snapshot,
    kind: &'s PolicyKind,
    id: KindId,
    scope: Sym,
    select: &'s Select,
}

impl OfKind<'_> {
    fn findings(&self) -> Vec<Finding> {
        let mut chances = self.select.chances();
        // Of who never wins it is said once.
        let never: Vec<PolicyId> = (chances.iter())
            .filter(|chance| chance.stands == 0 && !chance.instead.is_empty())
            .map(|chance| chance.policy)
            .collect();
        for chance in &mut chances {
            chance.ties.retain(|tie| !never.contains(&tie.loser));
        }
        let mut found: Vec<Finding> = chances.iter().flat_map(|chance| self.of_chance(chance)).collect();
        found.extend(self.unmatched());
        found
    }

    fn of_chance(&self, chance: &Chance) -> Vec<Finding> {
        let name = self.name(chance.policy);
        if chance.matches == 0 && chance.questions > 0 {
            let kind = self.snapshot.text(self.kind.name);
            let message = format!("{name} can never match: it wants tags that {kind} does not look at");
            let finding = Diagnostic::error(Fault::ImpossibleMatch, message);
            return vec![Finding::from(self.about(finding, chance.policy, "never matches")).about(name)];
        }
        if chance.stands == 0 && !chance.instead.is_empty() {
            return vec![self.never_wins(chance, name)];
        }
        let mut found: Vec<Finding> = chance.ties.iter().map(|tie| self.tie(chance.policy, tie)).collect();
        found.extend(chance.outranked.iter().map(|beaten| self.outranks(chance.policy, beaten)));
        found.extend(chance.heirs.iter().filter_map(|heir| self.replaces(chance.policy, *heir)));
        found
    }

    /// A policy that goes before one with more exact values, because it has more tags.
    fn outranks(&self, winner: PolicyId, beaten: &Outranked) -> Finding {
        let (name, loser) = (self.name(winner), self.name(beaten.policy));
        let Outranked { mine, theirs, .. } = beaten;
        let message = format!(
            "{name} goes before {loser} because it has more tags, though it names fewer exact values: {mine} against {theirs}"
        );
        let finding = Diagnostic::warning(Fault::WildcardsOutrank, message)
            .help(format!("give {loser} as many tags, with `*` as their value"));
        let finding = self.beside(self.about(finding, winner, "goes before"), beaten.policy, "gives way");
        Finding::from(finding).about(format!("{name} {loser}"))
    }

    /// A policy that takes the place of another one as a whole, and says less.
    fn replaces(&self, winner: PolicyId, heir: PolicyId) -> Option<Finding> {
        let says = |policy: PolicyId| {
            let payload = self.snapshot.policy(policy)?.payload?;
            Some(leaves(serde_json::to_value(self.snapshot.files().value(payload)?).ok()?))
        };
        let (own, other) = (says(winner)?, says(heir)?);
        let lost: Vec<String> = other.into_keys().filter(|path| !is_set(&own, path)).collect();
        if lost.is_empty() || own.is_empty() {
            return None;
        }
        let (name, loser) = (self.name(winner), self.name(heir));
        let message = format!(
            "{name} takes the place of {loser} as a whole: where it does, {} of {loser} {} not count",
            quoted(&lost),
            if lost.len() == 1 { "does" } else { "do" },
        );
        let finding = Diagnostic::warning(Fault::SilentReplace, message)
            .help(format!("write into {name} what should hold there, too"));
        let finding = self.beside(self.about(finding, winner, "says less"), heir, "says more");
        Some(Finding::from(finding).about(format!("{name} {loser}")))
    }

    fn never_wins(&self, chance: &Chance, name: &str) -> Finding {
        let others: Vec<&str> = chance.instead.iter().map(|policy| self.name(*policy)).collect();
        let (fault, who) = match others.as_slice() {
            [one] => (Fault::Shadowed, (*one).to_owned()),
            several => (Fault::Covered, format!("one of {}", several.join(", "))),
        };
        let message = format!("{name} can never win: wherever it matches, {who} goes before");
        let finding =
            Diagnostic::error(fault, message).help(format!("remove {name}, or make its selectors more specific"));
        let finding = self.about(finding, chance.policy, "never wins");
        let finding =
            chance.instead.iter().fold(finding, |finding, policy| self.beside(finding, *policy, "goes before"));
        let finding = Finding::from(finding).about(name);
        match self.snapshot.policy(chance.policy) {
            Some(policy) => finding.without(policy.at),
            None => finding,
        }
    }

    fn tie(&self, winner: PolicyId, tie: &Tie) -> Finding {
        let (name, loser) = (self.name(winner), self.name(tie.loser));
        let aged = matches!(tie.reason.code, Code::SelectNewer | Code::SelectOlder);
        let says = |policy: PolicyId| {
            let payload = self.snapshot.policy(policy)?.payload?;
            self.snapshot.files().value(payload).map(of_document)
        };
        let (fault, message) = if aged {
            let message = format!(
                "{name} goes before {loser} only because of when they were made; making one again turns it round"
            );
            (Fault::AgeTie, message)
        } else if says(winner) == says(tie.loser) {
            (Fault::ArbitraryTie, format!("{name} goes before {loser} by name only; both say the same"))
        } else {
            let message = format!(
                "{name} goes before {loser} by name only, and they say different things; renaming one turns it round"
            );
            (Fault::ContradictingTie, message)
        };
        let finding = match fault {
            Fault::ContradictingTie => Diagnostic::error(fault, message),
            _ => Diagnostic::warning(fault, message),
        };
        let finding = finding.help("make one of them more specific, or remove it");
        let finding = self.beside(self.about(finding, winner, "goes before"), tie.loser, "gives way");
        Finding::from(finding).about(format!("{name} {loser}"))
    }

    /// Policies that match no pair of what was read.
    fn unmatched(&self) -> Vec<Finding> {
        let choices = self.kind.select().and_then(|select| select.side(Side::Destination));
        let each = choices.map_or(Granularity::Service, |item| item.each);
        let ends = dialects().find_map(|dialect| dialect.ends(self.snapshot, self.scope, each));
        let Some(ends) = ends.filter(|ends| !ends.callers.is_empty() && !ends.called.is_empty()) else {
            return Vec::new();
        };
        let parts = |parts: &'_ Vec<TagSet>| -> Vec<TagSet> { parts.clone() };
        let callers: Vec<Vec<TagSet>> = ends.callers.iter().map(|(_, own)| parts(own)).collect();
        let called: Vec<Vec<TagSet>> = ends.called.iter().map(|(_, own)| parts(own)).collect();
        let matched =
            self.select.matching_policies(callers.iter().map(Vec::as_slice), called.iter().map(Vec::as_slice));
        let own = self.snapshot.policies().iter().filter(|(_, policy)| {
            policy.kind == self.kind.governs
                && policy.scope == self.scope
                && self.snapshot.select(self.id, self.scope).is_some()
        });
        let unmatched = own.filter(|(id, _)| !matched.contains(id));
        unmatched
            .map(|(id, _)| {
                let (name, kind) = (self.name(id), self.snapshot.text(self.kind.name));
                let connections = ends.callers.len() * ends.called.len();
                let message =
                    format!("{name} matches none of {connections} connections: nobody has the tags that it wants");
                let help = format!("`upheld explain --kind {kind} --verbose …` says for a connection what it lacks");
                let finding = Diagnostic::warning(Fault::NeverMatches, message).help(help);
                Finding::from(self.about(finding, id, "matches nothing")).about(name)
            })
            .collect()
    }

    fn name(&self, policy: PolicyId) -> &str {
        self.snapshot.policy(policy).map_or("", |policy| self.snapshot.text(policy.name))
    }

    fn about(&self, finding: Diagnostic, policy: PolicyId, text: &str) -> Diagnostic {
        match self.snapshot.policy(policy) {
            Some(policy) => at_document(self.snapshot, finding, policy.at, text),
            None => finding,
        }
    }

    fn beside(&self, finding: Diagnostic, policy: PolicyId, text: &str) -> Diagnostic {
        match self.snapshot.policy(policy) {
            Some(policy) => beside(self.snapshot, finding, policy.at, text),
            None => finding,
        }
    }
}
