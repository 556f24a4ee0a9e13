//! YAML 1.2: in goes a text of many documents, out come a tree and what is wrong with the text.
//!
//! ```text
//! text ──(granit-parser)──▶ events ──(Reader)──▶ TreeBuilder ──▶ Tree
//!              │                        ├─ scalar   null, boolean, number or text: the core schema
//!              │                        ├─ tags     what `!!str` and the like say instead
//!              │                        ├─ alias    what an alias repeats, by its anchor and within a budget
//!              │                        └─ merge    what `<<` brings into a map
//!              └─ an error ──▶ syntax   plain words, a place, what to do
//! ```
//!
//! A document with an error that makes its values unreliable is left out of the tree, so nobody reports follow-up
//! errors. The documents before and after it stay, so all problems of a text are reported at once.
//!
//! Keys are text whatever they look like, as in JSON: `1: a` and `"1": a` have the same key.

mod alias;
mod anchors;
mod merge;
mod problems;
mod scalar;
mod syntax;
mod tags;

use std::borrow::Cow;

use granit_parser::{Event, Marker, Parser, ScalarStyle, TryLoadError, TrySpannedEventReceiver};
use upheld_model::tree::Written;
use upheld_model::{Diagnostic, Fault, Kind, SourceId, Span, Tree, TreeBuilder};

use self::anchors::Anchors;
use self::tags::Tagged;
use crate::keys::{self, Keys};
use crate::limits;
use crate::problems::Problems;

/// Reads all documents of a YAML text.
///
/// ```
/// use upheld_syntax::yaml;
/// use upheld_model::SourceId;
///
/// let (tree, problems) = yaml::read(SourceId::new(0), "kind: Mesh\nname: default\n".to_owned());
/// assert!(problems.is_empty());
/// let document = tree.documents().next().unwrap();
/// assert_eq!(document.get("name").and_then(|name| name.as_text()), Some("default"));
/// ```
pub fn read(source: SourceId, text: String) -> (Tree, Vec<Diagnostic>) {
    let mut reader = Reader::new(source, &text);
    reader.read();
    let Reader { tree, found, .. } = reader;
    (tree.finish(text), found.finish())
}

/// Builds the tree from the events of the parser.
struct Reader<'t> {
    text: &'t str,
    tree: TreeBuilder,
    keys: Keys<'t>,
    anchors: Anchors,
    found: Problems,
    /// The lists and maps that have begun and not ended, the innermost last.
    open: Vec<Open>,
    /// Where the last value ended. A block list or map ends there too, not where the next one begins.
    end: u32,
    /// The first node of the document.
    document: u32,
    /// The document has an error that makes its values unreliable.
    spoiled: bool,
}

/// A list or map that has begun and not ended.
struct Open {
    node: u32,
    next: Next,
    /// Levels below it so far.
    height: usize,
    /// Its anchor, or zero.
    anchor: usize,
    /// How many anchors the document had before it.
    anchors_before: usize,
    /// Its key `<<`, if it has one.
    merge: Option<u32>,
}

/// What a list or map expects next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Item,
    Key,
    Value,
}

/// Why reading does not go on here; what was wrong is reported.
enum Stop {
    /// The rest of the document is not worth reading.
    Document,
    /// The rest of the text is not worth reading.
    Text,
}

impl<'t> Reader<'t> {
    fn new(source: SourceId, text: &'t str) -> Self {
        Self {
            text,
            tree: TreeBuilder::default(),
            keys: Keys::default(),
            anchors: Anchors::new(limits::repeated_values(text.len())),
            found: Problems::new(source),
            open: Vec::new(),
            end: 0,
            document: 0,
            spoiled: false,
        }
    }

    /// Reads document after document, across those that cannot be read.
    fn read(&mut self) {
        let options = granit_parser::options! {
            emit_unresolved_aliases: true,
            emit_comments: false,
            flow_nesting_limit: limits::DEPTH,
            block_nesting_limit: limits::DEPTH,
        };
        let mut parser = Parser::new_from_str_with_options(self.text, options);
        let mut last_error = None;
        loop {
            match parser.try_load(self, true) {
                Ok(()) => return,
                Err(TryLoadError::Receiver(Stop::Document)) => self.drop_document(),
                Err(TryLoadError::Receiver(Stop::Text)) => return self.drop_document(),
                Err(TryLoadError::Scan(error)) => {
                    self.drop_document();
                    // The parser only moves forward. Should it ever not, this ends what would be an endless loop.
                    let place = error.marker().byte_offset();
                    if last_error == Some(place) {
                        return;
                    }
                    last_error = Some(place);
                    let (text, end) = (self.text, self.end);
                    self.found.add(syntax::fault(&error), |source| syntax::explain(source, text, &error, end));
                }
            }
            if !matches!(parser.proceed_next_document(), Ok(true)) {
                return;
            }
        }
    }

    fn begin_document(&mut self) {
        self.document = self.tree.next_node();
        self.spoiled = false;
        self.anchors.clear();
    }

    fn end_document(&mut self) {
        if self.spoiled {
            self.drop_document();
        }
        // What goes wrong before the next document begins, as in its directives, is not about this one.
        self.document = self.tree.next_node();
    }

    fn drop_document(&mut self) {
        self.tree.rewind(self.document);
        self.open.clear();
        self.keys.clear();
    }

