//! Policies of selections and merges get into the indexes of their kinds and scopes, and out again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use upheld_model::{Diagnostic, Fault, Policy, Sym};

use super::{KindId, PolicyId, Snapshot};
use crate::kind::{Choices, MergeKind, PolicyKind, SelectKind};
use crate::merge::{Merge, Targets};
use crate::select::Select;

/// The type of policies, and where they reach.
type Group = (Sym, Sym);

/// What happens to the policies of a group.
#[derive(Debug, Default)]
struct Members<'p> {
    /// By name.
    gone: Vec<Sym>,
    came: Vec<(PolicyId, &'p Policy)>,
}

impl Snapshot {
    /// Takes policies out of their indexes and puts others in; tells what an index cannot hold. Other objects came into
    /// some scopes, or went.
    pub(super) fn compile(
        &mut self,
        gone: &[Arc<Policy>],
        came: &[(PolicyId, Arc<Policy>)],
        scopes: &BTreeSet<Sym>,
    ) -> Vec<Diagnostic> {
        let mut groups: BTreeMap<Group, Members<'_>> = BTreeMap::new();
        for policy in gone {
            groups.entry((policy.kind, policy.scope)).or_default().gone.push(policy.name);
        }
        for (id, policy) in came {
            groups.entry((policy.kind, policy.scope)).or_default().came.push((*id, policy));
        }
        for (kind, scope) in self.merges.keys().filter(|(_, scope)| scopes.contains(scope)) {
            groups.extend(self.kinds.get(*kind).map(|kind| ((kind.governs, *scope), Members::default())));
        }
        let mut problems = Vec::new();
        let kinds = Arc::clone(&self.kinds);
        for (id, kind) in kinds.iter() {
            for ((_, scope), members) in groups.range((kind.governs, Sym::MIN)..=(kind.governs, Sym::MAX)) {
                let key = (id, *scope);
                match &kind.choices {
                    Choices::Select(choices) => problems.extend(self.change_select(key, kind, choices, members)),
                    Choices::Merge(choices) => self.compile_merge(key, kind, choices),
                    // The dialect knows the order of policies that decide, and the state that others are held against;
                    // those of a hierarchy are attached.
                    Choices::Decide(_) | Choices::Comply(_) | Choices::Hierarchy(_) => {}
                }
            }
        }
        problems
    }

    fn change_select(
        &mut self,
        key: (KindId, Sym),
        kind: &PolicyKind,
        choices: &SelectKind,
        Members { gone, came }: &Members<'_>,
    ) -> Option<Diagnostic> {
        let before = self.selects.remove(&key).map_or_else(|| Select::new(choices), Arc::unwrap_or_clone);
        match before.change(gone, came, &self.symbols) {
            Ok(select) if select.policies() == 0 => None,
            Ok(select) => {
                self.selects.insert(key, Arc::new(select));
                None
            }
            Err(_) => {
                let name = self.symbols.text(kind.name);
                let message = format!("more policies of kind `{name}` than a rank can tell apart");
                Some(Diagnostic::error(Fault::Limit, message))
            }
        }
    }

    fn compile_merge(&mut self, key: (KindId, Sym), kind: &PolicyKind, choices: &MergeKind) {
        let is_own = |policy: &Policy| (policy.kind, policy.scope) == (kind.governs, key.1);
        let group: Vec<(PolicyId, &Policy)> = self.policies.iter().filter(|(_, policy)| is_own(policy)).collect();
        if group.is_empty() {
            self.merges.remove(&key);
            return;
        }
        let merge = Merge::compile(choices, &group, &self.symbols, &Targets::new(self.objects.iter()));
        self.merges.insert(key, Arc::new(merge));
    }
}
