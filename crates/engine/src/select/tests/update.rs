//! Policies that came and went leave the index as if those that are left had been indexed at once.

use proptest::prelude::*;
use upheld_model::{Policy, Sym};

use super::super::cells::Cells;
use super::super::matrix::{Matrix, RowScratch};
use super::super::reference::{NaivePolicy, Tags, ranking};
use super::laws::resolve;
use super::world::{World, kind, parts, policies};
use crate::kind::Resolve;
use crate::{Partition, PolicyId, Question, Ruling, Scratch, Select};

/// What becomes of the policy of a name: it says the one or the other, or it goes.
type Step = Vec<(usize, Option<bool>)>;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop::collection::btree_map(0..8_usize, prop::option::weighted(0.7, any::<bool>()), 0..4);
    prop::collection::vec(step.prop_map(|step| step.into_iter().collect()), 1..8)
}

/// The policies of a world by name, of which each is there in one way, in the other, or not.
struct Changing<'w> {
    world: &'w World,
    now: [Option<(PolicyId, &'w Policy)>; 8],
}

impl<'w> Changing<'w> {
    /// One more step of the index.
    fn step(&mut self, index: Select, step: &Step, pools: &[Vec<NaivePolicy>; 2]) -> Select {
        let symbols = self.world.snapshot.symbols();
        let (mut gone, mut came): (Vec<Sym>, Vec<(PolicyId, &Policy)>) = Default::default();
        for (place, way) in step {
            let named = |pool: &[NaivePolicy]| pool.get(*place).map(|policy| policy.name.clone());
            let policy = way.and_then(|way| {
                let name = named(&pools[usize::from(way)])?;
                let alike = self.world.snapshot.policies().iter().filter(|(_, own)| symbols.text(own.name) == name);
                alike.last().filter(|_| way).or_else(|| self.first_of(&name))
            });
            gone.extend(self.now[*place].map(|(_, policy)| policy.name));
            came.extend(policy);
            self.now[*place] = policy;
        }
        index.change(&gone, &came, symbols).expect("small worlds fit")
    }

    fn first_of(&self, name: &str) -> Option<(PolicyId, &'w Policy)> {
        let symbols = self.world.snapshot.symbols();
        self.world.snapshot.policies().iter().find(|(_, own)| symbols.text(own.name) == name)
    }

    fn all(&self) -> Vec<(PolicyId, &'w Policy)> {
        let mut all: Vec<_> = self.now.iter().flatten().copied().collect();
        all.sort_by_key(|(_, policy)| self.world.snapshot.text(policy.name));
        all
    }

    fn name(&self, select: &Select, entry: crate::EntryId) -> String {
        let entry = select.entry(entry).expect("an entry of this index");
        format!("{} {:?}", self.world.policy_name(entry.policy), entry.split)
    }

    /// Everything that is seen of an answer.
    fn told(&self, select: &Select, question: &Question<'_>) -> Vec<String> {
        let ruling = Ruling::explain(select, question);
        let rows = ruling.candidates.iter().map(|candidate| {
            let crate::Candidate { entry, place, state, measure, distance, reason } = candidate;
            format!("{} {place:?} {state:?} {measure:?} {distance} {reason:?}", self.name(select, *entry))
        });
        let standing = select.standing(question, &mut Scratch::default());
        let standing = standing.iter().map(|entry| self.world.policy_name(entry.policy).to_owned());
        rows.chain(standing).chain([format!("{:?} {:?} {:?}", ruling.decided, ruling.default, ruling.notes)]).collect()
    }

    fn winners(&self, select: &Select, question: &Question<'_>) -> Vec<Option<String>> {
        let matrix = Matrix::new(select, question.destination);
        let mut winners = Vec::new();
        let take = |entry: Option<_>| winners.push(entry.map(|entry| self.name(select, entry)));
        matrix.row(question.source.unwrap_or_default(), &mut RowScratch::default(), take);
        winners
    }
}

/// How many cells there are of single parts.
fn cells(select: &Select, sources: &[upheld_model::TagSet], destinations: &[upheld_model::TagSet]) -> usize {
    let mut cells = Cells::new(select);
    for source in sources {
        cells.add_source(Some(std::slice::from_ref(source)));
    }
    for destination in destinations {
        cells.add_destination(Some(std::slice::from_ref(destination)));
    }
    cells.cells().count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_index_that_was_changed_equals_one_that_was_compiled(
        one in policies(), other in policies(), steps in steps(), kind in kind(), sources in parts(), destinations in parts(),
        ends in prop::collection::vec(super::world::object(), 0..12), resolve in resolve(),
    ) {
        let pools = [one, other];
        let world = World::new(&pools.concat(), &kind, resolve);
        let Some(choices) = world.snapshot.kinds().as_slice()[0].select() else { return Ok(()) };
        let mut changing = Changing { world: &world, now: [None; 8] };
        let mut select = Select::new(choices);
        let (source, destination) = (world.tag_sets(&sources), world.tag_sets(&destinations));
        let ends = world.tag_sets(&ends);
        for step in &steps {
            select = changing.step(select, step, &pools);
            let compiled = Select::compile(choices, &changing.all(), world.snapshot.symbols()).expect("small worlds fit");
            let known = Question { source: Some(&source), destination: Some(&destination) };
            for question in [known, Question { source: None, ..known }, Question { destination: None, ..known }] {
                prop_assert_eq!(changing.told(&select, &question), changing.told(&compiled, &question));
            }
            if resolve == Resolve::First {
                prop_assert_eq!(changing.winners(&select, &known), changing.winners(&compiled, &known));
            }
            prop_assert_eq!(cells(&select, &ends, &ends), cells(&compiled, &ends, &ends));
            prop_assert_eq!((select.len(), select.policies()), (compiled.len(), compiled.policies()));
        }
    }

    #[test]
    fn a_changed_index_answers_as_the_naive_twin(
        one in policies(), steps in steps(), kind in kind(), sources in parts(), destinations in parts(),
    ) {
        let pools = [one.clone(), one.clone()];
        let world = World::new(&one, &kind, Resolve::All);
        let Some(choices) = world.snapshot.kinds().as_slice()[0].select() else { return Ok(()) };
        let mut changing = Changing { world: &world, now: [None; 8] };
        let mut select = Select::new(choices);
        for step in &steps {
            select = changing.step(select, step, &pools);
        }
        let left: Vec<NaivePolicy> =
            one.iter().zip(&changing.now).filter(|(_, now)| now.is_some()).map(|(policy, _)| policy.clone()).collect();
        let naive: Vec<&str> =
            ranking(&left, &kind, &sources, &destinations).iter().map(|policy| policy.name.as_str()).collect();
        let (source, destination) = (world.tag_sets(&sources), world.tag_sets(&destinations));
        let question = Question { source: Some(&source), destination: Some(&destination) };
        let standing = select.standing(&question, &mut Scratch::default());
        let standing: Vec<&str> = standing.iter().map(|entry| world.policy_name(entry.policy)).collect();
        prop_assert_eq!(standing, naive);
    }
}

#[test]
fn what_comes_and_goes_again_and_again_takes_no_room() {
    let tags = |service: &str| Tags::from([("service".to_owned(), service.to_owned())]);
    let named = |name: &str, service: &str| NaivePolicy {
        name: name.to_owned(),
        created: None,
        sources: vec![tags(service)],
        destinations: vec![tags("*")],
    };
    let policies = [named("a", "one"), named("b", "two")];
    let world = World::new(&policies, &super::super::reference::NaiveKind::default(), Resolve::First);
    let symbols = world.snapshot.symbols();
    let all: Vec<(PolicyId, &Policy)> = world.snapshot.policies().iter().collect();
    let mut select = world.select().expect("two policies").clone();
    for _ in 0..100 {
        let [a, b] = [all[0].1.name, all[1].1.name];
        select = select.change(&[a], &[], symbols).expect("one fits");
        select = select.change(&[b], &[all[0]], symbols).expect("one fits");
        select = select.change(&[], &[all[1]], symbols).expect("two fit");
    }
    assert!(select.room() <= world.select().expect("two policies").room() + 4, "{}", select.room());
}
