//! Laws: what is counted over classes is what asking everything by itself comes to.

use std::collections::BTreeMap;

use proptest::prelude::*;
use upheld_loader::load::Loaded;
use upheld_report::{Candidate, Report};

use super::{Death, Survival};
use crate::shifts::tests::{asked, loaded, options, pairs, worlds};
use crate::{Words, World};

/// What becomes of a policy with one field, question by question.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    results: u64,
    stands: u64,
    loses: BTreeMap<(String, String), u64>,
}

impl Counted {
    fn add(&mut self, reports: &[Report], policy: &str) {
        for report in reports {
            let own = |one: &&Candidate| one.policy == policy && one.matched();
            let Some(first) = report.candidates.iter().find(own) else { continue };
            self.results += 1;
            if report.candidates.iter().filter(own).any(Candidate::stands) {
                self.stands += 1;
            } else {
                let to = report.standing().first().map(|name| (*name).to_owned()).unwrap_or_default();
                *self.loses.entry((to, first.reason.text.clone())).or_default() += 1;
            }
        }
    }

    fn told(survival: &Survival) -> Self {
        Self { results: survival.results, stands: survival.stands, loses: by_whom(&survival.loses) }
    }
}

fn by_whom(deaths: &[Death]) -> BTreeMap<(String, String), u64> {
    deaths.iter().map(|death| ((death.to.clone(), death.because.clone()), death.results)).collect()
}

/// Everything that a proxy gets by the policies of a kind.
fn of_proxy(all: &Loaded, kind: &str, proxy: &str) -> Vec<Report> {
    let options = options();
    let world = World::new(&all.snapshot, &options);
    let [kind, what] = [kind, proxy].map(|word| Some(word.to_owned()));
    let question = world.question(&Words { kind, what, ..Words::default() });
    question.and_then(|question| world.answer(&question)).map(|answer| answer.reports).unwrap_or_default()
}

fn naively(all: &Loaded, kind: &str, policy: &str) -> Counted {
    let mut counted = Counted::default();
    let pairs = pairs(all, kind);
    if kind == "MeshTimeout" {
        let callers: std::collections::BTreeSet<&String> = pairs.iter().map(|(from, _)| from).collect();
        for proxy in callers {
            counted.add(&of_proxy(all, kind, proxy), policy);
        }
    } else {
        for (from, to) in &pairs {
            counted.add(&asked(all, kind, from, to).expect("is answered"), policy);
        }
    }
    counted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn numbers_over_classes_are_those_of_asking_each([documents, _] in worlds(), twice: bool) {
        // Some proxies have a second port, so that they get more than others of their class.
        let second = |text: &String| text.replace("inbound:\n", "inbound:\n  - {port: 81, tags: {kuma.io/service: web}}\n");
        let documents: Vec<String> =
            documents.iter().map(|text| if twice && text.contains("name: proxy-1\n") { second(text) } else { text.clone() }).collect();
        let (all, options) = (loaded(&documents), options());
        let world = World::new(&all.snapshot, &options);
        for (_, policy) in all.snapshot.policies().iter() {
            let [kind, name] = [policy.kind, policy.name].map(|symbol| all.snapshot.text(symbol));
            let Some(survival) = world.survival(name).expect("few") else {
                prop_assert_eq!(naively(&all, kind, name).results, 0);
                continue;
            };
            prop_assert_eq!(Counted::told(&survival), naively(&all, kind, name), "{} {}: {:#?}", kind, name, survival);
            // The one field of a policy shares its fate.
            for fate in &survival.fields {
                prop_assert_eq!((fate.lives, fate.of), (survival.stands, survival.results), "{:#?}", survival);
                prop_assert_eq!(fate.dies.iter().map(|death| death.results).sum::<u64>(), fate.of - fate.lives);
            }
            let fields = usize::from(kind != "TrafficPermission" && survival.results > 0);
            prop_assert_eq!(survival.fields.len(), fields, "{:#?}", survival);
        }
    }
}
