//! CEL: one program for each policy, the denying ones first. The literal start of the path is compared first, since it
//! rules out the most.

use cel::common::types::{CelList, CelString};
use cel::common::value::Val;
use cel::{Context, Program, Value};

use super::Decider;
use super::parts::Parts;
use crate::access::workload::{Effect, Policy, Request, SubjectTest, Workload, segments};

struct Cel {
    denying: Vec<Program>,
    permitting: Vec<Program>,
    /// The standard functions; making them anew for each request would cost more than the decision.
    root: Context<'static, 'static>,
}

pub(super) fn load(workload: &Workload) -> Result<Box<dyn Decider>, String> {
    let (mut denying, mut permitting) = (Vec::new(), Vec::new());
    for policy in &workload.policies {
        let program = Program::compile(&expression(policy)?).map_err(|error| error.to_string())?;
        match policy.effect {
            Effect::Deny => denying.push(program),
            Effect::Permit => permitting.push(program),
        }
    }
    Ok(Box::new(Cel { denying, permitting, root: Context::default() }))
}

impl Decider for Cel {
    fn name(&self) -> &'static str {
        super::CEL.name
    }

    fn decide(&mut self, request: &Request) -> bool {
        let claims: Vec<String> = request.user.claims.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let root: &Context<'_, '_> = &self.root;
        let mut context = root.new_inner_scope();
        let user = &request.user;
        context.add_variable_as_val("path", text(&request.path));
        context.add_variable_as_val("method", text(&request.method));
        context.add_variable_as_val("user", text(&user.id));
        context.add_variable_as_val("segments", list(segments(&request.path)));
        context.add_variable_as_val("roles", list(user.roles.iter().map(String::as_str)));
        context.add_variable_as_val("groups", list(user.groups.iter().map(String::as_str)));
        context.add_variable_as_val("claims", list(claims.iter().map(String::as_str)));
        let holds = |program: &Program| program.execute(&context) == Ok(Value::Bool(true));
        !self.denying.iter().any(holds) && self.permitting.iter().any(holds)
    }
}

fn text(text: &str) -> Box<dyn Val + '_> {
    Box::new(CelString::from(text))
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> Box<dyn Val + 't> {
    Box::new(CelList::from(texts.map(text).collect::<Vec<_>>()))
}

/// The policy in CEL.
fn expression(policy: &Policy) -> Result<String, String> {
    let parts = Parts::new(policy)?;
    let start: String = parts.before.iter().take_while(|segment| **segment != "*").map(|s| format!("/{s}")).collect();
    let mut conditions = Vec::new();
    if policy.pattern == start {
        conditions.push(format!("path == '{start}'"));
    } else {
        conditions.push(format!("path.startsWith('{start}/')"));
        let compare = if parts.after.is_some() { ">=" } else { "==" };
        conditions.push(format!("size(segments) {compare} {}", parts.length()));
        let literals = parts.before.iter().enumerate().skip_while(|(_, segment)| **segment != "*");
        let literals = literals.filter(|(_, segment)| **segment != "*");
        conditions.extend(literals.map(|(position, literal)| format!("segments[{position}] == '{literal}'")));
        let literals = parts.after.iter().flatten().enumerate().filter(|(_, segment)| **segment != "*");
        conditions.extend(
            literals.map(|(position, literal)| format!("segments[size(segments) - {}] == '{literal}'", position + 1)),
        );
    }
    let alternatives = |alternatives: Vec<String>| match alternatives.as_slice() {
        [] => None,
        alternatives => Some(format!("({})", alternatives.join(" || "))),
    };
    conditions.extend(alternatives(policy.methods.iter().map(|method| format!("method == '{method}'")).collect()));
    conditions.extend(alternatives(policy.subjects.iter().map(subject).collect()));
    Ok(conditions.join(" && "))
}

fn subject(test: &SubjectTest) -> String {
    match test {
        SubjectTest::Role(name) => format!("'{name}' in roles"),
        SubjectTest::Group(name) => format!("'{name}' in groups"),
        SubjectTest::Id(name) => format!("user == '{name}'"),
        SubjectTest::Claim(name, value) => format!("'{name}={value}' in claims"),
    }
}
