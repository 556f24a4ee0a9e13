//! What one address uses: connections, streams, and bytes on their way. So nobody takes all of it, however many connections they open.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::config::Limits;

/// All addresses that have a connection.
#[derive(Debug)]
pub(crate) struct Clients {
    places: Arc<Semaphore>,
    most: Most,
    connected: Mutex<HashMap<[u8; 16], Arc<Used>>>,
    /// Connections by which nobody may have asked anything yet, the oldest first.
    silent: Mutex<VecDeque<Weak<Silence>>>,
    /// Bytes on their way, of everybody and of strangers.
    bytes: [AtomicUsize; 2],
}

/// What is the most.
#[derive(Clone, Copy, Debug)]
struct Most {
    connections: usize,
    streams: usize,
    bytes_of_all: usize,
    bytes_of_one: usize,
}

/// What an address uses just now.
#[derive(Debug, Default)]
struct Used {
    connections: AtomicUsize,
    streams: AtomicUsize,
    bytes: AtomicUsize,
}

/// An address that has connections; each connection holds one of these.
#[derive(Debug)]
pub(crate) struct Client {
    all: Arc<Clients>,
    network: [u8; 16],
    used: Arc<Used>,
    silence: Arc<Silence>,
}

/// A connection by which nobody has asked anything yet. It has a place as long as nobody else needs it.
#[derive(Debug)]
pub(crate) struct Silence {
    network: [u8; 16],
    has_ended: AtomicBool,
    place: Mutex<Option<OwnedSemaphorePermit>>,
    gives_way: Notify,
}

impl Silence {
    fn new(network: [u8; 16], place: OwnedSemaphorePermit) -> Arc<Self> {
        let (has_ended, gives_way) = (AtomicBool::new(false), Notify::new());
        Arc::new(Self { network, has_ended, place: Mutex::new(Some(place)), gives_way })
    }

    /// Somebody asks something.
    #[inline]
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has asked something.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Waits until somebody else needs the place.
    pub(crate) async fn gives_way(&self) {
        self.gives_way.notified().await;
    }

    /// The place, for somebody else.
    fn taken(&self) -> Option<OwnedSemaphorePermit> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        self.gives_way.notify_one();
        Some(place)
    }
}

/// Whether somebody said who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// They did, or nobody asks here.
    Known,
    /// They did not.
    Stranger,
}

impl Clients {
    /// Nobody is connected yet.
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let most = Most {
            connections: limits.connections_of_one,
            streams: limits.streams_of_one,
            bytes_of_all: limits.bytes,
            bytes_of_one: limits.bytes_of_one,
        };
        let places = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Self {
            places,
            most,
            connected: Mutex::default(),
            silent: Mutex::default(),
            bytes: Default::default(),
        })
    }

    /// A connection of an address, if there is a place for it. Where there is none, the oldest connection gives way by which nobody has asked
    /// anything: whoever means well asks at once.
    pub(crate) fn connect(self: &Arc<Self>, address: IpAddr) -> Option<Client> {
        let network = network(address);
        let (used, own_place) = {
            let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
            let used = connected.entry(network).or_default();
            let is_full = used.connections.load(Ordering::Relaxed) >= self.most.connections;
            let own_place = is_full.then(|| self.silent_place(|silent| silent.network == network));
            if let Some(None) = own_place {
                return None;
            }
            used.connections.fetch_add(1, Ordering::Relaxed);
            (Arc::clone(used), own_place.flatten())
        };
        let free = || Arc::clone(&self.places).try_acquire_owned().ok();
        let Some(place) = own_place.or_else(free).or_else(|| self.silent_place(|_| true)) else {
            self.leave(network, &used);
            return None;
        };
        let silence = Silence::new(network, place);
        self.note(&silence);
        Some(Client { all: Arc::clone(self), network, used, silence })
    }

    /// Bytes that are kept for somebody just now.
    pub(crate) fn held(&self) -> usize {
        let [all, _] = &self.bytes;
        all.load(Ordering::Relaxed)
    }

    fn silent(&self) -> MutexGuard<'_, VecDeque<Weak<Silence>>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, silence: &Arc<Silence>) {
        let mut silent = self.silent();
        // Those who speak stay in the list until somebody looks; it is never twice as long as it need be.
        if silent.len() == silent.capacity() {
            silent.retain(|one| one.upgrade().is_some_and(|one| !one.has_ended()));
        }
        silent.push_back(Arc::downgrade(silence));
    }

    /// The place of the oldest silent connection of some.
    fn silent_place(&self, of: impl Fn(&Silence) -> bool) -> Option<OwnedSemaphorePermit> {
        let mut silent = self.silent();
        let mut place = None;
        silent.retain(|one| {
            let Some(one) = one.upgrade().filter(|one| !one.has_ended()) else { return false };
            if place.is_some() || !of(&one) {
                return true;
            }
            place = one.taken();
            false
        });
        place
    }

    fn leave(&self, network: [u8; 16], used: &Used) {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if used.connections.fetch_sub(1, Ordering::Relaxed) == 1 {
            connected.remove(&network);
        }
    }
}

impl Client {
    /// Whether anything was asked by its connection.
    pub(crate) fn silence(&self) -> Arc<Silence> {
        Arc::clone(&self.silence)
    }

    /// A place for an answer without an end.
    pub(crate) fn stream(self: &Arc<Self>) -> Option<Stream> {
        take(&self.used.streams, 1, self.all.most.streams).then(|| Stream(Arc::clone(self)))
    }

