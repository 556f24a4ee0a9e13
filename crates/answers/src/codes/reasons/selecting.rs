//! Which of several policies wins, and what stands where none does.

use upheld_model::Code;

use super::Words;

/// What such a reason means; nothing for others.
pub(super) fn words(code: Code) -> Option<Words> {
    Some(match code {
        Code::SelectMoreTags => (
            "more tags",
            "The policy that matches by more tags, both sides together, is more specific.",
            "sources: [{match: {kuma.io/service: '*'}}]   1 tag",
            "sources: [{match: {kuma.io/service: '*', cloud: aws}}]   2 tags",
        ),
        Code::SelectMoreExact => (
            "more exact values",
            "At an equal number of tags, the policy with more exact values wins over wildcards.",
            "{kuma.io/service: web, version: '*'}   1 exact",
            "{kuma.io/service: web, version: v1}   2 exact",
        ),
        Code::SelectFewerWildcards => (
            "fewer wildcards",
            "The kind prefers policies with fewer wildcards.",
            "{kuma.io/service: '*'}",
            "{kuma.io/service: web}",
        ),
        Code::SelectAudienceTags => (
            "a narrower audience",
            "The kind orders policies by the number of tags of their first selector of clients.",
            "sources: [{match: {kuma.io/service: '*'}}]",
            "sources: [{match: {kuma.io/service: web, zone: eu}}]",
        ),
        Code::SelectAudienceExact => (
            "a more exact audience",
            "At an equal number of tags, the audience with more exact values comes first.",
            "sources: [{match: {kuma.io/service: '*'}}]",
            "sources: [{match: {kuma.io/service: web}}]",
        ),
        Code::SelectNewer => (
            "created later",
            "Equally specific policies: the newest wins. Creating a policy anew, as a restore does, flips it.",
            "creationTime: 2025-01-01T00:00:00Z",
            "creationTime: 2025-06-01T00:00:00Z",
        ),
        Code::SelectOlder => (
            "created earlier",
            "Equally specific policies: the oldest wins.",
            "creationTime: 2025-06-01T00:00:00Z",
            "creationTime: 2025-01-01T00:00:00Z",
        ),
        Code::SelectHigherField => (
            "a higher number",
            "The kind ranks by a number of the document, highest first.",
            "priority: 1",
            "priority: 10",
        ),
        Code::SelectLowerField => {
            ("a lower number", "The kind ranks by a number of the document, lowest first.", "order: 10", "order: 1")
        }
        Code::SelectNameOrder => (
            "first by name",
            "Nothing but the order of names separates the two. Legal, silent, and it flips on rename: see UP201.",
            "hc-a beats hc-b",
            "make one of them more specific",
        ),
        Code::SelectIdentity => (
            "first by identity",
            "The ladder of the kind does not separate the two, so their identity does.",
            "rank: [more-tags]",
            "rank: [more-tags, more-exact-tags, name]",
        ),
        Code::SelectOnly => (
            "the only one",
            "No other policy of this kind matches.",
            "one policy for one service, none for the rest",
            "a catch-all policy beside it",
        ),
        Code::SelectCertain => (
            "the best that is certain",
            "It is the best of those that certainly match. A fact is missing, so another one could win: the answer is undecided.",
            "--from kuma.io/service=web,cloud=?",
            "--from kuma.io/service=web,cloud=aws",
        ),
        Code::SelectAggregate => (
            "all apply",
            "Policies of this kind add up: every one that matches counts.",
            "expecting the narrow grant to take the wide one away",
            "removing the wide grant",
        ),
        Code::DefaultStands => (
            "the default stands",
            "No policy of this kind matches; the kind says what that means.",
            "only policies for other services",
            "a catch-all policy: sources and destinations {kuma.io/service: '*'}",
        ),
        Code::DefaultUnknown => (
            "perhaps the default",
            "Nothing certainly matches; whether the default stands depends on a missing fact.",
            "--from kuma.io/service=web,cloud=?",
            "--from kuma.io/service=web,cloud=aws",
        ),
        Code::DefaultNotReached => (
            "the default is not reached",
            "A policy matches, so the default does not count.",
            "expecting the default beside a catch-all policy",
            "no catch-all policy",
        ),
        _ => return None,
    })
}
