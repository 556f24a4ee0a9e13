//! Anchors (`&name`) and what an alias (`*name`) may repeat.
//!
//! In go anchors as their values are read, out comes the value for an alias, unless it would repeat itself or repeat
//! more than the budget allows: a few lines of aliases to aliases can ask for a billion values.

use upheld_model::{Diagnostic, Fault, SourceId, Span};

/// The anchors of one document, and the budget of the whole text.
#[derive(Debug)]
pub(super) struct Anchors {
    /// In the order of their numbers.
    defined: Vec<Anchor>,
    limit: usize,
    repeated: usize,
}

#[derive(Debug)]
struct Anchor {
    number: usize,
    /// Its value, unless that was dissolved into a map by `<<`.
    node: Option<u32>,
    /// Levels of its value, once it is complete.
    height: Option<usize>,
}

/// A value that an alias repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) node: u32,
    /// Levels: zero for a scalar.
    pub(super) height: usize,
}

/// Why an alias cannot repeat its value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refused {
    Unknown,
    /// It stands inside of the value.
    Endless,
    /// The value was dissolved into a map by `<<`.
    Dissolved,
    /// All aliases together repeat more than this many values.
    Budget(usize),
    /// The copy would be nested too deep.
    TooDeep,
    /// It stands for a key, but the value is a list or a map.
    ComplexKey,
}

impl Anchors {
    pub(super) fn new(limit: usize) -> Self {
        Self { defined: Vec::new(), limit, repeated: 0 }
    }

    /// A new document knows no anchors. The budget is of the whole text.
    pub(super) fn clear(&mut self) {
        self.defined.clear();
    }

    pub(super) fn count(&self) -> usize {
        self.defined.len()
    }

    /// A value has an anchor; without a height it is not complete yet.
    pub(super) fn define(&mut self, number: usize, node: u32, height: Option<usize>) {
        self.defined.push(Anchor { number, node: Some(node), height });
    }

    /// The value of an anchor is complete.
    pub(super) fn complete(&mut self, number: usize, height: usize) {
        if let Ok(at) = self.find(number)
            && let Some(anchor) = self.defined.get_mut(at)
        {
            anchor.height = Some(height);
        }
    }

    /// The value that an alias repeats.
    pub(super) fn resolve(&self, number: usize) -> Result<Target, Refused> {
        let anchor = self.find(number).ok().and_then(|at| self.defined.get(at)).ok_or(Refused::Unknown)?;
        let height = anchor.height.ok_or(Refused::Endless)?;
        let node = anchor.node.ok_or(Refused::Dissolved)?;
        Ok(Target { node, height })
    }

    /// Takes from the budget.
    pub(super) fn charge(&mut self, values: usize) -> Result<(), Refused> {
        self.repeated = self.repeated.saturating_add(values);
        if self.repeated > self.limit { Err(Refused::Budget(self.limit)) } else { Ok(()) }
    }

    /// Values were moved: follows them with all anchors since there were `before`.
    pub(super) fn follow(&mut self, before: usize, moved: impl Fn(u32) -> Option<u32>) {
        for anchor in self.defined.iter_mut().skip(before) {
            anchor.node = anchor.node.and_then(&moved);
        }
    }

    fn find(&self, number: usize) -> Result<usize, usize> {
        self.defined.binary_search_by_key(&number, |anchor| anchor.number)
    }
}

impl Refused {
    /// The words for it; `alias` is as written, for example `*base`.
    pub(super) fn explain(self, source: SourceId, span: Span, alias: &str) -> Diagnostic {
        let name = alias.trim_start_matches('*');
        match self {
            Self::Unknown => Diagnostic::error(Fault::Syntax, format!("there is no anchor `&{name}` before `{alias}`"))
                .at(source, span, "")
                .help(format!("put `&{name}` before the value to repeat, or quote the text: `\"{alias}\"`")),
            Self::Endless => Diagnostic::error(Fault::Syntax, format!("`{alias}` is inside the value that it repeats"))
                .at(source, span, "this would never end"),
            Self::Dissolved => {
                Diagnostic::error(Fault::Syntax, format!("the value of `&{name}` was merged into a map by `<<`"))
                    .at(source, span, "")
                    .help(format!("define `&{name}` outside the `<<`"))
            }
            Self::Budget(limit) => {
                Diagnostic::error(Fault::Limit, format!("aliases repeat more than {limit} values in this text"))
                    .at(source, span, "this one is too much")
                    .help("write the values out, or split the file")
            }
            Self::TooDeep => crate::limits::too_deep(source, span),
            Self::ComplexKey => super::problems::complex_key(source, span, false),
        }
    }

    pub(super) fn fault(self) -> Fault {
        match self {
            Self::Budget(_) | Self::TooDeep => Fault::Limit,
            _ => Fault::Syntax,
        }
    }
}
