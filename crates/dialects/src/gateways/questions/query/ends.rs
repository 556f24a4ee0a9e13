//! Where ways begin and end: gateways with their listeners, and backends.

use upheld_engine::ObjectId;
use upheld_model::{Diagnostic, Fault};
use upheld_report::{Remark, Report, finished};

use super::{Query, is, speaking, together};
use crate::gateways::gateway_api::reported::report_at;
use crate::gateways::gateway_api::scopes::{BACKEND, GATEWAY, HOST, LISTENER};
use crate::gateways::kgateway::PolicyType;

impl Query<'_> {
    /// A gateway as a whole, and each of its listeners or one.
    pub(super) fn gateway(&self, object: ObjectId, section: Option<&str>) -> Result<Vec<Report>, Diagnostic> {
        let mut reports = Vec::new();
        let mut names = Vec::new();
        for gateway in &self.topology().gateways {
            let own = gateway.object == object;
            if own && section.is_none() {
                let kinds = self.kinds(&[LISTENER]).into_iter();
                let asked = kinds.map(|kind| self.network.under(kind).port(gateway));
                reports.extend(asked.map(|asked| report_at(&asked, &self.network.title(object))));
            }
            for (number, listener) in gateway.listeners.iter().enumerate() {
                if !own && listener.owner != object {
                    continue;
                }
                names.push(listener.name.clone());
                self.be_about(gateway.object);
                if section.is_some_and(|section| section != listener.name) {
                    continue;
                }
                let title = format!("{} listener {}", self.network.title(listener.owner), listener.name);
                for kind in self.kinds(&[GATEWAY]) {
                    let mut report = report_at(&self.network.listener(kind, gateway, listener), &title);
                    self.tell_controller(kind, gateway, &mut report);
                    let by_port = is(self.network, kind, PolicyType::Listener);
                    reports.push(if by_port { of_port(report, listener.port) } else { report });
                }
                for host in gateway.hosts.iter().filter(|host| host.listener == number) {
                    let title = format!("{title} host {}", host.name);
                    let asked = self.kinds(&[HOST]).into_iter();
                    let asked = asked.map(|kind| self.network.under(kind).host(gateway, listener).in_effect());
                    reports.extend(asked.map(|asked| report_at(&asked, &title)));
                }
            }
        }
        if names.is_empty() {
            self.listener_set_alone(object, section, &mut names, &mut reports);
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

    /// A set of listeners whose gateway was not read.
    fn listener_set_alone(
        &self,
        set: ObjectId,
        section: Option<&str>,
        names: &mut Vec<String>,
        reports: &mut Vec<Report>,
    ) {
        let Some(resource) = self.network.resource(set) else { return };
        let parent = resource.field("parentRef");
        let part = |name: &str| parent.and_then(|parent| parent.get(name)).map(|value| value.text().to_owned());
        let namespace = self.network.object(set).map_or("", |set| self.network.snapshot.text(set.scope));
        let namespace = part("namespace").unwrap_or_else(|| namespace.to_owned());
        let gateway = format!("Gateway {namespace}/{}", part("name").unwrap_or_default());
        let listeners = resource.field("listeners").into_iter().flat_map(upheld_model::Value::items);
        for name in listeners.filter_map(|listener| listener.get("name")).map(upheld_model::Value::text) {
            names.push(name.to_owned());
            if section.is_some_and(|section| section != name) {
                continue;
            }
            let title = format!("{} listener {name}", self.network.title(set));
            for kind in self.kinds(&[GATEWAY]) {
                let mut report = report_at(&self.network.listener_of_set(kind, set, name), &title);
                let (parent, of) = (gateway.clone(), self.network.title(set));
                report.notes.push(Remark::ParentNotRead { parent, of }.into());
                reports.push(report);
            }
        }
    }

    pub(super) fn backend(&self, object: ObjectId, section: Option<&str>) -> Result<Vec<Report>, Diagnostic> {
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
        // Policies know ports by their names.
        let port = section.map(|section| self.port_name(object, section).unwrap_or_else(|| section.to_owned()));
        let title = self.backend_title(object, port.as_deref());
        let kinds = self.kinds(&[BACKEND]).into_iter();
        let reports = kinds.map(|kind| report_at(&self.network.backend(kind, object, port.as_deref()), &title));
        Ok(speaking(reports.collect()))
    }
}

impl Query<'_> {
    /// The name of a port of a backend, by its name or number.
    pub(super) fn port_name(&self, backend: ObjectId, port: &str) -> Option<String> {
        let ports = self.network.resource(backend).and_then(|resource| resource.field("ports"));
        let is_meant = |known: &upheld_model::Value<'_>| {
            ["name", "port"].iter().any(|field| known.get(field).is_some_and(|value| value.text() == port))
        };
        let found = ports.into_iter().flat_map(upheld_model::Value::items).find(is_meant)?;
        found.get("name").map(|name| name.text().to_owned())
    }

    /// `Service shop/cart port web`
    pub(super) fn backend_title(&self, backend: ObjectId, port: Option<&str>) -> String {
        let title = self.network.title(backend);
        port.map_or_else(|| title.clone(), |port| format!("{title} port {port}"))
    }
}

/// What holds on one port: its own block, or else the default one; they are never merged.
fn of_port(mut report: Report, port: u16) -> Report {
    let block = format!("perPort[{port}]");
    let has_block = report.fields.iter().any(|field| field.value.is_some() && field.path.starts_with(&block));
    let counts = |field: &str| {
        if has_block { field.starts_with(&block) } else { !field.starts_with("perPort[") }
    };
    report.fields.retain(|field| counts(&field.path));
    for field in report.fields.iter_mut().filter(|field| field.path == block) {
        // The block itself holds; what stands in it is reported field by field.
        (field.value, field.reason) = (None, None);
        field.from.clear();
    }
    report.fields.retain(|field| field.value.is_some() || !field.over.is_empty());
    finished(report)
}
