//! What documents of the family comply look like.

use upheld_engine::comply::{Profile, Selectors};

use crate::shape::{Field, Shape, list, map_of, optional, required};

const SEVERITIES: &[&str] = &["critical", "high", "medium", "low", "info"];

/// Whether something is an item of a list or a document of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// An item of a list.
    Item,
    /// A document, which says what it is.
    Document,
}

impl Whole {
    /// The fields that say what a document is.
    fn fields(self) -> Vec<Field> {
        match self {
            Self::Item => Vec::new(),
            Self::Document => vec![
                optional("apiVersion", Shape::Text, "the edition of this format"),
                optional("kind", Shape::Text, "what the document is"),
                optional("type", Shape::Text, "what the document is"),
                optional("name", Shape::Name, "its name, if it has no `id`"),
            ],
        }
    }
}

fn whole(whole: Whole, fields: Vec<Field>) -> Shape {
    let own: Vec<Field> = whole.fields();
    let others = own.into_iter().filter(|own| fields.iter().all(|field| field.name != own.name));
    Shape::Object(others.collect::<Vec<_>>().into_iter().chain(fields).collect())
}

/// Anything that can be a name: tables do not quote numbers.
fn word() -> Shape {
    Shape::Either(vec![Shape::Name, Shape::Integer])
}

fn truth() -> Shape {
    Shape::Either(vec![Shape::Bool, Shape::Choice(&["true", "false"])])
}

fn tags() -> Shape {
    map_of(Shape::Opaque)
}

/// The fields that name the scope: its neutral name in the seed, and what a kind calls it.
fn scope_fields(profile: &Profile, about: &'static str) -> Vec<Field> {
    let own = profile.scope.map_or("workspace", |scope| profile.kind_name(scope));
    let mut names = vec!["workspace"];
    if own != "workspace" {
        names.push(own);
    }
    names.into_iter().map(|name| optional(name, word(), about)).collect()
}

/// An object: by reference, or a document with its type and name.
pub fn object(profile: &Profile, whole: Whole) -> Shape {
    let link = Shape::Object(vec![
        required("to", Shape::Name, "the other side, `kind/id`"),
        optional("role", Shape::Name, "the role"),
    ]);
    let mut fields = match whole {
        Whole::Item => {
            vec![required("ref", Shape::Name, "its reference, `kind/id`"), optional("name", word(), "its display name")]
        }
        Whole::Document => vec![
            optional("apiVersion", Shape::Text, "the edition of this format"),
            optional("kind", Shape::Text, "the kind of object"),
            optional("type", Shape::Text, "the kind of object"),
            required("name", word(), "its id"),
        ],
    };
    fields.push(optional("tags", tags(), "keys with values"));
    fields.extend(scope_fields(profile, "what it belongs to"));
    fields.extend([
        optional("class", Shape::Choice(&["partner", "managed"]), "`partner` if it is the provider's own"),
        optional("deleted", truth(), "whether it is gone"),
        optional("disabled", truth(), "whether new relationships are refused"),
        optional("members", list(Shape::Name), "its members, for people only"),
        optional("paymentMethod", word(), "the payment method"),
        optional("links", list(link), "what it is related to"),
    ]);
    Shape::Object(fields)
}

/// A relationship.
pub fn link() -> Shape {
    Shape::Object(vec![
        required("a", Shape::Name, "one side, `kind/id`"),
        required("b", Shape::Name, "the other side, `kind/id`"),
        optional("role", Shape::Name, "the role"),
    ])
}

/// The fields of a definition that may change.
fn definition_fields() -> Vec<Field> {
    vec![
        optional("kind", Shape::Name, "the kind of object that has the tag"),
        optional("of", Shape::Name, "the kind of object that has the tag, where `kind` says something else"),
        required("key", Shape::Name, "the key"),
        optional("options", list(Shape::Opaque), "what can be chosen"),
        optional("default", Shape::Opaque, "the default value"),
        optional("regex", Shape::Text, "what values must look like"),
        optional("restricted", Shape::Bool, "whether only administrators may set it"),
        optional("mandatory", Shape::Bool, "whether it must have a value"),
        optional("immutable", Shape::Bool, "whether it can never change"),
    ]
}

/// A tag definition.
pub fn definition(own: Whole) -> Shape {
    let mut fields = definition_fields();
    fields.push(required("type", Shape::Name, "the type of its values"));
    fields.push(optional("withdrawn", list(Shape::Opaque), "options that objects may still carry"));
    fields.push(optional("protects", Shape::Bool, "whether the options go from the most open to the most protected"));
    fields.push(optional("description", Shape::Text, "what it is for"));
    whole(own, fields)
}

