//! Requests: which rule takes one, and which nearly would.

use std::cmp::Reverse;

use upheld_engine::ObjectId;
use upheld_model::{Diagnostic, Fault};
use upheld_report::{Remark, Report, each_once};

use super::{Query, Spot};
use crate::gateways::gateway_api::find::{Request, Unmet, host_name};
use crate::gateways::gateway_api::hostname::{covers, is_unfilled, may_become, specificity};
use crate::gateways::gateway_api::resources::{Route, View};
use crate::gateways::gateway_api::topology::{Listener, Place, Way};
use crate::question::HttpRequest;

/// How many rules are named that nearly take a request.
const NEAR: usize = 3;

impl<'s> Query<'s> {
    /// Which way takes a request, and what holds there.
    pub(super) fn request(&self, asked: &HttpRequest) -> Result<Vec<Report>, Diagnostic> {
        let path = asked.path.as_deref().unwrap_or("/");
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let headers = asked.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (host, method) = (asked.host.as_str(), asked.method.as_deref().unwrap_or("GET"));
        let request = Request { host, path, method, headers, query, port: asked.port };
        let places = self.places_of(&request);
        if places.is_empty() {
            let assumed = self.assumed_takers(&request);
            let taker = assumed.iter().find(|(_, way)| way.wanted.takes(&request));
            return match taker {
                Some((_, way)) => Ok(self.at(Spot { served: None, way })),
                None => Err(self.nobody_takes(&request, &assumed)),
            };
        }
        let spots: Vec<Spot<'s, '_>> = (places.iter())
            .filter_map(|place| Some(Spot { served: Some(self.host(*place)?), way: self.topology().way(*place)? }))
            .collect();
        let mut reports: Vec<Report> = spots.iter().flat_map(|spot| self.at(*spot)).collect();
        reports.extend(self.beyond(&places));
        let hosts = self.unfilled_hosts(&request);
        for report in reports.iter_mut().filter(|_| !hosts.is_empty()) {
            report.notes.push(Remark::HostNotKnown { hosts: hosts.clone(), host: request.host.to_owned() }.into());
        }
        Ok(reports)
    }

