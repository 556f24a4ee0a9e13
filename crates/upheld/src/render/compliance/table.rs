//! An audit for people: what is wrong and how to fix it, by how much it matters.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::{HARD, SOFT};
use crate::cli::Format;
use crate::render::style::{ANSWER, DIM, HEADING, WARNING, paint};
use crate::render::table::{Align, Table, indented, wrap};
use crate::render::text::{Text, text};
use crate::render::{Screen, visible};
use crate::report::compliance::{
    Audit, BaselineState, Cause, Check, CheckState, Level, NearMiss, PolicyLine, Severity, Side, Violations,
    WaiverState, spaced, values,
};
use crate::report::counted;

/// How many violations of a block a terminal gets before "and N more". A pipe gets all.
const MOST: usize = 50;
/// Names of policies line up unless one is longer than this.
const WIDEST_NAME: usize = 40;
/// A report with more violations begins with a summary; a shorter one is its own.
const SUMMARISED: usize = 10;
/// How many workspaces a summary names.
const WORKSPACES: usize = 10;
/// Where details begin.
const DETAIL: usize = 6;

/// All that is to be said about an audit.
pub(super) fn all(audit: &Audit, screen: &Screen) -> Text {
    let good = if audit.summary.violations() == 0 && audit.errors.is_empty() { ANSWER } else { HARD };
    let mut text = paint(good, &wrap(&visible(&audit.answer), screen.width)) + "\n";
    for filter in &audit.filters {
        text.push_str(indented(&visible(&format!("only {}", filter.sentence())), 2, screen.width));
    }
    if let Some(compared) = &audit.baseline {
        text.push_str(indented(&format!("beside the baseline: {}", compared.sentence()), 2, screen.width));
    }
    let renderer = AuditRenderer { audit, screen, names: names(audit) };
    text.push_str(renderer.gaps());
    text.push_str(renderer.errors());
    if audit.checks.len() > SUMMARISED || is_close(screen) {
        text.push_str(overview(audit, screen));
    }
    text.push_str(renderer.block(
        "HARD (enforced, and let through by nobody)",
        HARD,
        renderer.single(CheckState::Hard),
    ));
    text.push_str(renderer.block("SOFT (accepted; needs follow-up)", SOFT, renderer.by_cause()));
    text.push_str(renderer.block("WAIVED (would be violations)", HEADING, renderer.single(CheckState::Waived)));
    text.push_str(renderer.without_evidence());
    text.push_str(renderer.idle_waivers());
    if is_close(screen) {
        text.push_str(policies(audit, screen));
    }
    text
}

/// Whether somebody looks closer.
fn is_close(screen: &Screen) -> bool {
    screen.verbose || screen.format == Format::Wide
}

/// The width of the names of policies.
fn names(audit: &Audit) -> usize {
    let widths = audit.violations().map(|check| visible(&named(audit, check)).width());
    widths.filter(|width| *width <= WIDEST_NAME).max().unwrap_or(0)
}

/// The policy, and the number of the rule where there are several.
fn named(audit: &Audit, check: &Check) -> String {
    let has_several = audit.policy(&check.policy).is_some_and(|policy| policy.a.tags.len() > 1);
    if has_several { format!("{}#{}", check.policy, check.rule) } else { check.policy.clone() }
}

struct AuditRenderer<'a> {
    audit: &'a Audit,
    screen: &'a Screen,
    names: usize,
}

/// Violations that are told together: those of one cause, or a single one.
struct Group<'a> {
    cause: Option<&'a Cause>,
    checks: Vec<&'a Check>,
}

