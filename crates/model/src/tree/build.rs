//! From a stream of events to a tree.

use std::sync::OnceLock;

use super::{Kind, Node, Span, TextAt, Texts, Tree};

/// How the text of a scalar reaches the tree.
#[derive(Clone, Copy, Debug)]
pub enum Written<'a> {
    /// Exactly these bytes of the source.
    Verbatim(Span),
    /// Other than what stands in the source: escapes, folded lines.
    Unescaped(&'a str),
}

/// Builds a [`Tree`] from a stream of events.
///
/// ```
/// use upheld_model::tree::{Kind, Span, TreeBuilder, Written};
///
/// let mut tree = TreeBuilder::default();
/// tree.open(Kind::Map, Span { start: 0, end: 0 });
/// tree.scalar(Kind::Text, Span { start: 0, end: 4 }, Written::Verbatim(Span { start: 0, end: 4 }));
/// tree.scalar(Kind::Text, Span { start: 6, end: 9 }, Written::Verbatim(Span { start: 6, end: 9 }));
/// tree.close(9);
/// let tree = tree.finish("name: web".to_owned());
/// let document = tree.documents().next().unwrap();
/// assert_eq!(document.get("name").and_then(|name| name.as_text()), Some("web"));
/// ```
#[derive(Debug, Default)]
pub struct TreeBuilder {
    texts: Texts,
    nodes: Vec<Node>,
    roots: Vec<u32>,
    open: Vec<u32>,
}

impl TreeBuilder {
    /// Nothing yet, with room for the values that a text of so many bytes may have. Most texts are short, and growing would take
    /// longer than all else.
    pub fn with_room_for(bytes: usize) -> Self {
        const BYTES_PER_NODE: usize = 8;
        const MOST: usize = 1 << 12;
        Self { nodes: Vec::with_capacity((bytes / BYTES_PER_NODE + 1).min(MOST)), ..Self::default() }
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The node number that the next value gets.
    pub fn next_node(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// Adds a scalar and returns its number.
    pub fn scalar(&mut self, kind: Kind, span: Span, written: Written<'_>) -> u32 {
        let quotes = Span { start: span.start + 1, end: span.end.saturating_sub(1) };
        let (text, extra) = match written {
            Written::Verbatim(range) if range == span => (TextAt::Span, 0),
            Written::Verbatim(range) if range == quotes => (TextAt::Quotes, 0),
            Written::Verbatim(range) => (TextAt::Source, self.texts.keep(range)),
            Written::Unescaped(text) => {
                let offset = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
                let start = offset(self.texts.unescaped.len());
                self.texts.unescaped.push_str(text);
                let range = Span { start, end: offset(self.texts.unescaped.len()) };
                (TextAt::Unescaped, self.texts.keep(range))
            }
        };
        self.push(Node { span, extra, kind, text })
    }

    /// Opens a list or a map. Its children follow until [`TreeBuilder::close`]; a map's are key, value, key, value.
    pub fn open(&mut self, kind: Kind, span: Span) -> u32 {
        let number = self.push(Node { span, extra: 1, kind, text: TextAt::Span });
        self.open.push(number);
        number
    }

    /// Closes the innermost list or map; it ends before this byte. Returns its number.
    pub fn close(&mut self, end: u32) -> Option<u32> {
        let number = self.open.pop()?;
        let next = self.next_node();
        if let Some(node) = self.nodes.get_mut(number as usize) {
            node.extra = next - number;
            node.span.end = node.span.end.max(end);
        }
        Some(number)
    }

    /// Repeats a finished subtree, as an alias does; the copy stands where the alias stands.
    pub fn copy(&mut self, number: u32, span: Span) -> Option<u32> {
        let size = self.nodes.get(number as usize)?.size();
        let range = number as usize..(number + size) as usize;
        if range.end > self.nodes.len() {
            return None;
        }
        let copy = self.begin();
        self.nodes.extend_from_within(range);
        if let Some(root) = self.nodes.get_mut(copy as usize) {
            // The text of a scalar stays where it was, although the value now stands at the alias.
            if matches!(root.text, TextAt::Span | TextAt::Quotes) && !matches!(root.kind, Kind::List | Kind::Map) {
                root.extra = self.texts.keep(self.texts.range(root));
                root.text = TextAt::Source;
            }
            root.span = span;
        }
        Some(copy)
    }

    /// How many nodes a finished subtree has.
    pub fn size(&self, number: u32) -> usize {
        self.nodes.get(number as usize).map_or(0, |node| node.size() as usize)
    }

    /// Children of the innermost open value, or of a finished one, by node number.
    pub fn children(&self, number: u32) -> Vec<u32> {
        let open = self.open.contains(&number);
        let end = if open { self.next_node() } else { number + u32::try_from(self.size(number)).unwrap_or(0) };
        let mut next = number + 1;
        let mut children = Vec::new();
        while next < end {
            children.push(next);
            next += u32::try_from(self.size(next)).unwrap_or(1).max(1);
        }
        children
    }

    /// Kind of a node.
    pub fn kind(&self, number: u32) -> Option<Kind> {
        self.nodes.get(number as usize).map(|node| node.kind)
    }

    /// Place of a node.
    pub fn span(&self, number: u32) -> Option<Span> {
        self.nodes.get(number as usize).map(|node| node.span)
    }

    /// Text of a scalar, given the source.
    pub fn text<'a>(&'a self, number: u32, source: &'a str) -> &'a str {
        self.nodes.get(number as usize).map_or("", |node| self.texts.of(node, source))
    }

    /// Puts the children of the innermost open map anew, each a finished subtree of this builder; what is not
    /// named goes. This is how merge keys (`<<`) take effect.
    pub fn replace_children(&mut self, children: &[u32]) {
        let Some(&open) = self.open.last() else { return };
        let mut kept: Vec<Node> = Vec::new();
        for &child in children {
            let range = child as usize..child as usize + self.size(child);
            kept.extend(self.nodes.get(range).unwrap_or_default());
        }
        self.nodes.truncate(open as usize + 1);
        self.nodes.extend(kept);
    }

    /// Gives up what is open, down to a number of nodes that was noted before: after a syntax error the documents
    /// before it stay.
    pub fn rewind(&mut self, nodes: u32) {
        self.nodes.truncate(nodes as usize);
        self.open.clear();
        // Roots ascend, so only the last ones can go: a text may have many documents and many errors.
        while self.roots.last().is_some_and(|&root| root >= nodes) {
            self.roots.pop();
        }
    }

    /// The finished tree. What is still open is closed at the end of the text.
    pub fn finish(mut self, text: String) -> Tree {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        while self.close(end).is_some() {}
        let (positions, fingerprint) = (OnceLock::new(), OnceLock::new());
        Tree { text, texts: self.texts, nodes: self.nodes, roots: self.roots, positions, fingerprint }
    }

    fn begin(&mut self) -> u32 {
        let number = self.next_node();
        if self.open.is_empty() {
            self.roots.push(number);
        }
        number
    }

    fn push(&mut self, node: Node) -> u32 {
        let number = self.begin();
        self.nodes.push(node);
        number
    }
}
