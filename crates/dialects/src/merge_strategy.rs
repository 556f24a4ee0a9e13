//! How layers of configuration are merged, as documents of kinds say it.

use smol_str::SmolStr;
use upheld_engine::merge::{Depth, ItemOrder, Keyed, Nulls, Strategy};
use upheld_model::tree::Value;

use crate::shape::{Shape, list, optional, required};

/// How layers meet, as documents say it.
pub(crate) fn strategy() -> Shape {
    let keyed = Shape::Object(vec![
        required("field", Shape::Text, "the list"),
        required("key", Shape::Text, "the field of an item by which two are the same"),
        required("payload", Shape::Text, "the field of an item that is merged"),
        optional("order", Shape::Choice(&["worst-first", "best-first"]), "whose items come first"),
    ]);
    Shape::Object(vec![
        required("depth", Shape::Choice(&["whole", "shallow", "deep"]), "how deep layers are merged"),
        optional("nulls", Shape::Choice(&["erase", "ignore"]), "what a null means; erase when left out"),
        optional("append", Shape::Text, "lists under keys with this beginning add up"),
        optional("by-key", list(keyed), "lists whose items are merged by a key"),
        optional("apart", Shape::Text, "a list: layers are merged separately for each of its values"),
    ])
}

pub(crate) fn read_strategy(resolve: Option<Value<'_>>) -> Strategy {
    let text = |name: &str| resolve.and_then(|resolve| resolve.get(name)).map(Value::text);
    let keyed = resolve.and_then(|resolve| resolve.get("by-key")).into_iter().flat_map(Value::items).map(|item| {
        let text = |name: &str| SmolStr::new(item.get(name).map_or("", Value::text));
        let order = match text("order").as_str() {
            "best-first" => ItemOrder::BestFirst,
            // Items that meet as wholes do so as in a strategic merge patch.
            _ if item.get("payload").is_none() => ItemOrder::Woven,
            _ => ItemOrder::WorstFirst,
        };
        Keyed { field: text("field"), key: text("key"), payload: text("payload"), order }
    });
    let chained = resolve.and_then(|resolve| resolve.get("chain")).into_iter().flat_map(Value::items);
    Strategy {
        depth: match text("depth") {
            Some("whole") => Depth::Whole,
            Some("shallow") => Depth::Shallow,
            _ => Depth::Deep,
        },
        nulls: if text("nulls") == Some("ignore") { Nulls::Ignore } else { Nulls::Erase },
        append_prefix: text("append").map(SmolStr::new),
        keyed: keyed.collect(),
        chained: chained.map(|path| SmolStr::new(path.text())).collect(),
    }
}
