//! From places of gateways to reports.

mod ends;

use std::sync::Arc;

use crate::gateways::gateway_api::attachments::Reader;
use crate::gateways::gateway_api::find::Request;
use crate::gateways::gateway_api::graph;
use crate::gateways::gateway_api::reported::{report_at, report_of};
use crate::gateways::gateway_api::scopes::{BACKEND, GATEWAY, HOST, LISTENER, ROUTE};
use crate::gateways::gateway_api::topology::{Gateway, Host, Outcome, Place, Topology, Way};
use crate::gateways::gateway_api::{GatewayKind, Network};
use crate::gateways::kgateway::PolicyType;
use upheld_engine::ObjectId;
use upheld_engine::hierarchy::{CellKey, Effective, Field};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::find;
use crate::question::{HttpRequest, Thing};
use upheld_report::{Remark, Report, Sentence, Verdict, broken, each_once};

/// Asks for what the user named.
pub(super) struct Query<'s> {
    pub(super) network: Network<'s>,
    /// The kind that was asked for; all that say something, if none was.
    pub(super) kind: Option<GatewayKind<'s>>,
}

/// Ways with one answer: what it depends on, whose way it is, and its reports.
type Cell = (CellKey, String, Vec<Report>);

impl<'s> Query<'s> {
    fn topology(&self) -> &'s Topology {
        self.network.topology()
    }

    pub(super) fn reports(&self, thing: &Thing) -> Result<Vec<Report>, Diagnostic> {
        let named = match thing {
            Thing::HttpRequest(request) => return self.request(request),
            Thing::Object(named) => named,
            _ => return Ok(Vec::new()),
        };
        let snapshot = self.network.snapshot;
        let (object, section) = find(snapshot, &named.written)?;
        let kind = self.network.object(object).map_or("", |object| snapshot.text(object.kind));
        match kind {
            "HTTPRoute" | "GRPCRoute" => self.route(object, section),
            "Gateway" | "ListenerSet" | "XListenerSet" => self.gateway(object, section),
            _ => self.backend(object, section),
        }
    }

    /// The kinds to ask: the one that was named, or all that have policies and can be attached to one of some scopes.
    fn kinds(&self, scopes: &[u8]) -> Vec<GatewayKind<'s>> {
        if let Some(kind) = self.kind {
            return vec![kind];
        }
        let reaches =
            |kind: &GatewayKind<'_>| kind.policies.kind().places.iter().any(|place| scopes.contains(&place.scope));
        // What rules say themselves is reported with the policies for traffic.
        let speaks = |kind: &GatewayKind<'_>| !kind.policies.is_empty() || is_traffic(self.network, *kind);
        let speaking: Vec<GatewayKind<'s>> =
            self.network.kinds().filter(|kind| reaches(kind) && speaks(kind)).collect();
        if speaking.is_empty() { self.network.kinds().filter(reaches).collect() } else { speaking }
    }

    /// Which way takes a request, and what holds there.
    fn request(&self, asked: &HttpRequest) -> Result<Vec<Report>, Diagnostic> {
        let path = asked.path.as_deref().unwrap_or("/");
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let headers = asked.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (host, method) = (asked.host.as_str(), asked.method.as_deref().unwrap_or("GET"));
        let request = Request { host, path, method, headers, query, port: asked.port };
        let mut ports: Vec<u16> = self
            .topology()
            .gateways
            .iter()
            .flat_map(|gateway| gateway.listeners.iter())
            .map(|listener| listener.port)
            .collect();
        ports.sort_unstable();
        ports.dedup();
        ports.retain(|port| asked.port.is_none_or(|wanted| wanted == *port));
        let mut places: Vec<Place> = Vec::new();
        for port in &ports {
            let place = self.topology().find_place(&Request { port: Some(*port), ..request.clone() });
            places.extend(place.filter(|place| !places.contains(place)));
        }
        if places.is_empty() {
            let mut hosts: Vec<&str> = self
                .topology()
                .gateways
                .iter()
                .flat_map(|gateway| &gateway.hosts)
                .map(|host| host.name.as_str())
                .collect();
            hosts.sort_unstable();
            hosts.dedup();
            let on = asked.port.map(|port| format!(" on port {port}")).unwrap_or_default();
            let message = format!("no route takes {} {host}{path}{on}", request.method);
            return Err(Diagnostic::error(Fault::NotFound, message).help(format!("hosts: {}", hosts.join(", "))));
        }
        let mut reports: Vec<Report> = places.iter().flat_map(|place| self.at(*place)).collect();
        reports.extend(self.beyond(&places));
        Ok(reports)
    }

    fn at(&self, place: Place) -> Vec<Report> {
        let gateway = self.topology().gateways.get(place.gateway);
        let host = gateway.and_then(|gateway| gateway.hosts.get(place.host));
        let Some((gateway, host, way)) =
            gateway.zip(host).and_then(|(gateway, host)| Some((gateway, host, host.ways.get(place.way)?)))
        else {
            return Vec::new();
        };
        let text = self.way_text(gateway, host, way);
        let title = self.rule_title(way);
        let kinds = self.kinds(&WAY_SCOPES).into_iter();
        speaking(kinds.map(|kind| holding_for(self.way(kind, place, &title), text.clone())).collect())
    }

    /// Every rule of a route, or one; ways with the same answer stand together, and are asked once.
    fn route(&self, route: ObjectId, section: Option<&str>) -> Result<Vec<Report>, Diagnostic> {
        let mut rules: Vec<String> = Vec::new();
        let kinds = self.kinds(&WAY_SCOPES);
        let mut cells: Vec<Vec<Cell>> = kinds.iter().map(|_| Vec::new()).collect();
        let mut places = Vec::new();
        for (place, way) in self.topology().ways_to(route) {
            let (number, name) = self.rule(way);
            rules.extend(name.clone().or_else(|| Some(number.to_string())));
            let is_asked = |section: &str| name.as_deref() == Some(section) || number.to_string() == section;
            if section.is_some_and(|section| !is_asked(section)) {
                continue;
            }
            places.push(place);
            let title = self.rule_title(way);
            for (kind, cells) in kinds.iter().zip(&mut cells) {
                self.sort_way(*kind, place, way, &title, cells);
            }
        }
        if let (true, Some(section)) = (places.is_empty(), section) {
            rules.sort();
            rules.dedup();
            let message = format!("{} has no rule `{section}` that requests reach", self.network.title(route));
            let diagnostic = Diagnostic::error(Fault::NotFound, message);
            return Err(diagnostic.suggest_or(
                nearest(section, rules.iter().map(String::as_str)).map(|near| format!("#{near}")),
                || format!("rules: {}", rules.join(", ")),
            ));
        }
        if places.is_empty() {
            return Err(self.unreached(route));
        }
        let reports = cells.into_iter().flatten().flat_map(|(_, _, reports)| reports);
        let mut reports = speaking(reports.fold(Vec::new(), together_by_target));
        reports.extend(self.beyond(&places));
        Ok(reports)
    }

    /// What holds at the ports and backends of some ways: policies of other kinds than those for traffic, as far as there are any
    /// and no kind was named.
    fn beyond(&self, places: &[Place]) -> Vec<Report> {
        if self.kind.is_some() {
            return Vec::new();
        }
        let on_ways = self.kinds(&WAY_SCOPES);
        let only_at = |scope: u8| {
            let mut kinds = self.kinds(&[scope]);
            kinds.retain(|kind| on_ways.iter().all(|known| known.kind.name != kind.kind.name));
            kinds
        };
        let (at_ports, at_backends) = (only_at(LISTENER), only_at(BACKEND));
        let (mut gateways, mut backends): (Vec<&Gateway>, Vec<ObjectId>) = (Vec::new(), Vec::new());
        for place in places {
            let gateway = self.topology().gateways.get(place.gateway);
            gateways.extend(gateway.filter(|one| gateways.iter().all(|known| known.object != one.object)));
            let step = self.topology().way(*place).and_then(|way| way.chain.last());
            let named = step.map(|step| graph::backends(self.network.snapshot, step.route, step.rule));
            for object in named.into_iter().flatten().filter_map(|backend| backend.object) {
                if !backends.contains(&object) {
                    backends.push(object);
                }
            }
        }
        let at_port = |(gateway, kind): (&&'s Gateway, &GatewayKind<'s>)| {
            report_at(&self.network.under(*kind).port(gateway), &self.network.title(gateway.object))
        };
        let at_backend = |(backend, kind): (&ObjectId, &GatewayKind<'s>)| {
            report_at(&self.network.backend(*kind, *backend, None), &self.network.title(*backend))
        };
        let pairs = gateways.iter().flat_map(|gateway| at_ports.iter().map(move |kind| (gateway, kind)));
        let mut reports: Vec<Report> = pairs.map(at_port).collect();
        let pairs = backends.iter().flat_map(|backend| at_backends.iter().map(move |kind| (backend, kind)));
        reports.extend(pairs.map(at_backend));
        reports.retain(|report| !report.policies.is_empty() || report.verdict == Verdict::Error);
        together(reports)
    }

    /// Puts a way to those with the same answer.
    fn sort_way(&self, kind: GatewayKind<'s>, place: Place, way: &Way, title: &str, cells: &mut Vec<Cell>) {
        let Some((gateway, host)) = self.host(place) else { return };
        let text = self.way_text(gateway, host, way);
        let asked = self.network.way(kind, gateway, host, way);
        let key = asked.cell();
        match cells.iter_mut().find(|(known, target, _)| *known == key && target == title) {
            Some((_, _, reports)) => reports.iter_mut().for_each(|report| report.about.holds_for.push(text.clone())),
            None => {
                let report = holding_for(self.way(kind, place, title), text);
                cells.push((key, title.to_owned(), vec![report]));
            }
        }
    }

    fn host(&self, place: Place) -> Option<(&'s Gateway, &'s Host)> {
        let gateway = self.topology().gateways.get(place.gateway)?;
        Some((gateway, gateway.hosts.get(place.host)?))
    }

    /// Why no request reaches a route.
    fn unreached(&self, route: ObjectId) -> Diagnostic {
        let message = format!("no request is answered by {}", self.network.title(route));
        let mut diagnostic = Diagnostic::error(Fault::NotFound, message);
        let mut children: Vec<String> = Vec::new();
        for (_, way) in self.topology().ways() {
            for pair in way.chain.windows(2) {
                if let [parent, child] = pair
                    && parent.route == route
                {
                    children.push(self.network.title(child.route));
                }
            }
        }
        children.sort();
        children.dedup();
        if !children.is_empty() {
            diagnostic = diagnostic.help(format!("it hands all of them over to {}", children.join(", ")));
        }
        let report = self.topology().report(self.network.snapshot, route);
        let parents = report.into_iter().flat_map(|report| report.parents);
        for condition in parents.flat_map(|parent| parent.conditions) {
            if !condition.status {
                let words = format!("{}=False/{}: {}", condition.name, condition.reason, condition.message);
                diagnostic = diagnostic.help(words);
            }
        }
        diagnostic.help("`upheld graph` draws what leads where")
    }

    fn way(&self, kind: GatewayKind<'s>, place: Place, target: &str) -> Report {
        let way = self.topology().way(place);
        let Some(((gateway, host), way)) = self.host(place).zip(way) else {
            return report_at(&self.network.under(kind), target);
        };
        let asked = self.network.way(kind, gateway, host, way);
        let ruling = asked.ruling();
        let mut report = report_of(&asked, &ruling, target);
        for (edition, fields) in
            self.elsewhere(kind, &ruling.answer, |other| self.network.way(other, gateway, host, way).effective())
        {
            report.notes.push(Remark::OtherEdition { edition: edition.to_owned(), fields }.into());
        }
        let by_kgateway = matches!(asked.reader(), Some(Reader::Kgateway(_)));
        match &way.outcome {
            Outcome::Replaced(why) if by_kgateway => broken(report, why),
            Outcome::Answered if is_traffic(self.network, kind) => self.answered(report, way),
            _ => report,
        }
    }

    /// The fields that come to something else in other editions of a kind.
    fn elsewhere(
        &self,
        kind: GatewayKind<'s>,
        mine: &Effective,
        ask: impl Fn(GatewayKind<'_>) -> Effective,
    ) -> Vec<(&'s str, Vec<String>)> {
        let mut found = Vec::new();
        for other in &self.network.gateways.other_editions {
            let Some(choices) = other.hierarchy() else { continue };
            if other.governs != kind.kind.governs || choices.group != kind.policies.kind().group {
                continue;
            }
            let policies = kind.policies.under(Arc::clone(choices));
            let fields = differing(mine, &ask(GatewayKind { kind: other, policies: &policies }));
            if let (Some(edition), false) = (other.semantics, fields.is_empty()) {
                found.push((self.network.snapshot.text(edition), fields));
            }
        }
        found
    }

    /// A rule that a `DirectResponse` answers.
    fn answered(&self, mut report: Report, way: &Way) -> Report {
        let Some(kind) = self.network.kind(PolicyType::DirectResponse.name()) else { return report };
        let direct = report_at(&self.network.under(kind).route(&way.chain), &report.about.what);
        let answers = direct.fields.iter().flat_map(|field| &field.from).map(|source| source.policy.clone());
        report.notes.push(Remark::AnsweredDirectly { by: each_once(answers) }.into());
        report
    }

    /// Number and name of the rule that answers on a way.
    fn rule(&self, way: &Way) -> (usize, Option<String>) {
        let Some(step) = way.chain.last() else { return (0, None) };
        let resource = self.network.resource(step.route);
        let rules = resource.and_then(|route| route.field("rules")).map(|rules| rules.items().nth(step.rule));
        let name = rules.flatten().and_then(|rule| rule.get("name")).map(|name| name.text().to_owned());
        (step.rule, name)
    }

    fn rule_title(&self, way: &Way) -> String {
        let Some(step) = way.chain.last() else { return String::new() };
        let (number, name) = self.rule(way);
        let rule = name.unwrap_or_else(|| format!("rule {number}"));
        format!("{} {rule}", self.network.title(step.route))
    }

    /// `infra/example-gateway:80 example.com PathPrefix /`, with the routes that delegate.
    fn way_text(&self, gateway: &Gateway, host: &Host, way: &Way) -> String {
        let title = self.network.title(gateway.object);
        let gateway_name = title.split_once(' ').map_or(title.as_str(), |(_, name)| name);
        let port = gateway.listeners.get(host.listener).map_or(0, |listener| listener.port);
        let part = |field: &str| {
            way.matching.get("path").and_then(|path| path.get(field)).and_then(|text| text.as_text()).unwrap_or("")
        };
        let mut text = format!("{gateway_name}:{port} {} {} {}", host.name, part("type"), part("value"));
        if let Some(method) = way.matching.get("method").and_then(|method| method.as_text()) {
            text.push_str(&format!(" {method}"));
        }
        for field in ["headers", "queryParams"] {
            for item in way.matching.get(field).map_or(&[][..], |list| list.items()) {
                let word = |name: &str| item.get(name).and_then(|text| text.as_text()).unwrap_or("");
                text.push_str(&format!(" {}={}", word("name"), word("value")));
            }
        }
        if way.chain.len() > 1 {
            let chain: Vec<String> = way.chain.iter().map(|step| self.network.title(step.route)).collect();
            text.push_str(&format!(" through {}", chain.join(" → ")));
        }
        text
    }
}