impl<'a> AuditRenderer<'a> {
    fn single(&self, state: CheckState) -> Vec<Group<'a>> {
        self.audit.ended(state).map(|check| Group { cause: None, checks: vec![check] }).collect()
    }

    /// Soft violations: those that one change caused are one matter.
    fn by_cause(&self) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut known: BTreeMap<(&str, usize, &Cause), usize> = BTreeMap::new();
        for check in self.audit.ended(CheckState::Soft) {
            let cause = check.cause.as_ref();
            let key = cause.map(|cause| (check.policy.as_str(), check.rule, cause));
            match key.and_then(|key| known.get(&key)).and_then(|index| groups.get_mut(*index)) {
                Some(group) => group.checks.push(check),
                None => {
                    known.extend(key.map(|key| (key, groups.len())));
                    groups.push(Group { cause, checks: vec![check] });
                }
            }
        }
        groups
    }

    fn block(&self, heading: &str, style: Style, groups: Vec<Group<'a>>) -> Text {
        if groups.is_empty() {
            return Text::default();
        }
        let most = if self.screen.width.is_none() || self.screen.verbose { usize::MAX } else { MOST };
        let left = groups.len().saturating_sub(most);
        let mut text = text!("\n  {}\n", paint(style, heading));
        for group in groups.into_iter().take(most) {
            text.push_str(match group.cause {
                Some(cause) => self.caused(cause, &group.checks),
                None => group.checks.iter().map(|check| self.one(check)).collect(),
            });
        }
        if left > 0 {
            text.push_str(paint(DIM, &text!("  … and {} more (--verbose shows all)\n", left)));
        }
        text
    }

    /// The line that begins a violation or a group of them.
    fn head(&self, check: &Check, what: &str) -> Text {
        let name = visible(&named(self.audit, check));
        let padding = " ".repeat(self.names.saturating_sub(name.width()));
        text!("  {}{}  {}{}\n", paint(HEADING, &name), padding, what, qualities(check))
    }

    fn one(&self, check: &Check) -> Text {
        let workspace = check.workspace_beside().map(|workspace| format!("  in {workspace}")).unwrap_or_default();
        let pair = format!("{}{workspace}", check.sides().map(titled).collect::<Vec<_>>().join(" ~ "));
        let mut text = self.head(check, &pair);
        text.push_str(self.detail(&if check.is_about_one() {
            format!("{} {}", check.a.title, check.reason.text)
        } else {
            let sides = [&check.a, &check.b].map(|side| format!("{} has {} {}", side.title, side.tag, braced(side)));
            format!("{}: {}", sides.join(", "), check.reason.text)
        }));
        // What was meant by the value of a single object is said already.
        let near = check.near_miss.iter().filter(|_| !check.is_about_one());
        text.extend(near.map(|miss| self.detail(&format!("nearly: {}", NearMiss::sentence(miss)))));
        text.extend(check.waiver.iter().map(|waiver| self.detail(&waiver.sentence())));
        text.extend(check.cause.iter().map(|cause| self.detail(&format!("since: {}", cause.text))));
        if check.state != CheckState::Waived {
            text.push_str(self.fixes(check));
        }
        text + self.more(check, None)
    }

    /// `landingZone/lz-1 moved dev → prod on 2026-02-03 by an administrator: 4 projects now disagree`.
    fn caused(&self, cause: &Cause, checks: &[&Check]) -> Text {
        let Some(first) = checks.first() else { return Text::default() };
        let others: Vec<&Side> = checks
            .iter()
            .map(|check| check.sides().find(|side| side.reference != cause.object).unwrap_or(&check.a))
            .collect();
        // Where a change concerns neither side, as that of a policy does, both are reported.
        let is_side = |check: &&Check| check.a.reference == cause.object || check.b.reference == cause.object;
        let has_side = checks.iter().all(is_side);
        let kind = others.first().map(|side| side.kind.as_str());
        let kind = kind.filter(|kind| has_side && others.iter().all(|side| side.kind == *kind));
        let one = kind.map_or_else(|| "pair".to_owned(), spaced);
        let alone = checks.iter().all(|check| check.is_about_one());
        let verb = match (alone, others.len()) {
            (true, 1) => "violates it",
            (true, _) => "violate it",
            (false, 1) => "disagrees",
            (false, _) => "disagree",
        };
        let count = counted(others.len(), &one, &format!("{one}s"));
        // Since then it may have moved again.
        let own = if first.a.reference == cause.object { &first.a } else { &first.b };
        let with = if has_side { format!(" with {} {}", own.tag, braced(own)) } else { String::new() };
        let mut text = self.head(first, &format!("{}: {count} now {verb}{with}", cause.text));
        if has_side {
            let told: Vec<String> = others.iter().map(|side| format!("{} {}", titled(side), braced(side))).collect();
            text.push_str(self.items(&told));
        } else {
            for check in checks {
                let told = check.sides().map(|side| format!("{} {}", titled(side), braced(side)));
                text.push_str(self.detail(&told.collect::<Vec<_>>().join(" ~ ")));
            }
        }
        if let [only] = checks {
            text.push_str(self.fixes(only));
        } else {
            text.extend(first.how_to_fix.iter().map(|hint| self.detail(&format!("how to fix: {hint}"))));
        }
        text.extend(checks.iter().zip(others).map(|(check, other)| self.more(check, Some(other))));
        text
    }

    fn fixes(&self, check: &Check) -> Text {
        let hint = check.how_to_fix.iter().map(|hint| self.detail(&format!("how to fix: {hint}")));
        hint.chain(check.fix_line().map(|line| self.detail(&line))).collect()
    }

    /// What only those read who look closer.
    fn more(&self, check: &Check, of: Option<&Side>) -> Text {
        if !is_close(self.screen) {
            return Text::default();
        }
        let of = of.map(|side| side.reference.clone());
        let known = [check.id.clone(), check.reason.code.to_string()];
        let seen = check.first_seen.as_ref().map(|seen| format!("since {seen}"));
        let places = check.sides().filter_map(|side| side.at.as_ref()).map(ToString::to_string);
        let told: Vec<String> = of.into_iter().chain(known).chain(seen).chain(places).collect();
        paint(DIM, &self.items(&told))
    }

    /// Things beside each other, as many as fit.
    fn items(&self, items: &[String]) -> Text {
        let width = self.screen.width.map(|width| width.saturating_sub(DETAIL));
        let mut lines: Vec<String> = Vec::new();
        for item in items.iter().map(|item| visible(item)) {
            match lines.last_mut() {
                Some(line) if width.is_none_or(|width| line.width() + 2 + item.width() <= width) => {
                    line.push_str(&format!("  {item}"));
                }
                _ => lines.push(item),
            }
        }
        lines.iter().map(|line| text!("{}{}\n", " ".repeat(DETAIL), line)).collect()
    }

    fn detail(&self, text: &str) -> Text {
        indented(&visible(text), DETAIL, self.screen.width)
    }

    fn without_evidence(&self) -> Text {
        let count = self.audit.summary.vacuous;
        if count == 0 {
            return Text::default();
        }
        let each = self.audit.policies.iter().filter(|policy| policy.counts.vacuous > 0);
        let heading = if each.clone().all(PolicyLine::is_about_one) {
            "PASSED ONLY BECAUSE THE TAG HAS NO VALUE"
        } else {
            "PASSED ONLY BECAUSE NEITHER SIDE HAS THE TAG"
        };
        let mut text = text!("\n  {}   {}\n", paint(HEADING, heading), counted(count, "check", "checks"));
        let told: Vec<String> = each.map(|policy| format!("{} {}", policy.id, policy.counts.vacuous)).collect();
        if told.len() > 1 {
            text.push_str(self.items(&told));
        }
        text
    }

    fn idle_waivers(&self) -> Text {
        let mut idle = self.audit.waivers.iter().filter(|waiver| waiver.state != WaiverState::Used).peekable();
        if idle.peek().is_none() {
            return Text::default();
        }
        let columns = ["WAIVER THAT COVERS NOTHING", "STATE", "POLICY", "EXPIRES", "AT", "REASON"];
        let mut table = Table::new(&columns.map(|name| (name, Align::Left)));
        for waiver in idle {
            let at = waiver.at.as_ref().map(ToString::to_string).unwrap_or_default();
            let expires = waiver.expires.clone().unwrap_or_default();
            let state = waiver.state.name().to_owned();
            table.row(WARNING, [waiver.id.clone(), state, waiver.policy.clone(), expires, at, waiver.reason.clone()]);
        }
        text!("\n{}", table.render(self.screen.width, 3))
    }

    /// What could not be looked at.
    fn gaps(&self) -> Text {
        if self.audit.gaps.is_empty() {
            return Text::default();
        }
        let mut table = Table::new(&["NOT LOOKED AT", "AT"].map(|name| (name, Align::Left)));
        for unseen in &self.audit.gaps {
            let at = unseen.at.as_ref().map(ToString::to_string).unwrap_or_default();
            table.row(WARNING, [unseen.gap.text.clone(), at]);
        }
        text!("\n{}", table.render(self.screen.width, 0))
    }

    fn errors(&self) -> Text {
        if self.audit.errors.is_empty() {
            return Text::default();
        }
        let mut table = Table::new(&["NOT EVALUATED", "BECAUSE", "AT"].map(|name| (name, Align::Left)));
        for error in &self.audit.errors {
            let at = error.at.as_ref().map(ToString::to_string).unwrap_or_default();
            table.row(HARD, [error.policy.clone(), error.message.clone(), at]);
        }
        text!("\n{}", table.render(self.screen.width, 1))
    }
}

