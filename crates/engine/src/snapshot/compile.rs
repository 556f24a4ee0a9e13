//! Policies of selections and merges get into the indexes of their kinds and scopes, and out again.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_model::{Diagnostic, Fault, Object, Policy, Sym};

use super::roster::Replaced;
use super::{KindId, ObjectId, PolicyId, Snapshot};
use crate::kind::{Choices, MergeKind, PolicyKind, SelectKind};
use crate::merge::{Merge, Targets, alike};
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
    /// Takes policies out of their indexes and puts others in; tells what an index cannot hold.
    pub(super) fn compile(
        &mut self,
        gone: &[(PolicyId, Arc<Policy>)],
        came: &[(PolicyId, Arc<Policy>)],
    ) -> Vec<Diagnostic> {
        let mut groups: BTreeMap<Group, Members<'_>> = BTreeMap::new();
        for (_, policy) in gone {
            groups.entry((policy.kind, policy.scope)).or_default().gone.push(policy.name);
        }
        for (id, policy) in came {
            groups.entry((policy.kind, policy.scope)).or_default().came.push((*id, policy));
        }
        let mut problems = Vec::new();
        let kinds = Arc::clone(&self.kinds);
        for (id, kind) in kinds.iter() {
            for ((_, scope), members) in groups.range((kind.governs, Sym::MIN)..=(kind.governs, Sym::MAX)) {
                let key = (id, *scope);
                match &kind.choices {
                    Choices::Select(choices) => problems.extend(self.change_select(key, kind, choices, members)),
                    Choices::Merge(choices) => self.change_merge(key, choices, members),
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

    fn change_merge(&mut self, key: (KindId, Sym), choices: &MergeKind, Members { gone, came }: &Members<'_>) {
        let before = self.merges.remove(&key).map_or_else(|| Merge::new(choices), Arc::unwrap_or_clone);
        let targets = self.targets.get_or_insert_with(|| Targets::new(self.objects.iter()));
        let merge = before.change(gone, came, &self.symbols, targets);
        if merge.policies().next().is_some() {
            self.merges.insert(key, Arc::new(merge));
        }
    }

    /// Looks up once more what references mean that could mean an object which came, went or changed.
    pub(super) fn refer(&mut self, Replaced { gone, came }: &Replaced<Object>) {
        let Some(targets) = &mut self.targets else { return };
        let (old, new) = (differing(gone, came), differing(came, gone));
        targets.change(&old, &new);
        for ((_, scope), merge) in &mut self.merges {
            let concerned: Vec<&Object> =
                old.iter().chain(&new).map(|(_, object)| *object).filter(|object| object.scope == *scope).collect();
            if !concerned.is_empty() {
                *merge = Arc::new(Merge::clone(merge).with_objects(&concerned, targets));
            }
        }
    }
}

/// The objects that references can tell from what others have under their ids.
fn differing<'o>(
    own: &'o [(ObjectId, Arc<Object>)],
    others: &[(ObjectId, Arc<Object>)],
) -> Vec<(ObjectId, &'o Object)> {
    let others: FxHashMap<ObjectId, &Object> = others.iter().map(|(id, object)| (*id, object.as_ref())).collect();
    let own = own.iter().map(|(id, object)| (*id, object.as_ref()));
    own.filter(|(id, object)| others.get(id).is_none_or(|other| !alike(object, other))).collect()
}
