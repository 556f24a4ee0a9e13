//! Layers that speak about several things at once, one group for each thing.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::fold::Layer;

/// Copies each layer into one group for each value of a list field; there the field has this value alone. Layers without a
/// value share a group. Groups come in the order in which the worst layer names them first.
pub fn by_value(field: &str, layers: &[Layer]) -> Vec<Vec<Layer>> {
    let mut groups: Vec<(Option<Arc<Config>>, Vec<Layer>)> = Vec::new();
    for layer in layers.iter().rev() {
        let values = layer.config.get(field).map_or(&[][..], |list| list.items());
        let pieces: Vec<(Option<Arc<Config>>, Layer)> = if values.is_empty() {
            vec![(None, layer.clone())]
        } else {
            values.iter().map(|value| (Some(value.clone()), with_only(layer, field, value))).collect()
        };
        for (value, piece) in pieces {
            match groups.iter_mut().find(|(known, _)| *known == value) {
                Some((_, group)) => group.push(piece),
                None => groups.push((value, vec![piece])),
            }
        }
    }
    let best_first = |mut group: Vec<Layer>| {
        group.reverse();
        group
    };
    groups.into_iter().map(|(_, group)| best_first(group)).collect()
}

fn with_only(layer: &Layer, field: &str, value: &Arc<Config>) -> Layer {
    let only = Config::made(Content::List(vec![value.clone()]));
    let entries = layer.config.entries().iter().map(|(key, old)| {
        let new = if key == field { only.clone() } else { old.clone() };
        (SmolStr::clone(key), new)
    });
    let config = Arc::new(Config { content: Content::Map(entries.collect()), at: layer.config.at });
    Layer { by: layer.by, config }
}