/// How much there is of what.
fn overview(audit: &Audit, screen: &Screen) -> Text {
    let summary = |heading: &str, lines: Vec<(String, Violations)>| {
        let numbers = ["HARD", "SOFT", "WAIVED"].map(|name| (name, Align::Right));
        let mut table = Table::new(&[&[(heading, Align::Left)], numbers.as_slice()].concat());
        for (name, counts) in lines {
            table.row(Style::new(), [name].into_iter().chain(counts.numbers().map(|number| number.to_string())));
        }
        text!("\n{}", table.render(screen.width, 0))
    };
    let severities = audit.overview.by_severity.iter();
    let severities = severities.map(|line| (line.severity.map_or("none", Severity::name).to_owned(), line.counts));
    let policies = audit.policies.iter().map(|policy| (policy.id.clone(), policy.violations()));
    let mut policies: Vec<_> = policies.filter(|(_, counts)| counts.numbers() != [0; 3]).collect();
    policies.sort_by_key(|(_, counts)| Reverse(*counts));
    let all = &audit.overview.by_workspace;
    let workspaces = all.iter().take(WORKSPACES);
    let workspaces =
        workspaces.map(|line| (line.workspace.clone().unwrap_or_else(|| "(none)".to_owned()), line.counts));
    let more = match all.len().saturating_sub(WORKSPACES) {
        0 => Text::default(),
        more => paint(DIM, &text!("  … and {}\n", counted(more, "more workspace", "more workspaces"))),
    };
    summary("BY SEVERITY", severities.collect())
        + summary("BY POLICY", policies)
        + summary("BY WORKSPACE", workspaces.collect())
        + more
}

