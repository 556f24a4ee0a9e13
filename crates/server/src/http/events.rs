//! `/v1/events`: what happens, as it happens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, Stream, StreamExt};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;
use upheld_answers::compliance::{AtMoment, next_turn, turned};
use upheld_answers::diagnostic_json;
use upheld_loader::load::Broken;
use upheld_model::Timestamp;
use upheld_store::{Revision, StoreError, machine};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::decide::now;
use super::extract::Query;
use super::revisions::{LogPart, ReadEntry, ReadFailure, Reader};
use crate::app::Shared;
use crate::auth::{Caller, Operation};
use crate::problem::Problem;
use crate::telemetry::{InFlight, Observed};
use crate::view::View;

pub(super) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(events))
}

#[derive(Debug, Deserialize)]
struct From {
    /// Where to begin; where the server is, when left out.
    after: Option<Revision>,
    /// Which events are wanted, with commas between them; all, when left out.
    only: Option<String>,
}

/// What events tell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Revision,
    Violations,
    Files,
}

impl Sort {
    const ALL: [Self; 3] = [Self::Revision, Self::Violations, Self::Files];

    /// As events are named.
    fn word(self) -> &'static str {
        match self {
            Self::Revision => "revision",
            Self::Violations => "violations",
            Self::Files => "files",
        }
    }

    /// Those of a list.
    fn read(only: Option<&str>) -> Result<Vec<Self>, Problem> {
        let Some(only) = only else { return Ok(Self::ALL.to_vec()) };
        let sort = |word: &str| {
            let known = Self::ALL.into_iter().find(|sort| sort.word() == word.trim());
            let words = Self::ALL.map(Self::word).join(", ");
            known.ok_or_else(|| {
                Problem::bad_request(format!("`only={only}`: there is no event `{word}`; there are {words}"))
            })
        };
        only.split(',').map(sort).collect()
    }
}

/// Revisions as server-sent events. The id of an event is the number of its revision: whoever comes back with
/// `Last-Event-ID` (or `after`) misses nothing. Before the revisions that brought it about, an event `violations` tells what began and
/// ended to violate policies about related objects, by workspace, as far as the caller may see it; so it does, without a revision, when a waiver
/// begins or ends by the clock.
#[utoipa::path(get, path = "/v1/events",
    params(("after" = Option<u64>, Query, description = "begin after this revision"),
        ("only" = Option<String>, Query, description = "only these events: `revision`, `violations`, `files`, with commas between them")),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 400, body = Problem), (status = 410, body = Problem)))]
async fn events(
    State(app): State<Shared>,
    observed: Observed,
    caller: Caller,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let resumed = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::parse::<Revision>);
    let resumed = resumed.transpose().map_err(|_| Problem::bad_request("`Last-Event-ID` is not a revision number"))?;
    let wanted = Sort::read(from.only.as_deref())?;
    let after = resumed.or(from.after).unwrap_or_else(|| app.live.view().revision());
    // Whoever asks for what is forgotten should know before the stream begins.
    app.store.summaries(after, 1, 0).await?;
    let reader = Reader::of(&observed);
    let (reloads, ends) = (app.auth.follow_reloads(), app.ending.subscribe());
    let seen = if wanted.contains(&Sort::Violations) { seen_at(&app, after).await } else { app.live.view() };
    let (revisions, open) = (app.live.follow(), app.metrics.streaming());
    let (files, broken) = (app.folders.follow(), None);
    let (told, waiting) = (now(), Vec::new());
    let expires = Instant::now() + left(caller.until);
    let follow = Follow {
        _open: open,
        wanted,
        app,
        observed,
        reader,
        caller,
        revisions,
        files,
        broken,
        reloads,
        expires,
        ends,
        after,
        seen,
        told,
        waiting,
    };
    let events = stream::unfold(follow, |follow| async move { follow.next().await });
    let events = events.map(Ok);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// How long a token is valid yet; no stream lasts for years.
fn left(until: Option<jiff::Timestamp>) -> Duration {
    const LONGEST: Duration = Duration::from_hours(365 * 24);
    let left = until.map(|until| Duration::try_from(until.duration_since(machine::now())).unwrap_or_default());
    left.map_or(LONGEST, |left| left.min(LONGEST))
}

/// What somebody saw who was there until a revision. Where nothing can violate, or the past cannot be read any more, it is what there is now.
async fn seen_at(app: &Shared, after: Revision) -> Arc<View> {
    let current = app.live.view();
    if current.loaded.snapshot.complies().next().is_none() {
        return current;
    }
    app.live.at(after, app.store.as_ref()).await.unwrap_or(current)
}

struct Follow {
    _open: InFlight,
    wanted: Vec<Sort>,
    app: Shared,
    observed: Observed,
    reader: Reader,
    caller: Caller,
    revisions: tokio::sync::watch::Receiver<Revision>,
    /// What is wrong with files.
    files: tokio::sync::watch::Receiver<Option<Arc<Broken>>>,
    /// What was told of that last.
    broken: Option<Arc<Broken>>,
    /// Who was let in may not be any more; whoever may comes back.
    reloads: tokio::sync::watch::Receiver<u64>,
    /// Until when the token is valid that it was asked with.
    expires: Instant,
    /// Whether the server ends; it may have begun to before this stream did.
    ends: tokio::sync::watch::Receiver<bool>,
    /// Up to which revision the log was read.
    after: Revision,
    /// The view whose violations were told last.
    seen: Arc<View>,
    /// When that was.
    told: Timestamp,
    /// The next entries, last first.
    waiting: Vec<ReadEntry>,
}

