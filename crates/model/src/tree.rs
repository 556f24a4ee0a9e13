//! Documents as one flat list of nodes, each with its place in the text.
//!
//! Nodes stand in document order and know how many nodes they span, so a subtree is a slice: copying what an alias
//! refers to is a copy of that slice. Scalars point into the text; only those that differ from what is written
//! (escapes, folding) are stored apart. This is why reading costs little more than parsing.

mod build;

use std::fmt;
use std::sync::OnceLock;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

pub use self::build::{TreeBuilder, Written};
use crate::positions::Positions;

/// A range of bytes in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing: `null`, `~` or an empty value.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer,
    /// Any other number.
    Float,
    /// Text.
    Text,
    /// Items in order.
    List,
    /// Keys with values, in the order of the document.
    Map,
}

impl Kind {
    /// How messages call it, with its article.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool => "a boolean",
            Self::Integer | Self::Float => "a number",
            Self::Text => "text",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}

/// Where the text of a scalar is. Nearly all are what stands at their place, so a node needs no range of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAt {
    /// At the span.
    Span,
    /// At the span, within its quotes.
    Quotes,
    /// Elsewhere in the source; the range is kept apart.
    Source,
    /// Among the unescaped texts; the range is kept apart.
    Unescaped,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    span: Span,
    /// Of a list or map the nodes of its subtree, itself included; of a scalar the number of the range of its text.
    extra: u32,
    kind: Kind,
    text: TextAt,
}

impl Node {
    fn size(&self) -> u32 {
        if matches!(self.kind, Kind::List | Kind::Map) { self.extra } else { 1 }
    }
}

/// The texts of scalars.
#[derive(Debug, Default)]
struct Texts {
    unescaped: String,
    ranges: Vec<Span>,
}

impl Texts {
    fn range(&self, node: &Node) -> Span {
        match node.text {
            TextAt::Span => node.span,
            TextAt::Quotes => Span { start: node.span.start + 1, end: node.span.end.saturating_sub(1) },
            TextAt::Source | TextAt::Unescaped => self.ranges.get(node.extra as usize).copied().unwrap_or_default(),
        }
    }

    fn of<'a>(&'a self, node: &Node, source: &'a str) -> &'a str {
        let Span { start, end } = self.range(node);
        let whole = if node.text == TextAt::Unescaped { &self.unescaped } else { source };
        whole.get(start as usize..end as usize).unwrap_or("")
    }

    fn keep(&mut self, range: Span) -> u32 {
        self.ranges.push(range);
        u32::try_from(self.ranges.len() - 1).unwrap_or(u32::MAX)
    }
}

/// All documents of one text.
pub struct Tree {
    text: String,
    texts: Texts,
    nodes: Vec<Node>,
    roots: Vec<u32>,
    /// Made when a position is first asked for: most texts are never asked.
    positions: OnceLock<Positions>,
    /// Of the document, if there is but one and somebody asked: such a text is often shared by many snapshots.
    fingerprint: OnceLock<Fingerprint>,
}

/// A cryptographic hash of what a value says.
pub type Fingerprint = [u8; 32];

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree")
            .field("bytes", &self.text.len())
            .field("nodes", &self.nodes.len())
            .finish_non_exhaustive()
    }
}

impl Tree {
    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The root values of the documents in order.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = Value<'_>> {
        self.roots.iter().map(|&at| Value { tree: self, at })
    }

    /// The value at a node number.
    pub fn value(&self, at: u32) -> Option<Value<'_>> {
        self.nodes.get(at as usize).map(|_| Value { tree: self, at })
    }

    /// How many nodes all documents have.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Line and column (in characters) of a byte, both from one.
    pub fn position(&self, byte: u32) -> (usize, usize) {
        self.positions.get_or_init(|| Positions::of(&self.text)).find(&self.text, byte)
    }
}

/// One value of a [`Tree`]: a number with a lifetime, cheap to copy.
#[derive(Clone, Copy)]
pub struct Value<'t> {
    tree: &'t Tree,
    at: u32,
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::List => f.debug_list().entries(self.items()).finish(),
            Kind::Map => f.debug_map().entries(self.entries()).finish(),
            _ => write!(f, "{:?}", self.text()),
        }
    }
}

