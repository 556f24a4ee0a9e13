//! Cedar: one policy for each, with `like` in its condition. A `*` of Cedar goes over slashes, so the number of
//! segments is compared too, or where that is not enough the segments themselves; they come in the context.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::str::FromStr;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, PolicySet,
    Request as CedarRequest, RestrictedExpression,
};

use super::Decider;
use super::parts::Parts;
use crate::access::workload::{Effect, Policy, Request, SubjectTest, User, Workload, segments};

struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    users: Entities,
    types: Types,
    /// Segments that some policy compares.
    compared: BTreeSet<usize>,
}

struct Types {
    user: EntityTypeName,
    action: EntityTypeName,
    path: EntityTypeName,
}

pub(super) fn load(workload: &Workload) -> Result<Box<dyn Decider>, String> {
    let mut compared = BTreeSet::new();
    let texts: Result<Vec<String>, String> =
        workload.policies.iter().map(|policy| text(policy, &mut compared)).collect();
    let policies = PolicySet::from_str(&texts?.concat()).map_err(|error| error.to_string())?;
    let name = |name| EntityTypeName::from_str(name).map_err(|error| error.to_string());
    let types = Types { user: name("User")?, action: name("Action")?, path: name("Path")? };
    let users: Result<Vec<Entity>, String> = workload.users.iter().map(|user| entity(user, &types)).collect();
    let users = Entities::from_entities(users?, None).map_err(|error| error.to_string())?;
    Ok(Box::new(Cedar { authorizer: Authorizer::new(), policies, users, types, compared }))
}

impl Decider for Cedar {
    fn name(&self) -> &'static str {
        super::CEDAR.name
    }

    fn decide(&mut self, request: &Request) -> bool {
        let Some(request) = self.request(request) else { return false };
        self.authorizer.is_authorized(&request, &self.policies, &self.users).decision() == Decision::Allow
    }
}

impl Cedar {
    fn request(&self, request: &Request) -> Option<CedarRequest> {
        let mut context = vec![("path".to_owned(), RestrictedExpression::new_string(request.path.clone()))];
        let mut count = 0;
        for (position, segment) in segments(&request.path).enumerate() {
            if self.compared.contains(&position) {
                context.push((key(position), RestrictedExpression::new_string(segment.to_owned())));
            }
            count += 1;
        }
        context.push(("segments".to_owned(), RestrictedExpression::new_long(count)));
        let context = Context::from_pairs(context).ok()?;
        let user = identity(&self.types.user, &request.user.id);
        let action = identity(&self.types.action, &request.method);
        let path = identity(&self.types.path, &request.path);
        CedarRequest::new(user, action, path, context, None).ok()
    }
}

fn identity(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

fn entity(user: &User, types: &Types) -> Result<Entity, String> {
    let text = |text: &String| RestrictedExpression::new_string(text.clone());
    let claims = user.claims.iter().map(|(name, value)| (name.clone(), text(value)));
    let claims = RestrictedExpression::new_record(claims).map_err(|error| error.to_string())?;
    let attributes = HashMap::from([
        ("roles".to_owned(), RestrictedExpression::new_set(user.roles.iter().map(text))),
        ("groups".to_owned(), RestrictedExpression::new_set(user.groups.iter().map(text))),
        ("claims".to_owned(), claims),
    ]);
    Entity::new(identity(&types.user, &user.id), attributes, HashSet::new()).map_err(|error| error.to_string())
}

/// The policy in Cedar, and the segments of paths that it compares.
pub(crate) fn text(policy: &Policy, compared: &mut BTreeSet<usize>) -> Result<String, String> {
    let effect = match policy.effect {
        Effect::Permit => "permit",
        Effect::Deny => "forbid",
    };
    let methods: Vec<String> = policy.methods.iter().map(|method| format!("Action::\"{method}\"")).collect();
    let action = match methods.as_slice() {
        [] => "action".to_owned(),
        [method] => format!("action == {method}"),
        methods => format!("action in [{}]", methods.join(", ")),
    };
    let mut conditions = path_conditions(policy, compared)?;
    let subjects: Vec<String> = policy.subjects.iter().map(subject_condition).collect();
    if !subjects.is_empty() {
        conditions.push(format!("({})", subjects.join(" || ")));
    }
    Ok(format!("{effect}(principal, {action}, resource) when {{ {} }};\n", conditions.join(" && ")))
}

fn path_conditions(policy: &Policy, compared: &mut BTreeSet<usize>) -> Result<Vec<String>, String> {
    let parts = Parts::new(policy)?;
    let mut conditions = vec![format!("context.path like \"{}\"", policy.pattern.replace("**", "*"))];
    match &parts.after {
        None if parts.has_star() => conditions.push(format!("context.segments == {}", parts.length())),
        Some(after) if parts.has_star() => {
            if !after.is_empty() {
                return Err(format!("there is no encoding for the pattern of {}", policy.id));
            }
            conditions.push(format!("context.segments >= {}", parts.length()));
            let literals = parts.before.iter().enumerate().filter(|(_, segment)| **segment != "*");
            for (position, literal) in literals {
                compared.insert(position);
                conditions.push(format!("context.{} == \"{literal}\"", key(position)));
            }
        }
        _ => {}
    }
    Ok(conditions)
}

fn subject_condition(test: &SubjectTest) -> String {
    match test {
        SubjectTest::Role(name) => format!("principal.roles.contains(\"{name}\")"),
        SubjectTest::Group(name) => format!("principal.groups.contains(\"{name}\")"),
        SubjectTest::Id(name) => format!("principal == User::\"{name}\""),
        SubjectTest::Claim(name, value) => {
            format!("(principal.claims has {name} && principal.claims.{name} == \"{value}\")")
        }
    }
}

fn key(position: usize) -> String {
    format!("segment{position}")
}