    /// A scalar is a key, a value, or a whole document.
    fn scalar(&mut self, text: Cow<'t, str>, style: ScalarStyle, anchor: usize, tag: Option<Tagged>, span: Span) {
        let plain = style == ScalarStyle::Plain;
        let absent = plain && span.start == span.end;
        if absent && self.open.is_empty() && tag.is_none() && anchor == 0 {
            return; // An empty document, as between two `---`.
        }
        // Where nothing is written, the parser says `~`.
        let text = if absent { Cow::Borrowed("") } else { text };
        let is_verbatim = matches!(text, Cow::Borrowed(_));
        let is_key = self.expects_key();
        let kind = match tag {
            Some(tag) => self.tagged_kind(tag, &text, plain),
            None if plain && !is_key => self.plain_kind(&text, span),
            None => Kind::Text,
        };
        let kind = if is_key { Kind::Text } else { kind };
        let node = self.tree.scalar(kind, span, written(&text, is_verbatim, style, span));
        if anchor != 0 {
            self.anchors.define(anchor, node, Some(0));
        }
        self.end = span.end;
        if is_key {
            let merges = plain && tag.is_none() && text == merge::KEY;
            self.key(text, node, span, merges);
        } else {
            self.advance(0);
        }
    }

    fn plain_kind(&mut self, text: &str, span: Span) -> Kind {
        let kind = scalar::kind(text);
        if kind == Kind::Text && scalar::is_ambiguous_boolean(text) {
            self.found.add(Fault::AmbiguousBoolean, |source| problems::ambiguous_boolean(source, span, text));
        }
        kind
    }

    fn open(&mut self, kind: Kind, anchor: usize, tag: Option<Tagged>, span: Span) -> Result<(), Stop> {
        if self.open.len() >= limits::DEPTH {
            self.found.add(Fault::Limit, |source| limits::too_deep(source, span));
            return Err(Stop::Document);
        }
        if self.expects_key() {
            self.spoiled = true;
            // `{{ name }}` is a map whose key is a map.
            let bracket_before = (span.start as usize).saturating_sub(1);
            let is_template = self.text.get(bracket_before..).is_some_and(|rest| rest.starts_with("{{"));
            self.found.add(Fault::Syntax, |source| problems::complex_key(source, span, is_template));
        }
        if let Some(tag) = tag {
            self.check_tag(tag, kind);
        }
        let anchors_before = self.anchors.count();
        let node = self.tree.open(kind, span);
        if anchor != 0 {
            self.anchors.define(anchor, node, None);
        }
        let next = if kind == Kind::Map { Next::Key } else { Next::Item };
        if kind == Kind::Map {
            self.keys.open();
        }
        self.open.push(Open { node, next, height: 0, anchor, anchors_before, merge: None });
        Ok(())
    }

    fn close(&mut self, kind: Kind, span: Span) {
        let Some(open) = self.open.pop() else { return };
        if kind == Kind::Map {
            self.keys.close();
        }
        if let Some(key) = open.merge {
            self.merge(&open, key);
        }
        // A closing bracket has a length; the end of a block list or map has none.
        if span.start < span.end {
            self.end = span.end;
        }
        self.tree.close(self.end);
        let height = open.height + 1;
        if open.anchor != 0 {
            self.anchors.complete(open.anchor, height);
        }
        self.advance(height);
    }

    /// A key of the innermost map was added.
    fn key(&mut self, text: Cow<'t, str>, node: u32, span: Span, merges: bool) {
        if merges && let Some(map) = self.open.last_mut() {
            map.merge.get_or_insert(node);
        }
        if let Some(first) = self.keys.insert(text, node) {
            let key = self.tree.text(node, self.text);
            let first = self.tree.span(first).unwrap_or_default();
            self.found.add(Fault::DuplicateKey, |source| keys::duplicate(source, key, first, span));
        }
        self.advance(0);
    }

    /// A key or value of so many levels is complete: what comes next?
    fn advance(&mut self, height: usize) {
        if let Some(open) = self.open.last_mut() {
            open.height = open.height.max(height);
            open.next = match open.next {
                Next::Item => Next::Item,
                Next::Key => Next::Value,
                Next::Value => Next::Key,
            };
        }
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.next == Next::Key)
    }
}

impl<'t> TrySpannedEventReceiver<'t> for Reader<'t> {
    type Error = Stop;

    fn on_event(&mut self, event: Event<'t>, at: granit_parser::Span) -> Result<(), Stop> {
        let span = narrow(&at);
        if self.tree.node_count() > limits::VALUES {
            self.found.add(Fault::Limit, |source| limits::too_many_values(source, span));
            return Err(Stop::Text);
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, Tagged::of(tag, &at), span),
            Event::MappingStart(_, anchor, tag) => self.open(Kind::Map, anchor, Tagged::of(tag, &at), span)?,
            Event::SequenceStart(_, anchor, tag) => self.open(Kind::List, anchor, Tagged::of(tag, &at), span)?,
            Event::MappingEnd => self.close(Kind::Map, span),
            Event::SequenceEnd => self.close(Kind::List, span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(_) => self.unknown_alias(span),
            Event::DocumentStart(..) => self.begin_document(),
            Event::DocumentEnd => self.end_document(),
            _ => {}
        }
        Ok(())
    }
}

/// Where the text of a scalar is: in the source if it stands there verbatim, without escapes and folded lines.
fn written(text: &str, is_verbatim: bool, style: ScalarStyle, span: Span) -> Written<'_> {
    match style {
        ScalarStyle::Plain if is_verbatim => Written::Verbatim(span),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if is_verbatim => {
            Written::Verbatim(Span { start: span.start.saturating_add(1), end: span.end.saturating_sub(1) })
        }
        _ => Written::Unescaped(text),
    }
}

/// The bytes of an event. Texts that are read are shorter than positions can count.
fn narrow(span: &granit_parser::Span) -> Span {
    let byte = |marker: &Marker| marker.byte_offset().and_then(|byte| u32::try_from(byte).ok()).unwrap_or(u32::MAX);
    Span { start: byte(&span.start), end: byte(&span.end) }
}
