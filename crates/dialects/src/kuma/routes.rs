//! Which services a proxy reaches: its outbounds, and what the routes in force make of them.
//!
//! In go the outbounds of a Dataplane and, for each, the `conf` of the `TrafficRoute` that stands; out come services with
//! the tags under which they are reached. Which route stands is the engine's business, not decided here.

use std::collections::BTreeMap;

use upheld_model::tree::{Kind, Value};

use super::SERVICE_TAGS;
use super::resources::{Dataplane, Outbound};

/// Tags with their values.
pub type Tags<'t> = BTreeMap<&'t str, &'t str>;

/// The service that stands for all traffic that no outbound names.
pub const PASS_THROUGH: &str = "pass_through";

/// The services that a proxy reaches, each with the distinct sets of tags under which it does, in the order of the
/// outbounds. An outbound without a route reaches its own service; one with a route only where the route leads.
pub fn destination_map<'t>(
    dataplane: Dataplane<'t>,
    route_of: impl Fn(Outbound<'t>) -> Option<Route<'t>>,
) -> BTreeMap<&'t str, Vec<Tags<'t>>> {
    let mut destinations: BTreeMap<&str, Vec<Tags<'_>>> = BTreeMap::new();
    let mut reach = |tags: Tags<'t>| {
        if let Some((_, service)) = service_tag(&tags) {
            let known = destinations.entry(service).or_default();
            if !known.contains(&tags) {
                known.push(tags);
            }
        }
    };
    for outbound in service_outbounds(dataplane) {
        match route_of(outbound) {
            Some(route) => route.split.into_iter().for_each(|share| reach(share.destination)),
            None => reach(service_tag(&outbound_tags(outbound)).into_iter().collect()),
        }
    }
    destinations
}

/// The services that a proxy calls, each once, and [`PASS_THROUGH`] after them.
pub fn outbound_services(dataplane: Dataplane<'_>) -> Vec<&str> {
    let mut services = Vec::new();
    let named = service_outbounds(dataplane).filter_map(service);
    for service in named.chain([PASS_THROUGH]) {
        if !services.contains(&service) {
            services.push(service);
        }
    }
    services
}

/// The outbounds that name a service; the others name a resource, which routes do not speak about.
pub fn service_outbounds(dataplane: Dataplane<'_>) -> impl Iterator<Item = Outbound<'_>> {
    dataplane.outbounds().filter(|outbound| !outbound.has_backend())
}

/// The service that an outbound calls.
pub fn service(outbound: Outbound<'_>) -> Option<&str> {
    service_tag(&outbound_tags(outbound)).map(|(_, service)| service)
}

/// The tags of an outbound. Before 0.7 there was only the name of the service, in a field of its own.
pub fn outbound_tags(outbound: Outbound<'_>) -> Tags<'_> {
    match outbound.value.get("service") {
        Some(service) => Tags::from([(SERVICE_TAGS[0], service.text())]),
        None => tags(outbound.value.get("tags")),
    }
}

/// Where the requests of an outbound go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route<'t> {
    /// The shares of everything that no part of `http` takes.
    pub split: Vec<Share<'t>>,
    /// For each part, the shares of the requests that it takes.
    pub http: Vec<Vec<Share<'t>>>,
}

/// A destination and how much of the requests goes there, in proportion to the other shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share<'t> {
    /// The weight.
    pub weight: i64,
    /// The tags of the destination.
    pub destination: Tags<'t>,
}

impl<'t> Route<'t> {
    /// The route that a `conf` describes. In the oldest documents the `conf` is the list of shares itself.
    pub fn of(conf: Value<'t>) -> Self {
        if conf.kind() == Kind::List {
            return Self { split: shares(conf), http: Vec::new() };
        }
        let http = conf.get("http").into_iter().flat_map(Value::items);
        Self { split: split(conf), http: http.map(split).collect() }
    }

    /// The route for one outbound: a tag that may have any value is taken from the outbound, and so is a missing one.
    #[must_use]
    pub fn resolved(mut self, outbound: &Tags<'t>) -> Self {
        for share in self.split.iter_mut().chain(self.http.iter_mut().flatten()) {
            share.destination.retain(|_, value| *value != "*");
            for (key, value) in outbound {
                share.destination.entry(key).or_insert(value);
            }
        }
        self
    }
}

/// The shares of a `conf` or of a part of its `http`: a `split`, or one `destination` that takes everything.
fn split(value: Value<'_>) -> Vec<Share<'_>> {
    let destination = tags(value.get("destination"));
    if destination.is_empty() {
        return value.get("split").map(shares).unwrap_or_default();
    }
    vec![Share { weight: 1, destination }]
}

fn shares(list: Value<'_>) -> Vec<Share<'_>> {
    let share = |item: Value<'_>| item.get("weight").and_then(Value::as_integer).unwrap_or_default();
    list.items().map(|item| Share { weight: share(item), destination: tags(item.get("destination")) }).collect()
}

fn tags(map: Option<Value<'_>>) -> Tags<'_> {
    map.into_iter().flat_map(Value::entries).map(|(key, value)| (key.text(), value.text())).collect()
}

fn service_tag<'t>(tags: &Tags<'t>) -> Option<(&'t str, &'t str)> {
    SERVICE_TAGS.iter().find_map(|key| tags.get_key_value(key)).map(|(key, service)| (*key, *service))
}

#[cfg(test)]
mod tests;