    /// Hosts of routes that may be that of a request, once everything is put into their names.
    fn unfilled_hosts(&self, request: &Request<'_>) -> Vec<String> {
        let asked = host_name(request.host);
        let served = self.topology().unfilled_hosts();
        let served = served.filter(|one| request.port.is_none_or(|port| one.port == port));
        let assumed = self.network.assumed_roots().iter();
        let assumed = assumed.filter_map(|(route, _)| View::of(self.network.snapshot, *route));
        let assumed = assumed.flat_map(|route| Route::of(route).hostnames).filter(|name| is_unfilled(name));
        let names = served.map(|one| one.name.as_str()).chain(assumed);
        let may_be = |name: &&str| may_become(name, asked) && *name != asked;
        let mut found: Vec<String> = names.filter(may_be).map(str::to_owned).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The ways that take a request, one on each port.
    fn places_of(&self, request: &Request<'_>) -> Vec<Place> {
        let listeners = self.topology().gateways.iter().flat_map(|gateway| gateway.listeners.iter());
        let mut ports: Vec<u16> = listeners.map(|listener| listener.port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports.retain(|port| request.port.is_none_or(|wanted| wanted == *port));
        let mut places: Vec<Place> = Vec::new();
        for port in &ports {
            let place = self.topology().find_place(&Request { port: Some(*port), ..request.clone() });
            places.extend(place.filter(|place| !places.contains(place)));
        }
        places
    }

    /// Ways of routes whose gateways were not read and that are for the host of a request: with the host names of their routes,
    /// in the order in which requests would try them.
    fn assumed_takers(&self, request: &Request<'_>) -> Vec<(String, &'s Way)> {
        let mut found = Vec::new();
        for (route, ways) in self.network.assumed_roots() {
            let Some(route) = View::of(self.network.snapshot, *route).map(Route::of) else { continue };
            let names = if route.hostnames.is_empty() { vec!["*"] } else { route.hostnames };
            let fitting = names.into_iter().filter(|name| covers(name, host_name(request.host)));
            let Some(name) = fitting.max_by_key(|name| specificity(Some(name))) else { continue };
            found.extend(ways.iter().map(|way| (name.to_owned(), way)));
        }
        // Within a route they are in order already.
        found.sort_by_key(|(name, _)| Reverse(specificity(Some(name))));
        found
    }

    /// Whether requests come to a place: those for its host may go to another listener of its port.
    pub(super) fn is_open(&self, place: Place) -> bool {
        let Some((gateway, host)) = self.host(place) else { return false };
        let is_secure = |listener: &Listener| !listener.is_plain();
        let taker =
            gateway.taker(host.port, &host.name).filter(|taker| gateway.listeners.get(*taker).is_some_and(is_secure));
        taker.is_none_or(|taker| taker == host.listener)
    }

    /// Hosts of a route that come to other listeners than those that it is attached to.
    pub(super) fn taken_by_others(&self, route: ObjectId) -> Vec<String> {
        let mut told = Vec::new();
        for at in self.topology().attached_of(route) {
            let Some(gateway) = self.topology().gateways.get(at.gateway) else { continue };
            let Some(port) = gateway.listeners.get(at.listener).map(|listener| listener.port) else { continue };
            let taken = at.hosts.iter().filter_map(|host| Some((host, gateway.taker(port, host)?)));
            for (host, taker) in taken.filter(|(_, taker)| *taker != at.listener) {
                let listener = gateway.listeners.get(taker).map_or("", |listener| listener.name.as_str());
                let (gateway, route) = (self.network.title(gateway.object), self.network.title(route));
                told.push(format!(
                    "requests for {host} on port {port} come to the listener {listener} of {gateway}, and {route} is at another"
                ));
            }
        }
        each_once(told)
    }

    /// Listeners for the host of a request that it comes to, and that no route is at.
    fn empty_takers(&self, request: &Request<'_>) -> Vec<String> {
        let mut told = Vec::new();
        let name = host_name(request.host);
        for gateway in &self.topology().gateways {
            let ports = gateway.listeners.iter().map(|listener| listener.port);
            for port in each_once(ports.filter(|port| request.port.is_none_or(|wanted| wanted == *port))) {
                let Some(taker) = gateway.taker(port, name) else { continue };
                let is_served = gateway.hosts.iter().any(|host| host.listener == taker && covers(&host.name, name));
                let listener = gateway.listeners.get(taker).filter(|listener| listener.hostname.is_some());
                if let Some(listener) = listener.filter(|_| !is_served) {
                    let (listener, gateway) = (&listener.name, self.network.title(gateway.object));
                    told.push(format!(
                        "requests for {name} on port {port} come to the listener {listener} of {gateway}, and no route is at it for that host"
                    ));
                }
            }
        }
        told
    }

    /// Why a request is taken by no rule.
    fn nobody_takes(&self, request: &Request<'_>, assumed: &[(String, &Way)]) -> Diagnostic {
        let Request { host, path, method, port, .. } = request;
        let on = port.map(|port| format!(" on port {port}")).unwrap_or_default();
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("no route takes {method} {host}{path}{on}"));
        let unfilled = self.unfilled_hosts(request);
        let diagnostic = match unfilled.first() {
            Some(first) => diagnostic.help(format!(
                "{} may be this host, once everything is put into it: ask for `--host '{first}'`",
                unfilled.join(", ")
            )),
            None => diagnostic,
        };
        let hosts = self.topology().gateways.iter().flat_map(|gateway| &gateway.hosts);
        let hosts: Vec<_> = hosts.filter(|one| port.is_none_or(|port| one.port == port)).collect();
        let fitting = hosts.iter().filter(|one| covers(&one.name, host_name(host)));
        let ways = fitting.flat_map(|one| one.ways.iter()).chain(assumed.iter().map(|(_, way)| *way));
        let mut near: Vec<((bool, usize), String)> = Vec::new();
        for way in ways {
            let unmet: Vec<Unmet<'_>> = way.wanted.unmet(request).collect();
            // It would take the request, which comes to another listener.
            if unmet.is_empty() {
                continue;
            }
            // Who asks for another path asks for something else.
            let path = unmet.iter().any(|unmet| matches!(unmet, Unmet::Path(_)));
            let unmet: Vec<String> = unmet.iter().map(ToString::to_string).collect();
            let told = ((path, unmet.len()), format!("{} needs {}", self.rule_title(way), unmet.join(" and ")));
            if !near.contains(&told) {
                near.push(told);
            }
        }
        if near.is_empty() {
            let empty = self.empty_takers(request);
            let diagnostic = empty.iter().fold(diagnostic, |diagnostic, told| diagnostic.help(told.clone()));
            let others = hosts.iter().filter(|one| !covers(&one.name, host_name(host)));
            let mut names: Vec<&str> = others.map(|one| one.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            return match names.as_slice() {
                [] if !empty.is_empty() || !unfilled.is_empty() => diagnostic,
                [] => diagnostic.help("no listener and no route is for any host; does `-f` point to the right files?"),
                names => diagnostic.help(format!("hosts: {}", names.join(", "))),
            };
        }
        near.sort_by_key(|(distance, _)| *distance);
        near.into_iter().take(NEAR).fold(diagnostic, |diagnostic, (_, told)| diagnostic.help(told))
    }
}
