//! Ranges of addresses. In access lists, those that name a host inside a range are most likely mistakes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use upheld_model::tree::Value;

use crate::gateways::kgateway::references::list;

/// Whether all ranges of an access list are ranges. The message names each that is not, and the range that it is in.
pub(super) fn access_list(acl: Value<'_>) -> Result<(), String> {
    let ranges = list(acl, "rules").flat_map(|rule| list(rule, "cidrs")).map(Value::text);
    let wrong = ranges.filter_map(|text| match Range::read(text) {
        Some(range) if range.network() == range.address => None,
        Some(range) => Some(format!("{text} (did you mean {}/{}?)", range.network(), range.length)),
        // A single address is a range of one.
        None => text.parse::<IpAddr>().is_err().then(|| text.to_owned()),
    });
    named("acl", wrong)
}

/// Whether all proxies that are trusted are told by ranges, where a host inside a range does no harm.
pub(super) fn trusted(settings: Value<'_>) -> Result<(), String> {
    let ranges = list(settings, "xffTrustedCIDRs").map(Value::text);
    named("xffTrustedCIDRs", ranges.filter(|text| Range::read(text).is_none()).map(str::to_owned))
}

fn named(field: &str, wrong: impl Iterator<Item = String>) -> Result<(), String> {
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{field}: invalid CIDR(s): {}", wrong.join(", "))) }
}

/// An address with the length of a prefix.
#[derive(Clone, Copy, Debug)]
struct Range {
    address: IpAddr,
    length: u32,
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let (address, length): (IpAddr, u32) = (address.parse().ok()?, length.parse().ok()?);
        (length <= if address.is_ipv4() { 32 } else { 128 }).then_some(Self { address, length })
    }

    /// The first address of the range.
    fn network(self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32_u32.saturating_sub(self.length)).unwrap_or(0);
                Ipv4Addr::from(u32::from(address) & mask).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128_u32.saturating_sub(self.length)).unwrap_or(0);
                Ipv6Addr::from(u128::from(address) & mask).into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn ranges_begin_with_their_network() {
        let network = |text| Range::read(text).map(|range| range.network().to_string());
        for range in ["10.0.0.0/8", "10.1.2.3/32", "0.0.0.0/0", "fd00::/8", "::1/128", "::/0"] {
            assert_eq!(network(range).as_deref(), range.split('/').next(), "{range}");
        }
        assert_eq!(network("172.18.0.0/12").as_deref(), Some("172.16.0.0"));
        assert_eq!(network("fd00::1/8").as_deref(), Some("fd00::"));
        for wrong in ["10.0.0.0/33", "10.0.0.0/", "x/8", "::/129", "10.0.0.0"] {
            assert_eq!(network(wrong), None, "{wrong}");
        }
    }
}
