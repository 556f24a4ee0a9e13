//! The connection that requests come by.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use smol_str::{SmolStr, ToSmolStr};

use crate::auth::Certificate;
use crate::limits::{Alarms, Client};

/// Who is at the other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// The address.
    pub(crate) ip: IpAddr,
    /// The address, as policies know it.
    pub(crate) text: SmolStr,
}

impl Peer {
    /// At an address.
    pub(crate) fn new(ip: IpAddr) -> Self {
        let ip = ip.to_canonical();
        Self { ip, text: ip.to_smolstr() }
    }
}

/// What all requests of one connection share. Copies are the same.
#[derive(Clone, Debug)]
pub(crate) struct Connection(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    peer: Peer,
    certificate: Option<Certificate>,
    alarms: Alarms,
    client: Arc<Client>,
}

impl Connection {
    /// From an address, and with the certificate that was shown there.
    pub(crate) fn new(address: SocketAddr, certificate: Option<Certificate>, client: Client) -> Self {
        let (peer, client) = (Peer::new(address.ip()), Arc::new(client));
        Self(Arc::new(Inner { peer, certificate, alarms: Alarms::default(), client }))
    }

    /// Who is at the other end.
    pub(crate) fn peer(&self) -> &Peer {
        &self.0.peer
    }

    /// The certificate that they showed.
    pub(crate) fn certificate(&self) -> Option<&Certificate> {
        self.0.certificate.as_ref()
    }

    /// What its address uses.
    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.0.client
    }

    /// What ends requests that take too long.
    pub(crate) fn alarms(&self) -> &Alarms {
        &self.0.alarms
    }
}
