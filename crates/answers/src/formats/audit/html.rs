//! An audit as a page that needs nothing else: no script, no other file, light and dark.

use std::collections::BTreeMap;

use crate::formats::xml::escaped;
use crate::report::compliance::{Audit, Check, CheckState, Fix, NearMiss, Side, WaiverState, values};
use crate::report::counted;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --hard: #b3261e; --soft: #8a5a00; --waived: #5f6368; }
@media (prefers-color-scheme: dark) { :root { --hard: #ff8a80; --soft: #ffc65c; --waived: #b0b4ba; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
article { border-left: .3rem solid var(--waived); margin: 1rem 0; padding: .2rem 1rem; }
article.hard { border-color: var(--hard); } article.soft { border-color: var(--soft); }
article h3 { font-size: 1rem; margin: .2rem 0; } article p { margin: .3rem 0; } article ul { margin: .3rem 0; }
code, bdi { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
.state { font-weight: bold; } .hard .state { color: var(--hard); } .soft .state { color: var(--soft); }
.note { color: var(--waived); }
";

/// The whole page.
pub(super) fn page(audit: &Audit) -> String {
    let mut body = format!("<h1>{}</h1>\n", escaped(&audit.answer));
    body.push_str(&format!(
        "<p class=\"note\">{}, as of <time datetime=\"{now}\">{now}</time></p>\n",
        escaped(&audit.semantics),
        now = escaped(&audit.now)
    ));
    for filter in &audit.filters {
        body.push_str(&format!("<p class=\"note\">Only {}</p>\n", name(&filter.sentence())));
    }
    for (state, heading) in [
        (CheckState::Hard, "Hard: the change would be refused"),
        (CheckState::Soft, "Soft: accepted, needs follow-up"),
        (CheckState::Waived, "Waived"),
    ] {
        body.push_str(&section(heading, &audit.ended(state).collect::<Vec<_>>()));
    }
    if !audit.errors.is_empty() {
        let items = audit.errors.iter().map(|error| format!("{}: {}", name(&error.policy), escaped(&error.message)));
        body.push_str(&format!("<h2>Not evaluated</h2>\n{}", list(items)));
    }
    body.push_str(&policies(audit));
    body.push_str(&waivers(audit));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Compliance audit</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// The violations of a state, by workspace.
fn section(heading: &str, checks: &[&Check]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let mut by_workspace: BTreeMap<Option<&str>, String> = BTreeMap::new();
    for check in checks {
        by_workspace.entry(check.workspace.as_deref()).or_default().push_str(&article(check));
    }
    let groups: String = by_workspace
        .iter()
        .map(|(workspace, articles)| {
            let workspace = workspace.map_or_else(|| "No workspace".to_owned(), name);
            format!("<section>\n<p class=\"note\">{workspace}</p>\n{articles}</section>\n")
        })
        .collect();
    format!("<h2>{heading} ({})</h2>\n{groups}", checks.len())
}

fn article(check: &Check) -> String {
    let (state, id) = (check.state.name(), escaped(&check.id));
    let mut text = format!("<article class=\"{state}\" id=\"{id}\">\n<h3><span class=\"state\">{state}</span> ");
    let policy = name(&check.policy);
    text.push_str(&format!("{policy} <span class=\"note\">({})</span></h3>\n", check.level.name()));
    text.push_str(&list([side(&check.a), side(&check.b)]));
    text.push_str(&format!("<p>{}</p>\n", escaped(&check.reason.text)));
    let told = (check.cause.iter().map(|cause| ("Cause", cause.text.clone())))
        .chain(check.near_miss.iter().map(|miss| ("Nearly", NearMiss::sentence(miss))))
        .chain(check.waiver.iter().map(|waiver| ("Excused by", waiver.sentence())))
        .chain(check.first_seen.iter().map(|seen| ("Since", seen.clone())))
        .chain(check.how_to_fix.iter().map(|hint| ("How to fix", hint.clone())))
        .chain(check.fixes.iter().map(|fix| ("Fix", Fix::sentence(fix))));
    text.extend(told.map(|(label, value)| format!("<p><b>{label}:</b> {}</p>\n", escaped(&value))));
    text.push_str(&format!(
        "<p class=\"note\">{} <a href=\"#{id}\"><code>{id}</code></a></p>\n</article>\n",
        check.reason.code
    ));
    text
}

fn side(side: &Side) -> String {
    let title =
        if side.name == side.id() { String::new() } else { format!(" “<bdi>{}</bdi>”", escaped(&side.name)) };
    let at = side.at.as_ref().map(|at| format!(" <span class=\"note\">{}</span>", escaped(&at.to_string())));
    let values = if side.values.is_empty() { "(none)".to_owned() } else { name(&values(&side.values)) };
    let (reference, tag, at) = (name(&side.reference), name(&side.tag), at.unwrap_or_default());
    format!("{} {reference}{title}: {tag} = {values}{at}", escaped(&side.title))
}

fn policies(audit: &Audit) -> String {
    let mut rows = String::new();
    for policy in &audit.policies {
        let counts = policy.counts;
        let numbers = [policy.pairs, counts.passed, counts.hard, counts.soft, counts.waived, counts.vacuous];
        let numbers: String = numbers.iter().map(|number| format!("<td class=\"number\">{number}</td>")).collect();
        let description = policy.description.as_ref().map(|text| format!("<br>{}", escaped(text))).unwrap_or_default();
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{}{description}</th><td>{}</td><td>{}</td>{numbers}</tr>\n",
            name(&policy.id),
            policy.level.name(),
            escaped(&policy.strategy)
        ));
    }
    let texts: String =
        ["Policy", "Level", "Strategy"].iter().map(|text| format!("<th scope=\"col\">{text}</th>")).collect();
    let numbers: String = ["Pairs", "Pass", "Hard", "Soft", "Waived", "Without evidence"]
        .iter()
        .map(|text| format!("<th scope=\"col\" class=\"number\">{text}</th>"))
        .collect();
    let vacuous = match audit.summary.vacuous {
        0 => String::new(),
        count => {
            let count = counted(count, "check", "checks");
            format!("<p>{count} passed without evidence: neither side carries the tag.</p>\n")
        }
    };
    format!(
        "<h2>Policies</h2>\n<table>\n<thead><tr>{texts}{numbers}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{vacuous}"
    )
}

fn waivers(audit: &Audit) -> String {
    let idle: Vec<String> = audit
        .waivers
        .iter()
        .filter(|waiver| waiver.state != WaiverState::Used)
        .map(|waiver| format!("{} of {}: {}", name(&waiver.id), name(&waiver.policy), waiver.state.name()))
        .collect();
    if idle.is_empty() { String::new() } else { format!("<h2>Waivers that cover nothing</h2>\n{}", list(idle)) }
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: String = items.into_iter().map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// Text of users; the direction of its writing ends with it.
fn name(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}
