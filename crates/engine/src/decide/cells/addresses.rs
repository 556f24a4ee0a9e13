//! Addresses that tell networks apart: the first of every run of addresses that are in the same networks.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use smol_str::{SmolStr, ToSmolStr};

use crate::decide::condition::{AddressLists, Condition};

/// Texts as they stand for addresses, and whether every other text is like one of them.
pub(super) fn addresses<'c>(conditions: impl Iterator<Item = &'c Condition>) -> (Vec<SmolStr>, bool) {
    let (mut networks, mut texts): (Vec<&IpNet>, Vec<&SmolStr>) = Default::default();
    for condition in conditions {
        match condition {
            Condition::Address(AddressLists::Networks { allow, block }) => {
                networks.extend(allow.iter().flatten().chain(block));
            }
            Condition::Address(AddressLists::Texts { allow, block }) => {
                texts.extend(allow.iter().flatten().chain(block));
            }
            _ => {}
        }
    }
    let mut found: Vec<SmolStr> = texts.iter().map(|text| (*text).clone()).collect();
    found.extend(firsts(&networks).into_iter().map(|address| address.to_smolstr()));
    // Where addresses are compared as texts, no other address can stand for one that is named.
    (found, networks.is_empty() || texts.is_empty())
}

/// The first address of all, of each network, and after each.
fn firsts(networks: &[&IpNet]) -> BTreeSet<IpAddr> {
    // What is written as one of the others but is an address of version 4 is taken out of those of version 6.
    let mapped = [Ipv4Addr::UNSPECIFIED.to_ipv6_mapped(), after_v6(Ipv4Addr::BROADCAST.to_ipv6_mapped())];
    let mut firsts: BTreeSet<IpAddr> = mapped.into_iter().map(IpAddr::from).collect();
    firsts.extend([IpAddr::from(Ipv4Addr::UNSPECIFIED), IpAddr::from(Ipv6Addr::UNSPECIFIED)]);
    for network in networks {
        firsts.insert(network.network());
        firsts.insert(match network.broadcast() {
            IpAddr::V4(last) => Ipv4Addr::from_bits(last.to_bits().wrapping_add(1)).into(),
            IpAddr::V6(last) => after_v6(last).into(),
        });
    }
    firsts
}

fn after_v6(address: Ipv6Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(address.to_bits().wrapping_add(1))
}
