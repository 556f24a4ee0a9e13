//! All types of documents that are told apart by something else than a mesh or a namespace and a name.

/// Things that are told apart.
pub(crate) struct Row {
    /// What this is about, in the words of the documents.
    pub(crate) types: &'static [&'static str],
    /// What must be there for the documents to make sense.
    pub(crate) beside: &'static str,
    /// Things, each in all ways to write it.
    pub(crate) things: &'static [&'static [&'static str]],
}

/// Objects that relationships need.
const OBJECTS: &str = "
[{ref: workspace/one}, {ref: workspace/two}, {ref: project/p, workspace: one}, {ref: project/q, workspace: one},
 {ref: landingZone/z}, {ref: user/ana}, {ref: user/ben}, {ref: group/g}, {ref: projectRole/admin}, {ref: projectRole/reader}]
---
{kind: meshProject, metadata: {name: p, ownedByWorkspace: one}}
---
{kind: meshProject, metadata: {name: p, ownedByWorkspace: two}}
";

const POLICY: &str = "{type: MeshPolicy, name: env, a: {kind: project, tag: e}, b: {kind: landingZone, tag: e}}";

/// A kind of the family comply that is not built in, and one that decides.
const OWN_KINDS: &str = "
kind: PolicyKind
name: TeamPolicy
family: comply
objects: [{name: team, aliases: [squad]}, {name: app}]
relationships: [{a: team, b: app, gives: [{a: a, b: b}], documents: [{kind: Staffing, a: spec.team, b: spec.app}]}]
match: [[team, app]]
---
[{ref: team/red}, {ref: team/blue}, {ref: app/web}, {ref: app/db}]
";

