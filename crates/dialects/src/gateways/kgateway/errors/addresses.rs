//! Ranges of addresses in access lists: those that name a host inside a range are most likely mistakes.

use std::net::IpAddr;

use upheld_model::tree::Value;

use crate::gateways::kgateway::references::list;

/// Whether all ranges of an access list are ranges.
pub(super) fn check(acl: Value<'_>) -> Result<(), String> {
    let ranges = list(acl, "rules").flat_map(|rule| list(rule, "cidrs"));
    let wrong: Vec<&str> = ranges.map(Value::text).filter(|range| !is_range(range)).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("acl: invalid CIDR(s): {}", wrong.join(", "))) }
}

/// A single address, or one with a prefix and zeros after it.
fn is_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return true };
    let (Ok(address), Ok(length)) = (address.parse::<IpAddr>(), length.parse::<u32>()) else { return false };
    let (bits, width): (u128, u32) = match address {
        IpAddr::V4(address) => (u32::from(address).into(), 32),
        IpAddr::V6(address) => (address.into(), 128),
    };
    let Some(host) = width.checked_sub(length) else { return false };
    let mask = 1_u128.checked_shl(host).map_or(u128::MAX, |limit| limit - 1);
    bits & mask == 0
}

#[cfg(test)]
mod tests {
    use super::is_range;

    #[test]
    fn ranges_have_no_host_in_them() {
        for range in ["10.0.0.0/8", "10.1.2.3/32", "10.1.2.3", "0.0.0.0/0", "fd00::/8", "::1/128", "::/0"] {
            assert!(is_range(range), "{range}");
        }
        for wrong in ["172.18.0.0/12", "10.0.0.0/33", "10.0.0.0/", "x/8", "fd00::1/8"] {
            assert!(!is_range(wrong), "{wrong}");
        }
    }
}
