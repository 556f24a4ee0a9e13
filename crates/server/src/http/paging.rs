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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use super::*;
    use crate::folders::Contents;
    use crate::view::{RowSort, WhichRows};

    fn view() -> View {
        View::build(Arc::default(), Contents::of(Vec::new()), &Arc::default()).unwrap()
    }

    /// S20: however long a list is, and wherever a page of it begins, the page is looked at and little else.
    #[test]
    fn a_page_costs_what_is_on_it() {
        let (view, names) = (view(), (0..100_000).map(|number| format!("{number:06}")).collect::<Vec<_>>());
        for after in ["", "000000", "049999", "099800"] {
            let (looked, made) = (Cell::new(0), Cell::new(0));
            let page = Page { after: Some(after.to_owned()), limit: Some(100) };
            let answer = page.of(
                &view,
                &names,
                |name| {
                    looked.set(looked.get() + 1);
                    name
                },
                |name| {
                    made.set(made.get() + 1);
                    Some(json!(name))
                },
            );
            let answer = answer.unwrap();
            assert_eq!(answer["items"].as_array().map(Vec::len), Some(100), "{after}");
            assert!(
                made.get() <= 101 && looked.get() <= 140,
                "{after}: {} made, {} looked at",
                made.get(),
                looked.get()
            );
        }
    }

    /// Nor is the list made again for each of its pages.
    #[test]
    fn a_list_is_made_once_for_all_its_pages() {
        let (view, made) = (view(), Cell::new(0));
        let which = WhichRows { what: RowSort::Policies, kind: None };
        for _ in 0..3 {
            let make = || {
                made.set(made.get() + 1);
                Ok::<_, Problem>(Vec::new())
            };
            assert!(view.rows(&which, make).is_ok());
        }
        assert_eq!(made.get(), 1);
    }
}
