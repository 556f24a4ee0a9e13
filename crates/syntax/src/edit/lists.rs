//! Lists with other items: those that stay keep their place, and what is said beside them.

use upheld_model::tree::{Kind, Value};

use super::{Edited, Replacement};

/// A list that is to have other items.
pub(super) struct Listed<'t, 'v> {
    edited: Edited<'t>,
    list: Value<'t>,
    items: Vec<Item<'t>>,
    /// What is to come, after what takes the place of something.
    come: Vec<&'v str>,
}

struct Item<'t> {
    value: Value<'t>,
    becomes: Becomes,
}

enum Becomes {
    /// It stays.
    Itself,
    /// Another takes its place.
    Other(String),
    /// It goes.
    Nothing,
}

impl<'t, 'v> Listed<'t, 'v> {
    pub(super) fn of(edited: Edited<'t>, list: Value<'t>, values: &[&'v str]) -> Self {
        let is_new = |value: &&&str| !list.items().any(|item| item.text() == **value);
        let mut come: Vec<&str> = values.iter().filter(is_new).copied().collect();
        come.reverse();
        let mut items = Vec::new();
        for value in list.items() {
            let becomes = if values.contains(&value.text()) {
                Becomes::Itself
            } else {
                come.pop().map_or(Becomes::Nothing, |other| Becomes::Other(edited.scalar(other)))
            };
            items.push(Item { value, becomes });
        }
        come.reverse();
        Self { edited, list, items, come }
    }

    /// In brackets.
    pub(super) fn flow(self) -> Option<Vec<Replacement>> {
        let mut replacements = self.replaced()?;
        let more: Vec<String> = self.come.iter().map(|value| self.edited.scalar(value)).collect();
        let more = more.join(", ");
        let stays = |item: &Item<'_>| !matches!(item.becomes, Becomes::Nothing);
        let (Some(first), Some(last)) = (self.items.first(), self.items.last()) else {
            let inside = self.list.span().start as usize + 1;
            return Some(if more.is_empty() { Vec::new() } else { vec![Replacement::new(inside, inside, more)] });
        };
        let end = last.value.span().end as usize;
        if !more.is_empty() {
            replacements.push(Replacement::new(end, end, format!(", {more}")));
        }
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        // What goes at the beginning goes with the comma after it, all else with the comma before it.
        let leading = self.items.iter().position(stays);
        match leading.and_then(|place| self.items.get(place)) {
            None => cuts.push((first.value.span().start as usize, end)),
            Some(kept) if leading != Some(0) => {
                cuts.push((first.value.span().start as usize, kept.value.span().start as usize));
            }
            Some(_) => {}
        }
        for pair in self.items.windows(2).skip(leading.unwrap_or(self.items.len())) {
            if let [before, own] = pair
                && !stays(own)
            {
                cuts.push((before.value.span().end as usize, own.value.span().end as usize));
            }
        }
        for (start, end) in cuts {
            // A remark that would go with it is somebody's.
            if self.edited.text.get(start..end)?.contains('#') {
                return None;
            }
            replacements.push(Replacement::new(start, end, ""));
        }
        Some(replacements)
    }

    /// One item a line, after a dash.
    pub(super) fn block(self) -> Option<Vec<Replacement>> {
        let mut replacements = self.replaced()?;
        let edited = self.edited;
        let mut dashes = Vec::new();
        for item in &self.items {
            let at = item.value.span().start as usize;
            let start = edited.line_start(at);
            let before = edited.text.get(start..at)?;
            if before.trim() != "-" {
                return None;
            }
            dashes.push((start, before));
            if matches!(item.becomes, Becomes::Nothing) {
                let end = edited.line_end(at);
                let rest = edited.text.get(end..)?;
                let line_break = rest.len() - rest.trim_start_matches('\r').strip_prefix('\n').unwrap_or(rest).len();
                replacements.push(Replacement::new(start, end + line_break, ""));
            }
        }
        if let (Some(last), Some((_, before))) = (self.items.last(), dashes.last()) {
            let end = edited.line_end(last.value.span().end as usize);
            for value in &self.come {
                let line = format!("{}{before}{}", edited.line_break(), edited.scalar(value));
                replacements.push(Replacement::new(end, end, line));
            }
        }
        Some(replacements)
    }

    /// What takes the place of other items.
    fn replaced(&self) -> Option<Vec<Replacement>> {
        let mut replacements = Vec::new();
        for Item { value, becomes } in &self.items {
            let (start, end) = (value.span().start as usize, value.span().end as usize);
            let text = self.edited.text.get(start..end)?;
            let is_simple = !matches!(value.kind(), Kind::List | Kind::Map) && !text.contains('\n');
            if !is_simple || text.starts_with(['*', '&', '!']) {
                return None;
            }
            if let Becomes::Other(other) = becomes {
                replacements.push(Replacement::new(start, end, other.clone()));
            }
        }
        Some(replacements)
    }
}
