//! From places of gateways to reports.

use upheld_dialects::envoy_gateway::{Attachments, PolicyKind as EnvoyKind, Spot};
use upheld_dialects::gateway_api::declared::{Declared, Level};
use upheld_dialects::gateway_api::find::Request;
use upheld_dialects::gateway_api::topology::{Gateway, Host, Outcome, Place, Topology, Way};
use upheld_dialects::kgateway::{Effective, Holder, Resolver, Subject};
use upheld_engine::{ObjectId, PolicyKind, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::{declared, envoy, find};
use crate::question::Question;
use crate::report::{GatewayReport, GatewayTeller, finished, replaced};

/// Asks for what the user named.
pub(super) struct Asker<'a> {
    pub(super) topology: &'a Topology<'a>,
    pub(super) resolver: &'a Resolver<'a>,
    pub(super) teller: GatewayTeller<'a>,
    /// The other semantics, to say where they differ.
    pub(super) other: (&'static str, Resolver<'a>),
    pub(super) subject: Option<Subject>,
    /// A kind that a document declares, if one was asked for.
    pub(super) declared: Option<(&'a PolicyKind, Declared<'a>)>,
    /// A kind of Envoy Gateway, if one was asked for.
    pub(super) envoy: Option<(EnvoyKind, Attachments<'a>)>,
}

impl Asker<'_> {
    fn by_profile(&self, levels: impl FnOnce(&Declared<'_>) -> Vec<Level>, target: &str) -> Option<GatewayReport> {
        let (kind, declared) = self.declared.as_ref()?;
        let title = |object| self.resolver.references().title(object);
        Some(declared::report(self.topology.snapshot, kind, declared, &levels(declared), target, title))
    }

    pub(super) fn reports(&self, snapshot: &Snapshot, question: &Question) -> Result<Vec<GatewayReport>, Diagnostic> {
        if question.host.is_some() {
            return self.request(question);
        }
        let what = question.what.as_deref().unwrap_or_default();
        let (object, section) = find(snapshot, what)?;
        let kind = snapshot.objects().get(object).map_or("", |object| snapshot.text(object.kind));
        match kind {
            "HTTPRoute" | "GRPCRoute" => self.route(object, section),
            "Gateway" | "ListenerSet" | "XListenerSet" => self.gateway(object, section),
            _ => self.backend(snapshot, object, section),
        }
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
            .topology
            .gateways
            .iter()
            .flat_map(|gateway| &gateway.listeners)
            .map(|listener| listener.port)
            .collect();
        ports.sort_unstable();
        ports.dedup();
        ports.retain(|port| asked.port.is_none_or(|wanted| wanted == *port));
        let mut places: Vec<Place> = Vec::new();
        for port in &ports {
            let place = self.topology.find_place(&Request { port: Some(*port), ..request.clone() });
            places.extend(place.filter(|place| !places.contains(place)));
        }
        if places.is_empty() {
            let mut hosts: Vec<&str> = self
                .topology
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
        Ok(places.into_iter().filter_map(|place| self.at(place)).collect())
    }

    fn at(&self, place: Place) -> Option<GatewayReport> {
        let gateway = self.topology.gateways.get(place.gateway)?;
        let host = gateway.hosts.get(place.host)?;
        let way = host.ways.get(place.way)?;
        let mut report = self.way(gateway, host, way, &self.rule_title(way));
        report.ways = vec![self.way_text(gateway, host, way)];
        Some(report)
    }

    /// Every rule of a route, or one; ways with the same answer stand together.
    fn route(&self, route: ObjectId, section: Option<&str>) -> Result<Vec<GatewayReport>, Diagnostic> {
        let mut reports: Vec<(String, GatewayReport)> = Vec::new();
        let mut rules: Vec<String> = Vec::new();
        for gateway in &self.topology.gateways {
            for host in &gateway.hosts {
                for way in host.ways.iter().filter(|way| way.chain.last().is_some_and(|step| step.route == route)) {
                    let (number, name) = self.rule(way);
                    rules.extend(name.clone().or_else(|| Some(number.to_string())));
                    let is_asked = |section: &str| name.as_deref() == Some(section) || number.to_string() == section;
                    if section.is_some_and(|section| !is_asked(section)) {
                        continue;
                    }
                    let report = self.way(gateway, host, way, &self.rule_title(way));
                    let text = self.way_text(gateway, host, way);
                    let key = format!("{}{:?}{:?}", report.target, report.fields, report.overridden);
                    match reports.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, known)) => known.ways.push(text),
                        None => reports.push((key, GatewayReport { ways: vec![text], ..report })),
                    }
                }
            }
        }
        if let ([], Some(section)) = (reports.as_slice(), section) {
            rules.sort();
            rules.dedup();
            let message =
                format!("{} has no rule `{section}` that requests reach", self.resolver.references().title(route));
            let diagnostic = Diagnostic::error(Fault::NotFound, message);
            return Err(match nearest(section, rules.iter().map(String::as_str)) {
                Some(near) => diagnostic.help(format!("did you mean `#{near}`?")),
                None => diagnostic.help(format!("rules: {}", rules.join(", "))),
            });
        }
        if reports.is_empty() {
            return Err(self.unreached(route));
        }
        Ok(reports.into_iter().map(|(_, report)| report).collect())
    }

    /// Why no request reaches a route.
    fn unreached(&self, route: ObjectId) -> Diagnostic {
        let references = self.resolver.references();
        let message = format!("no request is answered by {}", references.title(route));
        let mut diagnostic = Diagnostic::error(Fault::NotFound, message);
        let mut children: Vec<String> = Vec::new();
        for (_, way) in self.topology.ways() {
            for pair in way.chain.windows(2) {
                if let [parent, child] = pair
                    && parent.route == route
                {
                    children.push(references.title(child.route));
                }
            }
        }
        children.sort();
        children.dedup();
        if !children.is_empty() {
            diagnostic = diagnostic.help(format!("it hands all of them over to {}", children.join(", ")));
        }
        let reports = self.topology.routes.iter().filter(|report| report.route == route);
        for condition in reports.flat_map(|report| &report.parents).flat_map(|parent| &parent.conditions) {
            if !condition.status {
                let words = format!("{}=False/{}: {}", condition.name, condition.reason, condition.message);
                diagnostic = diagnostic.help(words);
            }
        }
        diagnostic.help("`upheld graph` draws what leads where")
    }

    fn way(&self, gateway: &Gateway, host: &Host, way: &Way, target: &str) -> GatewayReport {
        let levels = |declared: &Declared<'_>| declared.levels_of_way(self.topology, gateway, host, way);
        if let Some(report) = self.by_profile(levels, target) {
            return report;
        }
        if let Some((kind, attachments)) = &self.envoy {
            let place = self.topology.gateways.iter().position(|known| known.object == gateway.object);
            let spot = place.zip(way.chain.last()).map(|(gateway, step)| Spot {
                gateway,
                listener: host.listener,
                route: step.route,
                rule: step.rule,
            });
            let effective = spot.and_then(|spot| attachments.at_rule(*kind, &spot));
            return envoy::report(self.topology.snapshot, *kind, attachments, effective.as_ref(), target);
        }
        let route = self.resolver.route(way);
        if let Some(subject) = self.subject.filter(|subject| *subject != Subject::Traffic) {
            return self.teller.scope(&route, subject, target);
        }
        let mut scopes = vec![(Holder::Route, route), (Holder::VirtualHost, self.resolver.host(gateway, host))];
        let listener = gateway.listeners.get(host.listener);
        scopes.extend(
            listener.map(|listener| (Holder::RouteConfiguration, self.resolver.route_configuration(gateway, listener))),
        );
        let effective = self.resolver.effective(gateway, host, way);
        let mut report = self.teller.way(&scopes, &effective, target);
        let (name, other) = &self.other;
        let differing = differing(&effective, &other.effective(gateway, host, way));
        if !differing.is_empty() {
            let sentence = format!("Under --semantics {name} these fields are others: {}.", differing.join(", "));
            if !report.merge.is_empty() {
                report.merge.push(' ');
            }
            report.merge.push_str(&sentence);
        }
        match &way.outcome {
            Outcome::Replaced(why) => replaced(report, why),
            Outcome::Answered => self.teller.answered(report, &scopes),
            Outcome::Forward | Outcome::Redirect => report,
        }
    }

    /// A gateway as a whole, and each of its listeners or one.
    fn gateway(&self, object: ObjectId, section: Option<&str>) -> Result<Vec<GatewayReport>, Diagnostic> {
        let references = self.resolver.references();
        let mut reports = Vec::new();
        let mut names = Vec::new();
        for (place, gateway) in self.topology.gateways.iter().enumerate() {
            let own = gateway.object == object;
            let listeners = gateway.listeners.iter().enumerate();
            for (number, listener) in listeners.filter(|(_, listener)| own || listener.owner == object) {
                if section.is_none_or(|section| section == listener.name) {
                    let title = format!("{} listener {}", references.title(listener.owner), listener.name);
                    let levels = |declared: &Declared<'_>| declared.levels_of_listener(gateway, number);
                    reports.extend(self.by_profile(levels, &title));
                    if let Some((kind, attachments)) = &self.envoy {
                        let effective = attachments.at_listener(*kind, place, number);
                        let snapshot = self.topology.snapshot;
                        reports.push(envoy::report(snapshot, *kind, attachments, effective.as_ref(), &title));
                    }
                    names.push(listener.name.clone());
                }
            }
            if self.declared.is_some() || self.envoy.is_some() {
                continue;
            }
            if own && section.is_none() {
                reports.extend(self.subjects(&[Subject::Listener, Subject::HttpListener]).into_iter().map(|subject| {
                    self.teller.scope(&self.resolver.gateway(gateway), subject, &references.title(object))
                }));
            }
            for listener in gateway.listeners.iter().filter(|listener| own || listener.owner == object) {
                names.push(listener.name.clone());
                if section.is_some_and(|section| section != listener.name) {
                    continue;
                }
                let title = format!("{} listener {}", references.title(listener.owner), listener.name);
                let scope = self.resolver.route_configuration(gateway, listener);
                let subjects = self.subjects(&[Subject::Traffic, Subject::Listener, Subject::HttpListener]);
                reports.extend(subjects.into_iter().map(|subject| {
                    let report = self.teller.scope(&scope, subject, &title);
                    if subject == Subject::Listener { of_port(report, listener.port) } else { report }
                }));
                let index = gateway.listeners.iter().position(|known| std::ptr::eq(known, listener));
                for host in gateway.hosts.iter().filter(|host| Some(host.listener) == index) {
                    let title = format!("{title} host {}", host.name);
                    let scope = self.resolver.host(gateway, host);
                    let subjects = self.subjects(&[Subject::Traffic]);
                    reports.extend(subjects.into_iter().map(|subject| self.teller.scope(&scope, subject, &title)));
                }
            }
        }
        match (section, reports.is_empty()) {
            (Some(section), true) if !names.iter().any(|name| name == section) => {
                let message = format!("{} has no listener `{section}`", references.title(object));
                let diagnostic = Diagnostic::error(Fault::NotFound, message);
                Err(diagnostic.help(format!("listeners: {}", names.join(", "))))
            }
            _ => {
                let speaking = |report: &GatewayReport| !report.fields.is_empty() || !report.broken.is_empty();
                if reports.iter().any(speaking) {
                    reports.retain(speaking);
                } else {
                    reports.truncate(1);
                }
                Ok(together(reports))
            }
        }
    }

    fn backend(
        &self,
        snapshot: &Snapshot,
        object: ObjectId,
        section: Option<&str>,
    ) -> Result<Vec<GatewayReport>, Diagnostic> {
        let written = self.resolver.references().resource(object).and_then(|resource| resource.field("ports"));
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
        let title = self.resolver.references().title(object);
        let level = |declared: &Declared<'_>| {
            let whole = declared.level(object, None);
            std::iter::once(whole).chain(section.map(|name| declared.level(object, Some(name.to_owned())))).collect()
        };
        if let Some(report) = self.by_profile(level, &title) {
            return Ok(vec![report]);
        }
        let title = section.map_or_else(|| title.clone(), |section| format!("{title} port {section}"));
        let scope = self.resolver.backend(object, section);
        let subjects = self.subjects(&[Subject::BackendConfig, Subject::BackendTls]);
        Ok(subjects.into_iter().map(|subject| self.teller.scope(&scope, subject, &title)).collect())
    }

    /// The kinds to ask: the one that was named, or those that can say something here.
    fn subjects(&self, usual: &[Subject]) -> Vec<Subject> {
        self.subject.map_or_else(|| usual.to_vec(), |subject| vec![subject])
    }

    /// Number and name of the rule that answers on a way.
    fn rule(&self, way: &Way) -> (usize, Option<String>) {
        let Some(step) = way.chain.last() else { return (0, None) };
        let resource = self.resolver.references().resource(step.route);
        let rules = resource.and_then(|route| route.field("rules")).map(|rules| rules.items().nth(step.rule));
        let name = rules.flatten().and_then(|rule| rule.get("name")).map(|name| name.text().to_owned());
        (step.rule, name)
    }

    fn rule_title(&self, way: &Way) -> String {
        let Some(step) = way.chain.last() else { return String::new() };
        let (number, name) = self.rule(way);
        let rule = name.unwrap_or_else(|| format!("rule {number}"));
        format!("{} {rule}", self.resolver.references().title(step.route))
    }

    /// `infra/example-gateway:80 example.com PathPrefix /`, with the routes that delegate.
    fn way_text(&self, gateway: &Gateway, host: &Host, way: &Way) -> String {
        let references = self.resolver.references();
        let title = references.title(gateway.object);
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
            let chain: Vec<String> = way.chain.iter().map(|step| references.title(step.route)).collect();
            text.push_str(&format!(" through {}", chain.join(" → ")));
        }
        text
    }
}

/// Fields that have another value or another origin.
fn differing(mine: &[Effective], theirs: &[Effective]) -> Vec<String> {
    let name =
        |one: &Effective| one.key.as_ref().map_or_else(|| one.field.to_string(), |key| format!("{}.{key}", one.field));
    let same = |one: &Effective, other: &Effective| {
        name(one) == name(other) && one.held.origins == other.held.origins && one.held.value == other.held.value
    };
    let missing = |these: &[Effective], those: &[Effective]| -> Vec<String> {
        these.iter().filter(|one| !those.iter().any(|other| same(one, other))).map(name).collect()
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

/// Places with the same answer stand together.
fn together(reports: Vec<GatewayReport>) -> Vec<GatewayReport> {
    let mut kept: Vec<GatewayReport> = Vec::new();
    let key = |report: &GatewayReport| {
        format!("{}{:?}{:?}{:?}", report.kind, report.fields, report.overridden, report.broken)
    };
    for report in reports {
        match kept.iter_mut().find(|known| key(known) == key(&report)) {
            Some(known) => known.ways.push(format!("the same for {}", report.target)),
            None => kept.push(report),
        }
    }
    kept
}
