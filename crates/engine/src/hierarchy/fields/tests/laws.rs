//! What holds for all levels and all rules.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Strategy;

use super::*;

fn small_text() -> impl Strategy<Value = Arc<Config>> {
    select(vec!["a", "b", "c"]).prop_map(text)
}

fn texts() -> impl Strategy<Value = Arc<Config>> {
    prop::collection::vec(small_text(), 0..3).prop_map(list)
}

fn provider_value() -> impl Strategy<Value = Arc<Config>> {
    prop_oneof![
        4 => select(vec!["a", "b", "c"]).prop_map(|name| providers(&[name])),
        1 => Just(map([("disable", map([]))])),
    ]
}

fn transformation() -> impl Strategy<Value = Arc<Config>> {
    let side =
        (texts(), prop::option::of(small_text()), prop::option::of(small_text())).prop_map(|(set, body, other)| {
            let entries = [Some(("set", set)), body.map(|body| ("body", body)), other.map(|other| ("metadata", other))];
            map(entries.into_iter().flatten())
        });
    let side = side.boxed();
    (prop::option::of(side.clone()), prop::option::of(side)).prop_map(|(request, response)| {
        let sides = [request.map(|side| ("request", side)), response.map(|side| ("response", side))];
        map(sides.into_iter().flatten())
    })
}

fn access_list() -> impl Strategy<Value = Arc<Config>> {
    let response = (prop::option::of(small_text()), prop::option::of(small_text()), texts());
    let response = response.prop_map(|(status, blocked, headers)| {
        let status = status.map(|status| ("statusCode", status));
        let blocked = blocked.map(|name| ("blockedByHeaderName", name));
        map([status, blocked, Some(("headers", headers))].into_iter().flatten())
    });
    let default = prop::option::weighted(0.9, select(vec!["allow", "deny"]));
    (default, texts(), prop::option::of(response)).prop_map(|(default, rules, response)| {
        let default = default.map(|action| ("defaultAction", text(action)));
        let response = response.map(|response| ("denyResponse", response));
        map([default, Some(("rules", rules)), response].into_iter().flatten())
    })
}

fn patch() -> impl Strategy<Value = Arc<Config>> {
    let leaf = prop_oneof![small_text(), Just(Config::made(Content::Null)), texts()];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop::collection::btree_map(select(vec!["x", "y", "z"]), inner, 0..3).prop_map(map)
    })
}

fn value_of(field: &'static str) -> BoxedStrategy<Arc<Config>> {
    match field {
        "cumulative" => texts().boxed(),
        "list" => access_list().boxed(),
        "patch" => patch().boxed(),
        "providers" => provider_value().boxed(),
        "transformation" => transformation().boxed(),
        _ => small_text().boxed(),
    }
}

fn fields() -> impl Strategy<Value = Vec<(SmolStr, Arc<Config>)>> {
    let each: Vec<_> = FIELDS.into_iter().map(|field| prop::option::of(value_of(field))).collect();
    each.prop_map(|values| {
        let named = FIELDS.into_iter().zip(values);
        named.filter_map(|(name, value)| Some((SmolStr::new(name), value?))).collect()
    })
}

fn some_levels() -> impl Strategy<Value = Vec<Level<'static>>> {
    let inheritance = select(vec![SHALLOW_CHILD, SHALLOW_PARENT, DEEP_CHILD, DEEP_PARENT]);
    let level = (prop::collection::vec(fields(), 0..4), inheritance);
    prop::collection::vec(level, 0..4).prop_map(|levels| {
        let mut by = 0..;
        let number = |(layers, inheritance): (Vec<Vec<_>>, _)| {
            let layers = layers
                .into_iter()
                .filter_map(|fields| Some(FieldLayer { by: by.next()?, fields: fields.into() }))
                .collect();
            Level { layers, inheritance }
        };
        levels.into_iter().map(number).collect()
    })
}

fn some_rules() -> impl Strategy<Value = Rules> {
    let deep = select(vec![PlainWhenDeep::AsNamed, PlainWhenDeep::Child, PlainWhenDeep::Parent]);
    let within = select(vec![Within::ByField, Within::AsLevels]);
    (deep, within, select(vec![SameLevel::First, SameLevel::Combine]))
        .prop_map(|(deep, within, same)| rules(deep, within, same))
}

fn without<'f>(levels: &[Level<'f>], by: usize) -> Vec<Level<'f>> {
    let mut levels = levels.to_vec();
    for level in &mut levels {
        level.layers.retain(|layer| layer.by != by);
    }
    levels
}

fn sorted(value: &Config) -> Config {
    let content = match &value.content {
        Content::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.clone(), sorted(value).into())).collect();
            entries.sort_by(|a: &(SmolStr, std::sync::Arc<Config>), b| a.0.cmp(&b.0));
            Content::Map(entries)
        }
        Content::List(items) => Content::List(items.iter().map(|item| sorted(item).into()).collect()),
        other => other.clone(),
    };
    Config { content, at: None }
}

