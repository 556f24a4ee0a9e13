//! The fold. It walks all layers at once, from the best to the worst, and opens only what more than one layer sets.

use std::borrow::Cow;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::strategy::{Depth, ItemOrder, Keyed, Nulls, Path, Strategy};

mod weave;

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
        /// The map where it ends up empty, as that layer wrote it: it has no fields whose places could be told.
        empty: Option<Arc<Config>>,
        /// What worse layers said instead of a map.
        overridden: Vec<Overridden>,
    },
    /// A list to which several layers contribute.
    List {
        /// Its items.
        items: Vec<Merged>,
        /// The best layer that has it; counts where it ends up empty.
        by: usize,
        /// What worse layers said instead of a list, and what was below that.
        overridden: Vec<Overridden>,
    },
    /// Removed by a null.
    Gone {
        /// Who removed it.
        by: usize,
        /// What worse layers said here.
        overridden: Vec<Overridden>,
        /// Who hides the lists from the null: between lists it would say nothing.
        hiding: Option<usize>,
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
    let said: Vec<Said<'_>> = layers.iter().map(|layer| Said { by: layer.by, value: &layer.config }).collect();
    Folder { strategy }.values(&said, 0, None)
}

/// What one layer says at a place.
#[derive(Clone, Copy, Debug)]
struct Said<'c> {
    by: usize,
    value: &'c Arc<Config>,
}

struct Folder<'s> {
    strategy: &'s Strategy,
}

