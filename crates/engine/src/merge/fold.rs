//! The fold. It walks all layers at once, from the best to the worst, and opens only what more than one layer sets.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::strategy::{Depth, Keyed, Nulls, Strategy};

/// A configuration that takes part.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Who says it: the asker's own number.
    pub by: usize,
    /// What it says.
    pub config: Arc<Config>,
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq)]
pub enum Merged {
    /// A value of one layer, unopened.
    Whole {
        /// The value.
        value: Arc<Config>,
        /// Who set it.
        by: usize,
        /// What worse layers said here.
        overridden: Vec<Overridden>,
    },
    /// A map to which several layers contribute.
    Map {
        /// Its fields.
        fields: Vec<(SmolStr, Merged)>,
        /// The best layer that has it; counts where it ends up empty.
        by: usize,
        /// What worse layers said instead of a map.
        overridden: Vec<Overridden>,
    },
    /// A list to which several layers contribute.
    List {
        /// Its items.
        items: Vec<Merged>,
        /// The best layer that has it; counts where it ends up empty.
        by: usize,
    },
    /// Removed by a null.
    Gone {
        /// Who removed it.
        by: usize,
        /// What worse layers said here.
        overridden: Vec<Overridden>,
    },
}

/// A value that does not count, because a better layer says something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Overridden {
    /// Who said it.
    pub by: usize,
    /// What.
    pub value: Arc<Config>,
}

/// One leaf of a result.
#[derive(Clone, Debug)]
pub struct Leaf<'m> {
    /// Its path, for example `http.requestTimeout` or `rules[0].default`.
    pub path: String,
    /// Its value; `None` where it was removed.
    pub value: Option<&'m Arc<Config>>,
    /// Who set it.
    pub by: usize,
    /// What worse layers said here.
    pub overridden: &'m [Overridden],
}

/// Merges layers, the best first. `None` if there are none, or if a null removed everything.
pub fn fold(strategy: &Strategy, layers: &[Layer]) -> Option<Merged> {
    let said: Vec<Said> = layers.iter().map(|layer| Said { by: layer.by, value: layer.config.clone() }).collect();
    Folder { strategy }.values(&said, 0)
}

/// What one layer says at a place.
#[derive(Clone, Debug)]
struct Said {
    by: usize,
    value: Arc<Config>,
}

struct Folder<'s> {
    strategy: &'s Strategy,
}

impl Folder<'_> {
    /// All that is said at one place, the best first.
    fn values(&self, said: &[Said], depth: usize) -> Option<Merged> {
        let said: Vec<&Said> = match self.strategy.nulls {
            Nulls::Erase => said.iter().collect(),
            Nulls::Ignore => said.iter().filter(|said| said.value.content != Content::Null).collect(),
        };
        let (best, rest) = said.split_first()?;
        match &best.value.content {
            Content::Null => Some(Merged::Gone { by: best.by, overridden: overridden(rest) }),
            Content::Map(_) if self.opens(depth) => {
                // Only maps meet. What lies below something else was replaced by it and cannot shine through.
                let maps = rest.iter().take_while(|said| matches!(said.value.content, Content::Map(_))).count();
                let (meeting, hidden) = rest.split_at_checked(maps).unwrap_or((rest, &[]));
                Some(self.map(best, meeting, hidden, depth))
            }
            _ => Some(Merged::Whole { value: best.value.clone(), by: best.by, overridden: overridden(rest) }),
        }
    }

    fn opens(&self, depth: usize) -> bool {
        match self.strategy.depth {
            Depth::Whole => false,
            Depth::Shallow => depth == 0,
            Depth::Deep => true,
        }
    }

    fn map(&self, best: &Said, meeting: &[&Said], hidden: &[&Said], depth: usize) -> Merged {
        let mut fields: Vec<(SmolStr, Vec<Said>)> = Vec::new();
        for layer in std::iter::once(&best).chain(meeting) {
            for (key, value) in layer.value.entries() {
                let said = Said { by: layer.by, value: value.clone() };
                match fields.iter_mut().find(|(known, _)| known == key) {
                    Some((_, all)) => all.push(said),
                    None => fields.push((key.clone(), vec![said])),
                }
            }
        }
        let fields = fields
            .into_iter()
            .filter_map(|(key, said)| {
                let merged = self.field(&key, &said, depth + 1)?;
                Some((key, merged))
            })
            .collect();
        Merged::Map { fields, by: best.by, overridden: overridden(hidden) }
    }

    fn field(&self, key: &str, said: &[Said], depth: usize) -> Option<Merged> {
        let all_lists = said.iter().all(|said| matches!(said.value.content, Content::List(_) | Content::Null));
        let any_list = said.iter().any(|said| matches!(said.value.content, Content::List(_)));
        if !(all_lists && any_list && self.opens(depth)) {
            return self.values(said, depth);
        }
        if self.strategy.appends(key) {
            return Some(appended(said));
        }
        match self.strategy.keyed(key) {
            Some(keyed) => Some(self.by_key(keyed, said, depth)),
            None => self.values(said, depth),
        }
    }

    /// Items with the same key become one, at the place of the last; the worst layer's items come first.
    fn by_key(&self, keyed: &Keyed, said: &[Said], depth: usize) -> Merged {
        let mut groups: Vec<(Option<Arc<Config>>, Vec<Said>)> = Vec::new();
        for layer in said.iter().rev() {
            for item in layer.value.items() {
                let key = item.get(&keyed.key).cloned();
                let said = Said { by: layer.by, value: item.clone() };
                let known = groups.iter().position(|(known, _)| key.is_some() && *known == key);
                let mut group = known.map_or((key, Vec::new()), |place| groups.remove(place));
                group.1.push(said);
                groups.push(group);
            }
        }
        let items = groups
            .into_iter()
            .filter_map(|(key, mut said)| {
                said.reverse();
                self.keyed_item(keyed, key, &said, depth)
            })
            .collect();
        Merged::List { items, by: said.first().map_or(0, |said| said.by) }
    }

    fn keyed_item(&self, keyed: &Keyed, key: Option<Arc<Config>>, said: &[Said], depth: usize) -> Option<Merged> {
        let best = said.first()?;
        if said.len() == 1 {
            return Some(Merged::Whole { value: best.value.clone(), by: best.by, overridden: Vec::new() });
        }
        let payloads: Vec<Said> = (said.iter())
            .filter_map(|said| Some(Said { by: said.by, value: said.value.get(&keyed.payload)?.clone() }))
            .collect();
        let mut fields = Vec::new();
        if let Some(value) = key {
            fields.push((keyed.key.clone(), Merged::Whole { value, by: best.by, overridden: Vec::new() }));
        }
        // Other fields of an item come from the best layer.
        for (name, value) in
            best.value.entries().iter().filter(|(name, _)| *name != keyed.key && *name != keyed.payload)
        {
            fields.push((name.clone(), Merged::Whole { value: value.clone(), by: best.by, overridden: Vec::new() }));
        }
        fields.extend(self.values(&payloads, depth + 1).map(|payload| (keyed.payload.clone(), payload)));
        Some(Merged::Map { fields, by: best.by, overridden: Vec::new() })
    }
}

