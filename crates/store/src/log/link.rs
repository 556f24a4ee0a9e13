//! What the statements need of a connection.

use futures::future::BoxFuture;

use crate::Result;

/// A connection, within a transaction.
pub(crate) trait Link: Send + Sized {
    /// What it answers with.
    type Row: Columns + Send;

    /// The head, locked against other writers until the transaction ends.
    const LOCKED_HEAD: &'static str;

    /// Asks.
    fn fetch<'a>(
        &'a mut self,
        statement: &'static str,
        values: &'a [Value<'a>],
    ) -> BoxFuture<'a, Result<Vec<Self::Row>>>;

    /// Tells.
    fn execute<'a>(&'a mut self, statement: &'static str, values: &'a [Value<'a>]) -> BoxFuture<'a, Result<()>>;
}

/// What is put in the place of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Text(Option<&'a str>),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

/// A row of an answer.
pub(crate) trait Columns {
    fn integer(&self, column: usize) -> Result<i64>;
    fn text(&self, column: usize) -> Result<&str>;
    fn optional(&self, column: usize) -> Result<Option<&str>>;
}

/// Makes a link of the connection of a driver: the same words for each, which its types keep apart.
macro_rules! implement_link {
    ($connection:ty, $row:ty, $locked_head:expr, $failure:path) => {
        impl crate::log::Link for $connection {
            type Row = $row;

            const LOCKED_HEAD: &'static str = $locked_head;

            fn fetch<'a>(
                &'a mut self,
                statement: &'static str,
                values: &'a [crate::log::Value<'a>],
            ) -> futures::future::BoxFuture<'a, crate::Result<Vec<$row>>> {
                Box::pin(
                    async move { bound(statement, values).fetch_all(self).await.map_err(|error| $failure(&error)) },
                )
            }

            fn execute<'a>(
                &'a mut self,
                statement: &'static str,
                values: &'a [crate::log::Value<'a>],
            ) -> futures::future::BoxFuture<'a, crate::Result<()>> {
                Box::pin(async move {
                    let done = bound(statement, values).execute(self).await;
                    done.map(drop).map_err(|error| $failure(&error))
                })
            }
        }

        fn bound<'a>(
            statement: &'static str,
            values: &'a [crate::log::Value<'a>],
        ) -> sqlx::query::Query<
            'a,
            <$connection as sqlx::Connection>::Database,
            <<$connection as sqlx::Connection>::Database as sqlx::Database>::Arguments,
        > {
            values.iter().fold(sqlx::query(statement), |query, value| match *value {
                crate::log::Value::Integer(number) => query.bind(number),
                crate::log::Value::Text(text) => query.bind(text),
            })
        }

        impl crate::log::Columns for $row {
            fn integer(&self, column: usize) -> crate::Result<i64> {
                sqlx::Row::try_get(self, column).map_err(|error| $failure(&error))
            }

            fn text(&self, column: usize) -> crate::Result<&str> {
                sqlx::Row::try_get(self, column).map_err(|error| $failure(&error))
            }

            fn optional(&self, column: usize) -> crate::Result<Option<&str>> {
                sqlx::Row::try_get(self, column).map_err(|error| $failure(&error))
            }
        }
    };
}

pub(crate) use implement_link;
