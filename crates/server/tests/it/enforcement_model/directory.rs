//! What a directory adds to a request.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::facts::{Fact, Facts, Request};
use super::policies::{map, texts};

pub(super) fn complete(request: &mut Request, directory: Option<&Json>) {
    if let Some(directory) = directory {
        subject(request, directory);
        resource(request, directory);
        action(request, directory);
        roles_and_groups(request, directory);
    }
    path_of_a_route(request);
}

fn entries<'d>(directory: &'d Json, name: &str) -> impl Iterator<Item = &'d Json> {
    directory.get(name).and_then(Json::as_array).into_iter().flatten()
}

/// What a request says wins, property by property.
fn fill(facts: &mut Facts, properties: Option<&Map<String, Json>>, apart: &[&str]) {
    for (name, fact) in Facts::of(properties).known {
        if !apart.contains(&name.as_str()) {
            facts.known.entry(name).or_insert(fact);
        }
    }
}

fn subject(request: &mut Request, directory: &Json) {
    let Fact::Is(id) = &request.subject_id else { return };
    let same = entries(directory, "subjects").filter(|subject| subject["id"] == *id);
    let found: Vec<&Json> = match &request.subject_type {
        Fact::Is(kind) => same.filter(|subject| subject["type"] == *kind).collect(),
        _ => same.collect(),
    };
    match found.as_slice() {
        [] => {}
        [only] => {
            let properties = map(only, "properties");
            let list = |names: [&str; 2]| {
                let said = names.into_iter().find_map(|name| properties?.get(name).filter(|value| !value.is_null()));
                said.map_or(Fact::Absent, |value| Fact::Is(texts(value).into()))
            };
            request.subject_type = request.subject_type.clone().or(Fact::of(only.get("type")));
            request.roles = request.roles.clone().or(list(["roles", "role"]));
            request.groups = request.groups.clone().or(list(["groups", "group"]));
            fill(&mut request.claims, properties, &["roles", "role", "groups", "group"]);
        }
        // Several have that id: it is not known which of them it is.
        _ => {
            request.subject_type = Fact::Unknown;
            request.roles = request.roles.clone().or(Fact::Unknown);
            request.groups = request.groups.clone().or(Fact::Unknown);
            request.claims.others = Fact::Unknown;
        }
    }
}

fn resource(request: &mut Request, directory: &Json) {
    let (Fact::Is(kind), Fact::Is(id)) = (&request.resource_type, &request.resource_id) else { return };
    let found = entries(directory, "resources").find(|resource| resource["type"] == *kind && resource["id"] == *id);
    fill(&mut request.properties, found.and_then(|found| map(found, "properties")), &[]);
}

fn action(request: &mut Request, directory: &Json) {
    let Fact::Is(name) = &request.operation else { return };
    let found = entries(directory, "actions").find(|action| action["name"] == *name);
    fill(&mut request.action, found.and_then(|found| map(found, "properties")), &[]);
}

/// Roles that contain others, groups that are part of others, and roles of groups.
fn roles_and_groups(request: &mut Request, directory: &Json) {
    let reach = |from: &Json, kind: &str, field: &str| {
        let mut reached: BTreeSet<String> = texts(from).into_iter().map(str::to_owned).collect();
        loop {
            let of_reached = entries(directory, kind).filter(|entry| reached.contains(entry["name"].as_str().unwrap()));
            let next: BTreeSet<String> = of_reached.flat_map(|entry| texts(&entry[field])).map(str::to_owned).collect();
            if next.is_subset(&reached) {
                return reached;
            }
            reached.extend(next);
        }
    };
    let mut more = BTreeSet::new();
    // Members of some group may have any of its roles.
    request.more_roles =
        request.groups == Fact::Unknown && entries(directory, "groups").any(|group| !texts(&group["roles"]).is_empty());
    if let Fact::Is(groups) = &request.groups {
        let groups = reach(groups, "groups", "groups");
        let of_groups = entries(directory, "groups").filter(|group| groups.contains(group["name"].as_str().unwrap()));
        more.extend(of_groups.flat_map(|group| texts(&group["roles"])).map(str::to_owned));
        request.groups = Fact::Is(groups.into_iter().collect());
    }
    request.roles = match &request.roles {
        Fact::Absent if more.is_empty() => Fact::Absent,
        Fact::Unknown if more.is_empty() => Fact::Unknown,
        Fact::Unknown => {
            request.more_roles = true;
            Fact::Is(reach(&more.into_iter().collect(), "roles", "contains").into_iter().collect())
        }
        Fact::Absent => Fact::Is(reach(&more.into_iter().collect(), "roles", "contains").into_iter().collect()),
        Fact::Is(roles) => {
            more.extend(texts(roles).into_iter().map(str::to_owned));
            Fact::Is(reach(&more.into_iter().collect(), "roles", "contains").into_iter().collect())
        }
    };
}

/// The path of a resource of type `route` is its id, unless the request says another.
fn path_of_a_route(request: &mut Request) {
    if request.path == Fact::Absent && request.resource_type == Fact::said("route") {
        request.path = request.resource_id.clone();
    }
}
