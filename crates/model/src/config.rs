//! Configurations: trees that are merged, each value with the place where it was written.
//!
//! A [`crate::Tree`] is what a text says; a `Config` is what a policy means by it, after defaults were filled in. Subtrees
//! are shared, never copied.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use smol_str::SmolStr;

use crate::source::{NodeRef, SourceId};
use crate::tree::{Kind, Value};

/// One value of a configuration. Equality ignores where it was written.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it says.
    pub content: Content,
    /// Where it was written; `None` for defaults and what was made from other values.
    pub at: Option<NodeRef>,
}

/// What a value says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing; under a merge that knows it, a wish to remove.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written.
    Number(SmolStr),
    /// Text.
    Text(SmolStr),
    /// Items in order.
    List(Vec<Arc<Config>>),
    /// Keys with values, in the order of the document.
    Map(Vec<(SmolStr, Arc<Config>)>),
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl Config {
    /// A value that nobody wrote.
    pub fn made(content: Content) -> Arc<Self> {
        Arc::new(Self { content, at: None })
    }

    /// What a document says.
    pub fn of(source: SourceId, value: Value<'_>) -> Arc<Self> {
        let content = match value.kind() {
            Kind::Null => Content::Null,
            Kind::Bool => Content::Bool(value.as_bool().unwrap_or_default()),
            Kind::Integer | Kind::Float => Content::Number(SmolStr::new(value.text())),
            Kind::Text => Content::Text(SmolStr::new(value.text())),
            Kind::List => Content::List(value.items().map(|item| Self::of(source, item)).collect()),
            Kind::Map => Content::Map(
                value.entries().map(|(key, value)| (SmolStr::new(key.text()), Self::of(source, value))).collect(),
            ),
        };
        Arc::new(Self { content, at: Some(NodeRef { source, node: value.number() }) })
    }

    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&Arc<Self>> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of a text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; none for other values.
    pub fn items(&self) -> &[Arc<Self>] {
        match &self.content {
            Content::List(items) => items,
            _ => &[],
        }
    }

    /// The entries of a map; none for other values.
    pub fn entries(&self) -> &[(SmolStr, Arc<Self>)] {
        match &self.content {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.content {
            Content::Null => serializer.serialize_unit(),
            Content::Bool(value) => serializer.serialize_bool(*value),
            Content::Number(text) => match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(number), _) => serializer.serialize_i64(number),
                (Err(_), Ok(number)) if number.is_finite() => serializer.serialize_f64(number),
                _ => serializer.serialize_str(text),
            },
            Content::Text(text) => serializer.serialize_str(text),
            Content::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item.as_ref())?;
                }
                list.end()
            }
            Content::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key.as_str(), value.as_ref())?;
                }
                map.end()
            }
        }
    }
}
