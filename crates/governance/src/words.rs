//! Sentences about what people do: why a change is refused, what would fix a violation, what caused it.

use smol_str::SmolStr;
use upheld_engine::comply::{Class, NotFound, Profile, Tags};
use upheld_engine::words::comply::{house_name, joined, list, pairs};
use upheld_model::nearest::did_you_mean;

use crate::{Action, BadDefinition, BadValue, By, Cause, Edit, FirstSeen, Fix, Harm, Obstacle, Refusal};

/// A way to fix a violation; alternatives that differ only in the value are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedFix {
    /// For example `choose dev, test or qa as environment of project/a`.
    pub text: String,
    /// Who can.
    pub by: By,
    /// What to change; of alternatives the first.
    pub edits: Vec<Edit>,
    /// What it does to others.
    pub harms: Vec<Harm>,
}

/// What would fix a violation, in the order given.
pub fn fixes(fixes: &[Fix]) -> Vec<ReportedFix> {
    let mut reported: Vec<(ReportedFix, Vec<SmolStr>)> = Vec::new();
    for fix in fixes {
        let value = single_value(fix);
        let known = reported.iter_mut().find(|(known, values)| {
            !values.is_empty()
                && value.is_some()
                && (known.by, &known.harms) == (fix.by, &fix.harms)
                && differ_in_value(&known.edits, &fix.edits)
        });
        match (known, value) {
            (Some((_, values)), Some(value)) => values.push(value),
            (_, value) => {
                let (by, edits, harms) = (fix.by, fix.edits.clone(), fix.harms.clone());
                let fix = ReportedFix { text: String::new(), by, edits, harms };
                reported.push((fix, value.into_iter().collect()));
            }
        }
    }
    let tell = |(mut fix, values): (ReportedFix, Vec<SmolStr>)| {
        fix.text = edits_with(&fix.edits, &values);
        fix
    };
    reported.into_iter().map(tell).collect()
}

/// The value that a fix chooses, if it chooses one.
fn single_value(fix: &Fix) -> Option<SmolStr> {
    match fix.edits.as_slice() {
        [Edit::Tag { add, .. }] if add.len() == 1 => add.first().cloned(),
        _ => None,
    }
}

fn differ_in_value(one: &[Edit], other: &[Edit]) -> bool {
    match (one, other) {
        (
            [Edit::Tag { object, tag, remove, .. }],
            [Edit::Tag { object: same_object, tag: same_tag, remove: same_remove, .. }],
        ) => (object, tag, remove) == (same_object, same_tag, same_remove),
        _ => false,
    }
}

fn edits_with(edits: &[Edit], choices: &[SmolStr]) -> String {
    edits.iter().map(|one| edit(one, choices)).collect::<Vec<_>>().join(" and ")
}

/// What a fix does to others.
pub fn harm(harm: Harm) -> &'static str {
    match harm {
        Harm::Widens => "opens what it grants to others, too",
        Harm::Lowers => "protects less than before",
    }
}

/// Why no fix was found, in one line.
pub fn obstacles(profile: &Profile, obstacles: &[Obstacle]) -> String {
    obstacles.iter().map(|own| obstacle(profile, own)).collect::<Vec<_>>().join("; ")
}

fn obstacle(profile: &Profile, own: &Obstacle) -> String {
    match own {
        Obstacle::Harms { edits, harms, by } => {
            let told: Vec<&str> = harms.iter().map(|own| harm(*own)).collect();
            let allowed: Vec<&str> = harms.iter().map(|own| own.word()).collect();
            let needs = if *by == By::Administrator { ", by an administrator" } else { "" };
            let (edits, told, allowed) = (edits_with(edits, &[]), told.join(" and "), allowed.join(","));
            format!("`{edits}` would do{needs}, and {told}: only with --allow {allowed}")
        }
        Obstacle::Policies { edits, policies } => {
            format!("`{}` is against {}", edits_with(edits, &[]), joined(policies, "and"))
        }
        Obstacle::Refused { edits, refusal: why } => {
            format!("`{}` is not possible: {}", edits_with(edits, &[]), refusal(profile, why))
        }
        Obstacle::Like { object } => format!("it is as with {object}"),
        Obstacle::NoValue => "no value comes to mind that would end it".to_owned(),
        Obstacle::NotSought => "nobody looked, because there are so many; ask `upheld fix` for this one".to_owned(),
    }
}

