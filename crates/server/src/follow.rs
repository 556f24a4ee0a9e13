//! What goes on beside requests: the log and the files are followed.

use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc;
use upheld_store::machine;

use crate::app::App;

/// Takes in what other servers write, until the server ends.
pub(crate) async fn log(app: Arc<App>) {
    let mut head = app.store.follow();
    // What others wrote between reading the log and this moment is no change of what is followed from here on.
    head.mark_changed();
    while head.changed().await.is_ok() {
        let revision = *head.borrow_and_update();
        if revision > app.live.view().revision()
            && let Err(refusal) = app.writer.refresh().await
        {
            tracing::warn!(?refusal, "the log cannot be followed; the last snapshot stays in use");
            tokio::time::sleep(Duration::from_millis(200)).await;
            head.mark_changed();
        }
    }
}

/// How often it is looked whether there is something to forget.
const TIDY: Duration = Duration::from_mins(10);

/// Forgets what is older than operators want, until the server ends.
pub(crate) async fn retention(app: Arc<App>) {
    let retention = app.config.retention;
    if retention == upheld_store::Retention::default() {
        return;
    }
    loop {
        match retention.apply(app.store.as_ref(), machine::now()).await {
            Ok(Some(revision)) => tracing::info!(%revision, "the log was compacted"),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the log could not be compacted"),
        }
        tokio::time::sleep(TIDY).await;
    }
}

/// Several changes of one save are one reload.
const SETTLED: Duration = Duration::from_millis(100);
/// Folders are looked through this often even if nobody says that they changed: network drives do not.
const LOOK: Duration = Duration::from_secs(10);

/// Reads files again when they change, until the server ends.
pub(crate) async fn files(app: Arc<App>) {
    let (told, mut changes) = mpsc::channel::<()>(1);
    // One waiting word is enough: everything is read again anyway.
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let accessed = event.is_ok_and(|event| event.kind.is_access());
        if !accessed {
            told.try_send(()).ok();
        }
    });
    let mut watcher = match watcher {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "this system does not report changes of files; they are checked every {} s", LOOK.as_secs());
            None
        }
    };
    for path in app.folders.paths() {
        // A file that is replaced is another file: its folder is watched.
        let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(path) };
        let folder = if folder.as_os_str().is_empty() { std::path::Path::new(".") } else { folder };
        if let Some(Err(error)) = watcher.as_mut().map(|watcher| watcher.watch(folder, RecursiveMode::Recursive)) {
            tracing::warn!(%error, path = %path.display(), "cannot be watched");
        }
    }
    loop {
        tokio::select! {
            told = changes.recv() => {
                if told.is_none() {
                    return;
                }
                tokio::time::sleep(SETTLED).await;
                while changes.try_recv().is_ok() {}
            }
            () = tokio::time::sleep(LOOK) => {}
        }
        app.reload_documents().await;
    }
}
