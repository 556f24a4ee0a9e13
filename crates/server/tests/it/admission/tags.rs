//! Policies about the tags of single objects, held against what people write: mandatory tags, allowed values, and whom they are cut to.

use serde_json::Value as Json;
use upheld_server::config::StoreLocation;

use super::{Company, is};

const RESOURCES: &str = "
{ref: account/shop}
---
{ref: account/sandbox}
---
{ref: resource/db, account: shop, tags: {environment: [prod], backup: [daily]}}
---
{ref: resource/toy, account: sandbox, tags: {environment: [dev]}}
---
{ref: resource/old, account: shop, tags: {environment: [dev]}}
---
{type: TagPolicy, name: environments, of: resource, tag: environment, required: true, allowed: [dev, prod]}
---
{type: TagPolicy, name: backup, of: resource, tag: backup, required: true, allowed: [daily, weekly], where: {tags: {environment: [prod]}},
  except: [{account: sandbox}, {ref: resource/old}]}
---
{type: TagPolicy, name: owner, of: account, tag: owner, required: true, enforcement: warn}
";

fn company() -> Company {
    let company = Company::on("upheld/tags", StoreLocation::Ephemeral);
    let written = company.write("root", RESOURCES);
    assert_eq!(written.status, 201, "{}", written.text);
    company
}

/// What becomes of a write by an end-user, and by an administrator if that is another thing.
fn outcomes(company: &Company, document: &str) -> [(u16, String); 2] {
    ["ida", "root"].map(|who| company.outcome(who, document))
}

#[test]
fn mandatory_tags_and_allowed_values_refuse_end_users_and_are_recorded_for_administrators() {
    let company = company();
    let untagged = "{ref: resource/untagged, account: shop}";
    assert_eq!(outcomes(&company, untagged), [is(409, "blocked"), is(201, "soft")]);
    let wrong = "{ref: resource/wrong, account: shop, tags: {environment: [production]}}";
    let refused = company.write("ida", wrong);
    let violation = &refused.json()["admission"]["violations"][0];
    assert_eq!((refused.status, &violation["policy"]), (409, &Json::from("environments")), "{}", refused.text);
    assert_eq!(violation["a"]["values"], serde_json::json!(["production"]));
    assert!(violation["fixes"][0]["text"].as_str().is_some_and(|text| text.contains("prod")), "{violation:#}");
    assert_eq!(outcomes(&company, wrong), [is(409, "blocked"), is(201, "soft")]);
    assert_eq!(company.records().len(), 2);
    // What was taken away is refused as what was never there.
    let gone = "{ref: resource/db, account: shop, tags: {environment: [prod]}}";
    assert_eq!(outcomes(&company, gone), [is(409, "blocked"), is(201, "soft")]);
    // What is put right ends what is on record.
    let right = "{ref: resource/db, account: shop, tags: {environment: [prod], backup: [weekly]}}";
    assert_eq!(company.outcome("ida", right), is(201, "allowed"));
    assert_eq!(company.records().len(), 2);
    let audit = company.ask("root", "POST", "/v1/audit", "application/json", r#"{"policies": "TagPolicy"}"#).json();
    assert_eq!(audit["summary"]["soft"], 4, "two resources, and two accounts without an owner: {audit:#}");
}

#[test]
fn what_a_policy_is_not_about_is_not_refused() {
    let company = company();
    for document in [
        // `where` asks for backups in production only.
        "{ref: resource/plain, account: shop, tags: {environment: [dev]}}",
        // `except` leaves an account out, and one by its name.
        "{ref: resource/play, account: sandbox, tags: {environment: [prod]}}",
        "{ref: resource/old, account: shop, tags: {environment: [prod]}}",
        // No policy is about a resource and its account together: it may live nowhere.
        "{ref: resource/loose, tags: {environment: [dev]}}",
    ] {
        assert_eq!(company.outcome("ida", document), is(201, "allowed"), "{document}");
    }
    // What comes into scope is judged.
    let into = "{ref: resource/plain, account: shop, tags: {environment: [prod]}}";
    assert_eq!(outcomes(&company, into), [is(409, "blocked"), is(201, "soft")]);
    // What only warns is let through, and told.
    assert_eq!(company.outcome("root", "{ref: account/new}"), is(201, "soft"));
}

#[test]
fn tags_are_set_by_whoever_looks_after_the_account_and_policies_by_nobody_else() {
    let company = company();
    let own = "{ref: resource/db, account: shop, tags: {environment: [prod], backup: [weekly]}}";
    assert_eq!(company.outcome("otto", own), is(201, "allowed"));
    let others = "{ref: resource/toy, account: sandbox, tags: {environment: [prod]}}";
    assert_eq!(company.outcome("otto", others), is(403, "forbidden"));
    let policy = "{type: TagPolicy, name: environments, of: resource, tag: environment, required: true}";
    assert_eq!(company.outcome("ida", policy), is(403, "forbidden"));
    assert_eq!(company.outcome("root", policy).0, 201);
}
