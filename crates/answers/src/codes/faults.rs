//! What can be wrong with an input.

use upheld_model::Fault;

use super::Meaning;

/// What a fault means.
pub(super) fn fault(fault: Fault) -> Meaning {
    let (title, text, bad, good) = match fault {
        Fault::Syntax => (
            "not valid YAML, JSON or CSV",
            "The text cannot be parsed. Documents before the mistake are read, and reading goes on with the next one.",
            "name: [web",
            "name: [web]",
        ),
        Fault::DuplicateKey => (
            "a key stands twice",
            "Most tools keep one of the two in silence; which one differs from tool to tool.",
            "name: web\nname: backend",
            "name: web",
        ),
        Fault::NotUtf8 => (
            "not UTF-8",
            "The file has bytes that are no UTF-8 text.",
            "a file saved as Latin-1",
            "the same file saved as UTF-8",
        ),
        Fault::Limit => (
            "a limit was passed",
            "Size, depth and the growth of aliases are bounded, so that no file can stop a server. The message names the limit.",
            "a list inside a list inside … 200 times",
            "at most 128 levels",
        ),
        Fault::Unreadable => (
            "cannot be read",
            "A file, folder, glob or git revision is not there or may not be read.",
            "upheld list -f polices/",
            "upheld list -f policies/",
        ),
        Fault::AmbiguousBoolean => (
            "a bare yes, no, on or off",
            "YAML 1.1 tools read it as a boolean, YAML 1.2 tools as text. It is text here; quote it to say so to all.",
            "enabled: yes",
            "enabled: \"yes\"",
        ),
        Fault::UnknownTag => (
            "a YAML tag without a meaning here",
            "Only the tags of YAML's core schema (!!str, !!int, …) are known.",
            "name: !vault web",
            "name: web",
        ),
        Fault::NotRead => (
            "a table or a page that was not read",
            "A table looks like one with objects but has no column that says so, or some pages of a list lie there and others do not. What is \
             in it is missing, so an audit without violations proves nothing.",
            "_embedded: {meshProjects: []}\npage: {number: 0, totalPages: 2}",
            "_embedded: {meshProjects: []}\npage: {number: 0, totalPages: 1}",
        ),
        Fault::UnknownField => (
            "an unknown field",
            "A misspelt field must never mean \"everything\", so fields that nobody reads are refused. What a policy carries as \
             its payload is not checked.",
            "type: TrafficLog\nname: all\nsorces: []\ndestinations: []",
            "type: TrafficLog\nname: all\nsources: []\ndestinations: []",
        ),
        Fault::MissingField => (
            "a field is missing",
            "The document cannot be used without it.",
            "type: TrafficLog\nname: all\nsources: []",
            "type: TrafficLog\nname: all\nsources: []\ndestinations: []",
        ),
        Fault::WrongType => (
            "a value of the wrong type",
            "Tags are text; a number or boolean must be quoted, or 1.10 becomes 1.1.",
            "type: TrafficLog\nname: all\nsources: [{match: {version: 1.10}}]\ndestinations: []",
            "type: TrafficLog\nname: all\nsources: [{match: {version: \"1.10\"}}]\ndestinations: []",
        ),
        Fault::WrongValue => (
            "a value outside what is allowed",
            "The message lists what is allowed.",
            "type: TrafficLog\nname: all\ncreationTime: yesterday\nsources: []\ndestinations: []",
            "type: TrafficLog\nname: all\ncreationTime: 2025-03-01T12:00:00Z\nsources: []\ndestinations: []",
        ),
        Fault::UnknownDocument => (
            "a document that nobody knows",
            "It says no type, or a type that is neither built in nor defined by a PolicyKind. Documents of other Kubernetes \
             groups are left aside with a note.",
            "type: TraficLog\nname: all",
            "type: TrafficLog\nname: all\nsources: []\ndestinations: []",
        ),
        Fault::DefinedTwice => (
            "two documents with one identity",
            "Type, mesh and name together must be unique; otherwise the order of files would decide.",
            "type: Mesh\nname: default\n---\ntype: Mesh\nname: default",
            "type: Mesh\nname: default\n---\ntype: Mesh\nname: other",
        ),
        Fault::BrokenKind => (
            "a PolicyKind that cannot work",
            "The three choices of the kind contradict each other, or name a rung that does not exist.",
            "kind: PolicyKind\nname: Quota\nfamily: select\nmatch: [{field: who, side: source}]\nrank: [most-tags]\nresolve: first",
            "kind: PolicyKind\nname: Quota\nfamily: select\nmatch: [{field: who, side: source}]\nrank: [more-tags, name]\nresolve: first",
        ),
        Fault::FailsOpen => (
            "lets more through than it seems",
            "The edition `access/compat` reproduces the original system, its openings included; each is said here. Under \
             `access/strict` the same policy is refused or means what it says.",
            "conditions: [{type: ip, cidr: 10.0.0.0/8}]   under access/compat: every address passes",
            "conditions: [{type: ip, allowlist: [10.0.0.1]}]",
        ),
        Fault::WildcardsOutrank => (
            "wildcards outrank exact values",
            "The number of tags is compared before exactness, so a policy with more tags wins even if they are wildcards.",
            "three wildcards beat two exact values",
            "give the exact policy as many tags: {kuma.io/service: web, version: '*'}",
        ),
        Fault::Shadowed => (
            "a policy that can never win",
            "Wherever it matches, one other policy goes before: usually one with the same selectors and a name that comes first. \
             What it says never counts.",
            "web-log-a and web-log-b have the same selectors; web-log-a comes first by name",
            "remove web-log-b, or make its selectors more specific",
        ),
        Fault::Covered => (
            "a policy that can never win, because of several others",
            "Wherever it matches, one of a few other policies goes before, so that what it says never counts.",
            "one policy for web and one for backend, each before a third that is for both",
            "remove the third, or make its selectors more specific",
        ),
        Fault::NeverMatches => (
            "a policy that matches nothing",
            "Nothing that was read has the tags that it wants. It may be for something that is not deployed yet, or a tag is misspelt.",
            "sources: [{match: {kuma.io/service: wbe}}]",
            "sources: [{match: {kuma.io/service: web}}]",
        ),
        Fault::ImpossibleMatch => (
            "a policy that can never match",
            "Its conditions contradict each other, it wants something that its kind does not look at, or a part of it is written so that no request meets it.",
            "a condition that a claim is above 5 and one that it is below 3; host: admin.example.com:8443 in a deny",
            "one of them; host: admin.example.com",
        ),
        Fault::Redundant => (
            "a policy that changes nothing",
            "Without it every result is the same: what it decides, others decide in the same way.",
            "permit for role admin on /api/** beside permit for role admin on /**",
            "the second one alone",
        ),
        Fault::SameAsDefault => (
            "a policy that says what holds by default",
            "Wherever it decides, the default would decide in the same way, so without it every result is the same. It may be there so that \
             readers see it; then allow the finding with that reason.",
            "a deny for /admin/** where whatever nobody permits is denied, and nobody permits anything there",
            "no such policy, or a comment that allows it: # upheld: allow UP106 because auditors look for it",
        ),
        Fault::ContradictingTie => (
            "an arbitrary tie-break between policies that disagree",
            "Two policies are equal in every respect and say different things; the order of their names decides. Renaming either \
             one changes results.",
            "hc-a with interval: 10s and hc-b with interval: 30s, with the same selectors",
            "make one more specific, or remove it",
        ),
        Fault::UnstableTie => (
            "policies of one name",
            "Two policies have the same name in two places and are equal in every other respect; only the place that they live in tells which \
             one counts. Moving either one changes results.",
            "retries in the namespace shop and retries in the namespace infra, both for one route",
            "names that say whose they are, and one policy that is more specific",
        ),
        Fault::AgeTie => (
            "the older policy wins",
            "Two policies are equal but for the time at which they were made. Whoever makes one of them again, from a backup or by \
             another name, changes results.",
            "gw-timeout wins because it is older by 41 seconds",
            "make one more specific, or remove it",
        ),
        Fault::DeadField => (
            "a field that counts nowhere",
            "At every place that the policy reaches, another policy sets the field and goes before.",
            "cors in a policy on the gateway, and in one on its only route",
            "remove it from the policy on the gateway",
        ),
        Fault::PartlyDead => (
            "a field that counts almost nowhere",
            "Others override it for nine of ten, or more, of all connections that the policy reaches. It may be a default that nobody needs any more.",
            "a timeout for the whole mesh, where 58 of 60 services have their own",
            "a timeout for the two services that it is for",
        ),
        Fault::SilentReplace => (
            "a policy that takes the place of another one as a whole",
            "Policies of this kind are not merged: where the more specific one counts, nothing of the other one does, also not what only the \
             other one says.",
            "conf: {connectTimeout: 1s}   for shop, beside connectTimeout and idleTimeout for everybody",
            "conf: {connectTimeout: 1s, idleTimeout: 1h}   for shop",
        ),
        Fault::ShallowLoss => (
            "nested settings that are lost",
            "Both policies set a field with settings in it, and the merge takes one of them as it is: settings that only the other one has are lost.",
            "transformation: {request: …}   on the route, transformation: {response: …}   on its rule",
            "transformation: {request: …, response: …}   on the rule, or a deep merge",
        ),
        Fault::ListReplaced => (
            "a list that takes the place of another one",
            "Lists are not added to each other here. Whoever wrote the second list may have meant to add to the first.",
            "allowOrigins: [a, b]   on the gateway, allowOrigins: [c]   on the route",
            "allowOrigins: [a, b, c]   on the route",
        ),
        Fault::StrategyConflict => (
            "levels that want opposite sides to go before",
            "A route that delegates lets its own policies go before, and the one that it delegates to those of its children, or the other way \
             round. Whoever reads one of them expects another winner.",
            "ShallowMergePreferParent on the first route, DeepMergePreferChild on the second",
            "the same preference on both",
        ),
        Fault::Uncovered => (
            "something that no policy of a required kind reaches",
            "Found only if somebody asks for it: `upheld lint --require Timeout`. The default stands there.",
            "upheld lint --require Timeout   where nothing says how long cart-1 may wait",
            "a policy of the kind for cart-1, or for everybody",
        ),
        Fault::NoOwner => (
            "a policy of which nobody says whose it is",
            "Found only if somebody asks for it: `upheld lint --require-owner`. A label, an annotation or a field named `owner`, `team`, `contact`, \
             `maintainer` or `description` says it.",
            "metadata: {name: retries}",
            "metadata: {name: retries, labels: {team: shop}}",
        ),
        Fault::Unreachable => (
            "a policy that is never reached",
            "Policies before it take every request that it is about, so it decides nothing.",
            "lockdown (priority 1000) for /** before user-read (priority 90) for /api/**, first-applicable",
            "priority: 1001   on user-read, or remove it",
        ),
        Fault::Outweighed => (
            "a policy that others always outweigh",
            "Every request that it is about is decided by others under this algorithm, so it decides nothing.",
            "permit on /admin/** beside a deny on /** for everybody, deny-overrides",
            "cut the deny to what it is meant for",
        ),
        Fault::BroadWildcard => (
            "a permit for everybody, on everything, for every action",
            "None of its clauses cuts it to anything. Whatever no other policy denies is permitted.",
            "{effect: permit, subjects: [], resources: [{path: /**}], actions: [{method: '*'}]}",
            "{effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: [{method: '*'}]}",
        ),
        Fault::DefaultDecides => (
            "requests that only the default decides",
            "Found only with a log of requests: `upheld lint --log decisions.jsonl`. No policy is about these requests, so that nobody has decided what they \
             should get; another default would turn all of them round.",
            "GET /metrics, which somebody asks for every minute, and no policy about /metrics",
            "{id: metrics, effect: deny, subjects: [], resources: [{path: /metrics}], actions: []}",
        ),
        Fault::PriorityTie => (
            "equal priorities that disagree",
            "A permit and a deny of the same priority are about the same request; what breaks the tie says nothing about the matter.",
            "priority: 100   on a permit and on a deny for one path",
            "priority: 110   on the one that should decide",
        ),
        Fault::LiteralStar => (
            "a star that is no wildcard",
            "Ids, types, groups and operations are compared as they are written. A star in them matches only what is called so, which is hardly what was meant.",
            "subjects: [{group: '*'}]",
            "subjects: []   means everybody; {role: '*'} means everybody with a role",
        ),
        Fault::IdlePolicy => (
            "a policy that applies to no known request",
            "Found only with a log of requests: `upheld lint --log decisions.jsonl`. Perhaps nobody needs it any more; perhaps the log is too short, or it is for \
             a case that is rare.",
            "{id: old-api, effect: permit, subjects: [], resources: [{path: /v1/**}], actions: []}   where everybody asks for /v2",
            "remove it, or allow the finding with the case that it is for",
        ),
        Fault::AlwaysViolated => (
            "a policy that nobody keeps",
            "Every pair of objects that it is about violates it. Perhaps its tags are not the ones that people use.",
            "a rule about the tag env where everybody writes environment",
            "tags: [environment]",
        ),
        Fault::VacuousPass => (
            "pairs that pass because neither side has the tag",
            "A rule that holds if neither side has the tag says nothing about these pairs. Make the tag mandatory if it should.",
            "9 of 40 pairs pass, and nobody has tagged them",
            "required: true in the definition of the tag",
        ),
        Fault::ExpiredAllowance => (
            "an allowance that does not count",
            "A comment allows a finding until a day that is over, without a reason, or there is nothing that it allows.",
            "# upheld: allow UP201 until 2020-01-01 because of the move",
            "# upheld: allow UP201 until 2030-01-01 because of the move",
        ),
        Fault::ArbitraryTie => (
            "an arbitrary tie-break",
            "Two policies are equal in every respect; the order of their names decides. Renaming either one flips the result.",
            "hc-a and hc-b both match {kuma.io/service: '*'} on both sides",
            "make one more specific, or remove it",
        ),
        Fault::DanglingReference => (
            "a reference to something that is not there",
            "The policy is valid, but what it refers to does not exist (or leads back to itself), so that part of it has no effect. \
             Control planes often do not say so.",
            "type: MeshTimeout\nname: slow\nspec:\n  to:\n  - targetRef: {kind: MeshService, labels: {app: bakend}}\n    \
             default: {idleTimeout: 1h}",
            "type: MeshTimeout\nname: slow\nspec:\n  to:\n  - targetRef: {kind: Mesh}\n    default: {idleTimeout: 1h}",
        ),
        Fault::BadReference => (
            "fields of a reference that do not go together",
            "A targetRef by name and by labels matches by either; fields that its kind does not have mean nothing. Under kuma/3 only \
             labels and sections are read.",
            "type: MeshTimeout\nname: slow\nspec:\n  targetRef: {kind: Dataplane, name: web-1, labels: {app: web}}\n  to: []",
            "type: MeshTimeout\nname: slow\nspec:\n  targetRef: {kind: Dataplane, labels: {app: web}}\n  to: []",
        ),
        Fault::CommonRules => (
            "a type that nobody knows, read by the common rules",
            "Policies with target references match, rank and merge in one way, so a new type is resolved as well. What its \
             configuration means, its defaults and its lists that add up are not known.",
            "type: MeshNovelty\nname: new\nspec:\n  to:\n  - targetRef: {kind: Mesh}\n    default: {limit: 1}",
            "type: MeshTimeout\nname: known\nspec:\n  to:\n  - targetRef: {kind: Mesh}\n    default: {idleTimeout: 1h}",
        ),
        Fault::NotRelated => (
            "things that cannot go together",
            "A relationship between kinds that are not related, or a policy about a pair that there cannot be. A kind of policy \
             says which pairs there are: `upheld kinds show MeshPolicy`.",
            "kind: Compliance\npolicies:\n- {id: env, a: {kind: user, tag: environment}, b: {kind: project, tag: environment}}",
            "kind: Compliance\npolicies:\n- {id: env, a: {kind: principal, tag: environment}, b: {kind: project, tag: environment}}",
        ),
        Fault::LivesTwice => (
            "an object that lives in two others, or in itself",
            "A project has exactly one workspace: by it violations are listed, and with it everything in it goes.",
            "kind: Compliance\nobjects: [{ref: workspace/a}, {ref: workspace/b}, {ref: project/p, workspace: a}]\n\
             relationships: [{a: workspace/b, b: project/p}]",
            "kind: Compliance\nobjects: [{ref: workspace/a}, {ref: project/p, workspace: a}]",
        ),
        Fault::RefusedChange => (
            "a change of the past that would have been refused",
            "Changes beside objects are what happened after the objects were written down. What a right or a tag definition would have \
             refused cannot have happened; the help says why. What a policy would refuse today is a warning: it may be older than the policy, \
             so it is taken as it was done, and what violates since then is recorded.",
            "kind: Changes\nchanges:\n- {at: \"2026-02-03T12:00:00Z\", by: admin, verb: setTags, object: project/nobody, tags: {environment: dev}}",
            "kind: Compliance\nobjects: [{ref: user/ana}]\n---\nkind: Changes\nchanges:\n\
             - {at: \"2026-02-03T12:00:00Z\", by: admin, verb: setTags, object: user/ana, tags: {environment: dev}}",
        ),
        Fault::OutsideSchema => (
            "a tag or value outside the tag schema",
            "As soon as one tag of a kind of objects is defined, its objects and the policies about them can use no others, and \
             no values but those that the definition takes. Options that objects may still carry are `withdrawn`.",
            "kind: Compliance\ntagDefinitions: [{kind: project, key: environment, type: singleSelect, options: [dev, prod]}]\n\
             objects: [{ref: workspace/w}, {ref: project/p, workspace: w, tags: {environment: prd}}]",
            "kind: Compliance\ntagDefinitions: [{kind: project, key: environment, type: singleSelect, options: [dev, prod]}]\n\
             objects: [{ref: workspace/w}, {ref: project/p, workspace: w, tags: {environment: prod}}]",
        ),
        Fault::NoEffect => (
            "something that has no effect",
            "A field that the edition does not read, a policy that needs mutual TLS in a mesh without it, or a policy that is only \
             tried (shadow).",
            "type: MeshTrace\nname: all\nspec:\n  to: []\n  default: {backends: []}",
            "type: MeshTrace\nname: all\nspec:\n  default: {backends: []}",
        ),
        Fault::ListingDiffers => (
            "Kuma's own listing gives another answer",
            "Late releases of Kuma 2 list clients by groups that may overlap, so a client can be found in a cell that is not \
             meant for it. The answer here follows the policies; --semantics kuma/2-cliques shows the listing.",
            "from {p: 1} Allow, {s: 1} Deny, {s: 2} Deny, for a client with p=1 and s=1",
            "items whose tags do not overlap",
        ),
        Fault::OtherEdition => (
            "another edition comes to something else",
            "Releases of one system differ in how policies meet. The note names the fields that are different under another \
             edition: look at them before an upgrade.",
            "upheld explain httproute/shop/cart   with a note about --semantics kgateway/ep-11268",
            "upheld explain httproute/shop/cart --semantics kgateway/ep-11268",
        ),
        Fault::AnsweredDirectly => (
            "no backend is asked",
            "A filter of the rule answers the request by itself, so policies about backends do not matter there.",
            "filters: [{type: ExtensionRef, extensionRef: {kind: DirectResponse, name: gone}}]",
            "backendRefs: [{name: cart, port: 8080}]",
        ),
        Fault::BrokenPolicy => (
            "requests are answered with an error",
            "A policy or a rule is wrong in a way that makes its controller replace the route by an error, so that nothing else \
             that is configured there holds. The note says what is wrong.",
            "backendRefs: [{name: crat, port: 8080}]",
            "backendRefs: [{name: cart, port: 8080}]",
        ),
        Fault::Assumed => (
            "something was not read",
            "A repository rarely holds everything. The answer is about what was read, and the note says what it takes for granted: \
             a Gateway, a parent route, or a namespace whose labels decide who may come in.",
            "parentRefs: [{name: edge}]   without the Gateway `edge`",
            "upheld explain -f routes -f gateways httproute/shop/cart",
        ),
        Fault::NoBackend => (
            "a backend takes no requests",
            "A backend of the rule does not exist, has not this port, or may not be used from here. All policies of the route hold, \
             and requests that go to this backend are answered with 500 then. What was not read may exist elsewhere.",
            "backendRefs: [{name: crat, port: 8080}]",
            "backendRefs: [{name: cart, port: 8080}]",
        ),
        Fault::OpenDefault => (
            "the default effect is permit",
            "Requests that no policy matches are permitted. A policy that is missing, or that has a typo, opens access in silence.",
            "defaultEffect: permit",
            "defaultEffect: deny",
        ),
        Fault::HiddenDoubt => (
            "what is not known is ignored",
            "Under deny-unless-permit and permit-unless-deny a policy that cannot be judged does not count. The note names one that \
             would change the decision if it applied.",
            "upheld explain --subject role=? … under permit-unless-deny",
            "upheld explain --subject role=guest … under permit-unless-deny",
        ),
        Fault::OrderDecides => (
            "only the order decides",
            "Under first-applicable two policies apply that have the same priority and opposite effects. The one that comes first \
             in the store decides: another name of a file, or another place in it, turns the decision round.",
            "priority: 100   on a permit and on a deny that apply to the same request",
            "priority: 110   on the one that should decide",
        ),
        Fault::NotFound => (
            "no such name",
            "Nothing that was read has this name. The nearest name is suggested.",
            "upheld explain --from wbe-1 --to backend-1",
            "upheld explain --from web-1 --to backend-1",
        ),
        Fault::Forbidden => (
            "not for this person",
            "The role that was named with `--as` may not see or do this.",
            "upheld audit --as workspaceMember@workspace/shop",
            "upheld audit --as workspaceOwner@workspace/shop",
        ),
        Fault::Moved => (
            "something moved",
            "The plan was made from other files or other changes. Look at the new one, then use its id.",
            "upheld what-if changes.yaml --plan 000000000000",
            "upheld what-if changes.yaml",
        ),
        Fault::Ambiguous => (
            "a name that several things have",
            "Say which one is meant; the message has the words to paste.",
            "upheld explain --from web --to backend",
            "upheld explain --from dataplane/web --to service/backend",
        ),
        Fault::IncompleteQuestion => (
            "a question that lacks an end",
            "A kind that chooses one policy needs both ends of the connection that it looks at.",
            "upheld explain --kind TrafficLog --from web-1",
            "upheld explain --kind TrafficLog --from web-1 --to backend-1",
        ),
        Fault::BadSetting => (
            "a setting that cannot be used",
            "A flag, an environment variable or a line of upheld.yaml has a value that does not exist.",
            "upheld list --semantics kuma/0.33",
            "upheld list --semantics kuma/0.3",
        ),
    };
    Meaning { code: fault.code(), title, text, bad, good }
}
