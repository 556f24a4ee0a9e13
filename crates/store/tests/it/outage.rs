//! PostgreSQL goes away and comes back.

use upheld_store::testing::Database;
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