/// One change that fixes; `choices` are the values of which one would do.
pub fn edit(edit: &Edit, choices: &[SmolStr]) -> String {
    match edit {
        Edit::Unlink { a, b } => format!("end the relationship {a} ~ {b}"),
        Edit::Tag { object, tag, add, remove } => {
            let values = if choices.len() > 1 { joined(choices, "or") } else { list(add) };
            match (add.is_empty(), remove.is_empty()) {
                (false, true) => format!("add {values} to {tag} of {object}"),
                (true, _) => format!("remove {} from {tag} of {object}", list(remove)),
                (false, false) => format!("choose {values} instead of {} as {tag} of {object}", list(remove)),
            }
        }
    }
}

/// What made something violate: `landingZone/lz-1 moved environment dev → prod on 2026-02-03 by an administrator`.
pub fn cause(profile: &Profile, seen: &FirstSeen) -> String {
    let Cause { action, object, change, at, .. } = &seen.cause;
    let moment = at.to_string();
    let day = moment.split_once('T').map_or(moment.as_str(), |(day, _)| day);
    let who = who(profile, &seen.cause);
    match (action.as_str(), change) {
        ("tags", Some((tag, before, after))) => {
            let values = |values: &[SmolStr]| if values.is_empty() { "(none)".to_owned() } else { values.join(", ") };
            format!("{object} moved {tag} {} → {} on {day} by {who}", values(before), values(after))
        }
        ("tags", None) => format!("{object} got other tags on {day} by {who}"),
        ("link", _) => format!("{object} got a new relationship on {day} by {who}"),
        ("create", _) => format!("{object} was created on {day} by {who}"),
        ("policy", _) => format!("policy {object} was written on {day} by {who}"),
        ("defaults", _) => format!("the default tags changed on {day} by {who}"),
        _ => format!("{object} changed on {day} by {who}"),
    }
}

/// Who made a change: `an administrator`, `ana, an administrator`.
pub fn who(profile: &Profile, cause: &Cause) -> String {
    let class = cause.role.as_deref().and_then(|role| profile.role(role)).and_then(|role| profile.role_spec(role));
    let title = match class.map(|spec| spec.class) {
        Some(Class::Administrator) => "an administrator",
        Some(Class::EndUser) => "an end-user",
        None => "the system",
    };
    match &cause.name {
        Some(name) => format!("{name}, {title}"),
        None => title.to_owned(),
    }
}

/// Why an action makes no sense, or its actor may not.
pub fn refusal(profile: &Profile, refusal: &Refusal) -> String {
    let meant = |sentence: String, nearest: &Option<SmolStr>| match nearest {
        Some(nearest) => format!("{sentence}; {}", did_you_mean(nearest)),
        None => sentence,
    };
    match refusal {
        Refusal::NotFound(NotFound::Kind { written, nearest }) => {
            meant(format!("there is no kind `{written}`"), nearest)
        }
        Refusal::NotFound(NotFound::Object { written, nearest }) => meant(format!("there is no `{written}`"), nearest),
        Refusal::ObjectExists { object } => format!("`{object}` already exists"),
        Refusal::NoOwner { object } => format!("`{object}` must belong to something, and no owner was named"),
        Refusal::Owned { object, owner } => format!("`{object}` already belongs to `{owner}`"),
        Refusal::NotRelated { a, b } => {
            format!(
                "{} and {} are not related in this way (`{a}`, `{b}`)",
                house_name(profile, a),
                house_name(profile, b)
            )
        }
        Refusal::NoLink { a, b } => format!("`{a}` and `{b}` are not related"),
        Refusal::Disabled { object } => format!("`{object}` is disabled and takes no new relationships"),
        Refusal::NotInScope { object, scope } => {
            format!("`{object}` has no access to `{scope}`, which is needed first")
        }
        Refusal::NotEmpty { object, inside } => format!("`{object}` is not empty: `{inside}` belongs to it"),
        Refusal::UnknownTag { subject, key, nearest } => meant(format!("{subject} has no tag `{key}`"), nearest),
        Refusal::Value { key, bad, options } => {
            let sentence = format!("the tag `{key}` {}", bad_value(bad));
            if options.is_empty() { sentence } else { format!("{sentence}; it takes {}", joined(options, "or")) }
        }
        Refusal::Mandatory { key } => format!("the tag `{key}` must have a value"),
        Refusal::Restricted { key } => format!("only administrators may change the tag `{key}`"),
        Refusal::Immutable { key } => format!("the tag `{key}` cannot change after it was set"),
        Refusal::Right { role, what } => format!("the role {role} may not {what}"),
        Refusal::Nobody => "this takes a role, and the writer has none".to_owned(),
        Refusal::Scope { own } => format!("this role holds in `{own}` only"),
        Refusal::PolicyExists { policy } => format!("the policy `{policy}` already exists"),
        Refusal::PolicyWaived { policy, waiver } => {
            format!("the waiver `{waiver}` is about the policy `{policy}`; revoke it first")
        }
        Refusal::UnknownPolicy { written, nearest } => meant(format!("there is no policy `{written}`"), nearest),
        Refusal::NoPair { a, b } => format!("no policy can be about {a} and {b}; {}", pairs(profile)),
        Refusal::RuleCount { count: 0 } => "a policy needs at least one rule".to_owned(),
        Refusal::RuleCount { count } => format!("a policy has one rule here, not {count}"),
        Refusal::Strategy { strategy } => format!("{} has no strategy `{strategy}`", profile.name),
        Refusal::Selectors { policy } => {
            format!("the policy `{policy}` has `where` or `except`, which {} does not have", profile.name)
        }
        Refusal::Definition { key, bad } => format!("the tag definition `{key}` {}", bad_definition(bad)),
        Refusal::UnknownDefinition { subject, key } => format!("{subject} has no tag definition `{key}`"),
        Refusal::TagInUse { key, policy } => format!("the policy `{policy}` uses the tag `{key}`"),
        Refusal::WaiverExists { waiver } => format!("the waiver `{waiver}` already exists"),
        Refusal::UnknownWaiver { waiver } => format!("there is no waiver `{waiver}`"),
        Refusal::NoReason { waiver } => format!("the waiver `{waiver}` gives no reason"),
        Refusal::Backwards => "time cannot go backwards".to_owned(),
    }
}

