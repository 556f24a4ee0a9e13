//! An index that was changed answers as one that was built, and shares what did not change.

use proptest::prelude::*;

use super::super::*;
use super::world::{Built, policies, policy_of, worlds};
use crate::ask::{Scratch, ask};
use crate::snapshot::PolicyId;
use crate::witness::{Everything, Silent};

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_index_answers_as_a_built_one(
        world in worlds(), changes in prop::collection::vec((policies(), any::<bool>()), 1..4),
    ) {
        let mut built = Built::new(&world);
        let mut now = world.clone();
        for (changed, gone) in changes {
            for policy in changed {
                let mut symbols = built.symbols.borrow_mut();
                let real = policy_of(&policy, &world.kind, &mut symbols);
                built.hierarchy.remove(real.scope, real.name);
                built.broken.retain(|known| *known != (real.scope, real.name));
                now.policies.retain(|known| (&known.namespace, &known.name) != (&policy.namespace, &policy.name));
                if !gone {
                    built.hierarchy.put(PolicyId::new(0), &real, &symbols);
                    built.broken.extend(policy.broken.then_some((real.scope, real.name)));
                    now.policies.push(policy);
                }
            }
            built.look_at(&world.kind);
            let anew = Built::new(&now);
            let told = |built: &Built, effective: Effective| {
                let fields = effective.fields.into_iter().map(|field| {
                    let names = |places: &[usize]| -> Vec<String> {
                        places.iter().map(|place| built.title(effective.order[*place].entry)).collect()
                    };
                    let lost: Vec<_> = field.lost.iter().map(|lost| names(&[lost.by, lost.to])).collect();
                    (field.title(), field.value, names(&field.by), lost)
                });
                (fields.collect::<Vec<_>>(), effective.broken.len())
            };
            let of = |built: &Built| {
                built.ask(|hierarchy, question| {
                    let silent = ask(hierarchy, question, &mut Scratch::default(), &mut Silent);
                    let sweep = ask(hierarchy, question, &mut Scratch::default(), &mut Everything::default());
                    assert_eq!(silent, sweep);
                    silent
                })
            };
            prop_assert_eq!(built.hierarchy.len(), now.policies.len());
            prop_assert_eq!(told(&built, of(&built)), told(&anew, of(&anew)));
        }
    }
}
