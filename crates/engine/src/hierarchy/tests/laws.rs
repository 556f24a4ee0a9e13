//! What holds for all policies, places and kinds.

use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_model::State;

use super::super::reference::{NaiveAnswer, NaiveFold, answer};
use super::super::*;
use super::world::{Built, World, worlds};
use crate::ask::{Family, Scratch, ask};
use crate::partition::Partition;
use crate::ruling::Ruling;
use crate::witness::{Everything, Matched, Silent, Witness};

/// The answer in words, as the twin gives it.
fn told(built: &Built, effective: &Effective) -> NaiveAnswer {
    let title = |place: usize| built.title(effective.order[place].entry);
    let order = effective.order.iter().map(|member| (built.title(member.entry), member.place.0 as usize)).collect();
    let text = |field: &Field| field.value.as_ref().and_then(|value| value.as_text()).unwrap_or_default().to_owned();
    let fields = effective.fields.iter().filter(|field| !field.name.is_empty());
    let fields = fields.map(|field| (field.title(), (text(field), title(field.by[0]))));
    NaiveAnswer { order, fields: fields.collect(), broken: !effective.broken.is_empty() }
}

fn asked<W: Witness<Attachment> + Default>(built: &Built) -> Effective {
    built.ask(|hierarchy, question| ask(hierarchy, question, &mut Scratch::default(), &mut W::default()))
}