fn everybody(levels: &[Level<'_>]) -> Vec<usize> {
    levels.iter().flat_map(|level| level.layers.iter().map(|layer| layer.by)).collect()
}

proptest! {
    #[test]
    fn folding_is_pure(rules in some_rules(), levels in some_levels()) {
        let copy = format!("{levels:?}");
        let first = fold(&rules, &levels);
        prop_assert_eq!(&first, &fold(&rules, &levels));
        prop_assert_eq!(copy, format!("{levels:?}"));
    }

    /// Layers of a level are joined at once; the laws of joining are those of two.
    #[test]
    fn joining_at_once_is_joining_one_after_the_other(
        act in select(vec![MergeAction::Keep, MergeAction::Take, MergeAction::KeepOver, MergeAction::TakeOver]),
        layers in prop::collection::vec(fields(), 0..6),
        shift in 0..6_usize,
    ) {
        let rules = rules(PlainWhenDeep::AsNamed, Within::ByField, SameLevel::Combine);
        for name in FIELDS {
            // Not in the order of their numbers.
            let numbered = layers.iter().enumerate().map(|(place, fields)| ((place + shift) % 6, fields));
            let said = numbered.flat_map(|(by, fields)| fields.iter().map(move |(field, value)| (by, field, value)));
            let own = said.filter(|(_, field, value)| *field == name && is_set(value));
            let parts: Vec<Part> = own.map(|(by, _, value)| Part { by, value: value.clone() }).collect();
            let meeting = rules.meeting(name);
            let each = join::join_each(act, meeting, parts.clone().into());
            prop_assert_eq!(join::join_all(act, meeting, parts.into()), each, "{}", name);
        }
    }

    #[test]
    fn a_field_is_there_if_and_only_if_a_level_sets_it(rules in some_rules(), levels in some_levels()) {
        let folded = fold(&rules, &levels);
        let layers = levels.iter().flat_map(|level| &level.layers);
        let set = layers.flat_map(|layer| layer.fields.iter()).filter(|(_, value)| is_set(value));
        let names: std::collections::BTreeSet<SmolStr> = set.map(|(name, _)| name.clone()).collect();
        prop_assert!(folded.iter().map(|(name, _)| name).eq(&names));
    }

    #[test]
    fn everybody_who_says_something_is_an_origin_or_lost(rules in some_rules(), levels in some_levels()) {
        for (name, joined) in fold(&rules, &levels).fields {
            prop_assert!(!joined.origins.is_empty());
            prop_assert!(joined.origins.is_sorted_by(|a, b| a < b));
            let layers = levels.iter().flat_map(|level| &level.layers);
            let says = |layer: &&FieldLayer<'_>| layer.fields.iter().any(|(field, value)| *field == name && is_set(value));
            let mut said: Vec<usize> = layers.filter(says).map(|layer| layer.by).collect();
            let mut told: Vec<usize> = joined.origins.iter().copied().chain(joined.over.iter().map(|over| over.by)).collect();
            told.sort_unstable();
            said.sort_unstable();
            prop_assert_eq!(told, said, "{}", name);
        }
    }

    /// Of a deep field a loser may have kept others out: within its level, or because an access list contradicts another.
    #[test]
    fn removing_a_loser_changes_nothing(rules in some_rules(), levels in some_levels()) {
        let folded = fold(&rules, &levels);
        for by in everybody(&levels) {
            let other = fold(&rules, &without(&levels, by));
            for (name, joined) in folded.iter() {
                let keeps_out = match name.as_str() {
                    "plain" | "cumulative" => false,
                    "list" => joined.over.iter().any(|beaten| beaten.by != by),
                    _ => joined.over.iter().any(|beaten| beaten.under.contains(&by)),
                };
                if !joined.origins.contains(&by) && !keeps_out {
                    let less = other.get(name).unwrap();
                    // The order of the keys of a map means nothing.
                    prop_assert_eq!(sorted(&less.value), sorted(&joined.value), "{} without {}", name, by);
                    // Who only hid the loser of a patch has no part without it.
                    let same = less.origins == joined.origins || name == "patch";
                    prop_assert!(same, "{} without {}: {:?}, not {:?}", name, by, less.origins, joined.origins);
                }
            }
        }
    }

    #[test]
    fn who_is_preferred_wins_every_field(levels in some_levels()) {
        let rules = rules(PlainWhenDeep::AsNamed, Within::ByField, SameLevel::First);
        for (preferred, inheritance) in [(0, DEEP_CHILD), (1, DEEP_PARENT), (0, SHALLOW_CHILD), (1, SHALLOW_PARENT)] {
            let mut two: Vec<Level<'_>> = levels.iter().take(2).cloned().collect();
            for level in &mut two {
                level.inheritance = inheritance;
            }
            let folded = fold(&rules, &two);
            let alone = fold(&rules, two.get(preferred..=preferred).unwrap_or_default());
            for (name, joined) in alone.iter() {
                // Disabling wins in any case, and a patch may have nothing to win.
                let special = name == "providers" || name == "patch";
                if !special || inheritance.reach == Reach::Shallow {
                    prop_assert!(joined.origins.iter().any(|by| folded.get(name).unwrap().origins.contains(by)), "{}", name);
                }
            }
        }
    }
}
