//! How many requests one client makes in a second.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};
use smol_str::SmolStr;

use super::clients::network;
use crate::auth::{AuthMethod, Caller};
use crate::connection::Peer;

/// Addresses are kept in so many buckets, so that a large network cannot fill the memory. Two that share one share its
/// rate; which do is different in each process.
const BUCKETS: u64 = 1 << 16;
/// Verified names are few, but tokens of others can have any name.
const NAMES: usize = 1 << 16;

/// Counts requests.
#[derive(Debug)]
pub(super) struct Rate {
    limiter: DefaultKeyedRateLimiter<Client>,
    clock: DefaultClock,
    buckets: RandomState,
}

/// Whose requests are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Client {
    Name(AuthMethod, SmolStr),
    Bucket(u64),
}

impl Rate {
    pub(super) fn new(in_a_second: u32) -> Self {
        let quota = Quota::per_second(NonZeroU32::new(in_a_second).unwrap_or(NonZeroU32::MIN));
        Self {
            limiter: DefaultKeyedRateLimiter::keyed(quota),
            clock: DefaultClock::default(),
            buckets: RandomState::new(),
        }
    }

    /// Counts a request; when there were too many, the seconds to wait.
    pub(super) fn check(&self, caller: Option<&Caller>, peer: Option<&Peer>) -> Result<(), u64> {
        let client = match caller.filter(|caller| caller.how != AuthMethod::Anonymous) {
            Some(caller) if self.limiter.len() < NAMES => Client::Name(caller.how, caller.name.clone()),
            Some(caller) => Client::Bucket(self.buckets.hash_one(&caller.name) % BUCKETS),
            None => Client::Bucket(self.buckets.hash_one(peer.map(|peer| network(peer.ip))) % BUCKETS),
        };
        self.limiter.check_key(&client).map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: &str) -> Peer {
        Peer::new(address.parse().unwrap())
    }

    #[test]
    fn clients_are_counted_one_by_one() {
        let rate = Rate::new(1);
        let named = |name: &str| Caller::new(name, AuthMethod::Token);
        assert_eq!(rate.check(Some(&named("a")), Some(&from("192.0.2.1"))), Ok(()));
        assert_eq!(rate.check(Some(&named("a")), Some(&from("192.0.2.2"))), Err(1));
        assert_eq!(rate.check(Some(&named("b")), Some(&from("192.0.2.1"))), Ok(()));
        assert_eq!(rate.check(None, Some(&from("192.0.2.1"))), Ok(()));
        assert_eq!(rate.check(Some(&Caller::anonymous()), Some(&from("192.0.2.1"))), Err(1));
    }

    #[test]
    fn a_large_network_does_not_fill_the_memory() {
        let rate = Rate::new(1);
        for number in 0..200_000_u32 {
            let address = std::net::Ipv6Addr::from(u128::from(number) << 64);
            rate.check(None, Some(&Peer::new(address.into()))).ok();
        }
        assert!(rate.limiter.len() <= 1 << 16);
    }
}
