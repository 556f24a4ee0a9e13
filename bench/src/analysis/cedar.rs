//! Cedar's analysis: policies become formulas, and a solver (cvc5) looks for a request about which two sets disagree. It says whether there is one, and
//! which; ours says all sorts of them, with who decides. It knows paths, their number of segments and the segments as texts that have nothing to do with
//! each other, so it may see differences that cannot be; the sets here differ or are equal either way.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::{Duration, Instant};

use cedar_policy::{PolicySet, Schema};
use cedar_policy_symcc::solver::LocalSolver;
use cedar_policy_symcc::{CedarSymCompiler, CompiledPolicySet};
use tokio::runtime::Runtime;
use upheld_engine::decide::shifts::{Bounds, Verdict, shifts};

use super::Plan;
use crate::access::{Effect, Ours, Policy, SubjectTest, Workload, cedar_text};
use crate::measure::median;
use crate::report::{self, figure, grouped, ratio, row, time};

/// Numbers of policies; the solver takes long for more.
const SIZES: [usize; 3] = [10, 100, 1_000];
/// Policies that say something else.
const EDITS: usize = 10;

/// What becomes of the policies.
#[derive(Clone, Copy)]
enum Change {
    /// Some have the other effect.
    Turned,
    /// Some are there a second time, about less, which changes nothing.
    Repeated,
}

/// What was measured of one change.
struct Found {
    ours: Duration,
    cedar: Duration,
    agree: bool,
}

/// Measures and prints; how many verdicts are not the same.
pub(super) fn run(plan: &Plan) -> Result<usize, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    // The solver is a process that the runtime speaks with.
    let Ok(solver) = runtime.block_on(async { LocalSolver::cvc5() }) else {
        println!("\nThere is no cvc5, so Cedar's analysis was not asked. Install it, or name one by `CVC5`.");
        return Ok(0);
    };
    let mut compiler = CedarSymCompiler::new(solver).map_err(|error| error.to_string())?;
    let mut wrong = 0;
    report::heading("Cedar's analysis with cvc5 (on the wall)");
    let sizes = SIZES.into_iter().filter(|size| plan.sizes.contains(size) || *size < 100).collect::<Vec<_>>();
    row("", sizes.iter().map(|size| format!("N = {}", grouped(*size))));
    for (change, words) in [(Change::Turned, "ten edits"), (Change::Repeated, "nothing changes")] {
        let mut all = Vec::new();
        for size in &sizes {
            report::progress(&format!("Cedar, {words} among {}", grouped(*size)));
            all.push(measure(plan, *size, change, &runtime, &mut compiler)?);
        }
        row(&format!("{words}: ours, all sorts of requests"), all.iter().map(|found| time(found.ours)));
        row(&format!("{words}: Cedar, yes or no"), all.iter().map(|found| time(found.cedar)));
        row("Cedar / ours", all.iter().map(|found| figure(ratio(found.cedar, found.ours))));
        wrong += all.iter().filter(|found| !found.agree).count();
    }
    Ok(wrong)
}

fn measure(
    plan: &Plan,
    size: usize,
    change: Change,
    runtime: &Runtime,
    compiler: &mut CedarSymCompiler<LocalSolver>,
) -> Result<Found, String> {
    let before = Workload::new(size, 0).policies;
    let after = changed(&before, change);
    let sides = [Ours::new(&before)?.decide, Ours::new(&after)?.decide];
    let mut times = Vec::new();
    let mut equal = true;
    for _ in 0..plan.rounds {
        let begun = Instant::now();
        equal = matches!(shifts(&sides[0], &sides[1], &Bounds::default()), Verdict::Equal { .. });
        times.push(begun.elapsed());
    }
    let sets = Sets::of(&before, &after)?;
    let begun = Instant::now();
    let theirs = runtime.block_on(sets.are_equal(compiler))?;
    Ok(Found { ours: median(times), cedar: begun.elapsed(), agree: theirs == equal })
}

fn changed(policies: &[Policy], change: Change) -> Vec<Policy> {
    let places: BTreeSet<usize> = (0..EDITS).map(|number| (number * 7919 + 1) % policies.len()).collect();
    let mut all = Vec::new();
    for (place, policy) in policies.iter().enumerate() {
        match change {
            Change::Turned if places.contains(&place) => {
                let effect = if policy.effect == Effect::Permit { Effect::Deny } else { Effect::Permit };
                all.push(Policy { effect, ..policy.clone() });
            }
            Change::Repeated if places.contains(&place) => {
                let pattern = policy.pattern.replace("**", "z/**");
                all.extend([policy.clone(), Policy { id: format!("{}-again", policy.id), pattern, ..policy.clone() }]);
            }
            Change::Turned | Change::Repeated => all.push(policy.clone()),
        }
    }
    all
}

/// Two sets in Cedar, with what their requests look like.
struct Sets {
    schema: Schema,
    both: [PolicySet; 2],
}

impl Sets {
    fn of(before: &[Policy], after: &[Policy]) -> Result<Self, String> {
        let mut compared = BTreeSet::new();
        let mut set = |policies: &[Policy]| -> Result<PolicySet, String> {
            let texts: Result<Vec<String>, String> =
                policies.iter().map(|policy| cedar_text(policy, &mut compared)).collect();
            PolicySet::from_str(&texts?.concat()).map_err(|error| error.to_string())
        };
        let both = [set(before)?, set(after)?];
        let all = || before.iter().chain(after);
        let claims: BTreeSet<&str> = all()
            .flat_map(|policy| &policy.subjects)
            .filter_map(|test| match test {
                SubjectTest::Claim(name, _) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let claims: String = claims.into_iter().map(|name| format!("{name}?: String, ")).collect();
        let segments: String = compared.iter().map(|position| format!("segment{position}: String, ")).collect();
        let text = format!(
            "entity User {{ roles: Set<String>, groups: Set<String>, claims: {{ {claims} }} }};\nentity Path;\n\
             action GET, POST, PUT, DELETE appliesTo {{ principal: [User], resource: [Path], context: {{ path: String, \
             {segments} segments: Long }} }};"
        );
        let (schema, _) = Schema::from_cedarschema_str(&text).map_err(|error| error.to_string())?;
        Ok(Self { schema, both })
    }

    /// Whether no request is decided otherwise, method by method.
    async fn are_equal(&self, compiler: &mut CedarSymCompiler<LocalSolver>) -> Result<bool, String> {
        for environment in self.schema.request_envs() {
            let compiled = |set: &PolicySet| {
                CompiledPolicySet::compile(set, &environment, &self.schema).map_err(|error| error.to_string())
            };
            let [one, other] = &self.both;
            let equal = compiler.check_equivalent_opt(&compiled(one)?, &compiled(other)?).await;
            if !equal.map_err(|error| error.to_string())? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