impl Folder<'_> {
    /// All that is said at one place, the best first.
    fn values(&self, said: &[Said<'_>], depth: usize, within: Option<&Path<'_>>) -> Option<Merged> {
        let said = self.speaking(said);
        let (best, rest) = said.split_first()?;
        match &best.value.content {
            Content::Null => Some(Merged::Gone { by: best.by, overridden: overridden(rest), hiding: None }),
            Content::Map(_) if self.opens(depth) => {
                // Only maps meet. What lies below something else was replaced by it and cannot shine through.
                let maps = said.iter().take_while(|said| matches!(said.value.content, Content::Map(_))).count();
                let (meeting, hidden) = said.split_at_checked(maps).unwrap_or((&said, &[]));
                let fields = self.fields(meeting, depth, within);
                Some(Merged::map(fields, *best, overridden(hidden)))
            }
            _ => Some(Merged::Whole { value: best.value.clone(), by: best.by, overridden: overridden(rest) }),
        }
    }

    /// Those that say something.
    fn speaking<'a, 'c>(&self, said: &'a [Said<'c>]) -> Cow<'a, [Said<'c>]> {
        let silent = |said: &Said<'_>| said.value.content == Content::Null;
        if self.strategy.nulls == Nulls::Ignore && said.iter().any(silent) {
            Cow::Owned(said.iter().filter(|said| !silent(said)).copied().collect())
        } else {
            Cow::Borrowed(said)
        }
    }

    fn opens(&self, depth: usize) -> bool {
        match self.strategy.depth {
            Depth::Whole => false,
            Depth::Shallow => depth == 0,
            Depth::Deep => true,
        }
    }

    /// The fields of maps that meet, in the order in which they are named first.
    fn fields(&self, maps: &[Said<'_>], depth: usize, within: Option<&Path<'_>>) -> Vec<(SmolStr, Merged)> {
        if let [only] = maps {
            let field = |(key, value): &(SmolStr, Arc<Config>)| {
                Some((key.clone(), self.field(Path { key, within }, &[Said { by: only.by, value }], depth + 1)?))
            };
            return only.value.entries().iter().filter_map(field).collect();
        }
        let mut keys: Vec<&SmolStr> = Vec::new();
        let mut said: Vec<(usize, Said<'_>)> = Vec::new();
        for map in maps {
            for (key, value) in map.value.entries() {
                let place = keys.iter().position(|known| *known == key).unwrap_or(keys.len());
                if place == keys.len() {
                    keys.push(key);
                }
                said.push((place, Said { by: map.by, value }));
            }
        }
        // Stable: what is said of one field stays in the order of the layers.
        said.sort_by_key(|(place, _)| *place);
        let mut here = Vec::new();
        let fields = keys.iter().zip(said.chunk_by(|a, b| a.0 == b.0)).filter_map(|(key, all)| {
            here.clear();
            here.extend(all.iter().map(|(_, said)| *said));
            Some(((*key).clone(), self.field(Path { key: key.as_str(), within }, &here, depth + 1)?))
        });
        fields.collect()
    }

    fn field(&self, path: Path<'_>, said: &[Said<'_>], depth: usize) -> Option<Merged> {
        let (appends, keyed) = (self.strategy.appends(path.key), self.strategy.keyed(path.key));
        let chains = !self.strategy.chained.is_empty() && self.strategy.chains(path);
        if !self.opens(depth) || (!appends && !chains && keyed.is_none()) {
            return self.values(said, depth, Some(&path));
        }
        // Only lists meet, and a null between them says nothing. What lies below something else was replaced by it.
        let speaking: Vec<Said<'_>> = said.iter().filter(|said| said.value.content != Content::Null).copied().collect();
        let lists = speaking.iter().take_while(|said| matches!(said.value.content, Content::List(_))).count();
        let (meeting, hidden) = speaking.split_at_checked(lists).unwrap_or((&speaking, &[]));
        let Some(best) = meeting.first() else {
            let hides = hidden.iter().any(|said| matches!(said.value.content, Content::List(_)));
            return Some(match self.values(said, depth, Some(&path))? {
                Merged::Gone { by, overridden, .. } => {
                    Merged::Gone { by, overridden, hiding: hidden.first().filter(|_| hides).map(|said| said.by) }
                }
                other => other,
            });
        };
        let items = match keyed.filter(|_| !appends) {
            _ if chains => chained(meeting.iter()),
            Some(keyed) => self.by_key(keyed, meeting, depth),
            None => chained(meeting.iter().rev()),
        };
        Some(Merged::List { items, by: best.by, overridden: overridden(hidden) })
    }

    /// Items with the same key become one, at the place of the best.
    fn by_key(&self, keyed: &Keyed, said: &[Said<'_>], depth: usize) -> Vec<Merged> {
        if keyed.order == ItemOrder::Woven {
            let items = weave::items(&keyed.key, said).into_iter();
            return items.filter_map(|item| self.keyed_item(keyed, &item, depth)).collect();
        }
        let mut groups: Vec<(Option<&Arc<Config>>, Vec<Said<'_>>)> = Vec::new();
        for layer in said.iter().rev() {
            let items = layer.value.items();
            let worst_first: Box<dyn Iterator<Item = &Arc<Config>>> = match keyed.order {
                ItemOrder::WorstFirst | ItemOrder::Woven => Box::new(items.iter()),
                ItemOrder::BestFirst => Box::new(items.iter().rev()),
            };
            for item in worst_first {
                let key = item.get(&keyed.key);
                let said = Said { by: layer.by, value: item };
                // Items without a key are the same as each other: they are about everything.
                let is_map = |item: &Arc<Config>| matches!(item.content, Content::Map(_));
                let same = |(known, group): &(Option<&Arc<Config>>, Vec<Said<'_>>)| match (known, key) {
                    (Some(known), Some(key)) => means_the_same(known, key),
                    (None, None) => is_map(item) && group.first().is_some_and(|said| is_map(said.value)),
                    _ => false,
                };
                let known = groups.iter().position(same);
                let mut group = known.map_or((key, Vec::new()), |place| groups.remove(place));
                group.1.push(said);
                groups.push(group);
            }
        }
        let mut items: Vec<Merged> = groups
            .into_iter()
            .filter_map(|(_, mut said)| {
                said.reverse();
                self.keyed_item(keyed, &said, depth)
            })
            .collect();
        if keyed.order == ItemOrder::BestFirst {
            items.reverse();
        }
        items
    }

    /// An item as the best layer has it, with the payloads of all.
    fn keyed_item(&self, keyed: &Keyed, said: &[Said<'_>], depth: usize) -> Option<Merged> {
        if keyed.payload.is_empty() {
            return self.values(said, depth + 1, None);
        }
        let best = said.first()?;
        let whole = |value: &Arc<Config>| Merged::Whole { value: value.clone(), by: best.by, overridden: Vec::new() };
        let Content::Map(own) = &best.value.content else { return Some(whole(best.value)) };
        let payloads: Vec<Said<'_>> = (said.iter())
            .filter_map(|said| Some(Said { by: said.by, value: said.value.get(&keyed.payload)? }))
            .collect();
        let mut payload = self.values(&payloads, depth + 1, None);
        let mut fields = Vec::with_capacity(own.len() + 1);
        for (name, value) in own {
            let field = if *name == keyed.payload { payload.take() } else { Some(whole(value)) };
            fields.extend(field.map(|field| (name.clone(), field)));
        }
        fields.extend(payload.map(|payload| (keyed.payload.clone(), payload)));
        Some(Merged::map(fields, *best, Vec::new()))
    }
}

/// Whether two keys are the same: in maps the order of fields means nothing.
fn means_the_same(a: &Config, b: &Config) -> bool {
    match (&a.content, &b.content) {
        (Content::Map(mine), Content::Map(theirs)) => {
            let same =
                |(key, value): &(SmolStr, Arc<Config>)| b.get(key).is_some_and(|other| means_the_same(value, other));
            mine.len() == theirs.len() && mine.iter().all(same)
        }
        (Content::List(mine), Content::List(theirs)) => {
            mine.len() == theirs.len() && mine.iter().zip(theirs).all(|(mine, theirs)| means_the_same(mine, theirs))
        }
        (mine, theirs) => mine == theirs,
    }
}

/// Items of all layers, one layer after the other.
fn chained<'s, 'c: 's>(said: impl Iterator<Item = &'s Said<'c>>) -> Vec<Merged> {
    let items = said.flat_map(|layer| {
        let by = layer.by;
        layer.value.items().iter().map(move |item| Merged::Whole { value: item.clone(), by, overridden: Vec::new() })
    });
    items.collect()
}

fn overridden(said: &[Said<'_>]) -> Vec<Overridden> {
    said.iter().map(|said| Overridden { by: said.by, value: said.value.clone() }).collect()
}

impl Merged {
    fn map(fields: Vec<(SmolStr, Self)>, best: Said<'_>, overridden: Vec<Overridden>) -> Self {
        let nothing = || Arc::new(Config { content: Content::Map(Vec::new()), at: best.value.at });
        Self::Map { by: best.by, empty: fields.is_empty().then(nothing), fields, overridden }
    }

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
            Self::Gone { by, overridden, .. } => leaves.push(Leaf { path, value: None, by: *by, overridden }),
            // That it is there is all that it says; the whole result being empty says nothing.
            Self::Map { by, empty: Some(empty), overridden, .. } if !path.is_empty() => {
                leaves.push(Leaf { path, value: Some(empty), by: *by, overridden });
            }
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
            Self::Gone { by, overridden, hiding } => {
                all.extend((!overridden.is_empty()).then_some(*by).into_iter().chain(*hiding));
            }
            Self::Map { fields, by, overridden, .. } => {
                if fields.iter().all(|(_, field)| matches!(field, Self::Gone { .. })) {
                    all.push(*by);
                }
                // The first that is not a map hides the maps below it.
                all.extend(overridden.first().map(|hiding| hiding.by));
                for (_, field) in fields {
                    field.add_contributors(all);
                }
            }
            Self::List { items, by, overridden } => {
                if items.is_empty() {
                    all.push(*by);
                }
                all.extend(overridden.first().map(|hiding| hiding.by));
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
