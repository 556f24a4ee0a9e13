//! Separate room for what must not wait for each other: who fills one with requests leaves the others as they are.

use tokio::sync::{Semaphore, SemaphorePermit};

use super::clients::Whose;
use crate::auth::{Endpoint, Operation};
use crate::config::Limits;

/// All of them.
#[derive(Debug)]
pub(super) struct Rooms {
    health: Room,
    decisions: Room,
    reading: Room,
    administration: Room,
}

/// Places for requests; half of them are for those who say who they are.
#[derive(Debug)]
struct Room {
    places: Semaphore,
    strangers: Semaphore,
}

/// A request that is worked on.
#[derive(Debug)]
pub(crate) struct Place<'r> {
    _own: SemaphorePermit<'r>,
    _among_strangers: Option<SemaphorePermit<'r>>,
}

/// Those who look after servers are few.
const HEALTH: usize = 64;

impl Rooms {
    /// Nobody is in them yet.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            health: Room::new(HEALTH),
            decisions: Room::new(limits.concurrency),
            reading: Room::new(limits.reading),
            administration: Room::new(limits.administration),
        }
    }

    /// A place for a request, if there is one.
    pub(super) fn enter(&self, endpoint: Endpoint, whose: Whose) -> Option<Place<'_>> {
        let room = match (endpoint.sort, endpoint.operation) {
            (_, Operation::Write | Operation::Administer) => &self.administration,
            ("server", _) => &self.health,
            ("decision", _) => &self.decisions,
            _ => &self.reading,
        };
        room.enter(whose)
    }
}

impl Room {
    fn new(wanted: usize) -> Self {
        let places = wanted.clamp(1, Semaphore::MAX_PERMITS);
        Self { places: Semaphore::new(places), strangers: Semaphore::new(places.div_ceil(2)) }
    }

    fn enter(&self, whose: Whose) -> Option<Place<'_>> {
        let among_strangers = match whose {
            Whose::Known => None,
            Whose::Stranger => Some(self.strangers.try_acquire().ok()?),
        };
        Some(Place { _own: self.places.try_acquire().ok()?, _among_strangers: among_strangers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(method: &str, path: &str) -> Endpoint {
        Endpoint::of(&method.parse().unwrap(), path, "/authz")
    }

    #[test]
    fn a_full_room_leaves_the_others_as_they_are() {
        let limits = Limits { concurrency: 1, reading: 1, administration: 1, ..Limits::default() };
        let all = [
            endpoint("GET", "/readyz"),
            endpoint("POST", "/v1/decide"),
            endpoint("GET", "/v1/documents"),
            endpoint("POST", "/v1/revisions"),
        ];
        for full in all {
            let rooms = Rooms::new(&limits);
            let places: Vec<_> = std::iter::from_fn(|| rooms.enter(full, Whose::Known)).collect();
            assert!(!places.is_empty() && rooms.enter(full, Whose::Known).is_none());
            for other in all.into_iter().filter(|other| *other != full) {
                assert!(rooms.enter(other, Whose::Known).is_some(), "{full:?} {other:?}");
            }
        }
    }

    #[test]
    fn strangers_leave_half_of_a_room_to_those_who_are_known() {
        let rooms = Rooms::new(&Limits { concurrency: 4, ..Limits::default() });
        let decisions = endpoint("POST", "/v1/decide");
        let strangers: Vec<_> = std::iter::from_fn(|| rooms.enter(decisions, Whose::Stranger)).collect();
        let known: Vec<_> = std::iter::from_fn(|| rooms.enter(decisions, Whose::Known)).collect();
        assert_eq!((strangers.len(), known.len()), (2, 2));
    }
}
