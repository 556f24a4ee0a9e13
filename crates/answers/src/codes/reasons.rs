//! Why something happened.

use upheld_model::Code;

use super::Meaning;

/// What a reason means.
pub(super) fn reason(code: Code) -> Meaning {
    let (title, text, bad, good) = match code {
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
        Code::SkipFact => (
            "another proxy",
            "The policy is attached to objects with other labels, names, zones or namespaces.",
            "targetRef: {kind: Dataplane, labels: {app: web}} for a proxy with app: backend",
            "targetRef: {kind: Dataplane, labels: {app: backend}}",
        ),
        Code::SkipNoPart => (
            "nothing to attach to",
            "A proxy without inbounds, listeners and gateway is never matched, not even for what it calls.",
            "networking: {address: 10.0.0.1}",
            "networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web}}]}",
        ),
        Code::SkipOtherPart => (
            "other inbounds",
            "The policy is attached to this proxy, but to other inbounds of it.",
            "sectionName: admin",
            "no sectionName",
        ),
        Code::SkipSection => (
            "no such section",
            "The proxy has no inbound of this name or port.",
            "sectionName: htttp",
            "sectionName: http",
        ),
        Code::SkipOtherTarget => (
            "about another resource",
            "The statement is about other resources than the one in question. One about a service is not about its routes.",
            "to: [{targetRef: {kind: MeshService, name: redis}}] when asked for backend",
            "to: [{targetRef: {kind: Mesh}}]",
        ),
        Code::SkipDangling => (
            "a reference that means nothing",
            "What the statement refers to does not exist: see UP020.",
            "labels: {app: bakend}",
            "labels: {app: backend}",
        ),
        Code::SkipShadow => (
            "only tried",
            "The policy has the label `kuma.io/effect: shadow`, so it does not count yet.",
            "labels: {kuma.io/effect: shadow}",
            "no such label",
        ),
        Code::SkipOtherSection => (
            "about another port",
            "The statement is about another port of the same service.",
            "sectionName: admin when asked for meshservice/backend#http",
            "no sectionName, or meshservice/backend#admin",
        ),
        Code::SkipOtherCaller => (
            "about other callers",
            "The statement is about callers with another identity.",
            "matches: [{spiffeID: {type: Exact, value: spiffe://mesh/other}}]",
            "no matches",
        ),
        Code::SkipSomeCallers => (
            "about some callers only",
            "The statement is about callers with a certain identity, and the question names none.",
            "upheld explain dataplane/backend-1",
            "upheld explain dataplane/backend-1 --from spiffeID=spiffe://mesh/web",
        ),
        Code::SkipTag => (
            "another value",
            "The selector wants another value of a tag.",
            "wants cloud: gcp, the proxy has aws",
            "cloud: aws, or cloud: '*'",
        ),
        Code::SkipTagAbsent => (
            "no such tag",
            "The selector wants a tag that is not there; `*` also wants it to be there. Callers know nothing of a service but its name.",
            "destinations: [{match: {kuma.io/service: backend, version: '*'}}] for a proxy without version",
            "destinations: [{match: {kuma.io/service: backend}}]",
        ),
        Code::SkipNoSelector => (
            "no selector",
            "The list of selectors is empty, so nothing can match.",
            "sources: []",
            "sources: [{match: {kuma.io/service: '*'}}]",
        ),
        Code::UnknownTag => (
            "a value that is not known",
            "The asker said `?`. It may match, so the answer is undecided where it could change.",
            "--from kuma.io/service=web,cloud=?",
            "--from kuma.io/service=web,cloud=aws",
        ),
        Code::DecideDenyOverrides => (
            "one deny outweighs every permit",
            "Under deny-overrides the first deny in order decides, whatever its priority.",
            "a permit of priority 1000 beside a deny of priority 1",
            "no deny applies: the first permit decides",
        ),
        Code::DecidePermitOverrides => (
            "one permit outweighs every deny",
            "Under permit-overrides the first permit in order decides, whatever its priority.",
            "a deny of priority 1000 beside a permit of priority 1",
            "no permit applies: the first deny decides",
        ),
        Code::DecideFirstApplicable => (
            "the first that applies",
            "Under first-applicable the policy with the highest priority that applies decides; at equal priority, the first \
             by position.",
            "two policies of one priority that say opposite things",
            "a priority for each",
        ),
        Code::DecideOnlyOne => (
            "the only one",
            "Under only-one-applicable exactly one member may be about a request; two make the answer undecided.",
            "two sets with overlapping targets",
            "sets with targets that exclude each other",
        ),
        Code::DecideUnlessPermit => (
            "deny unless somebody permits",
            "What could not be computed is hidden by this algorithm: it counts as no permit.",
            "a permit whose condition needs a missing fact",
            "a permit that applies",
        ),
        Code::DecideUnlessDeny => (
            "permit unless somebody denies",
            "What could not be computed is hidden by this algorithm, so a deny whose condition needs a missing fact lets the \
             request go on.",
            "a deny whose condition needs a missing fact",
            "deny-overrides with a default of deny",
        ),
        Code::DecideUnanimous => (
            "all agree",
            "Under unanimous all policies that apply must say the same; otherwise the answer is undecided.",
            "a permit and a deny that both apply",
            "policies that agree",
        ),
        Code::DecidePriority => (
            "the highest priority that applies",
            "Under priority-deny-overrides only the highest priority that applies counts; there, a deny outweighs.",
            "a catch-all deny of priority 0 beside permits of priority 100: the permits stand",
            "a deny of the same priority as the permit",
        ),
        Code::DecideUnopposed => (
            "nothing says otherwise",
            "It applies, and no policy that applies has the other effect, so the algorithm does not matter.",
            "a permit beside a deny that applies as well",
            "a permit alone",
        ),
        Code::DecideSame => (
            "says the same",
            "It applies and has the effect that stands, but another one comes first in order.",
            "priority: 1",
            "priority: 100",
        ),
        Code::DecideOutweighed => (
            "outweighed",
            "It applies, but the algorithm lets the other effect stand.",
            "effect: permit   beside a deny, under deny-overrides",
            "no deny applies",
        ),
        Code::DecideNotReached => (
            "not reached",
            "Under first-applicable, evaluation stopped at a policy before it.",
            "priority: 90   after one of priority 100 that applies",
            "priority: 110",
        ),
        Code::DecideInSet => (
            "decides its set",
            "It decides the set that it is in; another set decides the whole.",
            "a permit in a set, beside a deny outside of it",
            "no deny outside of the set",
        ),
        Code::DecideClash => (
            "the answer is not known",
            "It applies, but beside it stands a policy that nobody can tell of, or that clashes with it.",
            "two members apply under only-one-applicable",
            "one of them applies",
        ),
        Code::DecideDefault => (
            "the default effect",
            "No policy applies, so the default effect of the settings stands.",
            "defaultEffect: permit",
            "defaultEffect: deny",
        ),
        Code::DecideOff => (
            "switched off",
            "The policy has `enabled: false`, so it does not count.",
            "enabled: false",
            "enabled: true",
        ),
        Code::SkipSubject => (
            "another subject",
            "No alternative of its subjects fits who asks.",
            "subjects: [{role: user}]   asked by role admin",
            "subjects: [{role: admin}]",
        ),
        Code::SkipResource => (
            "another resource",
            "No alternative of its resources fits. `*` stays within a segment of a path, `**` does not.",
            "resources: [{path: /api/*}]   asked for /api/users/7",
            "resources: [{path: /api/**}]",
        ),
        Code::SkipAction => (
            "another action",
            "No alternative of its actions fits.",
            "actions: [{method: GET}]   asked for DELETE",
            "actions: [{method: '*'}]",
        ),
        Code::SkipSet => (
            "its set is about something else",
            "The policy would apply, but the target of the set that it is in, or of a set around that, does not fit.",
            "target: {resources: [{path: /shop/**}]}   asked for /other",
            "asked for /shop/cart",
        ),
        Code::SkipCondition => (
            "a condition does not hold",
            "It is about the request, but one of its conditions is false.",
            "conditions: [{type: time, after: '09:00', before: '17:00'}]   asked at 20:00",
            "asked at 12:00",
        ),
        Code::UnknownFact => (
            "a fact is missing",
            "Whether it applies depends on something that the request does not say, or that is of the wrong type. Where that \
             could change the decision, the answer is undecided, and enforcement stops the request.",
            "conditions: [{type: ip, cidr: 10.0.0.0/8}]   asked without an address",
            "asked with --env ip=10.0.0.7",
        ),
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
        Code::ComplyWaived => (
            "waived",
            "A waiver in force covers the violation: it is still seen, and neither refuses a change nor counts.",
            "expiresAt: 2025-01-01T00:00:00Z   expired, so the violation counts",
            "reason: migration until spring, expiresAt: 2027-04-01T00:00:00Z",
        ),
        Code::SkipPair => (
            "about other pairs",
            "The policy compares objects of other kinds than the two in question.",
            "a: {kind: workspace}, b: {kind: project}   asked about a project and a landing zone",
            "a: {kind: project}, b: {kind: landingZone}",
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
    };
    Meaning { code: code.text(), title, text, bad, good }
}
