//! `/v1/events`: what happens, as it happens.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, Stream, StreamExt};
use serde::Deserialize;
use serde_json::json;
use upheld_store::{Change, Entry, Revision};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Query;
use super::revisions::{ReadEntry, Reader};
use crate::app::Shared;
use crate::problem::Problem;
use crate::telemetry::Observed;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(events))
}

#[derive(Debug, Deserialize)]
struct From {
    /// Where to begin; where the server is, when left out.
    after: Option<Revision>,
}

/// Revisions as server-sent events. The id of an event is the number of its revision: whoever comes back with
/// `Last-Event-ID` (or `after`) misses nothing.
#[utoipa::path(get, path = "/v1/events",
    params(("after" = Option<u64>, Query, description = "begin after this revision")),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 400, body = Problem), (status = 410, body = Problem)))]
async fn events(
    State(app): State<Shared>,
    observed: Observed,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let resumed = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::parse::<Revision>);
    let resumed = resumed.transpose().map_err(|_| Problem::bad_request("`Last-Event-ID` is not a revision number"))?;
    let after = resumed.or(from.after).unwrap_or_else(|| app.live.view().revision());
    // Whoever asks for what is forgotten should know before the stream begins.
    app.store.entries(after, 1).await?;
    let reader = Reader::of(&observed);
    let (reloads, ends) = (app.auth.follow_reloads(), app.ending.subscribe());
    let follow = Follow { revisions: app.live.follow(), reloads, ends, app, reader, after, waiting: Vec::new() };
    let events = stream::unfold(follow, |follow| async move { follow.next().await });
    let events = events.map(|entry| Ok(event(&entry)));
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

struct Follow {
    app: Shared,
    reader: Reader,
    revisions: tokio::sync::watch::Receiver<Revision>,
    /// Who was let in may not be any more; whoever may comes back.
    reloads: tokio::sync::watch::Receiver<u64>,
    /// Whether the server ends.
    ends: tokio::sync::watch::Receiver<bool>,
    after: Revision,
    /// The next entries, last first.
    waiting: Vec<Entry>,
}

impl Follow {
    /// The next entry; the end of the stream when the server ends, or the log is forgotten faster than it is read.
    async fn next(mut self) -> Option<(ReadEntry, Self)> {
        const AT_ONCE: usize = 100;
        loop {
            if self.reloads.has_changed().unwrap_or(true) || self.ends.has_changed().unwrap_or(true) {
                return None;
            }
            if let Some(entry) = self.waiting.pop() {
                self.after = entry.revision;
                match self.reader.cut(entry) {
                    Some(entry) => return Some((entry, self)),
                    None => continue,
                }
            }
            // First seen, then fetched: what comes in between is seen the next time.
            self.revisions.borrow_and_update();
            match self.app.store.entries(self.after, AT_ONCE).await {
                Ok(entries) if entries.is_empty() => tokio::select! {
                    changed = self.revisions.changed() => changed.ok()?,
                    _ = self.reloads.changed() => return None,
                    _ = self.ends.changed() => return None,
                },
                Ok(mut entries) => {
                    entries.reverse();
                    self.waiting = entries;
                }
                Err(upheld_store::StoreError::Unreachable(_)) => tokio::time::sleep(Duration::from_secs(1)).await,
                Err(_) => return None,
            }
        }
    }
}

fn event(entry: &ReadEntry) -> Event {
    let data = entry.json(|change| match change {
        Change::Put { key, .. } => json!({"put": key}),
        Change::Delete { key } => json!({"delete": key}),
    });
    Event::default().id(entry.revision.to_string()).event("revision").data(data.to_string())
}