/// Items of all layers, the worst layer's first.
fn appended(said: &[Said]) -> Merged {
    let items = said.iter().rev().flat_map(|layer| {
        let by = layer.by;
        layer.value.items().iter().map(move |item| Merged::Whole { value: item.clone(), by, overridden: Vec::new() })
    });
    Merged::List { items: items.collect(), by: said.first().map_or(0, |said| said.by) }
}

fn overridden(said: &[&Said]) -> Vec<Overridden> {
    said.iter().map(|said| Overridden { by: said.by, value: said.value.clone() }).collect()
}

impl Merged {
    /// The result as a configuration, without origins. `None` where everything was removed.
    pub fn config(&self) -> Option<Arc<Config>> {
        match self {
            Self::Whole { value, .. } => Some(value.clone()),
            Self::Gone { .. } => None,
            Self::Map { fields, .. } => {
                let entries = fields.iter().filter_map(|(key, value)| Some((key.clone(), value.config()?)));
                Some(Config::made(Content::Map(entries.collect())))
            }
            Self::List { items, .. } => {
                Some(Config::made(Content::List(items.iter().filter_map(Self::config).collect())))
            }
        }
    }

    /// Every leaf with its path and origin.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut leaves = Vec::new();
        self.collect(String::new(), &mut leaves);
        leaves
    }

    fn collect<'m>(&'m self, path: String, leaves: &mut Vec<Leaf<'m>>) {
        match self {
            Self::Whole { value, by, overridden } => collect_whole(value, *by, overridden, path, leaves),
            Self::Gone { by, overridden } => leaves.push(Leaf { path, value: None, by: *by, overridden }),
            Self::Map { fields, .. } => {
                for (key, value) in fields {
                    value.collect(joined(&path, key), leaves);
                }
            }
            Self::List { items, .. } => {
                for (index, item) in items.iter().enumerate() {
                    item.collect(format!("{path}[{index}]"), leaves);
                }
            }
        }
    }

    /// The layers without which the result would be another one.
    pub fn contributors(&self) -> Vec<usize> {
        let mut by = Vec::new();
        self.add_contributors(&mut by);
        by.sort_unstable();
        by.dedup();
        by
    }

    fn add_contributors(&self, all: &mut Vec<usize>) {
        match self {
            Self::Whole { by, .. } => all.push(*by),
            // Who removes or replaces matters only if there was something to remove or replace.
            Self::Gone { by, overridden } => all.extend((!overridden.is_empty()).then_some(*by)),
            Self::Map { fields, by, overridden } => {
                if fields.iter().all(|(_, field)| matches!(field, Self::Gone { .. })) {
                    all.push(*by);
                }
                // The first that is no map hides the maps below it.
                all.extend(overridden.first().map(|hiding| hiding.by));
                for (_, field) in fields {
                    field.add_contributors(all);
                }
            }
            Self::List { items, by } => {
                if items.is_empty() {
                    all.push(*by);
                }
                for item in items {
                    item.add_contributors(all);
                }
            }
        }
    }
}

/// The leaves of an unopened value; only the value itself can have overridden something.
fn collect_whole<'m>(
    value: &'m Arc<Config>,
    by: usize,
    overridden: &'m [Overridden],
    path: String,
    leaves: &mut Vec<Leaf<'m>>,
) {
    match &value.content {
        Content::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                collect_whole(value, by, overridden, joined(&path, key), leaves);
            }
        }
        _ => leaves.push(Leaf { path, value: Some(value), by, overridden }),
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
