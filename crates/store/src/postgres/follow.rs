//! Hearing of what other servers append: by notification at once, by asking at the latest after a moment.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::Notify;

use crate::log::{self, End};

/// How often the database is asked without a notification, and how long to wait before connecting again.
const EVERY: Duration = Duration::from_millis(300);

/// After so long without a notification the connection is made anew: one that the network forgot is as silent as one without news.
const QUIET: Duration = Duration::from_mins(1);

/// Wakes the one who asks at each notification. A lost connection is made anew.
pub(super) async fn listen(pool: PgPool, news: Arc<Notify>) {
    loop {
        if let Err(error) = hear(&pool, &news).await {
            tracing::debug!(%error, "no notifications");
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Until the connection is lost, or silent for long.
async fn hear(pool: &PgPool, news: &Notify) -> sqlx::Result<()> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(super::CHANNEL).await?;
    while let Ok(received) = tokio::time::timeout(QUIET, listener.try_recv()).await {
        if received?.is_none() {
            break;
        }
        news.notify_one();
    }
    Ok(())
}

/// Asks where the log ends, again and again.
pub(super) async fn poll(pool: PgPool, news: Arc<Notify>, end: End) {
    // Both are a reason to ask, so it does not matter which it was.
    let wait = move || {
        let news = Arc::clone(&news);
        async move { drop(tokio::time::timeout(EVERY, news.notified()).await) }
    };
    let ask = move || {
        let pool = pool.clone();
        async move { super::bounded(super::ASK, async { log::head(&mut *super::read(&pool).await?).await }).await }
    };
    end.follows(wait, ask).await;
}
