//! What agrees, told piece by piece: there can be millions of such checks, and nobody has to hold them all.

use std::fmt::Debug;

use smol_str::SmolStr;

use super::check::Check;

/// A check that passed, in short.
#[derive(Clone, Debug)]
pub struct Passed<'p> {
    /// Its fingerprint.
    pub id: String,
    /// One object.
    pub a: SmolStr,
    /// The other.
    pub b: SmolStr,
    /// The file and the line in which one of them was written.
    pub at: Option<(&'p str, usize)>,
}

/// Who knows what agrees.
pub trait Passing: Debug + Sync {
    /// Tells the checks of a policy that passed, in order: each piece is written down by itself, and then handed on.
    fn of_policy(&self, policy: &str, write: &(dyn Fn(&[Passed<'_>]) -> String + Sync), tell: &mut dyn FnMut(String));

    /// The workspaces that anything was checked in, in order.
    fn workspaces(&self) -> Vec<Option<String>>;

    /// The checks of a workspace that passed, in order.
    fn of_workspace(&self, workspace: Option<&str>) -> Vec<Check>;
}

/// Nothing that passed is told.
#[derive(Clone, Copy, Debug)]
pub struct NothingPassing;

impl Passing for NothingPassing {
    fn of_policy(&self, _: &str, _: &(dyn Fn(&[Passed<'_>]) -> String + Sync), _: &mut dyn FnMut(String)) {}

    fn workspaces(&self) -> Vec<Option<String>> {
        Vec::new()
    }

    fn of_workspace(&self, _: Option<&str>) -> Vec<Check> {
        Vec::new()
    }
}

/// Checks that somebody holds.
impl Passing for Vec<Check> {
    fn of_policy(&self, policy: &str, write: &(dyn Fn(&[Passed<'_>]) -> String + Sync), tell: &mut dyn FnMut(String)) {
        let own = self.iter().filter(|check| check.policy == policy);
        let passed: Vec<Passed<'_>> = own
            .map(|check| Passed {
                id: check.id.clone(),
                a: SmolStr::new(&check.a.reference),
                b: SmolStr::new(&check.b.reference),
                at: check.b.at.as_ref().or(check.a.at.as_ref()).map(|at| (at.file(), at.line())),
            })
            .collect();
        tell(write(&passed));
    }

    fn workspaces(&self) -> Vec<Option<String>> {
        let mut all: Vec<Option<String>> = self.iter().map(|check| check.workspace.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    fn of_workspace(&self, workspace: Option<&str>) -> Vec<Check> {
        self.iter().filter(|check| check.workspace.as_deref() == workspace).cloned().collect()
    }
}
