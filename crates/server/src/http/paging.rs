//! Lists, page by page.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use utoipa::IntoParams;

use super::stamp::Stamp;
use crate::problem::Problem;
use crate::view::View;

/// Which part of a list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// Only what comes after this id: the `next` of the page before.
    pub(crate) after: Option<String>,
    /// At most so many; 100 when left out, 1000 at the most.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<usize>,
}

/// How many items a page has when nobody says.
const USUAL: usize = 100;
/// The most that a page has.
const MOST: usize = 1000;

impl Page {
    /// How many items are wanted.
    pub(crate) fn size(&self) -> Result<usize, Problem> {
        match self.limit.unwrap_or(USUAL) {
            limit @ 1..=MOST => Ok(limit),
            limit => Err(Problem::bad_request(format!("`limit={limit}`: a page has 1 to {MOST} items"))),
        }
    }

    /// The page of a list that is sorted by the ids of its items. What comes before and after the page is not looked at; an item that
    /// is not shown is not there.
    pub(crate) fn of<'i, T>(
        &self,
        view: &View,
        sorted: &'i [T],
        id: impl Fn(&T) -> &str,
        item: impl Fn(&'i T) -> Option<Json>,
    ) -> Result<Json, Problem> {
        let size = self.size()?;
        let after = self.after.as_deref().unwrap_or_default();
        let begin = sorted.partition_point(|one| !after.is_empty() && id(one) <= after);
        let rest = sorted.get(begin..).unwrap_or_default().iter();
        let mut rest = rest.filter_map(|one| Some((id(one), item(one)?)));
        let page: Vec<(&str, Json)> = rest.by_ref().take(size).collect();
        let next = page.last().map(|(id, _)| *id).filter(|_| rest.next().is_some());
        let mut answer = serde_json::to_value(Stamp::of(view)).unwrap_or_default();
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("next".to_owned(), json!(next));
            fields.insert("items".to_owned(), page.into_iter().map(|(_, item)| item).collect());
        }
        Ok(answer)
    }
}