/// What changes of a tag definition.
pub fn redefinition() -> Shape {
    let mut fields = definition_fields();
    fields.push(optional("type", Shape::Name, "the type, which cannot change"));
    Shape::Object(fields)
}

/// A tag definition of meshStack's object API.
pub fn manifest_definition() -> Shape {
    let opaque = |name: &str| optional(name, Shape::Opaque, "for people");
    let mut fields = vec![
        required("targetKind", Shape::Name, "the kind of object that has the tag"),
        required("key", Shape::Name, "the key"),
        required(
            "valueType",
            map_of(Shape::Object(vec![
                optional("options", list(Shape::Opaque), "what can be chosen"),
                optional("defaultValue", Shape::Opaque, "the default value"),
                optional("validationRegex", Shape::Text, "what values must look like"),
            ])),
            "the type of its values",
        ),
        optional("mandatory", Shape::Bool, "whether it must have a value"),
        optional("immutable", Shape::Bool, "whether it can never change"),
        optional("restricted", Shape::Bool, "whether only administrators may set it"),
    ];
    fields.extend(["description", "displayName", "sortOrder", "replicationKey"].map(opaque));
    Shape::Object(vec![
        optional("apiVersion", Shape::Text, "the edition of the API"),
        required("kind", Shape::Text, "what the document is"),
        optional("metadata", Shape::Opaque, "kept by the API"),
        required("spec", Shape::Object(fields), "the definition"),
        opaque("status"),
        opaque("_links"),
    ])
}

/// What policies may be cut to: nothing where their kind has no selectors.
fn clauses(profile: &Profile, selection: &dyn Fn() -> Shape) -> Vec<Field> {
    if profile.selectors == Selectors::None {
        return Vec::new();
    }
    vec![
        optional("where", selection(), "only these objects; all of them when left out"),
        optional("except", selection(), "not these objects"),
    ]
}

fn one_or_many(shape: Shape) -> Shape {
    Shape::Either(vec![shape.clone(), list(shape)])
}

/// What selects objects.
fn selector(mut more: Vec<Field>) -> Shape {
    more.push(optional("tags", tags(), "tags, each with values of which one must be there"));
    more.push(optional("ref", one_or_many(Shape::Name), "references, `kind/id`"));
    Shape::Object(more)
}

/// The fields that name scopes.
fn scopes_fields(profile: &Profile) -> Vec<Field> {
    if profile.scope.is_none() {
        return Vec::new();
    }
    let names = scope_fields(profile, "").into_iter().map(|field| field.name);
    names.map(|name| optional(&name, one_or_many(word()), "where they live")).collect()
}

/// The fields that every policy has.
fn policy_fields() -> Vec<Field> {
    vec![
        optional("id", Shape::Name, "its name, unique"),
        optional("enforcement", Shape::Choice(&["enforce", "warn", "audit", "off"]), "how it is enforced"),
        optional("enforceFrom", Shape::Text, "from when it is enforced; until then it only warns"),
        optional("severity", Shape::Choice(SEVERITIES), "how bad a violation is"),
        optional("description", Shape::Text, "what it is for"),
        optional("howToFix", Shape::Text, "what to do about a violation"),
    ]
}

/// A policy about the tags of single objects.
pub fn tag_policy(profile: &Profile, own: Whole) -> Shape {
    let mut fields = vec![
        required("of", Shape::Name, "the subject"),
        optional("tag", Shape::Name, "the tag"),
        optional("tags", list(Shape::Name), "the tags, where there are several"),
        optional("required", Shape::Bool, "whether each object must have a value"),
        optional("allowed", list(Shape::Opaque), "the values that the tag may have; any when left out"),
    ];
    fields.extend(clauses(profile, &|| one_or_many(selector(scopes_fields(profile)))));
    fields.extend(policy_fields());
    whole(own, fields)
}

/// A policy about two objects.
pub fn policy(profile: &Profile, own: Whole) -> Shape {
    let side = || {
        Shape::Object(vec![
            required("kind", Shape::Name, "the subject"),
            optional("tag", Shape::Name, "its tag; left out where `rules` name the tags"),
        ])
    };
    let rule = Shape::Object(vec![
        required("a", Shape::Name, "a tag of the first side"),
        required("b", Shape::Name, "a tag of the second side"),
    ]);
    let mut fields = policy_fields();
    let own_fields = [
        required("a", side(), "the first side, which governs the second where order counts"),
        required("b", side(), "the second side"),
        optional("rules", list(rule), "pairs of tags; all must hold"),
        optional("strategy", Shape::Name, "what must hold between the values"),
    ];
    // After its name, before what all policies have.
    fields.splice(1..1, own_fields);
    let selection = || {
        let mut selected = scopes_fields(profile);
        let side = || one_or_many(selector(Vec::new()));
        selected.push(optional("a", side(), "which objects of the first side"));
        selected.push(optional("b", side(), "which objects of the second side"));
        Shape::Object(selected)
    };
    fields.extend(clauses(profile, &selection));
    whole(own, fields)
}

