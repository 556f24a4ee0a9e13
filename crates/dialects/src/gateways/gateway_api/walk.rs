//! From a route at a listener to everything that it leads to, through routes that it delegates to.
//!
//! Routes form a graph that may have cycles and diamonds. It is walked along paths: a route may be reached several times,
//! but not from itself. Because diamonds multiply, the number of ways is limited.

use std::sync::Arc;

use super::claim::{ENVOY_GATEWAY, KGATEWAY};
use super::controller::System;
use super::inherit::{accepts_parent, agrees, inherit};
use super::matches::Match;
use super::pattern::{Mistake, Pattern};
use super::precedence::{Ages, Rank};
use super::report::{RULE_DROPPED, RULE_REPLACED, Reports, note, replaced};
use super::resources::{Backend, Route, Rule, View};
use super::settings::Settings;
use super::topology::{Outcome, Parent, Step, Way};
use super::warnings::Warnings;
use super::world::{ReadRoute, World};

/// The annotation by which a route takes over the matches of those that delegate to it.
pub(super) const INHERIT_MATCHER: &str = "delegation.kgateway.dev/inherit-parent-matcher";

/// How many steps may still be taken on all ways of all routes together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    left: usize,
    /// Whether somebody wanted more.
    exhausted: bool,
}

impl Steps {
    pub(super) fn up_to(limit: usize) -> Self {
        Self { left: limit, exhausted: false }
    }

    /// Takes steps from those that are left; none if there are not enough, which is said once.
    pub(super) fn take(&mut self, steps: usize, at: &View<'_>, settings: &Settings, warnings: &mut Warnings) -> bool {
        let enough = self.left >= steps;
        self.left = self.left.saturating_sub(steps);
        if !enough && !std::mem::replace(&mut self.exhausted, true) {
            warnings.too_many(at, settings);
        }
        enough
    }

    /// How many were taken since then.
    pub(super) fn since(self, before: Self) -> usize {
        before.left - self.left
    }

    /// With steps that are not taken any more. What was refused stays refused.
    pub(super) fn give_back(&mut self, steps: usize) {
        self.left += steps;
    }

    /// Whether some ways are left out: then what is left of one route depends on all before it.
    pub(super) fn is_exhausted(self) -> bool {
        self.exhausted
    }
}

/// A rule of a route under one of its matches.
struct Survivor<'r, 's> {
    rule_index: usize,
    rule: &'r Rule<'s>,
    matched: usize,
    matching: Arc<Match>,
}

/// Why a reference to routes leads nowhere.
struct Unresolved {
    reason: &'static str,
    message: String,
}

/// A walk from one route.
pub(super) struct Walk<'w, 's> {
    world: &'w World<'s>,
    /// Who runs the gateway, if that is known.
    system: Option<System>,
    reports: &'w mut Reports,
    warnings: &'w mut Warnings,
    steps: &'w mut Steps,
    path: Vec<ReadRoute<'s>>,
    chain: Vec<Step>,
    /// What answers instead of a backend by the rules that led here.
    above: Vec<&'s str>,
    found: Vec<Way>,
}

impl<'w, 's> Walk<'w, 's> {
    pub(super) fn new(
        world: &'w World<'s>,
        system: Option<System>,
        reports: &'w mut Reports,
        warnings: &'w mut Warnings,
        steps: &'w mut Steps,
    ) -> Self {
        Self {
            world,
            system,
            reports,
            warnings,
            steps,
            path: Vec::new(),
            chain: Vec::new(),
            above: Vec::new(),
            found: Vec::new(),
        }
    }

    /// All ways from a route that is attached to a parent.
    pub(super) fn from(mut self, root: &ReadRoute<'s>, parent: &Parent) -> Vec<Way> {
        self.walk(root, parent, &survivors(&root.route, None));
        self.found
    }