/// `  (high, warn, new)`: how bad, how serious if it is not enforced, and whether it was there before.
fn qualities(check: &Check) -> String {
    let severity = check.severity.map(Severity::name);
    let level = (check.level != Level::Enforce).then(|| check.level.name());
    let known = check.baseline_state.map(BaselineState::name);
    let told: Vec<&str> = severity.into_iter().chain(level).chain(known).collect();
    if told.is_empty() { String::new() } else { format!("  ({})", told.join(", ")) }
}

fn policies(audit: &Audit, screen: &Screen) -> Text {
    let texts = ["POLICY", "LEVEL", "SEVERITY", "STRATEGY"].map(|name| (name, Align::Left));
    let numbers = ["PAIRS", "PASS", "HARD", "SOFT", "WAIVED", "NO EVIDENCE"].map(|name| (name, Align::Right));
    let mut table = Table::new(&[texts.as_slice(), numbers.as_slice()].concat());
    for policy in &audit.policies {
        let counts = policy.counts;
        let numbers = [policy.pairs, counts.passed, counts.hard, counts.soft, counts.waived, counts.vacuous];
        let severity = policy.severity.map(Severity::name).unwrap_or_default().to_owned();
        let texts = [policy.id.clone(), policy.level.name().to_owned(), severity, policy.strategy.clone()];
        table.row(Style::new(), texts.into_iter().chain(numbers.map(|number| number.to_string())));
    }
    text!("\n{}", table.render(screen.width, 1))
}

/// The reference, and the name where that is another.
fn titled(side: &Side) -> String {
    if side.name == side.id() { side.reference.clone() } else { format!("{} {:?}", side.reference, side.name) }
}

fn braced(side: &Side) -> String {
    format!("{{{}}}", values(&side.values))
}