    /// Room for bytes that are kept until somebody has sent or read them. Whoever has none on the way gets it as long as there is any: an answer may
    /// be larger than what one address usually has. Half of all is for those who say who they are, and they share no address's limit:
    /// all of them may come by one proxy.
    pub(crate) fn bytes(self: &Arc<Self>, whose: Whose, count: usize) -> Option<Held> {
        let Most { bytes_of_all, bytes_of_one, .. } = self.all.most;
        let [all, strangers] = &self.all.bytes;
        let taken = |of: &AtomicUsize, most: usize| take(of, count, most);
        let fits = match whose {
            Whose::Known => taken(all, bytes_of_all),
            Whose::Stranger => {
                let own = taken(&self.used.bytes, bytes_of_one);
                let half = own && taken(strangers, bytes_of_all / 2);
                let fits = half && taken(all, bytes_of_all);
                if half && !fits {
                    strangers.fetch_sub(count, Ordering::Relaxed);
                }
                if own && !fits {
                    self.used.bytes.fetch_sub(count, Ordering::Relaxed);
                }
                fits
            }
        };
        fits.then(|| Held { client: Arc::clone(self), whose, count })
    }
}

/// Takes some, unless there already is as much as may be: what is larger than all together still goes, one by one.
fn take(of: &AtomicUsize, count: usize, most: usize) -> bool {
    let more = |used: usize| (used < most).then(|| used.saturating_add(count));
    of.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

impl Drop for Client {
    fn drop(&mut self) {
        self.all.leave(self.network, &self.used);
    }
}

/// An answer without an end.
#[derive(Debug)]
pub(crate) struct Stream(Arc<Client>);

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.used.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes that are on their way.
#[derive(Debug)]
pub(crate) struct Held {
    client: Arc<Client>,
    whose: Whose,
    count: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        let [all, strangers] = &self.client.all.bytes;
        all.fetch_sub(self.count, Ordering::Relaxed);
        if self.whose == Whose::Stranger {
            strangers.fetch_sub(self.count, Ordering::Relaxed);
            self.client.used.bytes.fetch_sub(self.count, Ordering::Relaxed);
        }
    }
}

/// One household of IPv6 has as many addresses as it likes in its network.
pub(super) fn network(address: IpAddr) -> [u8; 16] {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => (address.to_bits() >> 64 << 64).to_be_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8::ffff:2")));
        assert_ne!(network(address("2001:db8:0:1::1")), network(address("2001:db8::1")));
        assert_eq!(network(address("::ffff:192.0.2.1")), network(address("192.0.2.1")));
    }

    #[test]
    fn one_address_does_not_take_all_connections() {
        let clients = Clients::new(&Limits { connections: 3, connections_of_one: 2, ..Limits::default() });
        let speaks = |client: Option<Client>| client.inspect(|client| client.silence.end());
        let first = speaks(clients.connect(address("192.0.2.1")));
        let second = speaks(clients.connect(address("192.0.2.1")));
        assert!(first.is_some() && second.is_some() && clients.connect(address("192.0.2.1")).is_none());
        let other = speaks(clients.connect(address("192.0.2.2")));
        assert!(other.is_some() && clients.connect(address("192.0.2.3")).is_none(), "there are three");
        drop(first);
        assert!(clients.connect(address("192.0.2.1")).is_some());
        drop((second, other));
        assert!(clients.connected.lock().unwrap().is_empty(), "who is gone is forgotten");
    }

    #[test]
    fn s11_who_says_nothing_gives_way() {
        let clients = Clients::new(&Limits { connections: 4, connections_of_one: 2, ..Limits::default() });
        let silent: Vec<_> = (1..=4).map(|last| clients.connect([192, 0, 2, last].into()).unwrap()).collect();
        silent[0].silence.end();
        let rightful = clients.connect(address("198.51.100.1")).expect("there is a place");
        assert!(silent[1].silence.taken().is_none(), "the oldest that said nothing gave its own");
        rightful.silence.end();
        // However many come, whoever asked stays; and an address with its fill of silent ones gives up its own.
        let more: Vec<_> = (0..100).map(|_| clients.connect(address("203.0.113.7")).unwrap()).collect();
        assert!(silent[0].silence.taken().is_some() && rightful.silence.taken().is_some());
        assert!(clients.silent().len() <= 8, "{}", clients.silent().len());
        drop((silent, more, rightful));
        assert_eq!(clients.places.available_permits(), 4);
        assert!(clients.connected.lock().unwrap().is_empty());
    }

    #[test]
    fn bytes_of_strangers_leave_half_to_those_who_are_known() {
        let limits = Limits { bytes: 100, bytes_of_one: 30, ..Limits::default() };
        let clients = Clients::new(&limits);
        let client = |text| Arc::new(clients.connect(address(text)).unwrap());
        let (one, two, three) = (client("192.0.2.1"), client("192.0.2.2"), client("192.0.2.3"));
        let first = one.bytes(Whose::Stranger, 40);
        assert!(first.is_some(), "a large answer goes if nothing else is on the way");
        assert!(one.bytes(Whose::Stranger, 1).is_none());
        let second = two.bytes(Whose::Stranger, 20);
        assert!(second.is_some() && three.bytes(Whose::Stranger, 1).is_none(), "strangers have half");
        let known = one.bytes(Whose::Known, 40);
        assert!(known.is_some() && one.bytes(Whose::Known, 1).is_none());
        drop((first, second, known));
        let free = |of: &AtomicUsize| of.load(Ordering::Relaxed) == 0;
        assert!(clients.bytes.iter().all(free) && free(&one.used.bytes));
    }

    #[test]
    fn streams_of_one_address_are_counted() {
        let clients = Clients::new(&Limits { streams_of_one: 1, ..Limits::default() });
        let client = Arc::new(clients.connect(address("192.0.2.1")).unwrap());
        let stream = client.stream();
        assert!(stream.is_some() && client.stream().is_none());
        drop(stream);
        assert!(client.stream().is_some());
    }
}