pub(crate) const TABLE: &[Row] = &[
    Row {
        types: &["workspace", "meshCustomer", "meshWorkspace"],
        beside: "",
        things: &[
            &[
                "{ref: workspace/shop}",
                "{ref: meshCustomer/shop}",
                "{ref: CUSTOMER/shop, tags: {a: b}}",
                "{type: workspace, name: shop}",
                "{type: meshWorkspace, name: shop}",
                "{kind: meshCustomer, metadata: {name: shop}}",
                "{apiVersion: api.meshcloud.io/v1, kind: meshWorkspace, metadata: {name: shop}, spec: {displayName: X}}",
            ],
            &["{ref: workspace/shop/x}"],
            &["{ref: project/shop}"],
            &["{ref: user/shop}", "{kind: meshUser, metadata: {name: shop}}"],
            &["{ref: group/shop}", "{kind: meshWorkspaceUserGroup, metadata: {name: shop}}"],
            &["{ref: landingZone/shop}", "{kind: meshLandingZone, metadata: {name: shop}}"],
            &["{ref: paymentMethod/shop}", "{kind: meshPaymentMethod, metadata: {name: shop}}"],
            &["{ref: buildingBlock/shop}", "{kind: meshBuildingBlockDefinition, metadata: {uuid: shop, name: other}}"],
        ],
    },
    Row {
        types: &["meshProject"],
        beside: "[{ref: workspace/one}, {ref: workspace/two}]",
        things: &[
            &[
                "{kind: meshProject, metadata: {name: p, ownedByWorkspace: one}}",
                "{apiVersion: v1, kind: meshProject, metadata: {name: p, ownedByCustomer: one}}",
                "{ref: project/one/p, workspace: one}",
            ],
            &["{kind: meshProject, metadata: {name: p, ownedByWorkspace: two}}"],
            &["{kind: meshProject, metadata: {name: q, ownedByWorkspace: one}}"],
            &["{ref: project/p, workspace: one}", "{ref: project/p, workspace: two}"],
        ],
    },
    Row {
        types: &["Link"],
        beside: OBJECTS,
        things: &[
            &[
                "{a: project/p, b: landingZone/z}",
                "{a: landingZone/z, b: project/p}",
                "{b: meshProject/p, a: meshLandingZone/z}",
            ],
            &["{a: project/q, b: landingZone/z}"],
            &["{a: project/p, b: user/ana}", "{a: user/ana, b: project/p}"],
            &[
                "{a: project/p, b: user/ana, role: admin}",
                "{role: projectRole/admin, a: user/ana, b: project/p}",
                "{a: project/p, b: user/ana, role: meshProjectRole/admin}",
            ],
            &["{a: project/p, b: user/ana, role: reader}"],
        ],
    },
    Row {
        types: &["meshTenant"],
        beside: OBJECTS,
        things: &[
            &[
                "{kind: meshTenant, metadata: {ownedByWorkspace: one, ownedByProject: p, platformIdentifier: aws}, spec: {landingZoneIdentifier: z}}",
                "{kind: meshTenant, metadata: {ownedByCustomer: one, ownedByProject: p}, spec: {platformIdentifier: aws, landingZoneIdentifier: z}}",
            ],
            &[
                "{kind: meshTenant, metadata: {ownedByWorkspace: two, ownedByProject: p, platformIdentifier: aws}, spec: {landingZoneIdentifier: z}}",
            ],
            &[
                "{kind: meshTenant, metadata: {ownedByWorkspace: one, ownedByProject: p, platformIdentifier: gcp}, spec: {landingZoneIdentifier: z}}",
            ],
            &[
                "{kind: meshTenant, metadata: {ownedByProject: q, platformIdentifier: aws}, spec: {landingZoneIdentifier: z}}",
            ],
        ],
    },
    Row {
        types: &[
            "meshWorkspaceUserBinding",
            "meshCustomerUserBinding",
            "meshWorkspaceGroupBinding",
            "meshCustomerGroupBinding",
        ],
        beside: OBJECTS,
        things: &[
            &[
                "{kind: meshWorkspaceUserBinding, roleRef: {name: Member}, targetRef: {name: one}, subject: {name: ana}}",
                "{kind: meshCustomerUserBinding, roleRef: {name: Member}, targetRef: {name: one}, subjects: [{name: ana}]}",
            ],
            &["{kind: meshWorkspaceUserBinding, roleRef: {name: Owner}, targetRef: {name: one}, subject: {name: ana}}"],
            &[
                "{kind: meshWorkspaceUserBinding, roleRef: {name: Member}, targetRef: {name: two}, subject: {name: ana}}",
            ],
            &[
                "{kind: meshWorkspaceUserBinding, roleRef: {name: Member}, targetRef: {name: one}, subject: {name: ben}}",
            ],
            &[
                "{kind: meshWorkspaceUserBinding, targetRef: {name: one}, subjects: [{name: ana}, {name: ben}]}",
                "{kind: meshWorkspaceUserBinding, targetRef: {name: one}, subjects: [{name: ben}, {name: ana}]}",
            ],
            &[
                "{kind: meshWorkspaceUserBinding, metadata: {name: b1}, roleRef: {name: Member}, targetRef: {name: one}, subject: {name: ana}}",
            ],
            &[
                "{kind: meshWorkspaceGroupBinding, targetRef: {name: one}, subject: {name: g}}",
                "{kind: meshCustomerGroupBinding, targetRef: {name: one}, subject: {name: g}}",
            ],
        ],
    },
    Row {
        types: &["meshProjectUserBinding", "meshProjectGroupBinding"],
        beside: OBJECTS,
        things: &[
            &[
                "{kind: meshProjectUserBinding, roleRef: {name: admin}, targetRef: {name: p, ownedByWorkspace: one}, subject: {name: ana}}",
            ],
            &[
                "{kind: meshProjectUserBinding, roleRef: {name: admin}, targetRef: {name: p, ownedByWorkspace: two}, subject: {name: ana}}",
            ],
            &[
                "{kind: meshProjectUserBinding, roleRef: {name: reader}, targetRef: {name: p, ownedByWorkspace: one}, subject: {name: ana}}",
            ],
            &[
                "{kind: meshProjectGroupBinding, roleRef: {name: admin}, targetRef: {name: p, ownedByWorkspace: one}, subject: {name: g}}",
            ],
        ],
    },
    Row {
        types: &["TagDefinition", "meshTagDefinition"],
        beside: "",
        things: &[
            &[
                "{kind: TagDefinition, of: project, key: env, type: string}",
                "{apiVersion: upheld/v1, kind: TagDefinition, of: meshProject, key: env, type: string}",
                "{kind: meshTagDefinition, spec: {targetKind: meshProject, key: env, valueType: {string: {}}}}",
            ],
            &["{kind: TagDefinition, of: landingZone, key: env, type: string}"],
            &["{kind: TagDefinition, of: project, key: unit, type: string}"],
            // Users and groups have their tags together.
            &[
                "{kind: TagDefinition, of: principal, key: env, type: string}",
                "{kind: TagDefinition, of: user, key: env, type: string}",
                "{kind: meshTagDefinition, spec: {targetKind: meshWorkspaceUserGroup, key: env, valueType: {string: {}}}}",
            ],
        ],
    },
    Row {
        types: &["MeshPolicy"],
        beside: "",
        things: &[
            &[
                POLICY,
                "{kind: MeshPolicy, id: env, a: {kind: project, tag: e}, b: {kind: landingZone, tag: e}}",
                "{apiVersion: upheld/v1, kind: meshpolicy, id: env, a: {kind: project, tag: f}, b: {kind: landingZone, tag: e}}",
            ],
            &["{type: MeshPolicy, name: other, a: {kind: project, tag: e}, b: {kind: landingZone, tag: e}}"],
        ],
    },
    Row {
        types: &["TagPolicy"],
        beside: "",
        things: &[
            &[
                "{type: TagPolicy, name: owner, of: resource, tag: owner, required: true}",
                "{kind: TagPolicy, id: owner, of: account, tag: owner, required: true}",
            ],
            &["{type: TagPolicy, name: other, of: resource, tag: owner, required: true}"],
        ],
    },
    Row {
        types: &["Waiver"],
        beside: POLICY,
        things: &[
            &[
                "{kind: Waiver, id: w, policy: env, reason: r}",
                "{type: Waiver, name: w, policy: env, reason: other}",
                "{apiVersion: upheld/v1, kind: Waiver, id: w, policy: env, reason: r}",
            ],
            &["{kind: Waiver, id: v, policy: env, reason: r}"],
        ],
    },
    Row {
        types: &["AcceptedViolations"],
        beside: POLICY,
        things: &[
            &[
                "{kind: AcceptedViolations, name: r1-1, at: 2026-01-01T00:00:00Z, action: link, object: project/a, violations: []}",
                "{apiVersion: upheld/v1, kind: AcceptedViolations, name: r1-1, at: 2026-01-02T00:00:00Z, action: tags, object: project/b, violations: []}",
            ],
            &[
                "{kind: AcceptedViolations, name: r1-2, at: 2026-01-01T00:00:00Z, action: link, object: project/a, violations: []}",
            ],
        ],
    },
    Row {
        types: &["Compliance", "Changes"],
        beside: "",
        things: &[
            &["{kind: Compliance, name: a, objects: [{ref: user/ana}]}"],
            &["{kind: Compliance, name: b, objects: [{ref: user/ben}]}"],
            &["{kind: Changes, name: a, changes: []}", "{apiVersion: upheld/v1, kind: Changes, name: a, changes: []}"],
            &["{kind: Changes, name: b, changes: []}"],
        ],
    },
    Row {
        types: &["TeamPolicy", "Staffing"],
        beside: OWN_KINDS,
        things: &[
            &["{a: team/red, b: app/web}", "{a: app/web, b: squad/red}"],
            &["{a: team/blue, b: app/web}"],
            &["{kind: TeamPolicy, name: x, a: {kind: team, tag: e}, b: {kind: app, tag: e}}"],
            &["{kind: Staffing, spec: {team: red, app: web}}"],
            &["{kind: Staffing, spec: {team: red, app: db}}"],
            &["{apiVersion: hr.example.com/v1, kind: Staffing, metadata: {name: x}, spec: {team: red, app: web}}"],
            &["{apiVersion: hr.example.com/v1, kind: Staffing, metadata: {name: y}, spec: {team: red, app: web}}"],
            &[
                "{kind: TagDefinition, of: team, key: e, type: string}",
                "{kind: TagDefinition, of: squad, key: e, type: string}",
            ],
            &["{kind: TagDefinition, of: project, key: e, type: string}"],
        ],
    },
    Row {
        types: &["AccessPolicy", "PolicySet", "AccessManifest", "manifest.yaml", "Directory"],
        beside: "",
        things: &[
            &[
                "{id: a, effect: permit, subjects: [{role: x}], resources: [{path: /a}], actions: [{method: GET}]}",
                "{apiVersion: upheld/v1, kind: AccessPolicy, metadata: {name: a}, spec: {effect: permit, subjects: [{role: x}], resources: [{path: /a}], actions: [{method: GET}]}}",
            ],
            &["{id: b, effect: permit, subjects: [{role: x}], resources: [{path: /a}], actions: [{method: GET}]}"],
            &[
                "{kind: PolicySet, id: a, algorithm: deny-overrides, policies: []}",
                "{id: a, algorithm: deny-overrides, policies: []}",
            ],
            &["{kind: Directory, subjects: []}"],
            &["{defaultEffect: deny}"],
        ],
    },
    Row {
        types: &["PolicyTests", "PolicyKind"],
        beside: "",
        things: &[
            &["{kind: PolicyTests, name: a, cases: []}"],
            &["{kind: PolicyTests, name: b, cases: []}"],
            &[
                "{kind: PolicyKind, name: A, family: select, match: [{field: callers, side: source}], rank: [name], resolve: first}",
                "{apiVersion: upheld/v1, kind: PolicyKind, name: A, family: select, match: [{field: callers, side: source}], rank: [name], resolve: first}",
            ],
        ],
    },
];