    fn walk(&mut self, read: &ReadRoute<'s>, parent: &Parent, survivors: &[Survivor<'_, 's>]) {
        let object = read.route.view.object;
        self.reports.at(object, parent);
        self.path.push(read.clone());
        for survivor in survivors {
            let (rule, matched) = (survivor.rule_index, survivor.matched);
            self.chain.push(Step { route: object, rule, matched, parent: parent.clone() });
            self.matched(&read.route, parent, survivor);
            self.chain.pop();
        }
        self.path.pop();
    }

    fn matched(&mut self, route: &Route<'s>, parent: &Parent, survivor: &Survivor<'_, 's>) {
        let Survivor { rule, matched, matching, .. } = survivor;
        let object = route.view.object;
        if !self.steps.take(1, &route.view, self.world.settings, self.warnings) {
            return;
        }
        if let Some(message) = bad_pattern(matching) {
            let message = format!("Dropped Rule ({matched}): {message}");
            note(&mut self.reports.at(object, parent).programmed, RULE_DROPPED, message);
            return;
        }
        let delegates = rule.backends.iter().any(|backend| delegates(route, backend));
        // What a rule that delegates asks for is asked for in all that it leads to.
        let above = self.above.len();
        self.above.extend(direct_responses(rule).filter(|_| delegates));
        let unresolved = self.follow(route, parent, rule, matching);
        self.above.truncate(above);
        let broken = self.broken(route, rule, delegates);
        if let Some(why) = &broken {
            note(&mut self.reports.at(object, parent).programmed, RULE_REPLACED, replaced(*matched, why));
        }
        match (broken, unresolved) {
            (Some(why), _) => self.emit(Outcome::Replaced(why), matching),
            (None, Some(why)) => self.emit(Outcome::Unserved(why), matching),
            // Others answer for it.
            (None, None) if delegates => {}
            (None, None) => self.emit(outcome(rule, &self.above), matching),
        }
    }

    /// Follows the references of a rule. Why none of its backends can be used, or one of its delegations.
    fn follow(&mut self, route: &Route<'s>, parent: &Parent, rule: &Rule<'s>, matching: &Match) -> Option<String> {
        let object = route.view.object;
        let (mut failed, mut refused, mut usable) = (None, None, false);
        for backend in &rule.backends {
            let problem = if delegates(route, backend) {
                let result = self.descend(route, backend, matching);
                result.err().map(|problem| failed.insert((problem.reason, problem.message)).clone())
            } else {
                let problem = self.world.refuse(&route.view, backend, self.system);
                usable |= problem.is_none();
                problem.map(|problem| refused.insert(problem).clone())
            };
            if let Some((reason, message)) = problem {
                if !delegates(route, backend) {
                    self.warnings.bad_backend(&route.view, backend, reason, &message);
                }
                note(&mut self.reports.at(object, parent).resolved, reason, message);
            }
        }
        for mirror in rule.filters().filter_map(|filter| filter.at_path(&["requestMirror", "backendRef"])) {
            let backend = Backend::of(mirror, route.view.namespace);
            if let Some((reason, message)) = self.world.refuse(&route.view, &backend, self.system) {
                self.warnings.bad_backend(&route.view, &backend, reason, &message);
                note(&mut self.reports.at(object, parent).resolved, reason, message);
            }
        }
        failed.or(refused.filter(|_| !usable)).map(|(_, message)| message)
    }

