//! PostgreSQL goes away and comes back.

use std::time::Duration;

use futures::future::{join, join_all};
use sqlx::{Connection, Executor, PgConnection};
use upheld_store::testing::{Database, Relay};
use upheld_store::{Postgres, Revision, Store, StoreError};

use crate::support::{batch, fill, put, run, shown, until};

#[test]
fn everything_goes_on_after_an_outage() {
    let Some(mut database) = Database::start() else { return };
    run(async {
        let url = database.fresh().await.unwrap();
        let (one, other) = (Postgres::connect(&url).await.unwrap(), Postgres::connect(&url).await.unwrap());
        fill(&one, vec![vec![put("a", "1")]]).await;

        database.stop().unwrap();
        for _ in 0..2 {
            let answers = [
                one.head().await.map(drop),
                one.state(None).await.map(drop),
                one.entries(Revision(0), 1).await.map(drop),
                one.append(batch(1, vec![put("b", "1")])).await.map(drop),
                one.compact(Revision(1)).await,
                Postgres::connect(&url).await.map(drop),
            ];
            for answer in answers {
                let error = answer.unwrap_err();
                assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
                assert!(!format!("{error} {error:?}").contains(Database::PASSWORD));
            }
        }

        database.start_again().unwrap();
        until("the store answers", async || one.head().await.is_ok()).await;
        fill(&one, vec![vec![put("b", "2")]]).await;
        assert_eq!(shown(&one.state(None).await.unwrap()), "a=1@1 b=2@2");
        let end = other.follow();
        until("the other one hears of it", async || *end.borrow() == Revision(2)).await;
    });
}

/// S11: a network that drops every packet. Calls that were given up hold no connection for good, and the end of the log is heard again as
/// soon as new connections work.
#[test]
fn s11_a_silent_network_is_no_contact_and_leaves_nothing_behind() {
    let Some(database) = Database::start() else { return };
    run(async {
        let url = database.fresh().await.unwrap();
        let (relay, through) = Relay::before(&url).unwrap();
        let (near, far) = (Postgres::connect(&url).await.unwrap(), Postgres::connect(&through).await.unwrap());
        fill(&near, vec![vec![put("a", "1")]]).await;
        let contact = far.contact().unwrap();
        let told = || *contact.borrow();
        until("the far one hears of it", async || told().head.revision == Revision(1)).await;

        // More calls than there are connections, each of which waits for its answer when the network is cut, and is given up then.
        let mut other = PgConnection::connect(&url).await.unwrap();
        let mut locking = other.begin().await.unwrap();
        locking.execute("LOCK TABLE head IN ACCESS EXCLUSIVE MODE").await.unwrap();
        let call =
            async || tokio::time::timeout(Duration::from_secs(1), far.head()).await.is_ok_and(|head| head.is_ok());
        let calls = join_all((0..12).map(|_| call()));
        let cut = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            relay.cut();
        };
        assert!(!join(calls, cut).await.0.contains(&true));
        locking.rollback().await.unwrap();
        fill(&near, vec![vec![put("b", "2")]]).await;
        until("the last contact grows old", async || told().at.elapsed() > Duration::from_secs(1)).await;
        assert_eq!(told().head.revision, Revision(1));

        relay.heal();
        until("the far one hears again", async || told().head.revision == Revision(2)).await;
        until("calls work", async || far.head().await.is_ok()).await;
        assert_eq!(shown(&far.state(None).await.unwrap()), "a=1@1 b=2@2");
    });
}