impl Follow {
    /// The next event; the end of the stream when the server ends, or the log is forgotten faster than it is read.
    async fn next(mut self) -> Option<(Event, Self)> {
        const AT_ONCE: usize = 100;
        loop {
            let is_over = !self.app.auth.is_current(&self.caller) || *self.ends.borrow();
            if is_over || self.expires <= Instant::now() {
                return None;
            }
            if let Some(told) = self.broken_or_mended().filter(|_| self.wants(Sort::Files)) {
                return Some((told, self));
            }
            if let Some(entry) = self.waiting.pop().filter(|_| self.wants(Sort::Revision)) {
                return Some((event(&entry), self));
            }
            // First seen, then fetched: what comes in between is seen the next time.
            self.revisions.borrow_and_update();
            let turned = self.violations().await;
            let turn = next_turn(&self.seen.loaded.snapshot, self.told).filter(|_| self.wants(Sort::Violations));
            let part = LogPart { after: self.after, limit: AT_ONCE, named: usize::MAX };
            match self.reader.read(&self.app, part).await {
                Ok(read) if read.last.is_none() && turned.is_none() => tokio::select! {
                    changed = self.revisions.changed() => changed.ok()?,
                    changed = self.files.changed() => changed.ok()?,
                    () = until(turn) => {}
                    _ = self.reloads.changed() => return None,
                    () = tokio::time::sleep_until(self.expires) => return None,
                    _ = self.ends.wait_for(|ends| *ends) => return None,
                },
                Ok(read) => {
                    self.after = read.last.unwrap_or(self.after);
                    self.waiting = read.entries.into_iter().rev().collect();
                }
                Err(ReadFailure::Store(StoreError::Unreachable(_))) => tokio::time::sleep(Duration::from_secs(1)).await,
                Err(_) => return None,
            }
            // It comes before the revisions that brought it about: whoever is cut off in between hears it again.
            if let Some(turned) = turned {
                return Some((turned, self));
            }
        }
    }

    fn wants(&self, sort: Sort) -> bool {
        self.wanted.contains(&sort)
    }

    /// That files cannot be read as they are, or can again, if that was not told yet.
    fn broken_or_mended(&mut self) -> Option<Event> {
        let now = self.files.borrow_and_update().clone();
        let was = std::mem::replace(&mut self.broken, now.clone());
        let data = match (was, now) {
            (None, None) => return None,
            (Some(was), Some(now)) if Arc::ptr_eq(&was, &now) => return None,
            (_, Some(broken)) => {
                let all = broken.diagnostics.as_slice().iter();
                // As everywhere: what is wrong is told to those who may read whatever it is about.
                let view = self.app.live.view();
                let tells = self.observed.access().is_some_and(|access| view.is_whole_to(access, Operation::Read));
                let told: Vec<_> = all.filter(|_| tells).map(|one| diagnostic_json(&broken.files, one)).collect();
                json!({"state": "broken", "errors": broken.diagnostics.errors(), "diagnostics": told})
            }
            (Some(_), None) => json!({"state": "mended"}),
        };
        Some(Event::default().event(Sort::Files.word()).data(data.to_string()))
    }

    /// What began and ended to violate since it was told last.
    async fn violations(&mut self) -> Option<Event> {
        if !self.wants(Sort::Violations) {
            return None;
        }
        let (view, moment) = (self.app.live.view(), now());
        let before = std::mem::replace(&mut self.seen, Arc::clone(&view));
        let told = std::mem::replace(&mut self.told, moment);
        let turns = next_turn(&view.loaded.snapshot, told).is_some_and(|turn| turn <= moment);
        if Arc::ptr_eq(&before, &view) && !turns {
            return None;
        }
        let (after, revision, roles) = (before.revision(), view.revision(), Arc::clone(&self.caller.roles));
        // What somebody may not read is neither named nor counted.
        let access = self.observed.access();
        let before = self.app.parts.of(&before, access, Operation::Read).await.ok()?;
        let view = self.app.parts.of(&view, access, Operation::Read).await.ok()?;
        let compare = move || {
            let was = AtMoment { snapshot: &before.loaded.snapshot, moment: told };
            turned(was, AtMoment { snapshot: &view.loaded.snapshot, moment }, &roles)
        };
        let workspaces = machine::aside(compare).await.ok()?;
        if workspaces.is_empty() {
            return None;
        }
        let data = json!({"after": after, "revision": revision, "time": moment.to_string(), "workspaces": workspaces});
        Some(Event::default().event(Sort::Violations.word()).data(data.to_string()))
    }
}

/// Returns at the moment at which something is judged otherwise by the clock alone, if there is one. Clocks are put right: it looks again
/// after a while.
async fn until(turn: Option<Timestamp>) {
    const LOOK: Duration = Duration::from_mins(1);
    let Some(turn) = turn else { return std::future::pending().await };
    loop {
        let left = u64::try_from(turn.0.saturating_sub(now().0)).unwrap_or_default();
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_nanos(left).min(LOOK)).await;
    }
}

fn event(entry: &ReadEntry) -> Event {
    Event::default().id(entry.revision().to_string()).event(Sort::Revision.word()).data(entry.json().to_string())
}
