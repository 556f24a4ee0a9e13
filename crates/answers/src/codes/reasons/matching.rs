//! Why a policy does not match, or nobody can tell.

use upheld_model::Code;

use super::Words;

/// What such a reason means; nothing for others.
pub(super) fn words(code: Code) -> Option<Words> {
    Some(match code {
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
        Code::SkipOtherObject => (
            "attached to something else",
            "Its target references name another object.",
            "targetRefs: [{kind: HTTPRoute, name: shop}]   asked about HTTPRoute cart",
            "targetRefs: [{kind: HTTPRoute, name: cart}]",
        ),
        Code::SkipLabel => (
            "another label",
            "Its target selectors want a label that the object does not have, or has with another value.",
            "targetSelectors: [{kind: HTTPRoute, matchLabels: {team: a}}]   the route has team: b",
            "metadata: {labels: {team: a}}",
        ),
        Code::SkipNamespace => (
            "about another namespace",
            "The type and the labels are those that it selects, and the namespace is not: policies select in their own namespace \
             unless `namespaces` says otherwise.",
            "targetSelectors: [{kind: HTTPRoute, matchLabels: {team: a}}]   the route is in another namespace",
            "targetSelectors: [{kind: HTTPRoute, matchLabels: {team: a}, namespaces: {from: All}}]",
        ),
        Code::SkipUnattached => (
            "attached to nothing",
            "It has neither target references nor target selectors; only what refers to it makes it count.",
            "spec: {cors: {…}}",
            "spec: {targetRefs: [{kind: HTTPRoute, name: shop}], cors: {…}}",
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
        Code::SkipTagsApart => (
            "tags of different inbounds",
            "Each tag that the selector wants is there, but one inbound must have all of them.",
            "wants {kuma.io/service: web-admin, version: v1}; the inbound of web-admin has no version",
            "kuma.io/service: web-admin",
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
        _ => return None,
    })
}
