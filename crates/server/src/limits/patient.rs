//! A stream that gives up on those who do not read.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Bytes that somebody must take in a second who has not taken everything yet.
const SLOWEST: u32 = 8 * 1024;

/// Ends when the other side takes nothing, or next to nothing, for too long.
#[derive(Debug)]
pub(crate) struct Patient<S> {
    stream: S,
    limit: Duration,
    /// When the other side has taken too little; as long as something waits to be taken.
    end: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    /// With so much patience.
    pub(crate) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, end: None, alarm: None }
    }

    /// The other side took some of it. Who takes a little at a time gets a little more time each time.
    fn took(&mut self, bytes: usize) {
        if let Some(end) = &mut self.end {
            let earned =
                Duration::from_secs_f64(f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / f64::from(SLOWEST));
            *end = (*end + earned).min(Instant::now() + self.limit);
        }
    }

    /// Nothing can be written just now: wakes the task when that has lasted too long.
    fn waits(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let limit = self.limit;
        let end = *self.end.get_or_insert_with(|| Instant::now() + limit);
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if alarm.deadline() != end {
            alarm.as_mut().reset(end);
        }
        ready!(alarm.as_mut().poll(context));
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the client does not read"))
    }

    fn written(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.took(bytes);
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => self.waits(context).map(Err),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(context));
        // Whoever flushes has written everything before.
        self.end = None;
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_is_given_up() {
        let (ours, _theirs) = duplex(1000);
        let begun = Instant::now();
        let error = Patient::new(ours, LIMIT).write_all(&[0; 2000]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed() >= LIMIT), (io::ErrorKind::TimedOut, true));
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_a_byte_now_and_then_is_given_up_too() {
        let (ours, mut theirs) = duplex(1000);
        let reading = tokio::spawn(async move {
            while theirs.read_u8().await.is_ok() {
                tokio::time::sleep(LIMIT / 2).await;
            }
        });
        let begun = Instant::now();
        let error = Patient::new(ours, LIMIT).write_all(&vec![0; 20_000]).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed() < LIMIT * 2), (io::ErrorKind::TimedOut, true));
        reading.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_but_steadily_gets_everything() {
        let (ours, mut theirs) = duplex(1000);
        let writing = tokio::spawn(async move { Patient::new(ours, LIMIT).write_all(&vec![0; 200_000]).await });
        let mut piece = [0; 1000];
        for _ in 0..200 {
            theirs.read_exact(&mut piece).await.unwrap();
            tokio::time::sleep(Duration::from_millis(120)).await;
        }
        writing.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn silence_between_answers_is_no_delay() {
        let (ours, mut theirs) = duplex(1000);
        let mut patient = Patient::new(ours, LIMIT);
        let mut answer = [0; 1500];
        for _ in 0..3 {
            let (written, read) = tokio::join!(
                async {
                    patient.write_all(&[0; 1500]).await?;
                    patient.flush().await
                },
                theirs.read_exact(&mut answer)
            );
            written.unwrap();
            read.unwrap();
            tokio::time::sleep(LIMIT * 3).await;
        }
    }
}