    /// What is wrong with a rule itself: policies that are not there, nothing to do, or two things at once. Controllers whose
    /// rules are not known here may do with a rule whatever they like.
    fn broken(&mut self, route: &Route<'_>, rule: &Rule<'_>, delegates: bool) -> Option<String> {
        let namespace = route.view.namespace;
        let missing = rule.extensions().filter(|(group, kind, name, _)| {
            !self.world.has_extension(kind, namespace, name) && must_be_there(self.system, group)
        });
        let missing: Vec<_> = missing.collect();
        for (_, kind, name, value) in &missing {
            self.warnings.no_extension(&route.view, kind, name, *value);
        }
        let titles =
            missing.iter().map(|(group, kind, name, _)| format!("{group}/{kind}/{namespace}/{name}: policy not found"));
        let mut problems: Vec<String> = titles.collect();
        if matches!(self.system, Some(System::EnvoyGateway | System::Other)) {
            return (!problems.is_empty()).then(|| problems.join("\n"));
        }
        // A filter that is not known here may answer.
        let may_answer = self.system.is_none() && rule.extensions().any(|(group, ..)| group != KGATEWAY);
        // A rule that delegates does not answer itself.
        let above = if delegates { &[] } else { self.above.as_slice() };
        let is_idle = rule.backends.is_empty() && outcome(rule, above) == Outcome::Forward;
        if is_idle && problems.is_empty() && !may_answer {
            problems.push("no action specified".to_owned());
        }
        problems.extend(answered_twice(rule, above));
        (!problems.is_empty()).then(|| problems.join("\n"))
    }

    /// Goes on to the routes that a reference means.
    fn descend(&mut self, parent: &Route<'s>, backend: &Backend<'s>, matching: &Match) -> Result<(), Unresolved> {
        let world = self.world;
        let title = backend.reference.title();
        let unresolved = || Unresolved { reason: "BackendNotFound", message: format!("{title}: unresolved reference") };
        let candidates = world.delegates(&backend.reference).into_iter().filter_map(|route| world.route(route));
        let name = (parent.view.namespace, parent.view.name);
        let children: Vec<_> = candidates.filter(|child| accepts_parent(&child.route.parents, name)).collect();
        // One route that leads back spoils the whole reference.
        let leads_back = |child: &&ReadRoute<'s>| self.path.iter().any(|known| known.is(child));
        if let Some(ReadRoute { route: child, .. }) = children.iter().find(leads_back) {
            self.warnings.cycle(&parent.view, &child.view, backend);
            let message = format!(
                "{title}: ignoring child route {} for parent {}: cyclic reference detected while evaluating delegated routes",
                child.view.path(),
                parent.view.path()
            );
            return Err(Unresolved { reason: "RefNotPermitted", message });
        }
        if self.path.len() >= world.settings.depth_limit {
            let message = format!("{} is more than {} routes deep", parent.view.title(), world.settings.depth_limit);
            self.warnings.limit(&parent.view, message);
            return Err(unresolved());
        }
        let led_here = Parent { object: parent.view.object, section: None };
        let mut followed = false;
        for read in &children {
            let child = &read.route;
            let survivors = survivors(child, Some(matching));
            if survivors.is_empty() {
                continue;
            }
            if child.hostnames.is_empty() {
                followed = true;
                self.walk(read, &led_here, &survivors);
            } else {
                let message =
                    "spec.hostnames must be unset on a route that is delegated to: they are those of the parent";
                let marks = self.reports.at(child.view.object, &led_here);
                note(&mut marks.accepted, "UnsupportedValue", message.to_owned());
            }
        }
        if followed {
            return Ok(());
        }
        let problem = unresolved();
        self.warnings.bad_backend(&parent.view, backend, problem.reason, &problem.message);
        Err(problem)
    }

    fn emit(&mut self, outcome: Outcome, matching: &Arc<Match>) {
        let (Some(root), Some(leaf)) = (self.path.first(), self.path.last()) else { return };
        if !self.steps.take(self.chain.len(), &leaf.route.view, self.world.settings, self.warnings) {
            return;
        }
        let ages = Ages { root: Arc::clone(&root.age), leaf: Arc::clone(&leaf.age) };
        let rank = Rank::of(matching, self.world.weight(&leaf.route), ages);
        let (wanted, chain) = (Arc::clone(matching), self.chain.clone());
        self.found.push(Way { matching: matching.to_config(), wanted, chain, outcome, rank });
    }
}

/// Whether what a filter of a group refers to must be among what was read. Who does not know the group cannot tell.
fn must_be_there(system: Option<System>, group: &str) -> bool {
    match system {
        Some(System::Kgateway) => true,
        Some(System::EnvoyGateway) => group == ENVOY_GATEWAY,
        Some(System::Other) => false,
        None => [KGATEWAY, ENVOY_GATEWAY].contains(&group),
    }
}

