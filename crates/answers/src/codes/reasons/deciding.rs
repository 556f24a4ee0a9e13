//! How decisions are combined, and why a policy does not count.

use upheld_model::Code;

use super::Words;

/// What such a reason means; nothing for others.
pub(super) fn words(code: Code) -> Option<Words> {
    Some(match code {
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
            "no matching policy disagrees",
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
        Code::DecideSetDefault => (
            "the default of a set",
            "No policy of a set applies, and the set has a default: that is what the set says, and nobody outside of it says more.",
            "default: deny   in a PolicySet of which no policy applies",
            "a policy of the set that applies",
        ),
        Code::OffBroken => (
            "something is wrong with it",
            "A policy with an error, for example a reference to something that is not there, makes its target answer with an error.",
            "extAuth: {extensionRef: {name: nobody}}",
            "a GatewayExtension of that name",
        ),
        Code::OffDiscarded => (
            "another policy here is broken",
            "Where one policy is broken, nothing of the others is applied either.",
            "a sound policy beside a broken one",
            "mending the broken one",
        ),
        Code::OffSharedPort => (
            "plain listeners share a port",
            "All plain listeners of a port are received alike, so a policy for clients must name all of them or none.",
            "targetRefs: [{kind: Gateway, name: web, sectionName: a}]   a and b are on port 80",
            "targetRefs: [{kind: Gateway, name: web}]",
        ),
        Code::OffPlainListener => (
            "one plain listener cannot have settings of its own",
            "All plain listeners of a port are served alike, so settings of connections hold for the whole Gateway there. On a \
             listener with a certificate they hold for that listener.",
            "a ListenerPolicy with targetRefs: [{kind: Gateway, name: web, sectionName: http}]",
            "targetRefs: [{kind: Gateway, name: web}]",
        ),
        Code::OffReplaced => (
            "the rule answers with an error",
            "Something is wrong with the rule itself, so that it answers every request with an error and no policy is applied.",
            "a rule without backendRefs and without a filter that answers",
            "a rule that passes requests on",
        ),
        Code::OffOtherController => (
            "another controller runs the gateway",
            "The GatewayClass of the Gateway names a controller that does not know policies of this kind, so nobody applies them. \
             Where the class was not read, its controller is taken for one that knows them.",
            "an Envoy Gateway SecurityPolicy on a route whose Gateway has gatewayClassName: kgateway",
            "a policy of the controller that runs the Gateway",
        ),
        Code::OffNotGranted => (
            "nobody grants it",
            "It selects an object of another namespace. That takes effect only if a ReferenceGrant there names the type and the \
             namespace of the policy under `from`, and the type of the object under `to`. \
             A grant that was not read is taken not to exist, and a note says so.",
            "targetSelectors: [{kind: HTTPRoute, namespaces: {from: All}}]   without a ReferenceGrant",
            "a ReferenceGrant in the namespace of the route",
        ),
        Code::DecideOff => (
            "switched off",
            "The policy has `enabled: false`, so it does not count.",
            "enabled: false",
            "enabled: true",
        ),
        _ => return None,
    })
}