impl<'t> Value<'t> {
    fn node(self) -> Option<&'t Node> {
        self.tree.nodes.get(self.at as usize)
    }

    /// The node number, to refer to this value later.
    pub fn number(self) -> u32 {
        self.at
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        self.node().map_or(Kind::Null, |node| node.kind)
    }

    /// Where it stands.
    pub fn span(self) -> Span {
        self.node().map_or(Span::default(), |node| node.span)
    }

    /// The text of a scalar of any kind, unescaped; empty for lists and maps.
    pub fn text(self) -> &'t str {
        match self.node() {
            Some(Node { kind: Kind::List | Kind::Map, .. }) | None => "",
            Some(node) => self.tree.texts.of(node, &self.tree.text),
        }
    }

    /// The text, if this is text and not a number or the like.
    pub fn as_text(self) -> Option<&'t str> {
        (self.kind() == Kind::Text).then(|| self.text())
    }

    /// The truth value, if this is one.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.text().eq_ignore_ascii_case("true"))
    }

    /// The whole number, if this is one and it fits.
    pub fn as_integer(self) -> Option<i64> {
        if self.kind() != Kind::Integer {
            return None;
        }
        let text = self.text();
        if let Some(digits) = text.strip_prefix("0x") {
            return i64::from_str_radix(digits, 16).ok();
        }
        if let Some(digits) = text.strip_prefix("0o") {
            return i64::from_str_radix(digits, 8).ok();
        }
        text.parse().ok()
    }

    /// The number, if this is one.
    pub fn as_number(self) -> Option<f64> {
        match self.kind() {
            #[expect(clippy::cast_precision_loss, reason = "a float was asked for")]
            Kind::Integer => self.as_integer().map(|number| number as f64).or_else(|| self.text().parse().ok()),
            Kind::Float => match self.text().trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
                ".nan" => Some(f64::NAN),
                ".inf" if self.text().starts_with('-') => Some(f64::NEG_INFINITY),
                ".inf" => Some(f64::INFINITY),
                _ => self.text().parse().ok(),
            },
            _ => None,
        }
    }

    /// The items of a list; nothing for other kinds.
    pub fn items(self) -> Items<'t> {
        let size = match self.node() {
            Some(node) if node.kind == Kind::List => node.size(),
            _ => 1,
        };
        Items { tree: self.tree, next: self.at + 1, end: self.at + size }
    }

    /// Keys and values of a map in document order; nothing for other kinds.
    pub fn entries(self) -> Entries<'t> {
        let size = match self.node() {
            Some(node) if node.kind == Kind::Map => node.size(),
            _ => 1,
        };
        Entries { nodes: Items { tree: self.tree, next: self.at + 1, end: self.at + size } }
    }

    /// The value of a key of a map.
    pub fn get(self, key: &str) -> Option<Value<'t>> {
        self.entries().find(|(name, _)| name.is(key)).map(|(_, value)| value)
    }

    /// Whether this is a scalar with this text. Most keys are not the one that is looked for, and their length tells.
    fn is(self, text: &str) -> bool {
        let same_length = self.node().is_some_and(|node| {
            let Span { start, end } = self.tree.texts.range(node);
            end.saturating_sub(start) as usize == text.len()
        });
        same_length && self.text() == text
    }

    /// The fingerprint that `make` makes, always in the same way: that of the only document of a text is kept. Where there are many
    /// they are made again, because keeping them all takes more room than the text.
    pub fn fingerprint(self, make: impl FnOnce(Self) -> Fingerprint) -> Fingerprint {
        if self.tree.roots == [self.at] { *self.tree.fingerprint.get_or_init(|| make(self)) } else { make(self) }
    }

    /// Follows keys from map to map.
    pub fn at_path(self, path: &[&str]) -> Option<Value<'t>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }
}

/// Iterator over the children of a list.
#[derive(Clone, Debug)]
pub struct Items<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Items<'t> {
    type Item = Value<'t>;

    fn next(&mut self) -> Option<Value<'t>> {
        if self.next >= self.end {
            return None;
        }
        let node = self.tree.nodes.get(self.next as usize)?;
        let value = Value { tree: self.tree, at: self.next };
        self.next += node.size().max(1);
        Some(value)
    }
}

/// Iterator over keys and values of a map.
#[derive(Clone, Debug)]
pub struct Entries<'t> {
    nodes: Items<'t>,
}

impl<'t> Iterator for Entries<'t> {
    type Item = (Value<'t>, Value<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.nodes.next()?, self.nodes.next()?))
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool => serializer.serialize_bool(self.as_bool().unwrap_or_default()),
            Kind::Integer => match (self.as_integer(), self.text().parse::<u64>()) {
                (Some(number), _) => serializer.serialize_i64(number),
                (None, Ok(number)) => serializer.serialize_u64(number),
                (None, Err(_)) => serializer.serialize_str(self.text()),
            },
            Kind::Float => match self.as_number() {
                Some(number) if number.is_finite() => serializer.serialize_f64(number),
                _ => serializer.serialize_str(self.text()),
            },
            Kind::Text => serializer.serialize_str(self.text()),
            Kind::List => {
                let mut list = serializer.serialize_seq(None)?;
                for item in self.items() {
                    list.serialize_element(&item)?;
                }
                list.end()
            }
            Kind::Map => {
                let mut map = serializer.serialize_map(None)?;
                for (key, value) in self.entries() {
                    map.serialize_entry(key.text(), &value)?;
                }
                map.end()
            }
        }
    }
}
