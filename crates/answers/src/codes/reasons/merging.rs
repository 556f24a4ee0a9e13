//! How layers of configuration are merged.

use upheld_model::Code;

use super::Words;

/// What such a reason means; nothing for others.
pub(super) fn words(code: Code) -> Option<Words> {
    Some(match code {
        Code::MergeRung => (
            "higher or lower on a rung",
            "Layers are ordered by the rungs of their kind: `upheld kinds` shows them. What a better layer sets, a worse one cannot.",
            "targetRef: {kind: Mesh}",
            "targetRef: {kind: Dataplane}   more specific",
        ),
        Code::MergeNameOrder => (
            "first by name",
            "Nothing but the order of names separates the two layers. It flips on rename: see UP201.",
            "timeout-a beats timeout-b",
            "attach one of them to something more specific",
        ),
        Code::MergeLaterItem => (
            "later in the same list",
            "Two items of one policy speak about the same; the later one counts more.",
            "to: [{… 1s}, {… 2s}]   the second wins",
            "one item",
        ),
        Code::MergeIdentity => (
            "first by identity",
            "Even the names that people gave are equal, so the full names with their namespaces decide.",
            "timeout in namespace a and timeout in namespace b",
            "different names",
        ),
        Code::MergeLastIdentity => (
            "last by identity",
            "Nothing but the full names separates the two, and this kind lets the last one count. It flips on rename.",
            "quota-a and quota-b, created in the same second",
            "different creation times, or one policy",
        ),
        Code::MergePlainField => (
            "a field that cannot be combined",
            "In a deep merge, fields that cannot be combined go to one side as a whole: by kgateway's code to the child, whatever \
             the annotation prefers.",
            "DeepMergePreferParent, and expecting the cors of the parent",
            "ShallowMergePreferParent",
        ),
        Code::MergeLastPosition => (
            "a later filter",
            "Of several references of this sort the last one counts.",
            "the first ExtensionRef to a DirectResponse",
            "the last ExtensionRef to a DirectResponse",
        ),
        Code::MergeOverrides => (
            "overrides before defaults",
            "What a policy overrides goes before what another gives as a default, wherever the two are attached.",
            "defaults: {limit: 10}",
            "overrides: {limit: 10}",
        ),
        Code::MergeFromAbove => (
            "overridden from above",
            "A wider policy overrides: what is nearer to the target cannot change it.",
            "defaults: {limit: 10} on the route",
            "overrides: {limit: 10} on the gateway",
        ),
        Code::MergeHigherNumber => (
            "a higher number",
            "The kind ranks policies by a number of theirs; the highest goes first, and none goes last.",
            "priority: 1",
            "priority: 10",
        ),
        Code::MergeLowerNumber => (
            "a lower number",
            "The kind ranks policies by a number of theirs; the lowest goes first, and none goes last.",
            "order: 10",
            "order: 1",
        ),
        Code::MergeNewer => (
            "newer",
            "Among policies that are attached alike, the newer one goes first under this kind.",
            "creationTimestamp: 2025-01-01T00:00:00Z",
            "creationTimestamp: 2025-06-01T00:00:00Z",
        ),
        Code::MergeBuiltIn => (
            "the rule itself",
            "Filters, timeouts and retries of a rule go before any policy.",
            "a timeout in a policy of the route, and another in the rule",
            "no timeout in the rule",
        ),
        Code::MergeSwitchedOff => (
            "switched off",
            "One policy turns the feature off, so that what others configure of it does not count.",
            "extAuth: {disable: {}} beside extAuth: {extensionRef: …}",
            "no policy that disables it",
        ),
        Code::MergeKnown => (
            "already configured",
            "Another policy configures the same thing first, so that saying it again adds nothing.",
            "the same provider in two policies that are combined",
            "different providers",
        ),
        Code::MergeUncontested => (
            "nobody else sets it",
            "No other policy that is attached here sets this field.",
            "expecting a second opinion on the field",
            "one policy that sets it",
        ),
        Code::MergeCombined => (
            "several policies in one field",
            "The field is combined from several policies; each of them is listed with it.",
            "expecting the first policy to replace the others",
            "reading all policies that the field comes from",
        ),
        Code::MergeSilent => (
            "sets nothing",
            "The policy is attached here, but sets no field, so it cannot win or lose one.",
            "spec: {targetRefs: […]}",
            "spec: {targetRefs: […], cors: {…}}",
        ),
        Code::MergeLevel => (
            "the nearer or the wider route",
            "Routes that delegate have policies of their own; the annotation kgateway.dev/inherited-policy-priority of the delegating \
             route says which of them is preferred.",
            "expecting the parent to win without the annotation",
            "kgateway.dev/inherited-policy-priority: ShallowMergePreferParent",
        ),
        Code::MergeAttachment => (
            "a stronger form of attachment",
            "A policy that a filter of the rule names goes before those that name the route.",
            "targetRefs: [{kind: HTTPRoute, name: shop}]",
            "filters: [{type: ExtensionRef, extensionRef: {kind: TrafficPolicy, name: strict}}]",
        ),
        Code::MergePosition => (
            "an earlier filter",
            "Policies that filters name keep the order of the filters.",
            "the second ExtensionRef",
            "the first ExtensionRef",
        ),
        Code::MergeSection => (
            "a part before the whole",
            "A policy that names a rule or listener (sectionName) goes before one that names the whole.",
            "targetRefs: [{kind: HTTPRoute, name: shop}]",
            "targetRefs: [{kind: HTTPRoute, name: shop, sectionName: rule0}]",
        ),
        Code::MergeWeight => (
            "heavier",
            "Among policies of one kind that are attached alike, the one with the larger kgateway.dev/policy-weight goes first.",
            "kgateway.dev/policy-weight: \"1\"",
            "kgateway.dev/policy-weight: \"10\"",
        ),
        Code::MergeOlder => (
            "older",
            "Among policies that are attached alike, the older one goes first. Creating it anew gives its place away.",
            "creationTimestamp: 2025-06-01T00:00:00Z",
            "creationTimestamp: 2025-01-01T00:00:00Z",
        ),
        Code::MergeNotPassedOn => (
            "requests are not passed on here",
            "A rule that redirects or answers by itself has no backend, so timeouts, retries and rewrites have no effect there.",
            "timeouts: {request: 10s}   on a rule with a RequestRedirect",
            "timeouts: {request: 10s}   on a rule with backendRefs",
        ),
        Code::MergeNotAtReference => (
            "not looked at where a rule refers to a backend",
            "How requests are passed on (timeouts, retries, rewrites, mirrors) is a matter of the rule. A policy in the filters of one of its backendRefs sets it in vain.",
            "timeouts: {request: 10s}   in a TrafficPolicy that a backendRef refers to",
            "timeouts: {request: 10s}   in a TrafficPolicy that the rule refers to",
        ),
        Code::MergeScope => (
            "hidden by a nearer scope",
            "What a route, a host and a gateway say is not merged: the nearest of them that has the field counts.",
            "a transformation on the Gateway and another on the route",
            "both in policies of the route",
        ),
        Code::MergeOnly => (
            "the only layer",
            "No other policy of this kind speaks here.",
            "one policy for one service, none for the rest",
            "a policy for the mesh below it",
        ),
        Code::MergeSets => (
            "sets some fields",
            "The result has fields of several policies; each field shows its own origin and what it overrode.",
            "expecting the better policy to replace the other as a whole",
            "setting the field in the better policy, too",
        ),
        _ => return None,
    })
}
