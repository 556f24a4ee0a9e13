//! An audit as a page that needs nothing else: no script, no other file, light and dark, and few pages on paper.
//!
//! Filters are check boxes before the content, which style sheets look at. Whoever follows a link of the contents sees that workspace
//! alone, until they go back to all.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::formats::xml::escaped;
use crate::report::compliance::{
    Audit, BaselineState, ByWorkspace, Check, Fix, NearMiss, Severity, Side, Violations, WaiverState, values,
};
use crate::report::counted;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --hard: #b3261e; --soft: #8a5a00; --waived: #5f6368; }
@media (prefers-color-scheme: dark) { :root { --hard: #ff8a80; --soft: #ffc65c; --waived: #b0b4ba; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td p { margin: 0; }
code, bdi { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
.state { font-weight: bold; } .hard .state { color: var(--hard); } .soft .state { color: var(--soft); } .waived .state { color: var(--waived); }
.note { color: var(--waived); } .gap { border-left: .3rem solid var(--soft); padding-left: 1rem; }
.overview { display: flex; flex-wrap: wrap; gap: 2rem; } .overview table { width: auto; }
main:has(section:target) section.workspace:not(:target) { display: none; }
@media print {
  @page { margin: 12mm; }
  body { font-size: 8.5pt; line-height: 1.25; margin: 0; max-width: none; padding: 0; color-scheme: light; }
  input, label, .screen { display: none; }
  th, td { padding: .1rem .3rem; } h2 { margin-top: 1rem; } h3 { margin: .5rem 0 .2rem; break-after: avoid; }
  tr { break-inside: avoid; } thead { display: table-header-group; }
}
";

/// What can be shown and hidden: the class of rows, and what people read.
const FILTERS: [(&str, &str); 9] = [
    ("hard", "hard"),
    ("soft", "soft"),
    ("waived", "waived"),
    ("critical", "critical"),
    ("high", "high"),
    ("medium", "medium"),
    ("low", "low"),
    ("info", "info"),
    ("none", "no severity"),
];

/// Writes the whole page, a workspace at a time.
pub(super) fn write(audit: &Audit, out: &mut dyn Write) -> io::Result<()> {
    let (boxes, rules) = filters(audit);
    let head = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Compliance audit</title>\n<style>{STYLE}{rules}</style>\n</head>\n<body>\n{boxes}<main>\n"
    );
    out.write_all(head.as_bytes())?;
    let mut body = format!("<h1 id=\"all\">{}</h1>\n", escaped(&audit.answer));
    body.push_str(&format!(
        "<p class=\"note\">{}, as of <time datetime=\"{now}\">{now}</time></p>\n",
        escaped(&audit.semantics),
        now = escaped(&audit.now)
    ));
    for filter in &audit.filters {
        body.push_str(&format!("<p class=\"note\">Only {}</p>\n", name(&filter.sentence())));
    }
    if let Some(compared) = &audit.baseline {
        body.push_str(&format!("<p>Beside the baseline: {}.</p>\n", escaped(&compared.sentence())));
    }
    let unseen = audit.gaps.iter();
    body.extend(unseen.map(|unseen| format!("<p class=\"gap\">Not looked at: {}</p>\n", escaped(&unseen.gap.text))));
    body.push_str(&overview(audit));
    out.write_all(body.as_bytes())?;
    violations(audit, out)?;
    let mut body = String::new();
    if !audit.errors.is_empty() {
        let items = audit.errors.iter().map(|error| format!("{}: {}", name(&error.policy), escaped(&error.message)));
        body.push_str(&format!("<h2>Not evaluated</h2>\n{}", list(items)));
    }
    body.push_str(&policies(audit));
    body.push_str(&waivers(audit));
    body.push_str("</main>\n</body>\n</html>\n");
    out.write_all(body.as_bytes())
}

/// A check box for everything that some violation is, and the rules that hide what is not checked.
fn filters(audit: &Audit) -> (String, String) {
    let is = |class: &str| audit.violations().any(|check| classes(check).contains(&class));
    let (mut boxes, mut rules) = (String::new(), String::new());
    for (class, label) in FILTERS.into_iter().filter(|(class, _)| is(class)) {
        boxes.push_str(&format!(
            "<input type=\"checkbox\" id=\"show-{class}\" checked=\"checked\"/> <label for=\"show-{class}\">{label}</label>\n"
        ));
        rules.push_str(&format!("#show-{class}:not(:checked) ~ main tr.{class} {{ display: none; }}\n"));
    }
    (boxes, rules)
}

/// What a violation is, for filters.
fn classes(check: &Check) -> [&'static str; 2] {
    [check.state.name(), check.severity.map_or("none", Severity::name)]
}

/// How much there is of what; workspaces lead to what they violate.
fn overview(audit: &Audit) -> String {
    if audit.checks.is_empty() {
        return String::new();
    }
    let severities = audit.overview.by_severity.iter();
    let severities = severities.map(|line| (escaped(line.severity.map_or("none", Severity::name)), line.counts));
    let policies = audit.policies.iter().map(|policy| (name(&policy.id), policy.violations()));
    let policies = policies.filter(|(_, counts)| counts.numbers() != [0; 3]);
    let workspaces = audit.overview.by_workspace.iter().enumerate();
    let workspaces =
        workspaces.map(|(number, line)| (format!("<a href=\"#w{number}\">{}</a>", workspace_name(line)), line.counts));
    format!(
        "<h2>Summary and contents</h2>\n<div class=\"overview\">\n{}{}{}</div>\n",
        counts("Severity", severities),
        counts("Policy", policies),
        counts("Workspace", workspaces)
    )
}

fn workspace_name(line: &ByWorkspace) -> String {
    line.workspace.as_deref().map_or_else(|| "No workspace".to_owned(), name)
}

fn counts(heading: &str, lines: impl Iterator<Item = (String, Violations)>) -> String {
    let rows = lines.map(|(name, counts)| {
        let numbers = counts.numbers().map(|number| format!("<td class=\"number\">{number}</td>"));
        format!("<tr><th scope=\"row\">{name}</th>{}</tr>\n", numbers.concat())
    });
    let numbers = ["Hard", "Soft", "Waived"].map(|text| format!("<th scope=\"col\" class=\"number\">{text}</th>"));
    format!(
        "<table>\n<thead><tr><th scope=\"col\">{heading}</th>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
        numbers.concat(),
        rows.collect::<String>()
    )
}

/// All violations, a row each, by workspace: the one with the most first, and in each the worst first.
fn violations(audit: &Audit, out: &mut dyn Write) -> io::Result<()> {
    let mut checks: BTreeMap<Option<&str>, Vec<&Check>> = BTreeMap::new();
    for check in audit.violations() {
        checks.entry(check.workspace.as_deref()).or_default().push(check);
    }
    if !checks.is_empty() {
        out.write_all(format!("<h2>Violations ({})</h2>\n", audit.checks.len()).as_bytes())?;
    }
    for (number, line) in audit.overview.by_workspace.iter().enumerate() {
        let Some(checks) = checks.get(&line.workspace.as_deref()) else { continue };
        let rows: String = checks.iter().map(|check| row(check)).collect();
        let columns = ["Policy", "Sides", "Why", "What to do"].map(|text| format!("<th scope=\"col\">{text}</th>"));
        let [hard, soft, waived] = line.counts.numbers();
        let section = format!(
            "<section class=\"workspace\" id=\"w{number}\">\n<h3>{} <span class=\"note\">{hard} hard, {soft} soft, {waived} waived</span> \
             <a class=\"screen\" href=\"#all\">all</a></h3>\n\
             <table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</section>\n",
            workspace_name(line),
            columns.concat()
        );
        out.write_all(section.as_bytes())?;
    }
    Ok(())
}

fn row(check: &Check) -> String {
    let (state, id) = (check.state.name(), escaped(&check.id));
    let severity = check.severity.map(Severity::name);
    let known = check.baseline_state.map(BaselineState::name);
    let qualities: Vec<&str> = severity.into_iter().chain([check.level.name()]).chain(known).collect();
    let policy = format!(
        "<p><span class=\"state\">{state}</span> {} <span class=\"note\">({})</span></p>\
         <p class=\"note screen\"><a href=\"#{id}\"><code>{id}</code></a></p>",
        name(&check.policy),
        qualities.join(", ")
    );
    let why = std::iter::once(escaped(&check.reason.text))
        .chain(check.cause.iter().map(|cause| escaped(&cause.text)))
        .chain(check.near_miss.iter().map(|miss| format!("nearly: {}", escaped(&NearMiss::sentence(miss)))))
        .chain(check.first_seen.iter().map(|seen| format!("since {}", escaped(seen))));
    let help = (check.waiver.iter().map(|waiver| escaped(&waiver.sentence())))
        .chain(check.how_to_fix.iter().map(|hint| escaped(hint)))
        .chain(check.fixes.iter().map(|fix| escaped(&Fix::sentence(fix))))
        .chain(check.no_fix_line().map(|why| escaped(&why)));
    let cells = [policy, paragraphs(check.sides().map(side)), paragraphs(why), paragraphs(help)];
    let cells = cells.map(|cell| format!("<td>{cell}</td>")).concat();
    format!("<tr class=\"{}\" id=\"{id}\">{cells}</tr>\n", classes(check).join(" "))
}

fn paragraphs(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| format!("<p>{line}</p>")).collect()
}

fn side(side: &Side) -> String {
    let title =
        if side.name == side.id() { String::new() } else { format!(" “<bdi>{}</bdi>”", escaped(&side.name)) };
    let at = side.at.as_ref().map(|at| format!(" <span class=\"note screen\">{}</span>", escaped(&at.to_string())));
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
            "<tr><th scope=\"row\">{}{description}</th><td>{}</td><td>{}</td><td>{}</td>{numbers}</tr>\n",
            name(&policy.id),
            policy.level.name(),
            policy.severity.map_or("", Severity::name),
            escaped(&policy.strategy)
        ));
    }
    let texts: String = ["Policy", "Level", "Severity", "Strategy"]
        .iter()
        .map(|text| format!("<th scope=\"col\">{text}</th>"))
        .collect();
    let numbers: String = ["Pairs", "Pass", "Hard", "Soft", "Waived", "Neither has the tag"]
        .iter()
        .map(|text| format!("<th scope=\"col\" class=\"number\">{text}</th>"))
        .collect();
    let vacuous = match audit.summary.vacuous {
        0 => String::new(),
        count => {
            let count = counted(count, "check", "checks");
            format!("<p>{count} passed only because neither side has the tag.</p>\n")
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
