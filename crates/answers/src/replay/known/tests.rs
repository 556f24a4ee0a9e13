//! Laws: what is counted over lines is what asking every request by itself comes to.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};

use super::{Known, Lines};
use upheld_report::Candidate;

use crate::shifts::tests::options;
use crate::suppose::tests::{Document, access_policy};
use crate::{Words, World};

fn request() -> impl Strategy<Value = Json> {
    let parts = (
        select(&["staff", "guest"][..]),
        select(&["GET", "POST"][..]),
        select(&["/orders/7", "/orders/8", "/own/1", "/x"][..]),
    );
    parts.prop_map(|(role, method, path)| {
        json!({"subject": {"roles": [role]}, "action": {"method": method}, "resource": {"path": path}})
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn who_decides_known_requests_is_who_decides_each_of_them(
        policies in (0..4).map(access_policy).collect::<Vec<_>>(), requests in proptest::collection::vec(request(), 1..8),
    ) {
        let input = |document: &Document| Input::text(format!("{}.yaml", document.id), Format::Yaml, document.text.clone());
        let loaded = load(policies.iter().map(input).collect(), &[]).expect("can be read");
        let options = options();
        let world = World::new(&loaded.snapshot, &options);
        let mut known = Known::new(&world).expect("policies");
        let mut lines: Vec<String> = requests.iter().map(Json::to_string).collect();
        lines.extend([String::new(), "nonsense".to_owned()]);
        for piece in lines.chunks(3) {
            known.lines(Lines { file: "log", first: 1, lines: piece });
        }
        let known = known.finish();
        let (mut by_default, mut applied) = (0, BTreeSet::new());
        for request in &requests {
            let words = Words { request: Some(request.clone()), ..Words::default() };
            let answer = world.question(&words).and_then(|question| world.answer(&question)).expect("is answered");
            for report in answer.reports {
                by_default += u64::from(report.is_by_default());
                applied.extend(report.candidates.into_iter().filter(Candidate::matched).map(|one| one.policy));
            }
        }
        prop_assert_eq!((known.requests, known.by_default, known.unreadable), (requests.len() as u64, by_default, 1));
        prop_assert_eq!(known.example.is_some(), by_default > 0);
        let idle: BTreeSet<String> = policies.iter().map(|one| one.id.clone()).filter(|id| !applied.contains(id)).collect();
        prop_assert_eq!(known.idle, idle);
    }
}
