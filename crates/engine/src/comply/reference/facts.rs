//! The facts of the engine as plain texts: what is there, but nothing that it made of it.

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::super::{Comply, Finding, Partner, Partners, Policy, Profile, Selection, Selector, Waiver};
use super::{
    NaiveEdition, NaiveLink, NaiveOrganisation, NaivePolicy, NaiveSelection, NaiveSelector, NaiveViolation, NaiveWaiver,
};

fn text(text: impl AsRef<str>) -> String {
    text.as_ref().to_owned()
}

impl NaiveOrganisation {
    /// What the engine was reported, for the naive way to judge.
    pub fn of(comply: &Comply, edition: NaiveEdition, now: Timestamp) -> Self {
        let ids = comply.objects();
        let exempt = ids
            .iter()
            .filter(|id| comply.described(**id).is_some_and(|own| own.partner == Partner::Yes))
            .filter(|_| comply.partners() == Partners::Exempt);
        let tags = |id| {
            let tags = comply.tags_of(id).into_iter();
            tags.map(|(key, values)| (text(key), values.iter().map(text).collect())).collect()
        };
        let links = ids.iter().flat_map(|id| comply.links_of(*id)).map(|(_, link)| NaiveLink {
            a: text(comply.reference(link.a)),
            b: text(comply.reference(link.b)),
            role: link.role.filter(|role| comply.is_live(*role)).map(|role| text(comply.reference(role))),
        });
        Self {
            edition,
            now,
            exempt: exempt.map(|id| text(comply.reference(*id))).collect(),
            objects: ids.iter().map(|id| (text(comply.reference(*id)), tags(*id))).collect(),
            links: links.collect(),
            policies: comply.policies().into_iter().map(|policy| NaivePolicy::of(policy, comply.profile())).collect(),
            waivers: comply.waivers().iter().map(NaiveWaiver::of).collect(),
        }
    }
}

impl NaivePolicy {
    fn of(policy: &Policy, profile: &Profile) -> Self {
        Self {
            id: text(&policy.id),
            a: text(profile.subject_name(policy.a)),
            b: text(profile.subject_name(policy.b)),
            rules: policy.rules.iter().map(|rule| (text(&rule.a), text(&rule.b))).collect(),
            strategy: policy.strategy,
            values: policy.values.iter().map(text).collect(),
            only: policy.only.each_ref().map(NaiveSelection::of),
            level: policy.level,
            enforce_from: policy.enforce_from,
        }
    }
}

impl NaiveSelection {
    fn of(selection: &Selection) -> Self {
        let all = |selectors: &[Selector]| selectors.iter().map(NaiveSelector::of).collect();
        Self { among: all(&selection.among), except: all(&selection.except) }
    }
}

impl NaiveSelector {
    fn of(selector: &Selector) -> Self {
        let texts = |all: &[SmolStr]| all.iter().map(text).collect::<Vec<String>>();
        Self {
            tags: selector.tags.iter().map(|(key, values)| (text(key), texts(values))).collect(),
            objects: texts(&selector.objects),
            scopes: texts(&selector.scopes),
        }
    }
}

impl NaiveWaiver {
    fn of(waiver: &Waiver) -> Self {
        Self {
            id: text(&waiver.id),
            policy: text(&waiver.policy),
            a: waiver.a.as_ref().map(text),
            b: waiver.b.as_ref().map(text),
            scope: waiver.scope.as_ref().map(text),
            reason: text(&waiver.reason),
            not_before: waiver.not_before,
            expires: waiver.expires,
        }
    }
}

impl NaiveViolation {
    /// A violation as the engine tells it.
    pub fn of(violation: &Finding) -> Self {
        Self {
            scope: violation.scope.as_ref().map(text),
            policy: text(&violation.policy),
            rule: violation.rule,
            a: text(&violation.a.object),
            a_values: violation.a.values.iter().map(text).collect(),
            b: text(&violation.b.object),
            b_values: violation.b.values.iter().map(text).collect(),
            level: violation.level,
            state: violation.state,
            waiver: violation.waiver.as_ref().map(text),
        }
    }
}
