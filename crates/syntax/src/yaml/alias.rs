//! Aliases: `*name` repeats the value of the anchor `&name`.

use std::borrow::Cow;

use upheld_model::tree::Written;
use upheld_model::{Kind, Span};

use super::Reader;
use super::anchors::Refused;
use crate::limits;

impl Reader<'_> {
    /// Repeats the value of an anchor where its alias stands.
    pub(super) fn alias(&mut self, anchor: usize, span: Span) {
        self.end = span.end;
        if let Err(refused) = self.repeat(anchor, span) {
            self.refuse(refused, span);
        }
    }

    /// There is no such anchor.
    pub(super) fn unknown_alias(&mut self, span: Span) {
        self.end = span.end;
        self.refuse(Refused::Unknown, span);
    }

    fn repeat(&mut self, anchor: usize, span: Span) -> Result<(), Refused> {
        let target = self.anchors.resolve(anchor)?;
        if self.open.len() + target.height > limits::DEPTH {
            return Err(Refused::TooDeep);
        }
        if !self.expects_key() {
            self.anchors.charge(self.tree.size(target.node))?;
            self.tree.copy(target.node, span);
            self.advance(target.height);
            return Ok(());
        }
        if target.height > 0 {
            return Err(Refused::ComplexKey);
        }
        // A key is text even if the value is not, so its text is copied, and a long one costs more than a short one.
        let text = self.tree.text(target.node, self.text);
        self.anchors.charge(1 + text.len() / 8)?;
        let text = text.to_owned();
        let node = self.tree.scalar(Kind::Text, span, Written::Unescaped(&text));
        self.key(Cow::Owned(text), node, span, false);
        Ok(())
    }

    fn refuse(&mut self, refused: Refused, span: Span) {
        let alias = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        self.found.add(refused.fault(), |source| refused.explain(source, span, alias));
        self.spoiled = true;
        // Something must stand here, for keys and values to stay in step.
        self.tree.scalar(Kind::Null, span, Written::Verbatim(Span { start: span.end, end: span.end }));
        self.advance(0);
    }
}
