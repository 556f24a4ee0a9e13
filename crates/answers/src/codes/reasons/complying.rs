//! What rules about the tags of related objects come to.

use upheld_model::Code;

use super::Words;

/// What such a reason means; nothing for others.
pub(super) fn words(code: Code) -> Option<Words> {
    Some(match code {
        Code::ComplyCommon => (
            "a value in common",
            "Both sides carry at least one common value in the tags that the rule compares.",
            "project environment [prod], workspace environment [dev]",
            "project environment [prod], workspace environment [dev, prod]",
        ),
        Code::ComplyWithin => (
            "all values are allowed",
            "Every value of the second side is among those of the first, as the strategy subset wants.",
            "workspace environment [dev], project environment [dev, prod]",
            "workspace environment [dev, prod], project environment [dev]",
        ),
        Code::ComplyBothEmpty => (
            "neither side carries the tag",
            "Two sides without values comply by rule. Nothing was compared, so such a pass is no evidence.",
            "project without environment, workspace without environment",
            "project environment [dev], workspace environment [dev]",
        ),
        Code::ComplyDisjoint => (
            "nothing in common",
            "Both sides carry values, and none of them is the same. Values are compared letter by letter.",
            "project environment [prod], workspace environment [dev, test, qa]",
            "project environment [dev], workspace environment [dev, test, qa]",
        ),
        Code::ComplyOneEmpty => (
            "only one side carries the tag",
            "A side without values does not match one with values. To make an offer universal, tag it with all values.",
            "project environment [dev], landing zone without environment",
            "project environment [dev], landing zone environment [dev, qa, prod]",
        ),
        Code::ComplyNotSubset => (
            "values outside the allowed set",
            "The strategy subset wants every value of the second side among those of the first.",
            "workspace environment [dev], project environment [dev, prod]",
            "workspace environment [dev, prod], project environment [dev, prod]",
        ),
        Code::ComplyPresent => (
            "the tag has a value",
            "The policy wants a value of the tag on every object that it is about, and this one has it.",
            "resource without cost-centre",
            "resource cost-centre [4711]",
        ),
        Code::ComplyAllowed => (
            "all values are allowed",
            "Every value of the tag is one of those that the policy lists.",
            "resource environment [prodd], allowed: [dev, qa, prod]",
            "resource environment [prod], allowed: [dev, qa, prod]",
        ),
        Code::ComplyUntagged => (
            "the tag has no value, which is allowed",
            "The policy lists the values that the tag may have, and does not ask for one. Such a pass is no evidence.",
            "resource without environment, allowed: [dev, qa, prod]",
            "resource environment [dev], required: true, allowed: [dev, qa, prod]",
        ),
        Code::ComplyAbsent => (
            "the tag has no value",
            "The policy wants a value of the tag on every object that it is about.",
            "resource without cost-centre, required: true",
            "resource cost-centre [4711], required: true",
        ),
        Code::ComplyNotAllowed => (
            "values that are not allowed",
            "The tag has a value that the policy does not list. Values are compared letter by letter.",
            "resource environment [prodd], allowed: [dev, qa, prod]",
            "resource environment [prod], allowed: [dev, qa, prod]",
        ),
        Code::SkipNotSelected => (
            "out of scope: not selected",
            "The policy is cut to some objects by `where`, and this one is none of them.",
            "where: {tags: {environment: prod}}   asked about a resource with environment [dev]",
            "where: {tags: {environment: [dev, prod]}}",
        ),
        Code::SkipExcepted => (
            "out of scope: left out",
            "The policy leaves out some objects by `except`, and this is one of them.",
            "except: {ref: resource/legacy}   asked about resource/legacy",
            "except: {ref: resource/other}",
        ),
        Code::ComplyWaived => (
            "waived",
            "A waiver in force covers the violation: it is still seen, and neither refuses a change nor counts.",
            "expiresAt: 2025-01-01T00:00:00Z   expired, so the violation counts",
            "reason: migration until spring, expiresAt: 2027-04-01T00:00:00Z",
        ),
        Code::ComplyExempt => (
            "the scope is left alone",
            "The settings exempt the provider's own workspaces: policies look at nothing that lives in one.",
            "settings: {exemptPartnerWorkspaces: true}   the workspace has class: partner",
            "settings: {exemptPartnerWorkspaces: false}",
        ),
        Code::SkipPair => (
            "about other pairs",
            "The policy compares objects of other kinds than the two in question.",
            "a: {kind: workspace}, b: {kind: project}   asked about a project and a landing zone",
            "a: {kind: project}, b: {kind: landingZone}",
        ),
        _ => return None,
    })
}
