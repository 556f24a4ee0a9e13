//! The reason of every row is the rung that separates it from the one that beat it.

use proptest::prelude::*;
use upheld_model::{Code, State, Symbols};

use super::super::reference::{NaiveColumn as C, NaiveLooks, separating, speakers};
use super::super::*;
use super::world::{Built, NUMBER, column, worlds};
use crate::ladder::{self, Best};
use crate::ruling::Ruling;

/// The codes that a difference in a column gives.
fn codes(naive: C) -> [Code; 2] {
    let column = column(naive, Symbols::default().intern(NUMBER));
    [Best::Lowest, Best::Highest].map(|end| ladder::Column::code(column, end))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_loser_is_told_the_first_rung_on_which_it_differs_from_who_beat_it(world in worlds()) {
        let built = Built::new(&world);
        let naive = speakers(&world.kind, &world.policies, &world.sites);
        let lost = built.ask(|hierarchy, question| {
            let ruling = Ruling::explain(hierarchy, question);
            let losses = ruling.answer.losses().map(|(_, lost)| {
                (lost.by, lost.to, lost.exception, hierarchy.why_lost(question, &ruling.answer, lost))
            });
            let losses: Vec<_> = losses.collect();
            let rows: Vec<_> = ruling.in_state(State::Lost).map(|one| (one.entry, one.place, one.reason)).collect();
            (losses, rows, ruling.answer.order.clone())
        });
        let (losses, rows, order) = lost;
        for (by, to, exception, reason) in &losses {
            let column = separating(&world.kind, &naive[*by], &naive[*to]);
            match (column, exception) {
                (Some(C::Scope), _) if naive[*to].title == "own" => prop_assert_eq!(reason.code, Code::MergeBuiltIn),
                (Some(C::Scope | C::Level), _) if built.is_whole() && to > by => {
                    prop_assert_eq!(reason.code, Code::MergeFromAbove);
                }
                (Some(C::Level), answer::Exception::Plain) => prop_assert_eq!(reason.code, Code::MergePlainField),
                (Some(column), _) => {
                    prop_assert!(codes(column).contains(&reason.code), "{:?} for {:?} {}", reason, column, NUMBER);
                }
                // Two that nothing separates are layers of one target.
                (None, _) => prop_assert_eq!(&naive[*by].title, "own"),
            }
        }
        for (entry, place, reason) in rows {
            let own = losses.iter().find(|(by, ..)| (order[*by].entry, order[*by].place) == (entry, place));
            match own {
                Some((.., told)) => prop_assert_eq!(told.code, reason.code),
                None => prop_assert_eq!(reason.code, Code::MergeSilent),
            }
        }
    }

    #[test]
    fn who_stands_alone_wins_on_the_first_rung_on_which_the_best_that_lost_to_it_differs(world in worlds()) {
        let built = Built::new(&world);
        let naive = speakers(&world.kind, &world.policies, &world.sites);
        built.ask(|hierarchy, question| {
            let ruling = Ruling::explain(hierarchy, question);
            let decided = ruling.decided.map(|rung| hierarchy.kind().rank.rungs()[rung].code());
            let won = ruling.in_state(State::Won).next();
            let is_winner = |member: &&Member| won.is_some_and(|won| (won.entry, won.place) == (member.entry, member.place));
            let winner = ruling.answer.order.iter().position(|member| is_winner(&member));
            let beaten = ruling.answer.losses().map(|(_, lost)| lost).filter(|lost| Some(lost.to) == winner).map(|lost| lost.by).min();
            let column = winner.zip(beaten).and_then(|(winner, beaten)| separating(&world.kind, &naive[winner], &naive[beaten]));
            match (column, decided) {
                (Some(column), Some(code)) => assert!(codes(column).contains(&code), "{code:?} for {column:?}"),
                (column, code) => assert_eq!((column.is_some(), code), (false, None)),
            }
        });
    }

    #[test]
    fn an_entry_is_elsewhere_only_if_a_selector_of_it_fits_but_for_the_namespace(world in worlds()) {
        let built = Built::new(&world);
        let skipped = built.ask(|hierarchy, question| {
            let ruling = Ruling::explain(hierarchy, question);
            let skipped = ruling.in_state(State::Skip).map(|one| (built.title(one.entry), one.reason.code));
            skipped.collect::<Vec<_>>()
        });
        for (title, code) in skipped {
            let own = world.policies.iter().find(|own| title.starts_with(&format!("{}/{}#", own.namespace, own.name)));
            let fits = own.into_iter().flat_map(|own| &own.selectors).any(|(kind, wants, part, _)| {
                !wants.is_empty() && world.sites.iter().any(|site| match &site.looks {
                    NaiveLooks::Object { object, labels, section, .. } => {
                        object.0 == *kind && section == part && wants.iter().all(|(key, value)| labels.get(key) == Some(value))
                    }
                    NaiveLooks::Listed(_) | NaiveLooks::Own(_) => false,
                })
            });
            prop_assert_eq!(code == Code::SkipNamespace, fits, "{}", title);
        }
    }

    #[test]
    fn nobody_loses_to_himself_and_a_field_is_lost_once(world in worlds()) {
        let built = Built::new(&world);
        built.ask(|hierarchy, question| {
            let ruling = Ruling::explain(hierarchy, question);
            let entry = |place: usize| ruling.answer.order[place].entry;
            for (_, lost) in ruling.answer.losses() {
                assert_ne!(entry(lost.by), entry(lost.to), "{lost:?}");
            }
        });
    }

    /// Whoever sorts by these rungs gets the order that was used.
    #[test]
    fn sorting_by_the_rungs_gives_the_order_of_folding(world in worlds()) {
        let built = Built::new(&world);
        built.ask(|hierarchy, question| {
            let ruling = Ruling::explain(hierarchy, question);
            for later in 1..ruling.answer.order.len() {
                let separation = hierarchy.separation(question, &ruling.answer, later - 1, later);
                assert!(separation.is_none_or(|found| found.order.is_lt()), "{separation:?}");
            }
        });
    }

    #[test]
    fn a_field_holds_for_the_reason_that_its_best_loser_lost_for(world in worlds()) {
        let built = Built::new(&world);
        built.ask(|hierarchy, question| {
            let answer = Ruling::explain(hierarchy, question).answer;
            for field in &answer.fields {
                let reason = hierarchy.why_holds(question, &answer, field);
                // Who lost as a whole lost every field that it sets.
                let hidden = answer.hidden.iter().filter(|lost| lost.value.get(&field.name).is_some());
                let hidden = hidden.filter(|_| field.lost.is_empty());
                match (field.by.len(), field.lost.iter().chain(hidden).min_by_key(|lost| lost.by)) {
                    (1, None) => assert_eq!(reason.code, Code::MergeUncontested),
                    // Who lost to another one already would have lost to the winner, too.
                    (1, Some(lost)) => {
                        let direct = answer::Lost { to: field.by[0], ..lost.clone() };
                        assert_eq!(reason.code, hierarchy.why_lost(question, &answer, &direct).code);
                    }
                    _ => assert_eq!(reason.code, Code::MergeCombined),
                }
            }
        });
    }
}
