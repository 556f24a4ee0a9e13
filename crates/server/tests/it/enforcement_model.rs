//! Enforcement against a model of it, from the bytes that arrive to whether a request goes on.
//!
//! The model is written from the documentation alone and shares no code with the product: a naive reading of docs/access.md,
//! docs/choosing-an-algorithm.md, docs/paths.md, docs/proxies.md and docs/envoy.md. Random worlds and requests are asked of both. Where they differ,
//! only the product may be stricter, and rarely.

mod arrivals;
mod directory;
mod envoy;
mod expressions;
mod facts;
mod identity;
mod model;
mod omission;
mod paths;
mod policies;
mod product;
pub(crate) mod random;
mod sets;
mod shrink;
mod worlds;

use std::collections::BTreeMap;

use self::model::Word;
use self::product::Product;
use self::random::Maker;
use self::worlds::{Ask, World};

/// Requests of one world.
const REQUESTS: usize = 50;

/// How many worlds are made: those of every run, or as many as somebody wants.
fn worlds() -> u64 {
    std::env::var("UPHELD_WORLDS").map_or(200, |count| count.parse().unwrap())
}

/// What worlds are made of; `cargo xtask seeds` names others.
fn seed() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").map_or(20_260_101, |seed| seed.parse().unwrap())
}

/// A request that product and model do not answer alike.
#[derive(Clone, Debug)]
struct Difference {
    number: u64,
    world: World,
    ask: Ask,
    product: Word,
    model: Word,
    reason: String,
}

#[test]
fn no_request_goes_on_that_the_model_stops() {
    let runtime = product::runtime();
    let (mut asked, mut stricter, mut words, mut opened) = (0_usize, 0_usize, BTreeMap::new(), Vec::new());
    let mut counts: BTreeMap<(&str, Word), usize> = BTreeMap::new();
    for number in 0..worlds() {
        let mut maker = Maker::new(seed().wrapping_add(number.wrapping_mul(1_000_003)));
        let world = maker.world();
        let mut product = Product::start(&world, &runtime);
        for _ in 0..REQUESTS {
            let ask = maker.ask(&world);
            let (said, model) = (product.ask(&ask, &runtime), model::answer(&world, &ask));
            asked += 1;
            *counts.entry((ask.surface(), said.word)).or_default() += 1;
            let reason = said.reason;
            let difference = Difference { number, world: world.clone(), ask, product: said.word, model, reason };
            match (said.word.opens(), model.opens()) {
                (true, false) => opened.push(difference),
                (false, true) => {
                    stricter += 1;
                    words.entry(cause(&difference)).or_insert_with(Vec::new).push(difference);
                }
                _ => {}
            }
        }
    }
    println!("{asked} requests: {counts:?}");
    println!("the product is stricter {stricter} times");
    for (cause, differences) in &words {
        println!("  {cause}: {}", differences.len());
    }
    // One of each world: others of it have the same cause, mostly.
    opened.dedup_by_key(|difference: &mut Difference| difference.number);
    // What is decided says more than what is refused before.
    opened.sort_by_key(|difference| difference.model == Word::Refused);
    for difference in opened.iter().take(shown()) {
        println!("{}", shrink::smallest(difference, &runtime));
    }
    for difference in words.values().flatten().take(shown()) {
        println!("{}", shrink::smallest(difference, &runtime));
    }
    assert!(opened.is_empty(), "the product opens requests that the model stops, in {} worlds", opened.len());
    assert!(stricter * 200 <= asked, "the product is stricter {stricter} times in {asked} requests");
}

/// How many differences are shown.
fn shown() -> usize {
    std::env::var("UPHELD_SHOWN").map_or(3, |count| count.parse().unwrap())
}

fn cause(difference: &Difference) -> String {
    format!("{} {:?} for {:?}", difference.ask.surface(), difference.product, difference.model)
}
