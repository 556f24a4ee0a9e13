//! What every code means, with a bad and a good example. A code without an entry does not compile; the examples are run
//! as tests.

use upheld_model::{Code, Fault};

/// What a code means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meaning {
    pub(crate) code: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) bad: &'static str,
    pub(crate) good: &'static str,
}

/// All codes: what is wrong with an input, then reasons.
pub(crate) fn all() -> impl Iterator<Item = Meaning> {
    let faults = Fault::ALL.iter().map(|known| fault(*known));
    faults.chain(Code::ALL.iter().map(|known| reason(*known)))
}

fn fault(fault: Fault) -> Meaning {
    let (title, text, bad, good) = match fault {
        Fault::Syntax => (
            "not valid YAML or JSON",
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
        Fault::WildcardsOutrank => (
            "wildcards outrank exact values",
            "The number of tags is compared before exactness, so a policy with more tags wins even if they are wildcards.",
            "three wildcards beat two exact values",
            "give the exact policy as many tags: {kuma.io/service: web, version: '*'}",
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
             Kuma itself does not say so.",
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
        Fault::NotFound => (
            "no such name",
            "Nothing that was read has this name. The nearest name is suggested.",
            "upheld explain --from wbe-1 --to backend-1",
            "upheld explain --from web-1 --to backend-1",
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

fn reason(code: Code) -> Meaning {
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

#[cfg(test)]
mod tests {
    use upheld_input::{Format, Input, load::load};

    use super::*;
    use crate::config::check_text;

    fn codes_of(text: &str) -> Vec<&'static str> {
        let found = match load(vec![Input::text("example.yaml", Format::Yaml, text)], &["kuma/0.3"]) {
            Ok(loaded) => loaded.warnings,
            Err(broken) => broken.diagnostics,
        };
        found.into_iter().map(|diagnostic| diagnostic.fault.code()).collect()
    }

    /// Documents as examples, not commands or descriptions of files.
    const DOCUMENTS: [Fault; 12] = [
        Fault::Syntax,
        Fault::DuplicateKey,
        Fault::UnknownField,
        Fault::MissingField,
        Fault::WrongType,
        Fault::WrongValue,
        Fault::DefinedTwice,
        Fault::BrokenKind,
        Fault::DanglingReference,
        Fault::BadReference,
        Fault::CommonRules,
        Fault::NoEffect,
    ];

    #[test]
    fn bad_examples_give_their_code_and_good_ones_nothing() {
        for code in DOCUMENTS {
            let meaning = fault(code);
            assert!(codes_of(meaning.bad).contains(&meaning.code), "{}: {:?}", meaning.code, codes_of(meaning.bad));
            let good = codes_of(meaning.good);
            assert!(!good.contains(&meaning.code), "{}: {good:?}", meaning.code);
        }
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = all().map(|meaning| meaning.code).collect();
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn settings_are_checked() {
        assert_eq!(check_text("files: [policies]\n").errors(), 0);
        assert_eq!(check_text("flies: [policies]\n").errors(), 1);
    }
}
