//! Laws of the fold, over random layers.

use std::sync::Arc;

use proptest::prelude::{
    Just, ProptestConfig, Strategy as Generator, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use smol_str::SmolStr;
use upheld_model::config::{Config, Content};

use super::super::fold::{Layer, Merged, fold};
use super::super::strategy::{ItemOrder, Keyed, Strategy};

/// Small trees over few keys, so that layers meet, replace and remove.
fn config() -> impl Generator<Value = Arc<Config>> {
    let leaf = prop_oneof![
        2 => (0..3_u8).prop_map(|number| Content::Number(SmolStr::new(number.to_string()))),
        1 => Just(Content::Null),
        1 => Just(Content::List(Vec::new())),
    ];
    let tree = leaf.prop_recursive(3, 16, 3, |inner| {
        let key = proptest::sample::select(&["a", "b", "appendC"][..]);
        proptest::collection::btree_map(key, inner, 0..3).prop_map(|entries| {
            let entries = entries.into_iter().map(|(key, content)| (SmolStr::new(key), Config::made(content)));
            Content::Map(entries.collect())
        })
    });
    tree.prop_map(Config::made)
}

fn layers() -> impl Generator<Value = Vec<Arc<Config>>> {
    proptest::collection::vec(config(), 1..5)
}

fn numbered(configs: &[Arc<Config>]) -> Vec<Layer> {
    configs.iter().enumerate().map(|(by, config)| Layer { by, config: config.clone() }).collect()
}

fn merged(strategy: &Strategy, configs: &[Arc<Config>]) -> Option<Arc<Config>> {
    fold(strategy, &numbered(configs)).and_then(|merged| merged.config())
}

/// RFC 7396, word by word: `patch` is applied to `target`.
fn naive_patch(target: Option<&Config>, patch: &Config) -> Option<Arc<Config>> {
    let Content::Map(fields) = &patch.content else {
        return (patch.content != Content::Null).then(|| Arc::new(patch.clone()));
    };
    let mut result: Vec<(SmolStr, Arc<Config>)> = target.map_or(Vec::new(), |target| target.entries().to_vec());
    for (key, value) in fields {
        let old = result.iter().position(|(known, _)| known == key).map(|place| result.remove(place).1);
        if let Some(new) = naive_patch(old.as_deref(), value) {
            result.push((key.clone(), new));
        }
    }
    Some(Config::made(Content::Map(result)))
}

/// Order of keys means nothing.
fn sorted(config: &Config) -> Arc<Config> {
    Config::made(match &config.content {
        Content::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Content::Map(entries)
        }
        other => other.clone(),
    })
}

fn same(a: Option<Arc<Config>>, b: Option<Arc<Config>>) -> bool {
    a.map(|a| sorted(&a)) == b.map(|b| sorted(&b))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn patch_is_rfc_7396(layers in layers()) {
        let naive = layers.iter().rev().fold(None, |target: Option<Arc<Config>>, patch| naive_patch(target.as_deref(), patch));
        prop_assert!(same(merged(&Strategy::patch(), &layers), naive));
    }

    #[test]
    fn worse_layers_may_be_merged_first(layers in layers()) {
        let (best, rest) = layers.split_first().unwrap();
        let below = merged(&Strategy::patch(), rest);
        let stepwise: Vec<_> = std::iter::once(best.clone()).chain(below).collect();
        prop_assert!(same(merged(&Strategy::patch(), &layers), merged(&Strategy::patch(), &stepwise)));
    }

    #[test]
    fn shallow_merging_is_associative(layers in layers(), split in 1..4_usize) {
        let strategy = Strategy { nulls: super::super::strategy::Nulls::Ignore, ..Strategy::shallow() };
        // A shallow merge is about fields: what is not a map becomes a field of one.
        let layers: Vec<_> = layers.iter().map(|layer| if layer.entries().is_empty() { map(&[("a", layer.clone())]) } else { layer.clone() }).collect();
        let (better, worse) = layers.split_at(split.min(layers.len()));
        let grouped: Vec<_> = merged(&strategy, better).into_iter().chain(merged(&strategy, worse)).collect();
        prop_assert!(same(merged(&strategy, &layers), merged(&strategy, &grouped)));
    }

    #[test]
    fn origins_rederive_the_value(layers in layers()) {
        let Some(result) = fold(&Strategy::patch(), &numbered(&layers)) else { return Ok(()) };
        for leaf in result.leaves() {
            let said = leaf.path.split('.').filter(|key| !key.is_empty()).try_fold(&layers[leaf.by], |config, key| config.get(key));
            match leaf.value {
                Some(value) => prop_assert_eq!(Some(value), said),
                None => prop_assert_eq!(said.map(|said| &said.content), Some(&Content::Null)),
            }
        }
    }

    #[test]
    fn who_does_not_contribute_can_go(layers in layers()) {
        let all = numbered(&layers);
        let Some(result) = fold(&Strategy::patch(), &all) else { return Ok(()) };
        let contributors = result.contributors();
        for by in (0..layers.len()).filter(|by| !contributors.contains(by)) {
            let rest: Vec<_> = all.iter().filter(|layer| layer.by != by).cloned().collect();
            let without = fold(&Strategy::patch(), &rest).and_then(|merged| merged.config());
            prop_assert!(same(result.config(), without), "layer {by} of {layers:?} mattered");
        }
    }

    #[test]
    fn merging_changes_no_layer(layers in layers()) {
        let before: Vec<Config> = layers.iter().map(|layer| layer.as_ref().clone()).collect();
        fold(&kuma(), &numbered(&layers));
        prop_assert!(layers.iter().zip(&before).all(|(layer, before)| layer.as_ref() == before));
    }
}

