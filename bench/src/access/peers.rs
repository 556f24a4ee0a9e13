//! Those we are compared with. Each gets the encoding that suits it best, and each decides from the strings of a
//! request.

#[cfg(feature = "peers")]
mod casbin;
#[cfg(feature = "peers")]
mod cedar;
#[cfg(feature = "peers")]
mod cel;
#[cfg(feature = "peers")]
mod parts;
#[cfg(feature = "peers")]
mod regorus;

#[cfg(feature = "peers")]
pub(crate) use cedar::text as cedar_text;

use super::Decider;
use super::workload::Workload;

/// Somebody to compare with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) load: fn(&Workload) -> Result<Box<dyn Decider>, String>,
}

/// Builds a peer, if it was built in.
macro_rules! peer {
    ($name:literal, $($load:tt)*) => {
        Peer {
            name: $name,
            #[cfg(feature = "peers")]
            load: $($load)*,
            #[cfg(not(feature = "peers"))]
            load: left_out,
        }
    };
}

pub(super) const CEDAR: Peer = peer!("Cedar, `like` in `when`", cedar::load);
pub(super) const CEL: Peer = peer!("CEL, one program per policy", cel::load);
pub(super) const CASBIN: Peer = peer!("casbin, equality first + native glob", casbin::load);
pub(super) const REGORUS: Peer = peer!("regorus natural, RVM", regorus::load_natural);
pub(super) const REGORUS_INDEXED: Peer = peer!("regorus indexed data, RVM", regorus::load_indexed);

#[cfg(not(feature = "peers"))]
fn left_out(_: &Workload) -> Result<Box<dyn Decider>, String> {
    Err("this build has no peers".to_owned())
}

/// Those that were built in.
pub(super) fn all() -> &'static [Peer] {
    if cfg!(feature = "peers") { &[CEDAR, CEL, CASBIN, REGORUS, REGORUS_INDEXED] } else { &[] }
}
