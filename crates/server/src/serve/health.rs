//! Whether the server lives, told at an address of its own and on a thread of its own: whatever else goes on, probes hear of it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::watch;

use super::connections::{answer_one, only_a_while};

/// What is asked for anything else.
const NOTHING_ELSE: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Answers probes at an address until the server stops; says which address it is.
pub(super) fn serve(address: SocketAddr, mut stopped: watch::Receiver<bool>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let answering = async move {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.wait_for(|stop| *stop) => return,
            };
            match accepted {
                Ok((stream, _)) => only_a_while(answer_one(stream, NOTHING_ELSE)),
                Err(error) => {
                    tracing::debug!(%error, "a probe could not be accepted");
                    tokio::time::sleep(super::connections::PAUSE).await;
                }
            }
        }
    };
    thread::Builder::new().name("upheld-health".to_owned()).spawn(move || runtime.block_on(answering))?;
    Ok(address)
}
