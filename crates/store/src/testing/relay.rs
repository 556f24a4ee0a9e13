//! A network between a program and its database, which can be cut.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often threads look whether something changed.
const EVERY: Duration = Duration::from_millis(5);

/// Passes on what is sent, until it is cut: then it is as silent as a network that drops every packet. A connection that was there when it
/// was cut stays silent for good, as behind a firewall that forgot it; new ones work once it is healed.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    to: SocketAddr,
    is_cut: AtomicBool,
    /// How often it was cut: connections of before are silent.
    cuts: AtomicU32,
    has_ended: AtomicBool,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}

impl Relay {
    /// To the database of a URL, with the URL by which it is reached through the relay.
    pub fn before(url: &str) -> io::Result<(Self, String)> {
        let host = format!("{}:", Ipv4Addr::LOCALHOST);
        let bad = || io::Error::other("no database of this machine");
        let (front, rest) = url.split_once(&host).ok_or_else(bad)?;
        let (port, path) = rest.split_once('/').ok_or_else(bad)?;
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().map_err(|_| bad())?));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            to,
            is_cut: AtomicBool::new(false),
            cuts: AtomicU32::new(0),
            has_ended: AtomicBool::new(false),
            threads: Mutex::default(),
        });
        shared.go_on({
            let shared = Arc::clone(&shared);
            move || accept(&shared, &listener)
        });
        Ok((Self { shared }, format!("{front}{address}/{path}")))
    }

    /// From now on nothing gets through.
    pub fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
        self.shared.cuts.fetch_add(1, Ordering::SeqCst);
    }

    /// From now on new connections work.
    pub fn heal(&self) {
        self.shared.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::SeqCst);
        loop {
            let threads = std::mem::take(&mut *self.shared.threads.lock().unwrap_or_else(PoisonError::into_inner));
            if threads.is_empty() {
                return;
            }
            for thread in threads {
                drop(thread.join());
            }
        }
    }
}

impl Shared {
    fn go_on(&self, work: impl FnOnce() + Send + 'static) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread::spawn(work));
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    while !shared.has_ended() {
        // Who connects to a network that is cut waits, too.
        if shared.is_cut.load(Ordering::SeqCst) {
            thread::sleep(EVERY);
            continue;
        }
        match listener.accept() {
            Ok((client, _)) => drop(connect(shared, client)),
            Err(_) => thread::sleep(EVERY),
        }
    }
}

fn connect(shared: &Arc<Shared>, client: TcpStream) -> io::Result<()> {
    let server = TcpStream::connect(shared.to)?;
    let of = shared.cuts.load(Ordering::SeqCst);
    for stream in [&client, &server] {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(EVERY))?;
        stream.set_nodelay(true)?;
    }
    for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        let own = Arc::clone(shared);
        shared.go_on(move || pass(&own, of, from, to));
    }
    Ok(())
}

/// Passes on one direction of a connection, until either side ends it.
fn pass(shared: &Shared, of: u32, mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 8192];
    while !shared.has_ended() {
        if shared.cuts.load(Ordering::SeqCst) != of {
            thread::sleep(EVERY);
            continue;
        }
        let read = match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => continue,
            Err(_) => break,
        };
        // What was on its way when it was cut is lost.
        if shared.cuts.load(Ordering::SeqCst) == of && to.write_all(bytes.get(..read).unwrap_or_default()).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        drop(stream.shutdown(std::net::Shutdown::Both));
    }
}
