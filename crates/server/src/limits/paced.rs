//! Large answers: counted as long as they are kept, sent in small pieces, and let go when nobody takes them.
//!
//! A client of HTTP/2 that opens no window makes nothing fail: its answers are never asked for. So somebody else looks whether a piece was
//! taken lately.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use upheld_store::machine;

use super::clients::{Client, Held, Whose};

/// What is smaller is not worth the trouble; and so large is a piece.
const PIECE: usize = 64 * 1024;

/// The answer, counted if it is large. `None` if there already is too much on the way.
pub(super) fn paced(response: Response, client: &Arc<Client>, whose: Whose, limit: Duration) -> Option<Response> {
    let Some(held) = counted(response.body(), client, whose).ok()? else { return Some(response) };
    let size = size(response.body());
    Some(response.map(|body| {
        let rest = Rest { body, current: Bytes::new(), left: size, moved: true, _held: held };
        let rest = Arc::new(Mutex::new(Some(rest)));
        drop(machine::spawn(let_go(Arc::clone(&rest), limit)));
        Body::new(Paced(rest))
    }))
}

/// There already is too much on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMuch;

/// Room for an answer that is kept for a while; none for a small one, which needs none.
pub(super) fn counted(body: &Body, client: &Arc<Client>, whose: Whose) -> Result<Option<Held>, TooMuch> {
    match size(body) {
        small if small <= PIECE => Ok(None),
        size => client.bytes(whose, size).map(Some).ok_or(TooMuch),
    }
}

fn size(body: &Body) -> usize {
    body.size_hint().exact().and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// An answer that is sent in pieces.
struct Paced(Arc<Mutex<Option<Rest>>>);

/// What is left of it.
struct Rest {
    body: Body,
    current: Bytes,
    left: usize,
    /// Whether a piece was taken since somebody looked.
    moved: bool,
    _held: Held,
}

/// Lets an answer go that nobody takes.
async fn let_go(rest: Arc<Mutex<Option<Rest>>>, limit: Duration) {
    loop {
        tokio::time::sleep(limit).await;
        let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = rest.as_mut().map(|left| std::mem::take(&mut left.moved));
        if moved != Some(true) {
            *rest = None;
            return;
        }
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rest) = rest.as_mut() else {
            let error = io::Error::new(io::ErrorKind::TimedOut, "the client does not read");
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        };
        rest.moved = true;
        if rest.current.is_empty() {
            match Pin::new(&mut rest.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => rest.current = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return other,
            }
        }
        let piece = rest.current.split_to(rest.current.len().min(PIECE));
        rest.left = rest.left.saturating_sub(piece.len());
        // A part of the whole would keep all of it in memory, after this is gone and nobody counts it any more.
        Poll::Ready(Some(Ok(Frame::data(Bytes::copy_from_slice(&piece)))))
    }

    fn is_end_stream(&self) -> bool {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rest.as_ref().is_some_and(|rest| rest.left == 0)
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = rest.as_ref().map_or(0, |rest| rest.left);
        SizeHint::with_exact(u64::try_from(left).unwrap_or(u64::MAX))
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::super::clients::Clients;
    use super::*;
    use crate::config::Limits;

    const LIMIT: Duration = Duration::from_secs(10);

    fn client() -> Arc<Client> {
        let limits = Limits { bytes: 1 << 20, bytes_of_one: 1 << 20, ..Limits::default() };
        Arc::new(Clients::new(&limits).connect([127, 0, 0, 1].into()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_what_it_was_in_pieces() {
        let bytes: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_be_bytes).collect();
        let paced = paced(Response::new(Body::from(bytes.clone())), &client(), Whose::Known, LIMIT).unwrap();
        assert_eq!(paced.body().size_hint().exact(), Some(4_000_000));
        let mut body = paced.into_body();
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let piece = frame.unwrap().into_data().unwrap();
            assert!(piece.len() <= PIECE);
            whole.extend_from_slice(&piece);
        }
        assert!(whole == bytes && body.is_end_stream());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_takes_is_let_go() {
        let client = client();
        let large = || paced(Response::new(Body::from(vec![0; 1 << 20])), &client, Whose::Known, LIMIT);
        let mut kept = large().unwrap().into_body();
        assert!(large().is_none(), "there is too much on the way");
        kept.frame().await.unwrap().unwrap();
        tokio::time::sleep(LIMIT * 3).await;
        assert!(large().is_some(), "it was let go");
        assert!(kept.frame().await.unwrap().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_dropped_is_not_counted_any_more() {
        let client = client();
        let large = || paced(Response::new(Body::from(vec![0; 1 << 20])), &client, Whose::Stranger, LIMIT);
        drop(large().unwrap());
        assert!(large().is_some());
    }
}