/// The scopes that requests on a way meet.
const WAY_SCOPES: [u8; 3] = [ROUTE, HOST, GATEWAY];

fn is(network: Network<'_>, kind: GatewayKind<'_>, policy: PolicyType) -> bool {
    network.snapshot.text(kind.policies.kind().reads) == policy.reader()
}

fn is_traffic(network: Network<'_>, kind: GatewayKind<'_>) -> bool {
    is(network, kind, PolicyType::Traffic)
}

/// Fields that have another value or another origin.
fn differing(mine: &Effective, theirs: &Effective) -> Vec<String> {
    let origins = |answer: &Effective, field: &Field| -> Vec<_> {
        field.by.iter().filter_map(|place| answer.order.get(*place)).map(|member| member.entry).collect()
    };
    let missing = |these: &Effective, those: &Effective| -> Vec<String> {
        let same = |one: &Field, other: &Field| {
            (&one.name, &one.part, &one.value) == (&other.name, &other.part, &other.value)
                && origins(these, one) == origins(those, other)
        };
        let missing = these.fields.iter().filter(|one| !those.fields.iter().any(|other| same(one, other)));
        missing.map(Field::title).collect()
    };
    let mut names = missing(mine, theirs);
    names.extend(missing(theirs, mine));
    names.sort();
    names.dedup();
    names
}