/// The rules and matches of a route that count under the match that leads to it.
fn survivors<'r, 's>(route: &'r Route<'s>, parent: Option<&Match>) -> Vec<Survivor<'r, 's>> {
    let inherits = route
        .view
        .annotation(INHERIT_MATCHER)
        .is_some_and(|value| ["true", "yes", "enabled"].iter().any(|word| word.eq_ignore_ascii_case(value.text())));
    let under = |own: &Arc<Match>| match parent {
        None => Some(Arc::clone(own)),
        Some(parent) if inherits => Some(Arc::new(inherit(parent, own))),
        Some(parent) => agrees(parent, own).then(|| Arc::clone(own)),
    };
    let rules = route.rules.iter().enumerate();
    rules
        .flat_map(|(rule_index, rule)| {
            let matches = rule.matches.iter().enumerate();
            matches
                .filter_map(move |(matched, own)| Some(Survivor { rule_index, rule, matched, matching: under(own)? }))
        })
        .collect()
}

/// Whether a reference of a route leads to other routes: only routes for HTTP delegate.
fn delegates(route: &Route<'_>, backend: &Backend<'_>) -> bool {
    route.view.kind == "HTTPRoute" && backend.reference.delegates()
}

/// What happens to requests if nothing is wrong, under rules that ask for these answers.
fn outcome(rule: &Rule<'_>, above: &[&str]) -> Outcome {
    let is_redirect = |kind: &str| kind == "RequestRedirect";
    if rule.filters().filter_map(|filter| filter.get("type")).any(|kind| is_redirect(kind.text())) {
        return Outcome::Redirect;
    }
    let answered = direct_responses(rule).chain(above.iter().copied()).next().is_some();
    if answered { Outcome::Answered } else { Outcome::Forward }
}

/// The names of what answers instead of a backend.
fn direct_responses<'s>(rule: &Rule<'s>) -> impl Iterator<Item = &'s str> + use<'s> {
    let all = rule.extensions().filter(|(group, kind, ..)| (*group, *kind) == (KGATEWAY, "DirectResponse"));
    all.map(|(.., name, _)| name)
}

/// What is wrong where something else answers beside a `DirectResponse`: the controller makes an error of both.
fn answered_twice(rule: &Rule<'_>, above: &[&str]) -> Option<String> {
    let mut direct = direct_responses(rule).map(|name| (name, "")).chain(above.iter().map(|name| (*name, PARENT)));
    let (first, whose) = direct.next()?;
    let backend = rule.backends.first().map(|backend| backend.reference.title());
    let other = match (outcome(rule, above), direct.next()) {
        (Outcome::Redirect, _) => Some("a RequestRedirect".to_owned()),
        (_, Some((second, whose))) => Some(format!("the DirectResponse {second}{whose}")),
        _ => backend,
    };
    let first =
        if whose.is_empty() { "a DirectResponse".to_owned() } else { format!("the DirectResponse {first}{whose}") };
    other.map(|other| format!("{first} cannot be applied to a rule that has another action: {other}"))
}

/// Whose answer it is that a rule did not ask for itself.
const PARENT: &str = " of a parent";

/// What is wrong with the regular expressions of a match.
fn bad_pattern(matching: &Match) -> Option<String> {
    let path = matching.path_kind == super::matches::PathKind::RegularExpression;
    let path = path.then_some(&matching.path).into_iter();
    let fields = matching.headers.iter().chain(&matching.query).filter(|field| field.is_regular_expression());
    path.chain(fields.map(|field| &field.value)).find_map(|text| match Pattern::new(text) {
        Err(Mistake::Broken(why)) => Some(format!("the regular expression `{text}` is broken: {why}")),
        Err(Mistake::NotSupported(_)) | Ok(_) => None,
    })
}
