//! Items of lists that meet by key, in the order of a strategic merge patch.

use std::sync::Arc;

use upheld_model::config::Config;

use super::{Said, means_the_same};

/// What all layers, the best first, say about each item: the best of them first.
pub(super) fn items<'c>(key: &str, layers: &[Said<'c>]) -> Vec<Vec<Said<'c>>> {
    let mut worst_first = layers.iter().rev();
    let Some(worst) = worst_first.next() else { return Vec::new() };
    let mut woven = of_one(key, worst);
    for better in worst_first {
        woven = patched(woven, of_one(key, better));
    }
    woven.into_iter().map(|item| item.said).collect()
}

struct Item<'c> {
    key: Option<&'c Arc<Config>>,
    said: Vec<Said<'c>>,
}

impl Item<'_> {
    /// Items without a key are the same as nothing.
    fn is(&self, other: &Item<'_>) -> bool {
        self.key.zip(other.key).is_some_and(|(mine, theirs)| means_the_same(mine, theirs))
    }
}

/// The items of one layer; of two with the same key the later one is the better.
fn of_one<'c>(key: &str, layer: &Said<'c>) -> Vec<Item<'c>> {
    let mut items: Vec<Item<'c>> = Vec::new();
    for value in layer.value.items() {
        let said = Said { by: layer.by, value };
        let item = Item { key: value.get(key), said: vec![said] };
        match items.iter_mut().find(|known| known.is(&item)) {
            Some(known) => known.said.splice(0..0, item.said).for_each(drop),
            None => items.push(item),
        }
    }
    items
}

/// The items of the patch in its order. An item that only the old list has comes before the first item of the patch that
/// follows it in the old list, unless a new item comes in between.
fn patched<'c>(old: Vec<Item<'c>>, patch: Vec<Item<'c>>) -> Vec<Item<'c>> {
    let place = |item: &Item<'c>| old.iter().position(|known| known.is(item));
    let mut patch: Vec<(Option<usize>, Item<'c>)> = patch.into_iter().map(|item| (place(&item), item)).collect();
    let mut alone = Vec::new();
    for (place, item) in old.into_iter().enumerate() {
        match patch.iter_mut().find(|(known, _)| *known == Some(place)) {
            Some((_, better)) => better.said.extend(item.said),
            None => alone.push((place, item)),
        }
    }
    let mut alone = alone.into_iter().peekable();
    let mut woven = Vec::new();
    for (place, item) in patch {
        while let Some((_, earlier)) = alone.next_if(|(old, _)| place.is_some_and(|place| *old < place)) {
            woven.push(earlier);
        }
        woven.push(item);
    }
    woven.extend(alone.map(|(_, item)| item));
    woven
}

#[cfg(test)]
mod tests {
    use upheld_model::config::Content;

    use super::*;

    #[track_caller]
    fn check(old: &str, patch: &str, expected: &str) {
        let item = |name: &str| {
            let name = Config::made(Content::Text(name.into()));
            Config::made(Content::Map(vec![("name".into(), name)]))
        };
        let list = |names: &str| Config::made(Content::List(names.split(' ').map(item).collect()));
        let (old, patch) = (list(old), list(patch));
        let woven = items("name", &[Said { by: 1, value: &patch }, Said { by: 0, value: &old }]);
        let name = |said: &Vec<Said<'_>>| {
            let text = said[0].value.get("name").and_then(|name| name.as_text()).unwrap_or_default();
            let by: Vec<String> = said.iter().map(|said| said.by.to_string()).collect();
            format!("{text}:{}", by.join("+"))
        };
        assert_eq!(woven.iter().map(name).collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn the_patch_leads() {
        check("a b", "a c", "a:1+0 c:1 b:0");
    }

    #[test]
    fn what_stood_before_an_item_still_does() {
        check("a b c", "b d", "a:0 b:1+0 d:1 c:0");
    }

    #[test]
    fn the_patch_may_turn_the_order_round() {
        check("a b c", "c a", "b:0 c:1+0 a:1+0");
    }
}