fn kuma() -> Strategy {
    let keyed =
        Keyed { field: "rules".into(), key: "matches".into(), payload: "default".into(), order: ItemOrder::WorstFirst };
    Strategy { append_prefix: Some("append".into()), keyed: vec![keyed], ..Strategy::patch() }
}

fn map(entries: &[(&str, Arc<Config>)]) -> Arc<Config> {
    Config::made(Content::Map(entries.iter().map(|(key, value)| (SmolStr::new(key), value.clone())).collect()))
}

fn list(items: &[Arc<Config>]) -> Arc<Config> {
    Config::made(Content::List(items.to_vec()))
}

fn text(text: &str) -> Arc<Config> {
    Config::made(Content::Text(text.into()))
}

#[test]
fn append_lists_add_up_from_the_worst_layer_on() {
    let best = map(&[("appendProfiles", list(&[text("b")])), ("plain", list(&[text("b")]))]);
    let worst = map(&[("appendProfiles", list(&[text("a")])), ("plain", list(&[text("a")]))]);
    let expected = map(&[("appendProfiles", list(&[text("a"), text("b")])), ("plain", list(&[text("b")]))]);
    assert_eq!(merged(&kuma(), &[best, worst]), Some(expected));
}

#[test]
fn items_meet_by_key_at_the_place_of_the_last() {
    let item = |key: &str, payload: &[(&str, Arc<Config>)]| map(&[("matches", text(key)), ("default", map(payload))]);
    let worst = map(&[("rules", list(&[item("x", &[("a", text("1"))]), item("y", &[("a", text("1"))])]))]);
    let best = map(&[("rules", list(&[item("x", &[("b", text("2"))])]))]);
    let expected =
        map(&[("rules", list(&[item("y", &[("a", text("1"))]), item("x", &[("b", text("2")), ("a", text("1"))])]))]);
    assert!(same(merged(&kuma(), &[best, worst]), Some(expected)));
}

#[test]
fn a_field_remembers_whom_it_overrode() {
    let layers = [map(&[("timeout", text("2s"))]), map(&[("timeout", text("5s")), ("retries", text("3"))])];
    let result = fold(&Strategy::patch(), &numbered(&layers)).unwrap();
    let leaves = result.leaves();
    let told: Vec<_> = leaves.iter().map(|leaf| (leaf.path.as_str(), leaf.by, leaf.overridden.len())).collect();
    assert_eq!(told, [("timeout", 0, 1), ("retries", 1, 0)]);
}

#[test]
fn what_lies_below_a_replaced_value_does_not_shine_through() {
    let layers = [
        map(&[("a", map(&[("x", text("1"))]))]),
        map(&[("a", text("scalar"))]),
        map(&[("a", map(&[("y", text("2"))]))]),
    ];
    let result = fold(&Strategy::patch(), &numbered(&layers)).unwrap();
    assert_eq!(result.config(), Some(map(&[("a", map(&[("x", text("1"))]))])));
    assert_eq!(result.contributors(), [0, 1], "the scalar hides what is below it");
}

#[test]
fn the_whole_strategy_takes_the_best_layer_as_it_is() {
    let layers = [map(&[("a", text("1"))]), map(&[("b", text("2"))])];
    let result = fold(&Strategy::whole(), &numbered(&layers)).unwrap();
    assert!(matches!(&result, Merged::Whole { by: 0, overridden, .. } if overridden.len() == 1));
}

#[test]
fn a_layer_stands_in_a_group_for_each_of_its_values() {
    let hosts = |names: &[&str]| list(&names.iter().map(|name| text(name)).collect::<Vec<_>>());
    let layers =
        [map(&[("hosts", hosts(&["b", "c"]))]), map(&[("hosts", hosts(&["a", "b"]))]), map(&[("x", text("1"))])];
    let groups = super::super::group::by_value("hosts", &numbered(&layers));
    let told: Vec<Vec<usize>> = groups.iter().map(|group| group.iter().map(|layer| layer.by).collect()).collect();
    assert_eq!(told, [vec![2], vec![1], vec![0, 1], vec![0]], "without a value, then a, b and c");
    assert_eq!(groups[2][0].config, map(&[("hosts", hosts(&["b"]))]));
}

#[test]
fn lists_at_a_path_add_up_from_the_best_layer_on() {
    let rules = |items: &[&str]| {
        let items: Vec<_> = items.iter().map(|item| text(item)).collect();
        map(&[("global", map(&[("rules", list(&items))])), ("local", map(&[("rules", list(&items))]))])
    };
    let strategy = Strategy { chained: vec!["global.rules".into()], ..Strategy::patch() };
    let result = merged(&strategy, &[rules(&["b"]), rules(&["a"])]);
    let expected = map(&[
        ("global", map(&[("rules", list(&[text("b"), text("a")]))])),
        ("local", map(&[("rules", list(&[text("b")]))])),
    ]);
    assert_eq!(result, Some(expected));
}
