//! Which policies a store begins with. Files are read, and stores are saved, by the caller.

use smol_str::SmolStr;
use upheld_model::Diagnostic;
use upheld_model::tree::{Kind, Value};

use super::store::PolicyStore;

/// The environment of a process that does not say in which one it runs.
pub const DEFAULT_ENVIRONMENT: &str = "development";

/// What the seeds of a manifest are while documents are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeds {
    /// Policies like all others, where the manifest is for.
    #[default]
    Counted,
    /// None: whoever reads puts them into a store of its own. The file that a manifest names is left out too.
    Apart,
}

/// Policies with their ids, in order.
pub type PolicyList<P> = Vec<(SmolStr, P)>;

/// Policies that a configuration wants in the store at the start.
#[derive(Clone, Debug)]
pub struct Seed<P> {
    /// Whether it is used at all.
    pub enabled: bool,
    /// Whether a store that has policies is left alone.
    pub only_if_empty: OnlyIfEmpty,
    /// Where it is used; `*` is everywhere.
    pub environments: Vec<SmolStr>,
    /// What its file holds or why it cannot be read, if it names one.
    pub file: Option<Result<PolicyList<P>, Diagnostic>>,
    /// Policies in the configuration itself.
    pub policies: PolicyList<P>,
}

/// Whether a store that has policies is left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnlyIfEmpty {
    /// It is.
    #[default]
    Yes,
    /// It is not: policies are added, and those with the same id replaced.
    No,
}

/// What a seed comes to.
#[derive(Clone, Debug)]
pub struct Plan<P> {
    /// What is to be put, in this order; the last of one id holds.
    pub policies: PolicyList<P>,
    /// What is wrong with the file; the other policies are put all the same.
    pub problem: Option<Diagnostic>,
}

/// Why a seed puts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It is switched off.
    Disabled,
    /// It is for other environments.
    OtherEnvironment,
    /// The store has policies already.
    NotEmpty,
}

impl<P> Seed<P> {
    /// What is to be put into a store that holds all that was there before: saved policies and those of older settings.
    pub fn plan(self, store: &PolicyStore<P>, environment: &str) -> Result<Plan<P>, Skipped> {
        if !self.enabled {
            return Err(Skipped::Disabled);
        }
        if !self.environments.iter().any(|listed| listed == "*" || listed == environment) {
            return Err(Skipped::OtherEnvironment);
        }
        if self.only_if_empty.forbids(store) {
            return Err(Skipped::NotEmpty);
        }
        let (mut policies, problem) = match self.file {
            None => (Vec::new(), None),
            Some(Ok(policies)) => (policies, None),
            Some(Err(problem)) => (Vec::new(), Some(problem)),
        };
        policies.extend(self.policies);
        Ok(Plan { policies, problem })
    }
}

impl<P> Default for Seed<P> {
    fn default() -> Self {
        Self {
            enabled: true,
            only_if_empty: OnlyIfEmpty::Yes,
            environments: vec![SmolStr::new_static("*")],
            file: None,
            policies: Vec::new(),
        }
    }
}