fn naive(world: &World) -> NaiveAnswer {
    answer(&world.kind, &world.policies, &world.sites, &world.levels)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn the_indexed_answer_is_the_naive_one(world in worlds()) {
        let built = Built::new(&world);
        prop_assert_eq!(told(&built, &asked::<Silent>(&built)), naive(&world));
    }

    #[test]
    fn all_witnesses_hear_of_the_same_answer(world in worlds()) {
        let built = Built::new(&world);
        let silent = asked::<Silent>(&built);
        prop_assert_eq!(&silent, &asked::<Matched<Attachment>>(&built));
        prop_assert_eq!(&silent, &asked::<Everything<Attachment>>(&built));
    }

    #[test]
    fn the_order_of_arrival_never_shows(world in worlds()) {
        let mut turned = world.clone();
        turned.policies.reverse();
        let (built, other) = (Built::new(&world), Built::new(&turned));
        prop_assert_eq!(told(&built, &asked::<Silent>(&built)), told(&other, &asked::<Silent>(&other)));
    }

    #[test]
    fn every_entry_is_a_candidate_and_those_that_set_nothing_that_holds_can_go(world in worlds()) {
        let built = Built::new(&world);
        let ruling = built.ask(|hierarchy, question| Ruling::explain(hierarchy, question));
        let all: Vec<_> = built.hierarchy.entries().collect();
        prop_assert!(all.iter().all(|entry| ruling.candidates.iter().any(|candidate| candidate.entry == *entry)));
        if !ruling.answer.broken.is_empty() {
            return Ok(());
        }
        let before = naive(&world).fields;
        for policy in &world.policies {
            let own = |entry| built.title(entry).starts_with(&format!("{}/{}#", policy.namespace, policy.name));
            let mut states = ruling.candidates.iter().filter(|candidate| own(candidate.entry)).map(|one| one.state);
            // Who hides others as a whole has a part in what holds, without a word in it.
            let hides = ruling.answer.losses().any(|(_, lost)| own(ruling.answer.order[lost.to].entry));
            let counts = states.any(|state| matches!(state, State::Won | State::Kept)) || hides;
            // Where it counts that somebody is there, the first one of a scope need not say anything.
            let is_there = world.kind.fold == NaiveFold::Best && ruling.answer.order.iter().any(|one| own(one.entry));
            if !counts && !is_there {
                let mut less = world.clone();
                less.policies.retain(|known| known != policy);
                prop_assert_eq!(&naive(&less).fields, &before, "without {}", policy.name);
            }
        }
    }

    #[test]
    fn a_scope_comes_to_the_same_whether_it_is_asked_alone_or_among_others(world in worlds()) {
        let built = Built::new(&world);
        let among_others = asked::<Silent>(&built);
        for own in &among_others.scopes {
            let alone = built.ask(|hierarchy, question| {
                let sites: Vec<Site<'_>> = question.sites.iter().filter(|site| site.scope == own.scope).copied().collect();
                ask(hierarchy, &Question { sites: &sites, ..*question }, &mut Scratch::default(), &mut Silent)
            });
            let [only] = &alone.scopes[..] else { panic!("one scope was asked") };
            prop_assert_eq!(only.members.clone(), 0..own.members.len());
            let entries = |answer: &Effective| answer.order.iter().map(|member| built.title(member.entry)).collect::<Vec<_>>();
            prop_assert_eq!(&entries(&alone)[..], &entries(&among_others)[own.members.clone()]);
            let fields = |own: &InScope| {
                let place = |by: &usize| by - own.members.start;
                let field = |(name, joined): (&SmolStr, &Joined)| {
                    let lost: Vec<usize> = joined.over.iter().map(|beaten| place(&beaten.by)).collect();
                    (name.clone(), joined.value.clone(), joined.origins.iter().map(place).collect::<Vec<_>>(), lost)
                };
                own.folded.iter().map(field).collect::<Vec<_>>()
            };
            prop_assert_eq!(fields(only), fields(own));
        }
    }

    #[test]
    fn asking_is_asking_the_representative_of_the_cell(world in worlds()) {
        let built = Built::new(&world);
        built.ask(|hierarchy, question| {
            // The same places, fewer of them, and all of them told apart by less than they are.
            let all = |change: fn(&mut Site<'_>)| {
                let mut sites = question.sites.to_vec();
                sites.iter_mut().for_each(change);
                sites
            };
            let (flat, near) = (all(|site| site.level = 0), all(|site| site.scope = 0));
            let (whole, deep) = (all(|site| site.section = 0), all(|site| site.level += 1));
            let turned: Vec<LevelJoin> = question.levels.iter().rev().copied().collect();
            let mut asked: Vec<Question<'_>> =
                (0..=question.sites.len()).map(|count| Question { sites: &question.sites[..count], ..*question }).collect();
            asked.extend([&flat, &near, &whole, &deep].map(|sites| Question { sites, ..*question }));
            asked.extend([&turned[..], &[]].map(|levels| Question { levels, ..*question }));
            asked.extend([&["cors"][..], &["csrf", "retry"]].map(|omits| Question { omits, ..*question }));
            let scopes = [(0, &["cors"][..]), (1, &["cors", "retry"])];
            asked.extend(scopes.map(|there| Question { omits_in: Some(there), ..*question }));
            asked.push(*question);
            let mut cells = Cells::new(hierarchy);
            let found: Vec<usize> = asked.iter().map(|question| cells.classify(*question)).collect();
            assert_eq!(found[question.sites.len()], found[asked.len() - 1]);
            for (question, cell) in asked.iter().zip(&found) {
                assert_eq!(cells.locate(*question), Some(*cell));
                let told = |question: &Question<'_>| {
                    let answer = told(&built, &ask(hierarchy, question, &mut Scratch::default(), &mut Silent));
                    (answer.fields, answer.broken)
                };
                assert_eq!(told(question), told(&cells.representative(*cell)));
            }
            for cell in cells.cells() {
                assert_eq!(cells.locate(cells.representative(cell)), Some(cell));
                assert_eq!(cells.size(cell), found.iter().filter(|known| **known == cell).count() as u64);
            }
            // In whatever order they come, the same ones are together.
            let mut others = Cells::new(hierarchy);
            let mut backwards: Vec<usize> = asked.iter().rev().map(|question| others.classify(*question)).collect();
            backwards.reverse();
            let together = |found: &[usize]| -> Vec<Vec<bool>> {
                found.iter().map(|cell| found.iter().map(|other| other == cell).collect()).collect()
            };
            assert_eq!(together(&found), together(&backwards));
        });
    }
}
