//! Requests: which rule takes one, and which nearly would.

use std::cmp::Reverse;

use upheld_model::{Diagnostic, Fault};
use upheld_report::Report;

use super::{Query, Spot};
use crate::gateways::gateway_api::find::{Request, Unmet, host_name};
use crate::gateways::gateway_api::hostname::{covers, specificity};
use crate::gateways::gateway_api::resources::{Route, View};
use crate::gateways::gateway_api::topology::{Place, Way};
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
        Ok(reports)
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
    fn assumed_takers(&self, request: &Request<'_>) -> Vec<(String, Way)> {
        let mut found = Vec::new();
        for (route, ways) in self.network.assumed_roots() {
            let Some(route) = View::of(self.network.snapshot, route).map(Route::of) else { continue };
            let names = if route.hostnames.is_empty() { vec!["*"] } else { route.hostnames };
            let fitting = names.into_iter().filter(|name| covers(name, host_name(request.host)));
            let Some(name) = fitting.max_by_key(|name| specificity(Some(name))) else { continue };
            found.extend(ways.into_iter().map(|way| (name.to_owned(), way)));
        }
        // Within a route they are in order already.
        found.sort_by_key(|(name, _)| Reverse(specificity(Some(name))));
        found
    }

    /// Why a request is taken by no rule.
    fn nobody_takes(&self, request: &Request<'_>, assumed: &[(String, Way)]) -> Diagnostic {
        let Request { host, path, method, port, .. } = request;
        let on = port.map(|port| format!(" on port {port}")).unwrap_or_default();
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("no route takes {method} {host}{path}{on}"));
        let hosts = self.topology().gateways.iter().flat_map(|gateway| &gateway.hosts);
        let hosts: Vec<_> = hosts.filter(|one| port.is_none_or(|port| one.port == port)).collect();
        let fitting = hosts.iter().filter(|one| covers(&one.name, host_name(host)));
        let ways = fitting.flat_map(|one| one.ways.iter()).chain(assumed.iter().map(|(_, way)| way));
        let mut near: Vec<((bool, usize), String)> = Vec::new();
        for way in ways {
            let unmet: Vec<Unmet<'_>> = way.wanted.unmet(request).collect();
            // Who asks for another path asks for something else.
            let path = unmet.iter().any(|unmet| matches!(unmet, Unmet::Path(_)));
            let unmet: Vec<String> = unmet.iter().map(ToString::to_string).collect();
            let told = ((path, unmet.len()), format!("{} needs {}", self.rule_title(way), unmet.join(" and ")));
            if !near.contains(&told) {
                near.push(told);
            }
        }
        if near.is_empty() {
            let mut names: Vec<&str> = hosts.iter().map(|one| one.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            return match names.as_slice() {
                [] => diagnostic.help("no listener and no route is for any host; does `-f` point to the right files?"),
                names => diagnostic.help(format!("hosts: {}", names.join(", "))),
            };
        }
        near.sort_by_key(|(distance, _)| *distance);
        near.into_iter().take(NEAR).fold(diagnostic, |diagnostic, (_, told)| diagnostic.help(told))
    }
}