/// A waiver.
pub fn waiver(profile: &Profile, own: Whole) -> Shape {
    let mut matched = vec![
        optional("a", Shape::Name, "only with this first side"),
        optional("b", Shape::Name, "only with this second side"),
    ];
    matched.extend(scope_fields(profile, "only in this scope"));
    whole(
        own,
        vec![
            optional("id", Shape::Name, "its name, unique"),
            optional("policyKind", Shape::Name, "the kind of the policy, where there are several"),
            required("policy", Shape::Name, "the policy"),
            optional("match", Shape::Object(matched), "which violations; all of the policy when left out"),
            optional("category", Shape::Choice(&["waiver", "mitigated"]), "why it can be waived"),
            optional("reason", Shape::Text, "why"),
            optional("approvedBy", Shape::Text, "who approved it"),
            optional("ticket", Shape::Text, "where it was discussed"),
            optional("notBefore", Shape::Text, "from when it is in force"),
            optional("expiresAt", Shape::Text, "until when it is in force"),
        ],
    )
}

/// What was let through.
pub fn accepted() -> Shape {
    let finding = Shape::Object(vec![
        required("policy", Shape::Name, "the policy"),
        required("rule", Shape::Integer, "the rule, from 0"),
        optional("workspace", Shape::Name, "where the two meet"),
        required("a", Shape::Name, "the first side"),
        required("b", Shape::Name, "the second side"),
    ]);
    let by = Shape::Object(vec![
        optional("name", Shape::Text, "who it was"),
        optional("role", Shape::Text, "in which role"),
    ]);
    let change = Shape::Object(vec![
        required("tag", Shape::Name, "the tag"),
        required("before", list(Shape::Text), "its values before"),
        required("after", list(Shape::Text), "its values after"),
    ]);
    whole(
        Whole::Document,
        vec![
            optional("policyKind", Shape::Name, "the kind of policies that it is about"),
            required("name", Shape::Name, "its name"),
            optional("revision", Shape::Integer, "the number of the write in the log"),
            required("at", Shape::Text, "when it was let through"),
            optional("by", by, "who let it through"),
            required("action", Shape::Name, "what was done, in a word"),
            required("object", Shape::Text, "what was changed"),
            optional("change", change, "the tag that changed"),
            required("violations", list(finding), "what violates since then"),
        ],
    )
}

/// The settings of an organisation.
fn settings() -> Shape {
    Shape::Object(vec![
        optional("preexisting", Shape::Choice(&["block", "tolerate"]), "whether old violations can refuse a change"),
        optional("exemptPartnerWorkspaces", Shape::Bool, "whether the provider's own are exempt from policies"),
        optional(
            "requireWorkspaceMembership",
            Shape::Bool,
            "whether access to a project needs access to its workspace",
        ),
    ])
}

/// One document that collects everything. What is in its lists is checked where each is read.
pub fn collection() -> Shape {
    let items = |name: &str, about: &'static str| optional(name, list(Shape::Opaque), about);
    Shape::Object(vec![
        optional("apiVersion", Shape::Text, "the edition of this format"),
        required("kind", Shape::Text, "what the document is"),
        optional("name", Shape::Text, "a name for people"),
        optional("policyKind", Shape::Name, "the kind of policies that it is about"),
        optional("settings", settings(), "switches"),
        optional("userDefaultTags", tags(), "tags that are added to every object that can have them"),
        items("tagDefinitions", "which tags there are"),
        items("objects", "the objects"),
        items("relationships", "how they are related"),
        items("policies", "what must hold"),
        items("waivers", "what is exempt"),
    ])
}

/// A list of changes. What each needs depends on its verb.
pub fn changes() -> Shape {
    Shape::Object(vec![
        optional("apiVersion", Shape::Text, "the edition of this format"),
        required("kind", Shape::Text, "what the document is"),
        optional("name", Shape::Text, "a name for people"),
        optional("policyKind", Shape::Name, "the kind of policies that it is about"),
        required("changes", list(Shape::Opaque), "what is done, in order"),
    ])
}
