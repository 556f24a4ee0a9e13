//! All that a proxy gets: itself, its inbounds with the callers that policies tell apart, and every destination that some
//! policy names.

use crate::document::Resource;
use crate::kuma::ends::{Service, service_tagged};
use crate::kuma::layered::{ROUTE, RULE_MATCHES_TAG};
use crate::kuma::meta::Meta;
use crate::kuma::remarks;
use crate::kuma::rules::Rules;
use crate::kuma::services::are_exclusive;
use crate::kuma::subsets::{Subset, Tag};
use upheld_engine::Partition;
use upheld_engine::merge::{About, CallerFact, Cells, Question, ResolvedReach, Subject, Target, chain};
use upheld_model::layers::{Extent, Pattern};
use upheld_model::tree::Value;
use upheld_model::{Facet, Object, Part, Role, Sym, TagSet};

use super::{Asking, Layers, is_from_as_rules, outlets};
use upheld_report::{Depth, Outcome, Remark, Report, Sentence, Verdict};

/// How many sorts of clients of an inbound are shown; more can be asked for one by one.
const MOST_CELLS: usize = 50;

impl Layers<'_> {
    /// Rows for an overview: what matches, not why the rest does not.
    pub(super) fn whole_proxy(&self, proxy: &Object, label: &str) -> Vec<Report> {
        let mut all = Vec::new();
        for rules in &self.rules {
            let mut own = Vec::new();
            own.extend(
                self.row(rules, Asking::new(proxy, About::Whole, Some(label), None, "proxy")).filter(Report::speaks),
            );
            for (part, described) in called_parts(proxy) {
                own.extend(self.inbound_rows(rules, proxy, part, described, label));
            }
            for outlet in outlets(proxy) {
                own.extend(self.outbound_rows(rules, proxy, outlet, label));
            }
            let unheard = own.is_empty() && (self.rules.len() == 1 || !remarks::dangling(rules, proxy).is_empty());
            if unheard {
                own.extend(self.silent(rules, proxy, label));
            }
            all.extend(own);
        }
        if all.is_empty() {
            all.extend(self.rules.iter().filter_map(|rules| self.silent(rules, proxy, label)));
        }
        all
    }

    fn row(&self, rules: &Rules<'_>, asking: Asking<'_>) -> Option<Report> {
        self.ask(rules, Asking { depth: Depth::Answer, ..asking })
    }

    /// Nobody says anything: why not is the answer.
    fn silent(&self, rules: &Rules<'_>, proxy: &Object, label: &str) -> Option<Report> {
        let asked = [About::Whole, About::Targets(&[]), About::Inbound { part: 0, caller: &[] }];
        asked.into_iter().find_map(|about| self.ask(rules, Asking::new(proxy, about, Some(label), None, "proxy")))
    }

    fn inbound_rows(&self, rules: &Rules<'_>, proxy: &Object, part: u32, described: &Part, label: &str) -> Vec<Report> {
        let place = self.place(described);
        let ask = |from: Option<&str>, caller: &[CallerFact<'_>]| {
            let about = About::Inbound { part, caller };
            self.row(rules, Asking::new(proxy, about, from, Some(label), &place))
        };
        let admitted = rules.matched(proxy);
        let slots: Vec<u32> =
            admitted.iter().filter(|admitted| admitted.has(part)).map(|admitted| admitted.slot).collect();
        let mut rows: Vec<Report> = ask(None, &[]).filter(Report::speaks).into_iter().collect();
        for (caller, facts) in self.described_callers(rules, &slots) {
            let facts: Vec<CallerFact<'_>> = facts.iter().map(|(key, text)| (*key, Some(text.as_str()))).collect();
            rows.extend(ask(Some(&caller), &facts));
        }
        if rows.is_empty() || !is_from_as_rules(rules) {
            rows.extend(self.client_rows(rules, proxy, &slots, (part, &place), label));
        }
        rows
    }

    /// Callers that inbound rules describe, each with facts that fit.
    fn described_callers(&self, rules: &Rules<'_>, slots: &[u32]) -> Vec<(String, Vec<(Sym, String)>)> {
        let mut found: Vec<(String, Vec<(Sym, String)>)> = Vec::new();
        for entry in rules.entries(slots, Facet::Inbound).iter().filter_map(|id| rules.merge.entry(*id)) {
            let ResolvedReach::Callers(patterns) = &entry.reach else { continue };
            if patterns.is_empty() {
                continue;
            }
            let word = |pattern: &Pattern| {
                let more = if pattern.extent == Extent::Beginning { "…" } else { "" };
                format!("{}={}{more}", self.snapshot.text(pattern.key), pattern.text)
            };
            let called = patterns.iter().map(word).collect::<Vec<_>>().join(",");
            if !found.iter().any(|(known, _)| *known == called) {
                let facts = patterns.iter().map(|pattern| (pattern.key, pattern.text.to_string()));
                found.push((called, facts.collect()));
            }
        }
        found
    }

    /// Clients that policies tell apart by tags, a representative of each cell.
    fn client_rows(
        &self,
        rules: &Rules<'_>,
        proxy: &Object,
        slots: &[u32],
        (part, place): (u32, &str),
        label: &str,
    ) -> Vec<Report> {
        let ask = |from: &str, tags: &TagSet| {
            self.row(rules, Asking::new(proxy, About::Client { part, tags }, Some(from), Some(label), place))
        };
        let listed = match rules.client_rules(slots) {
            Ok(listed) => listed,
            Err(bound) => {
                let any = ask("any client", &TagSet::default());
                return any.map(|row| unlisted(row, bound.limit)).into_iter().collect();
            }
        };
        let clients: Vec<(String, TagSet)> = listed.iter().map(|rule| self.client(&rule.subset)).collect();
        let mut cells = (clients.len() > 1).then(|| Cells::new([rules.merge]));
        let mut rows = Vec::new();
        for (called, tags) in &clients {
            let Some(cells) = &mut cells else {
                rows.extend(ask(called, tags));
                break;
            };
            let about = About::Client { part, tags };
            let cell = cells.classify(Question { subject: Subject::of(proxy), about });
            if cells.size(cell) == 1 && cell < MOST_CELLS {
                rows.extend(ask(called, tags));
            }
        }
        let count = cells.map_or(rows.len(), |cells| cells.cells().count());
        if let (Some(more @ 1..), Some(last)) = (count.checked_sub(MOST_CELLS), rows.last_mut()) {
            last.notes.push(Remark::NotShown { more }.into());
        }
        rows
    }

    /// A client of a subset: how it is called, and its tags.
    fn client(&self, subset: &Subset) -> (String, TagSet) {
        let word = |tag: &Tag| format!("{}{}={}", if tag.not { "!" } else { "" }, tag.key, tag.value);
        let positive = || subset.tags.iter().filter(|tag| !tag.not);
        let called = match positive().next() {
            None => "all others".to_owned(),
            Some(_) => subset.tags.iter().map(word).collect::<Vec<_>>().join(","),
        };
        let symbols = self.snapshot.symbols();
        let tags = positive().filter_map(|tag| Some((symbols.get(&tag.key)?, symbols.get(&tag.value))));
        (called, TagSet::new(tags.collect::<Vec<_>>()))
    }

    fn outbound_rows(&self, rules: &Rules<'_>, proxy: &Object, outlet: Option<u32>, label: &str) -> Vec<Report> {
        let (part, place) = self.outlet(proxy, outlet);
        let admitted = rules.matched(proxy);
        let here = |parts: &upheld_engine::merge::Admitted| outlet.is_none_or(|outlet| parts.has(outlet));
        let slots: Vec<u32> = admitted.iter().filter(|one| here(one)).map(|admitted| admitted.slot).collect();
        let ask = |to: &str, about: About<'_>| {
            self.row(rules, Asking { part, ..Asking::new(proxy, about, Some(label), Some(to), &place) })
        };
        let mut rows = Vec::new();
        let listed = rules.resource_rules(&slots);
        let mut targets: Vec<(String, Target)> =
            listed.iter().map(|(target, _)| (self.target_label(target), target)).collect();
        targets.sort();
        for (called, target) in targets {
            let chain = chain(target, &rules.surroundings());
            rows.extend(ask(&called, About::Targets(&chain)));
        }
        for (called, tags) in self.tagged_services(rules, &slots, proxy.scope) {
            rows.extend(ask(&called, About::Service(&tags)));
        }
        rows
    }

    /// The rules of a route that is called, which policies that are attached through it are about.
    pub(super) fn rules_of_route(&self, rules: &Rules<'_>, proxy: &Object, target: Target) -> Vec<(String, TagSet)> {
        let route = self.snapshot.objects().get(target.object);
        let Some(route) = route.filter(|route| self.snapshot.text(route.kind) == ROUTE) else { return Vec::new() };
        let Some(key) = self.snapshot.symbols().get(RULE_MATCHES_TAG) else { return Vec::new() };
        let through = |slot: &u32| {
            let resource = rules.policy(*slot).and_then(|policy| self.snapshot.files().value(policy.at));
            let top = resource.and_then(Resource::of).and_then(|policy| policy.spec()?.get("targetRef"));
            let display = self.snapshot.files().value(route.at).and_then(Resource::of).map(Meta::of);
            top.is_some_and(|top| {
                let name = top.get("name").map(Value::text);
                top.get("kind").map(Value::text) == Some(ROUTE)
                    && display.as_ref().is_some_and(|route| name == Some(route.display_name()))
            })
        };
        let slots: Vec<u32> = rules.matched(proxy).iter().map(|one| one.slot).filter(through).collect();
        let services = self.tagged_services(rules, &slots, proxy.scope);
        services.into_iter().filter(|(_, tags)| tags.get(key).is_some()).collect()
    }

    /// Services that are known by their tag, and rules of routes to them, if one of the policies names them.
    fn tagged_services(&self, rules: &Rules<'_>, slots: &[u32], mesh: Sym) -> Vec<(String, TagSet)> {
        if are_exclusive(self.snapshot, mesh) {
            return Vec::new();
        }
        let entries = rules.entries(slots, Facet::Services);
        let named: Vec<Subset> = entries.iter().map(|entry| rules.subset(*entry)).collect();
        let tags = named.iter().flat_map(|subset| &subset.tags);
        let own = tags.filter_map(|tag| service_tagged(self.snapshot, mesh, &tag.key, &tag.value));
        let mut own: Vec<Service> = own.collect();
        own.sort_by_key(|service| self.snapshot.text(service.name));
        own.dedup();
        let mut found: Vec<(String, TagSet)> = own
            .into_iter()
            .map(|service| {
                let tags = TagSet::new([(service.tag, Some(service.name))]);
                (format!("service/{}", self.snapshot.text(service.name)), tags)
            })
            .collect();
        for subset in named.iter().filter(|subset| subset.tags.iter().any(|tag| tag.key == RULE_MATCHES_TAG)) {
            let symbols = self.snapshot.symbols();
            let tags = subset.tags.iter().filter_map(|tag| Some((symbols.get(&tag.key)?, symbols.get(&tag.value))));
            let service = subset.tags.iter().find(|tag| tag.key != RULE_MATCHES_TAG);
            let number = found.iter().filter(|(called, _)| called.contains("by rule")).count() + 1;
            let called = service.map_or("any service", |tag| tag.value.as_str());
            let tags = TagSet::new(tags.collect::<Vec<_>>());
            if !found.iter().any(|(_, known)| *known == tags) {
                found.push((format!("service/{called} by rule {number} of a route"), tags));
            }
        }
        found
    }
}

/// A row that stands for what could not be listed.
fn unlisted(row: Report, limit: usize) -> Report {
    Report {
        outcome: Outcome::Undecided,
        verdict: Verdict::Undecided,
        headline: Sentence::TooMany { kind: row.kind.clone(), limit }.into(),
        summary: "too many to list".to_owned(),
        policies: Vec::new(),
        fields: Vec::new(),
        result: serde_json::Value::Null,
        notes: std::iter::once(Remark::NotListed { limit }.into()).chain(row.notes).collect(),
        ..row
    }
}

/// The parts of a proxy that are called.
fn called_parts(proxy: &Object) -> impl Iterator<Item = (u32, &Part)> {
    let called = |part: &Part| matches!(part.role, Role::Inbound | Role::Listener | Role::GatewayListener);
    let parts = proxy.parts.iter().enumerate().filter(move |(_, part)| called(part));
    parts.filter_map(|(number, part)| Some((u32::try_from(number).ok()?, part)))
}
