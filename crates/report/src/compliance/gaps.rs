//! What an audit cannot have looked at: then that it found nothing proves nothing.

use serde::Serialize;
use upheld_engine::comply::{Filter, Level, Policy, Subject};
use upheld_governance::Organisation;
use upheld_model::Files;
use upheld_model::nearest::nearest;

use super::At;
use crate::Phrase;
use crate::sentences::Gap;

/// Something that was not looked at.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unseen {
    /// What, and why.
    #[serde(flatten)]
    pub gap: Phrase,
    /// Where it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// What an organisation has no evidence for, within a filter.
pub fn gaps(organisation: &Organisation, files: &Files, filter: &Filter) -> Vec<Unseen> {
    let comply = organisation.comply();
    let wanted = |policy: &&Policy| filter.policy.as_ref().is_none_or(|wanted| *wanted == policy.id);
    let policies: Vec<&Policy> =
        comply.policies().into_iter().filter(|policy| policy.level != Level::Off).filter(wanted).collect();
    let mut found = Vec::new();
    let kinds: Vec<_> =
        policies.iter().filter_map(|policy| comply.profile().pair(policy.a, policy.b)).map(|(kind, _)| kind).collect();
    let Filter { scopes, object, kinds: of, policy } = filter;
    // Whoever looks at one object may well find nothing that it has to agree with.
    let whole = scopes.is_none() && object.is_none() && of.is_none() && policy.is_none();
    if whole && !policies.is_empty() && !comply.pairs(filter).any(|pair| kinds.contains(&pair.kind)) {
        found.push(Unseen { gap: Gap::NoPairs { policies: policies.len() }.into(), at: None });
    }
    for policy in policies {
        let sides = policy.rules.iter().flat_map(|rule| [(policy.a, &rule.a), (policy.b, &rule.b)]);
        for (subject, tag) in sides {
            if let Some(nearest) = unknown(organisation, subject, tag) {
                let kind = comply.profile().subject_name(subject).to_owned();
                let gap = Gap::UnknownTag { policy: policy.id.to_string(), kind, tag: tag.to_string(), nearest };
                found.push(Unseen { gap: gap.into(), at: policy.at.and_then(|at| At::of(files, at)) });
            }
        }
    }
    found
}

/// Whether there are objects of a subject and none has a tag that nobody defines; with the tag that was perhaps meant.
#[expect(clippy::option_option, reason = "a tag that is unknown may have no other that is like it")]
fn unknown(organisation: &Organisation, subject: Subject, tag: &str) -> Option<Option<String>> {
    if organisation.schema().definition(subject, tag).is_some() {
        return None;
    }
    let comply = organisation.comply();
    let mut known: Vec<String> = Vec::new();
    let mut any = false;
    for object in comply.objects_counted_as(subject) {
        any = true;
        for (key, values) in comply.tags_of(object) {
            if key == tag && !values.is_empty() {
                return None;
            }
            if !known.iter().any(|own| *own == key) {
                known.push(key.to_string());
            }
        }
    }
    known.sort_unstable();
    any.then(|| nearest(tag, known.iter().map(String::as_str)).map(str::to_owned))
}
