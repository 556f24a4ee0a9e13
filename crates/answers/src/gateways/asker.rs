//! From places of gateways to reports.

use std::sync::Arc;

use upheld_dialects::gateway_api::attachments::Reader;
use upheld_dialects::gateway_api::find::Request;
use upheld_dialects::gateway_api::scopes::{BACKEND, GATEWAY, HOST, LISTENER, ROUTE};
use upheld_dialects::gateway_api::topology::{Gateway, Host, Outcome, Place, Topology, Way};
use upheld_dialects::gateway_api::{GatewayKind, Network};
use upheld_dialects::kgateway::PolicyType;
use upheld_engine::ObjectId;
use upheld_engine::hierarchy::{CellKey, Effective, Field};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::find;
use crate::question::Question;
use crate::report::{GatewayReport, finished, replaced, tell_gateway, tell_ruling};

/// Asks for what the user named.
pub(super) struct Asker<'s> {
    pub(super) network: Network<'s>,
    /// The kind that was asked for; all that say something, if none was.
    pub(super) kind: Option<GatewayKind<'s>>,
}

/// Ways with one answer: what it depends on, whose way it is, and what was told.
type Cell = (CellKey, String, Vec<GatewayReport>);

impl<'s> Asker<'s> {
    fn topology(&self) -> &'s Topology {
        self.network.topology()
    }

    pub(super) fn reports(&self, question: &Question) -> Result<Vec<GatewayReport>, Diagnostic> {
        if question.host.is_some() {
            return self.request(question);
        }
        let snapshot = self.network.snapshot;
        let (object, section) = find(snapshot, question.what.as_deref().unwrap_or_default())?;
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
        // What rules say themselves is told with the policies for traffic.
        let speaks = |kind: &GatewayKind<'_>| !kind.policies.is_empty() || is_traffic(self.network, *kind);
        let speaking: Vec<GatewayKind<'s>> =
            self.network.kinds().filter(|kind| reaches(kind) && speaks(kind)).collect();
        if speaking.is_empty() { self.network.kinds().filter(reaches).collect() } else { speaking }
    }

    /// Which way takes a request, and what holds there.
    fn request(&self, question: &Question) -> Result<Vec<GatewayReport>, Diagnostic> {
        let asked = question;
        let mut headers = Vec::new();
        for header in &asked.header {
            let (name, value) = header
                .split_once('=')
                .or_else(|| header.split_once(": "))
                .ok_or_else(|| Diagnostic::error(Fault::WrongValue, format!("`{header}` is not `name=value`")))?;
            headers.push((name, value));
        }
        let path = asked.path.as_deref().unwrap_or("/");
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let host = asked.host.as_deref().unwrap_or("");
        let request =
            Request { host, path, method: asked.method.as_deref().unwrap_or("GET"), headers, query, port: asked.port };
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
        Ok(places.into_iter().flat_map(|place| self.at(place)).collect())
    }

    fn at(&self, place: Place) -> Vec<GatewayReport> {
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
        let reports = kinds.map(|kind| GatewayReport { ways: vec![text.clone()], ..self.way(kind, place, &title) });
        speaking(reports.collect())
    }

    /// Every rule of a route, or one; ways with the same answer stand together, and are asked once.
    fn route(&self, route: ObjectId, section: Option<&str>) -> Result<Vec<GatewayReport>, Diagnostic> {
        let mut rules: Vec<String> = Vec::new();
        let kinds = self.kinds(&WAY_SCOPES);
        let mut cells: Vec<Vec<Cell>> = kinds.iter().map(|_| Vec::new()).collect();
        let mut found = false;
        for (place, way) in self.topology().ways_to(route) {
            let (number, name) = self.rule(way);
            rules.extend(name.clone().or_else(|| Some(number.to_string())));
            let is_asked = |section: &str| name.as_deref() == Some(section) || number.to_string() == section;
            if section.is_some_and(|section| !is_asked(section)) {
                continue;
            }
            found = true;
            let title = self.rule_title(way);
            for (kind, cells) in kinds.iter().zip(&mut cells) {
                self.sort_way(*kind, place, way, &title, cells);
            }
        }
        if let (false, Some(section)) = (found, section) {
            rules.sort();
            rules.dedup();
            let message = format!("{} has no rule `{section}` that requests reach", self.network.title(route));
            let diagnostic = Diagnostic::error(Fault::NotFound, message);
            return Err(diagnostic.suggest_or(
                nearest(section, rules.iter().map(String::as_str)).map(|near| format!("#{near}")),
                || format!("rules: {}", rules.join(", ")),
            ));
        }
        if !found {
            return Err(self.unreached(route));
        }
        let reports = cells.into_iter().flatten().flat_map(|(_, _, reports)| reports);
        Ok(speaking(reports.fold(Vec::new(), together_by_target)))
    }

    /// Puts a way to those with the same answer.
    fn sort_way(&self, kind: GatewayKind<'s>, place: Place, way: &Way, title: &str, cells: &mut Vec<Cell>) {
        let Some((gateway, host)) = self.host(place) else { return };
        let text = self.way_text(gateway, host, way);
        let asked = self.network.way(kind, gateway, host, way);
        let key = asked.cell();
        match cells.iter_mut().find(|(known, target, _)| *known == key && target == title) {
            Some((_, _, reports)) => reports.iter_mut().for_each(|report| report.ways.push(text.clone())),
            None => {
                let report = GatewayReport { ways: vec![text], ..self.way(kind, place, title) };
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

    fn way(&self, kind: GatewayKind<'s>, place: Place, target: &str) -> GatewayReport {
        let way = self.topology().way(place);
        let Some(((gateway, host), way)) = self.host(place).zip(way) else {
            return tell_gateway(&self.network.under(kind), target);
        };
        let asked = self.network.way(kind, gateway, host, way);
        let ruling = asked.ruling();
        let mut report = tell_ruling(&asked, &ruling, target);
        for (edition, fields) in
            self.elsewhere(kind, &ruling.answer, |other| self.network.way(other, gateway, host, way).effective())
        {
            let sentence = format!("Under --semantics {edition} these fields are others: {}.", fields.join(", "));
            let space = if report.merge.is_empty() { "" } else { " " };
            report.merge.push_str(&format!("{space}{sentence}"));
        }
        let by_kgateway = matches!(asked.reader(), Some(Reader::Kgateway(_)));
        match &way.outcome {
            Outcome::Replaced(why) if by_kgateway => replaced(report, why),
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
    fn answered(&self, report: GatewayReport, way: &Way) -> GatewayReport {
        let Some(kind) = self.network.kind(PolicyType::DirectResponse.name()) else { return report };
        let direct = tell_gateway(&self.network.under(kind).route(&way.chain), &report.target);
        let answers = direct.fields.iter().flat_map(|field| &field.from).map(|source| source.policy.as_str());
        let mut names: Vec<&str> = answers.collect();
        names.dedup();
        let merge = format!("A DirectResponse answers instead of a backend: {}. {}", names.join(", "), report.merge);
        GatewayReport { merge: merge.trim_end().to_owned(), ..report }
    }

    /// A gateway as a whole, and each of its listeners or one.
    fn gateway(&self, object: ObjectId, section: Option<&str>) -> Result<Vec<GatewayReport>, Diagnostic> {
        let mut reports = Vec::new();
        let mut names = Vec::new();
        for gateway in &self.topology().gateways {
            let own = gateway.object == object;
            if own && section.is_none() {
                let kinds = self.kinds(&[LISTENER]).into_iter();
                let asked = kinds.map(|kind| self.network.under(kind).port(gateway));
                reports.extend(asked.map(|asked| tell_gateway(&asked, &self.network.title(object))));
            }
            for (number, listener) in gateway.listeners.iter().enumerate() {
                if !own && listener.owner != object {
                    continue;
                }
                names.push(listener.name.clone());
                if section.is_some_and(|section| section != listener.name) {
                    continue;
                }
                let title = format!("{} listener {}", self.network.title(listener.owner), listener.name);
                for kind in self.kinds(&[GATEWAY]) {
                    let report = tell_gateway(&self.network.listener(kind, gateway, listener), &title);
                    let by_port = is(self.network, kind, PolicyType::Listener);
                    reports.push(if by_port { of_port(report, listener.port) } else { report });
                }
                for host in gateway.hosts.iter().filter(|host| host.listener == number) {
                    let title = format!("{title} host {}", host.name);
                    let asked = self.kinds(&[HOST]).into_iter();
                    let asked = asked.map(|kind| self.network.under(kind).host(gateway, listener));
                    reports.extend(asked.map(|asked| tell_gateway(&asked, &title)));
                }
            }
        }
        match section {
            Some(section) if !names.iter().any(|name| name == section) => {
                let message = format!("{} has no listener `{section}`", self.network.title(object));
                let diagnostic = Diagnostic::error(Fault::NotFound, message);
                Err(diagnostic.help(format!("listeners: {}", names.join(", "))))
            }
            _ => Ok(together(speaking(reports))),
        }
    }

    fn backend(&self, object: ObjectId, section: Option<&str>) -> Result<Vec<GatewayReport>, Diagnostic> {
        let snapshot = self.network.snapshot;
        let written = self.network.resource(object).and_then(|resource| resource.field("ports"));
        let ports = || written.into_iter().flat_map(upheld_model::Value::items);
        let is = |port: &upheld_model::Value<'_>, name: &str| {
            ["name", "port"].iter().any(|field| port.get(field).is_some_and(|value| value.text() == name))
        };
        if let Some(section) = section.filter(|section| written.is_some() && !ports().any(|port| is(&port, section))) {
            let named = |port: upheld_model::Value<'_>| {
                port.get("name").or_else(|| port.get("port")).map(|name| name.text().to_owned())
            };
            let known: Vec<String> = ports().filter_map(named).collect();
            let name = snapshot.objects().get(object).map_or("", |object| snapshot.text(object.name));
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("`{name}` has no port `{section}`"));
            return Err(diagnostic.help(format!("ports: {}", known.join(", "))));
        }
        let title = self.network.title(object);
        let title = section.map_or_else(|| title.clone(), |section| format!("{title} port {section}"));
        let kinds = self.kinds(&[BACKEND]).into_iter();
        let reports = kinds.map(|kind| tell_gateway(&self.network.backend(kind, object, section), &title));
        Ok(speaking(reports.collect()))
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

/// What holds on one port: its own block, or else the default one; they are never merged.
fn of_port(mut report: GatewayReport, port: u16) -> GatewayReport {
    let block = format!("perPortPolicy[{port}]");
    let has_block = report.fields.iter().any(|field| field.field.starts_with(&block));
    let counts = |field: &str| {
        if has_block { field.starts_with(&block) } else { !field.starts_with("perPortPolicy[") }
    };
    report.fields.retain(|field| counts(&field.field) && field.field != block);
    report.overridden.retain(|field| counts(&field.field));
    finished(report)
}

/// Those that say something; if none does, one is enough to say so.
fn speaking(mut reports: Vec<GatewayReport>) -> Vec<GatewayReport> {
    let speaks = |report: &GatewayReport| {
        !report.fields.is_empty() || !report.broken.is_empty() || !report.candidates.is_empty()
    };
    if reports.iter().any(speaks) {
        reports.retain(speaks);
        return reports;
    }
    let mut kinds: Vec<String> = reports.iter().map(|report| report.kind.clone()).collect();
    kinds.dedup();
    reports.truncate(1);
    for report in reports.iter_mut().filter(|_| kinds.len() > 1) {
        report.answer = format!("No policy shapes {}. Looked for: {}.", report.target, kinds.join(", "));
    }
    reports
}

/// Whether two reports say the same of what they are about.
fn agree(one: &GatewayReport, other: &GatewayReport) -> bool {
    one.kind == other.kind
        && one.fields == other.fields
        && one.overridden == other.overridden
        && one.broken == other.broken
}

/// Ways with the same answer stand together.
fn together_by_target(mut kept: Vec<GatewayReport>, report: GatewayReport) -> Vec<GatewayReport> {
    match kept.iter_mut().find(|known| known.target == report.target && agree(known, &report)) {
        Some(known) => known.ways.extend(report.ways),
        None => kept.push(report),
    }
    kept
}

/// Places with the same answer stand together.
fn together(reports: Vec<GatewayReport>) -> Vec<GatewayReport> {
    let mut kept: Vec<GatewayReport> = Vec::new();
    for report in reports {
        match kept.iter_mut().find(|known| agree(known, &report)) {
            Some(known) => known.ways.push(format!("the same for {}", report.target)),
            None => kept.push(report),
        }
    }
    kept
}