/// What is wrong with a value, after the name of its tag.
pub fn bad_value(bad: &BadValue) -> String {
    match bad {
        BadValue::Several => "takes one value only".to_owned(),
        BadValue::TooLong(value) => {
            let start: String = value.chars().take(20).collect();
            format!("takes at most 255 characters, `{start}…` has {}", value.chars().count())
        }
        BadValue::NoOption(value) => format!("has no option `{value}`"),
        BadValue::Type(value) => format!("cannot be `{value}`, which is not of its type"),
        BadValue::Regex(value) => format!("cannot be `{value}`, which does not match its pattern"),
    }
}

/// What is wrong with a tag definition, after its name.
pub fn bad_definition(bad: &BadDefinition) -> String {
    match bad {
        BadDefinition::Key => "has a key with other characters than letters, digits, - and _".to_owned(),
        BadDefinition::Alike(other) => format!("differs from `{other}` by case only"),
        BadDefinition::Twice => "already exists".to_owned(),
        BadDefinition::NoOptions => "has nothing to choose from: it needs `options`".to_owned(),
        BadDefinition::Regex => "has a `regex`, which only string and email can have".to_owned(),
        BadDefinition::Default(bad) => format!("has a default that it {}", bad_value(bad)),
        BadDefinition::Type => "cannot change its type".to_owned(),
    }
}

/// A change in a few words: `link project/a ~ landingZone/b`.
pub fn action(action: &Action) -> String {
    let tags = |tags: &Tags| {
        let told: Vec<String> = tags.iter().map(|(key, values)| format!("{key}={}", values.join(","))).collect();
        told.join(" ")
    };
    let with = |role: &Option<SmolStr>| role.as_ref().map(|role| format!(" as {role}")).unwrap_or_default();
    match action {
        Action::Create(new) => {
            let others: Vec<String> = new.links.iter().map(|link| format!(" ~ {}", link.other)).collect();
            let tags = if new.tags.is_empty() { String::new() } else { format!(" with {}", tags(&new.tags)) };
            format!("create {}{}{tags}", new.object, others.concat())
        }
        Action::Delete { object } => format!("delete {object}"),
        Action::SetTags { object, tags: changed } => format!("tag {object} {}", tags(changed)),
        Action::Describe { object, .. } => format!("describe {object}"),
        Action::Link { a, b, role } => format!("link {a} ~ {b}{}", with(role)),
        Action::Unlink { a, b, role } | Action::End { a, b, role } => format!("unlink {a} ~ {b}{}", with(role)),
        Action::CreatePolicy(policy) => format!("create policy {}", policy.id),
        Action::UpdatePolicy(policy) => format!("change policy {}", policy.id),
        Action::DeletePolicy { policy } => format!("delete policy {policy}"),
        Action::Define(definition) => format!("define tag {}", definition.key),
        Action::Redefine(change) => format!("change the definition of tag {}", change.key),
        Action::Undefine { subject, key } => format!("remove the definition of tag {key} of {subject}"),
        Action::SetDefaults { tags: defaults } => format!("set default tags {}", tags(defaults)),
        Action::Grant(waiver) => format!("grant waiver {}", waiver.id),
        Action::Revoke { waiver } => format!("revoke waiver {waiver}"),
        Action::Advance { to } => format!("advance the time to {to}"),
    }
}
