//! casbin: a row for each subject and method of a policy, the denying ones first. What can be compared as equal comes
//! first in the matcher; the pattern is left to a function in Rust.

use ::casbin::function_map::OperatorFunction;
use ::casbin::rhai::Dynamic;
use ::casbin::{CoreApi, DefaultModel, Enforcer, MgmtApi, NullAdapter};

use super::Decider;
use crate::access::plain::fits_text;
use crate::access::workload::{Effect, Policy, Request, Workload};

const MODEL: &str = r#"
[request_definition]
r = sub, head, path, act

[policy_definition]
p = sub, head, path, act, eft

[role_definition]
g = _, _

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = (p.head == r.head || p.head == "*") && (p.act == r.act || p.act == "*") && fits(p.path, r.path) && (p.sub == "*" || g(r.sub, p.sub))
"#;

struct Casbin {
    enforcer: Enforcer,
}

pub(super) fn load(workload: &Workload) -> Result<Box<dyn Decider>, String> {
    let enforcer = pollster::block_on(enforcer(workload)).map_err(|error| error.to_string())?;
    Ok(Box::new(Casbin { enforcer }))
}

async fn enforcer(workload: &Workload) -> ::casbin::Result<Enforcer> {
    let mut enforcer = Enforcer::new(DefaultModel::from_str(MODEL).await?, NullAdapter).await?;
    enforcer.enable_auto_save(false);
    enforcer.add_function("fits", OperatorFunction::Arg2(fits));
    let memberships = workload.users.iter().flat_map(|user| user.keys().map(|key| vec![user.id.clone(), key]));
    enforcer.add_grouping_policies(memberships.collect()).await?;
    let (denying, permitting): (Vec<&Policy>, Vec<&Policy>) =
        workload.policies.iter().partition(|policy| policy.effect == Effect::Deny);
    let mut all: Vec<Vec<String>> = denying.into_iter().chain(permitting).flat_map(rows).collect();
    let mut seen = std::collections::HashSet::new();
    all.retain(|row| seen.insert(row.clone()));
    enforcer.add_policies(all).await?;
    Ok(enforcer)
}

fn fits(pattern: Dynamic, path: Dynamic) -> Dynamic {
    match (pattern.into_immutable_string(), path.into_immutable_string()) {
        (Ok(pattern), Ok(path)) => fits_text(&pattern, &path).into(),
        _ => false.into(),
    }
}

fn rows(policy: &Policy) -> Vec<Vec<String>> {
    let effect = match policy.effect {
        Effect::Permit => "allow",
        Effect::Deny => "deny",
    };
    let head = Some(head(&policy.pattern)).filter(|head| !head.contains('*')).unwrap_or("*");
    let methods = if policy.methods.is_empty() { vec!["*".to_owned()] } else { policy.methods.clone() };
    let row = |subject: &str, method: &str| {
        [subject, head, &policy.pattern, method, effect].into_iter().map(str::to_owned).collect()
    };
    let subjects = policy.subject_keys();
    subjects.iter().flat_map(|subject| methods.iter().map(move |method| row(subject, method))).collect()
}

/// The first two segments of a path or pattern; the whole of a shorter one.
fn head(path: &str) -> &str {
    let end = path.match_indices('/').nth(2).map_or(path.len(), |(end, _)| end);
    path.get(..end).unwrap_or(path)
}

impl Decider for Casbin {
    fn name(&self) -> &'static str {
        super::CASBIN.name
    }

    fn decide(&mut self, request: &Request) -> bool {
        let values: [&str; 4] = [&request.user.id, head(&request.path), &request.path, &request.method];
        let values: Vec<String> = values.into_iter().map(str::to_owned).collect();
        self.enforcer.enforce(values).is_ok_and(|permitted| permitted)
    }
}