/// Those that say something; if none does, one is enough to say so.
fn speaking(mut reports: Vec<Report>) -> Vec<Report> {
    let speaks = |report: &Report| {
        !report.fields.is_empty() || report.verdict == Verdict::Error || !report.candidates.is_empty()
    };
    if reports.iter().any(speaks) {
        reports.retain(speaks);
        return reports;
    }
    let mut kinds: Vec<String> = reports.iter().map(|report| report.kind.clone()).collect();
    kinds.dedup();
    reports.truncate(1);
    for report in reports.iter_mut().filter(|_| kinds.len() > 1) {
        let (about, kinds) = (report.about.what.clone(), kinds.clone());
        report.headline = Sentence::NoPolicy { kinds, about, fields: 0 }.into();
    }
    reports
}

fn holding_for(mut report: Report, way: String) -> Report {
    report.about.holds_for.push(way);
    report
}

/// Whether two reports say the same of what they are about.
fn agree(one: &Report, other: &Report) -> bool {
    one.kind == other.kind && one.fields == other.fields && one.verdict == other.verdict && one.notes == other.notes
}

/// Ways with the same answer stand together.
fn together_by_target(mut kept: Vec<Report>, report: Report) -> Vec<Report> {
    match kept.iter_mut().find(|known| known.about.what == report.about.what && agree(known, &report)) {
        Some(known) => known.about.holds_for.extend(report.about.holds_for),
        None => kept.push(report),
    }
    kept
}

/// Places with the same answer stand together.
fn together(reports: Vec<Report>) -> Vec<Report> {
    let mut kept: Vec<Report> = Vec::new();
    for report in reports {
        match kept.iter_mut().find(|known| agree(known, &report)) {
            Some(known) => known.about.holds_for.push(format!("the same for {}", report.about.what)),
            None => kept.push(report),
        }
    }
    kept
}
