//! Policies by the place where a proxy is called: its inbounds, and the listeners of the gateway that it serves.

use std::fmt;

use upheld_engine::merge::Admitted;
use upheld_model::{Object, Part, Role};

use super::Rules;
use crate::document::Resource;
use crate::kuma::edition::Edition;
use crate::kuma::resources::{Dataplane, Inbound};

/// Where a proxy is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Listener {
    /// The address of the proxy.
    pub address: String,
    /// The port.
    pub port: String,
    /// The host name that callers ask for, where listeners differ by it; `*` for any.
    pub hostname: Option<String>,
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.address, self.port)?;
        self.hostname.as_ref().map_or(Ok(()), |hostname| write!(f, ":{hostname}"))
    }
}

impl Rules<'_> {
    /// The policies of each listener, the lowest priority first, given those that match the proxy in their order. Listeners
    /// that no policy is attached to are left out.
    pub fn by_listener(&self, proxy: &Object, matched: &[Admitted]) -> Vec<(Listener, Vec<u32>)> {
        let listeners =
            self.listeners(proxy, |role| matches!(role, Role::Inbound | Role::Listener | Role::GatewayListener));
        grouped(&listeners, matched)
    }

    /// The policies of each listener and host name of the gateway that a proxy serves, given those that match the proxy in
    /// their order. The late releases of Kuma 2 forget to sort them.
    pub fn by_hostname(&self, proxy: &Object, matched: &[Admitted]) -> Vec<(Listener, Vec<u32>)> {
        let mut listeners = self.listeners(proxy, |role| role == Role::GatewayListener);
        for (part, listener) in &mut listeners {
            let part = proxy.parts.get(*part as usize);
            listener.hostname = part.map(|part| self.snapshot.text(part.section).to_owned());
        }
        if self.edition != Edition::V2Cliques {
            return grouped(&listeners, matched);
        }
        let mut unsorted = matched.to_vec();
        unsorted.sort_by_key(|admitted| self.policy(admitted.slot).map(|policy| policy.at));
        grouped(&listeners, &unsorted)
    }

    /// The parts of a proxy with some roles, and where they listen.
    fn listeners(&self, proxy: &Object, wanted: impl Fn(Role) -> bool) -> Vec<(u32, Listener)> {
        let document = self.snapshot.files().value(proxy.at).and_then(Resource::of).map(Dataplane::of);
        let (mut inbounds, mut passing) =
            (document.into_iter().flat_map(Dataplane::inbounds), document.into_iter().flat_map(Dataplane::listeners));
        // Parts of one role are in the order of the document.
        let mut listener = |part: &Part| {
            let address = match part.role {
                Role::Inbound => inbounds.next().map(Inbound::proxy_address),
                Role::Listener => passing.next().map(Inbound::proxy_address),
                _ => document.map(Dataplane::address),
            };
            Listener {
                address: address.unwrap_or_default().to_owned(),
                port: part.port.map_or("0", |port| self.snapshot.text(port)).to_owned(),
                hostname: None,
            }
        };
        let parts = proxy.parts.iter().zip(0..).map(|(part, number)| (part.role, number, listener(part)));
        parts.filter(|(role, ..)| wanted(*role)).map(|(_, number, listener)| (number, listener)).collect()
    }
}

fn grouped(listeners: &[(u32, Listener)], matched: &[Admitted]) -> Vec<(Listener, Vec<u32>)> {
    let mut groups: Vec<(Listener, Vec<u32>)> = Vec::new();
    for (_, listener) in listeners {
        if groups.iter().any(|(known, _)| known == listener) {
            continue;
        }
        let here = |admitted: &&Admitted| listeners.iter().any(|(part, at)| at == listener && admitted.has(*part));
        let slots: Vec<u32> = matched.iter().filter(here).map(|admitted| admitted.slot).collect();
        if !slots.is_empty() {
            groups.push((listener.clone(), slots));
        }
    }
    groups
}