/// The policies of a file: those of a list, or of the list `policies` of a map. What has no id cannot be kept.
pub fn listed(document: Value<'_>) -> PolicyList<Value<'_>> {
    let list = if document.kind() == Kind::List { Some(document) } else { document.get("policies") };
    let policies = list.into_iter().flat_map(Value::items);
    policies.filter_map(|policy| Some((SmolStr::new(policy.get("id")?.text()), policy))).collect()
}

/// Puts policies into a store for a program; how many went in.
///
/// With [`OnlyIfEmpty::Yes`] only the first caller gets its policies in.
pub fn seed<P>(
    store: &mut PolicyStore<P>,
    policies: impl IntoIterator<Item = (SmolStr, P)>,
    only_if_empty: OnlyIfEmpty,
) -> usize {
    if only_if_empty.forbids(store) {
        return 0;
    }
    policies.into_iter().map(|(id, policy)| store.set(id, policy)).count()
}

impl OnlyIfEmpty {
    fn forbids<P>(self, store: &PolicyStore<P>) -> bool {
        self == Self::Yes && !store.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use upheld_model::{Fault, Severity};

    use super::*;

    fn list(policies: &[(&str, u32)]) -> PolicyList<u32> {
        policies.iter().map(|(id, policy)| (SmolStr::new(id), *policy)).collect()
    }

    fn inline() -> Seed<u32> {
        Seed { policies: list(&[("inline", 1)]), ..Seed::default() }
    }

    fn empty() -> PolicyStore<u32> {
        PolicyStore::new()
    }

    fn filled() -> PolicyStore<u32> {
        list(&[("kept", 0)]).into_iter().collect()
    }

    /// The ids of a plan.
    fn planned(seed: Seed<u32>, store: &PolicyStore<u32>, environment: &str) -> Result<Vec<SmolStr>, Skipped> {
        seed.plan(store, environment).map(|plan| plan.policies.into_iter().map(|(id, _)| id).collect())
    }

    #[test]
    fn seed_is_for_empty_stores_everywhere_unless_it_says_otherwise() {
        for environment in [DEFAULT_ENVIRONMENT, "production", ""] {
            assert_eq!(planned(inline(), &empty(), environment).unwrap(), ["inline"]);
        }
        assert_eq!(planned(inline(), &filled(), DEFAULT_ENVIRONMENT), Err(Skipped::NotEmpty));
    }

    #[test]
    fn disabled_seed_puts_nothing() {
        let seed = Seed { enabled: false, ..inline() };
        assert_eq!(planned(seed, &empty(), DEFAULT_ENVIRONMENT), Err(Skipped::Disabled));
    }

    #[test]
    fn environment_must_be_listed() {
        let seed = |listed: &[&str]| Seed { environments: listed.iter().map(SmolStr::new).collect(), ..inline() };
        let check = |listed: &[&str], environment| planned(seed(listed), &empty(), environment);
        assert!(check(&["staging", "production"], "production").is_ok());
        assert!(check(&["staging", "*"], "production").is_ok());
        for other in [&["staging"][..], &["prod*"], &["Production"], &[]] {
            assert_eq!(check(other, "production"), Err(Skipped::OtherEnvironment));
        }
    }

    #[test]
    fn first_reason_to_skip_is_given() {
        let seed = Seed { enabled: false, environments: Vec::new(), ..inline() };
        assert_eq!(planned(seed.clone(), &filled(), "production"), Err(Skipped::Disabled));
        let seed = Seed { enabled: true, ..seed };
        assert_eq!(planned(seed, &filled(), "production"), Err(Skipped::OtherEnvironment));
    }

    #[test]
    fn filled_store_gets_policies_when_asked_for() {
        let seed = Seed { only_if_empty: OnlyIfEmpty::No, ..inline() };
        assert_eq!(planned(seed, &filled(), DEFAULT_ENVIRONMENT).unwrap(), ["inline"]);
    }

    #[test]
    fn file_comes_before_the_configuration_itself() {
        let seed = Seed {
            file: Some(Ok(list(&[("a", 1), ("b", 2)]))),
            policies: list(&[("c", 3), ("a", 4)]),
            ..Seed::default()
        };
        let plan = seed.plan(&empty(), DEFAULT_ENVIRONMENT).unwrap();
        assert!(plan.problem.is_none());
        let mut store = empty();
        assert_eq!(super::seed(&mut store, plan.policies, OnlyIfEmpty::No), 4);
        assert_eq!(store.iter().collect::<Vec<_>>(), [("a", &4), ("b", &2), ("c", &3)]);
    }

    #[test]
    fn broken_file_is_reported_and_the_rest_is_put() {
        let problem = Diagnostic::warning(Fault::Unreadable, "`seed.json` does not exist");
        let seed = Seed { file: Some(Err(problem)), ..inline() };
        let plan = seed.clone().plan(&empty(), DEFAULT_ENVIRONMENT).unwrap();
        assert_eq!(plan.problem.unwrap().severity, Severity::Warning);
        assert_eq!(plan.policies, list(&[("inline", 1)]));
        // Nobody reads the file of a seed that is not used.
        assert_eq!(planned(seed, &filled(), DEFAULT_ENVIRONMENT), Err(Skipped::NotEmpty));
    }

    #[test]
    fn program_puts_policies_into_an_empty_store_only() {
        let mut store = empty();
        assert_eq!(seed(&mut store, list(&[("a", 1), ("b", 2)]), OnlyIfEmpty::Yes), 2);
        assert_eq!(seed(&mut store, list(&[("c", 3)]), OnlyIfEmpty::default()), 0);
        assert_eq!(store.ids().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn program_adds_and_replaces_when_asked_for() {
        let mut store = filled();
        assert_eq!(seed(&mut store, list(&[("new", 1), ("kept", 2)]), OnlyIfEmpty::No), 2);
        assert_eq!(store.iter().collect::<Vec<_>>(), [("kept", &2), ("new", &1)]);
    }
}
