//! Tag definitions: what makes sense, what values they take, and who may change what.

use smol_str::SmolStr;

use upheld_engine::comply::*;

use super::super::*;
use super::world::{World, administrator, create, definition, end_user, redefinition, set_tags, tags};

use Outcome::{Allowed, Forbidden, Invalid};

fn world() -> World {
    World::classic().object("workspace/w", "").object("project/p", "").link("workspace/w", "project/p")
}

fn of_type(tag: TagType) -> Definition {
    let options = if tag == TagType::SingleSelect { vec!["dev".into(), "prod".into()] } else { Vec::new() };
    Definition { tag, options, ..definition("project.t") }
}

/// What becomes of values, one after the other, on a project that has the tag.
fn take(definition: Definition, values: &[&str]) -> Outcome {
    let mut comply = world().define(definition).build();
    let values = values.iter().copied().map(SmolStr::new).collect();
    let action = Action::SetTags { object: "project/p".into(), tags: vec![("t".into(), values)] };
    comply.act(&administrator(), &action).outcome
}

/// What is wrong with a new definition.
fn define(definition: Definition) -> Option<BadDefinition> {
    let mut comply = world().open(&["workspace.Env", "project.unit"]).build();
    let decision = comply.act(&administrator(), &Action::Define(definition));
    assert_eq!(decision.outcome, if decision.refusal.is_some() { Invalid } else { Allowed });
    match decision.refusal {
        Some(Refusal::Definition { bad, .. }) => Some(bad),
        _ => None,
    }
}

#[test]
fn keys_have_letters_digits_and_two_signs() {
    for key in ["a", "A-1_b", "0"] {
        assert_eq!(define(Definition { key: key.into(), ..of_type(TagType::Text) }), None, "{key}");
    }
    for key in ["", "a b", "a.b", "ä", "a/b"] {
        let refused = define(Definition { key: key.into(), ..of_type(TagType::Text) });
        assert_eq!(refused, Some(BadDefinition::Key));
    }
}

#[test]
fn keys_are_unique_and_differ_in_more_than_case() {
    assert_eq!(define(definition("project.unit")), Some(BadDefinition::Twice));
    assert_eq!(define(definition("workspace.unit")), None, "another kind may have the same");
    assert_eq!(define(definition("project.Unit")), Some(BadDefinition::Alike("unit".into())));
    assert_eq!(define(definition("project.env")), Some(BadDefinition::Alike("Env".into())), "of any kind");
    assert_eq!(define(definition("project.Env")), None);
}

#[test]
fn choices_need_something_to_choose_from() {
    for tag in [TagType::SingleSelect, TagType::MultiSelect] {
        let empty = Definition { tag, options: Vec::new(), ..definition("project.t") };
        assert_eq!(define(empty), Some(BadDefinition::NoOptions));
    }
}

#[test]
fn patterns_are_for_texts() {
    let regex = Pattern::new("a+").unwrap();
    for tag in TagType::ALL {
        let refused = define(Definition { tag, regex: Some(regex.clone()), ..definition("project.t") });
        let takes = matches!(tag, TagType::Text | TagType::Email);
        assert_eq!(refused, if takes { None } else { Some(BadDefinition::Regex) }, "{tag:?}");
    }
}

#[test]
fn defaults_must_be_values() {
    let with = |default: &[&str]| {
        let default = default.iter().copied().map(SmolStr::new).collect();
        define(Definition { default, ..of_type(TagType::SingleSelect) })
    };
    assert_eq!(with(&["dev"]), None);
    let refused = BadDefinition::Default(BadValue::NoOption("qa".into()));
    assert_eq!(with(&["qa"]), Some(refused));
    assert_eq!(with(&["dev", "prod"]), Some(BadDefinition::Default(BadValue::Several)));
}

#[test]
fn every_type_takes_what_it_is_for() {
    let cases: [(TagType, &[&str], &[&str]); 7] = [
        (TagType::SingleSelect, &["dev"], &["qa", "Dev", ""]),
        (TagType::Text, &["", "anything", "ä b"], &[]),
        (
            TagType::Email,
            &["a@b.example"],
            &["a", "a@b", "@b.example", "a b@c.example", "a@b..example", "a@@b.example"],
        ),
        (TagType::Number, &["5", "5.0", "-1e3"], &["five", "", "1,5"]),
        (TagType::Integer, &["5", "5.0", "-7"], &["5.5", "x", ""]),
        (TagType::Boolean, &["true", "false"], &["True", "yes", ""]),
        (TagType::Date, &["2024-02-29"], &["2023-02-29", "29.02.2024", ""]),
    ];
    for (tag, taken, refused) in cases {
        for value in taken {
            assert_eq!(take(of_type(tag), &[value]), Allowed, "{tag:?} {value:?}");
        }
        for value in refused {
            assert_eq!(take(of_type(tag), &[value]), Invalid, "{tag:?} {value:?}");
        }
    }
    assert_eq!(take(of_type(TagType::SingleSelect), &["dev", "prod"]), Invalid, "one is enough");
    assert_eq!(take(of_type(TagType::Integer), &["5", "6"]), Invalid);
    assert_eq!(take(definition("project.t"), &["dev", "qa"]), Allowed, "several of a choice of many");
}

#[test]
fn equal_numbers_are_one_value() {
    let mut comply = world().define(of_type(TagType::Number)).build();
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "t=5.0,5,05")).outcome, Allowed);
    assert_eq!(comply.tags_of(comply.lookup("project/p").unwrap()), tags("t=5"));
}

#[test]
fn values_have_255_characters_at_most() {
    assert_eq!(take(of_type(TagType::Text), &["ä".repeat(255).as_str()]), Allowed);
    assert_eq!(take(of_type(TagType::Text), &["ä".repeat(256).as_str()]), Invalid);
}

#[test]
fn patterns_fit_the_whole_value() {
    let with = || Definition { regex: Some(Pattern::new("[0-9]+").unwrap()), ..of_type(TagType::Text) };
    assert_eq!(take(with(), &["123"]), Allowed);
    assert_eq!(take(with(), &["123a"]), Invalid);
    assert_eq!(take(with(), &[""]), Invalid);
}

#[test]
fn patterns_with_alternatives_fit_the_whole_value() {
    // The first alternative that fits somewhere is a part of the value; the second is all of it.
    let with = || Definition { regex: Some(Pattern::new("a|ab").unwrap()), ..of_type(TagType::Text) };
    assert_eq!(take(with(), &["a"]), Allowed);
    assert_eq!(take(with(), &["ab"]), Allowed);
    assert_eq!(take(with(), &["abc"]), Invalid);
    let lazy = Definition { regex: Some(Pattern::new("x+?").unwrap()), ..of_type(TagType::Text) };
    assert_eq!(take(lazy, &["xxx"]), Allowed);
}

#[test]
fn what_is_not_defined_is_refused() {
    let mut comply = world().open(&["project.env"]).build();
    let decision = comply.act(&administrator(), &set_tags("project/p", "Env=dev"));
    let nearest = Some("env".into());
    let refused = Refusal::UnknownTag { subject: "project".into(), key: "Env".into(), nearest };
    assert_eq!((decision.outcome, decision.refusal), (Invalid, Some(refused)));
    assert_eq!(comply.act(&Actor::System, &set_tags("workspace/w", "env=dev")).outcome, Invalid);
}

#[test]
fn the_type_never_changes() {
    let mut comply = world().open(&["project.env"]).build();
    let same = Redefinition { tag: Some(TagType::MultiSelect), ..redefinition("project.env") };
    assert_eq!(comply.act(&administrator(), &Action::Redefine(same)).outcome, Allowed);
    let other = Redefinition { tag: Some(TagType::SingleSelect), ..redefinition("project.env") };
    assert_eq!(comply.act(&administrator(), &Action::Redefine(other)).outcome, Invalid);
}

#[test]
fn an_option_that_is_withdrawn_stays_where_it_is() {
    let mut comply = world().open(&["project.env"]).object("project/q", "").link("workspace/w", "project/q").build();
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=prod")).outcome, Allowed);
    let fewer = Redefinition { options: Some(vec!["dev".into(), "test".into()]), ..redefinition("project.env") };
    assert_eq!(comply.act(&administrator(), &Action::Redefine(fewer)).outcome, Allowed);
    assert_eq!(comply.tags_of(comply.lookup("project/p").unwrap()), tags("env=prod"));
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=prod,dev")).outcome, Allowed, "it is kept");
    assert_eq!(comply.act(&administrator(), &set_tags("project/q", "env=prod")).outcome, Invalid, "not elsewhere");
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=dev")).outcome, Allowed);
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=prod")).outcome, Invalid, "not again");
}

#[test]
fn what_is_mandatory_is_asked_at_creation_and_cannot_be_cleared() {
    let must = Definition { mandatory: Mandatory::Yes, ..definition("project.env") };
    let mut comply = world().define(must).build();
    let refused = comply.act(&end_user(), &create("project/n", "", &["workspace/w"]));
    assert_eq!((refused.outcome, refused.refusal), (Invalid, Some(Refusal::Mandatory { key: "env".into() })));
    assert_eq!(comply.act(&end_user(), &create("project/n", "env=dev", &["workspace/w"])).outcome, Allowed);
    assert_eq!(comply.act(&administrator(), &set_tags("project/n", "env=")).outcome, Invalid);
    // What was there before is left alone.
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=")).outcome, Allowed);
}

#[test]
fn a_default_is_enough_for_what_is_mandatory() {
    let default = vec!["dev".into()];
    let must = Definition { mandatory: Mandatory::Yes, default, ..definition("project.env") };
    let mut comply = world().define(must).build();
    let created = comply.act(&end_user(), &create("project/n", "", &["workspace/w"]));
    assert_eq!((created.outcome, created.tags), (Allowed, Some(tags("env=dev"))));
}

#[test]
fn what_is_restricted_is_for_administrators() {
    let restricted = Definition { restricted: Restricted::Yes, ..definition("project.env") };
    let mut comply = world().define(restricted).build();
    let refused = comply.act(&end_user(), &set_tags("project/p", "env=dev"));
    assert_eq!((refused.outcome, refused.refusal), (Forbidden, Some(Refusal::Restricted { key: "env".into() })));
    assert_eq!(comply.act(&end_user(), &create("project/n", "env=dev", &["workspace/w"])).outcome, Forbidden);
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=dev")).outcome, Allowed);
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "env=dev")).outcome, Allowed, "nothing changes");
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "env=")).outcome, Forbidden);
}

#[test]
fn what_is_restricted_is_not_asked_from_end_users() {
    let both = Definition { restricted: Restricted::Yes, mandatory: Mandatory::Yes, ..definition("project.env") };
    let mut comply = world().define(both).build();
    assert_eq!(comply.act(&end_user(), &create("project/n", "", &["workspace/w"])).outcome, Allowed);
    assert_eq!(comply.act(&administrator(), &create("project/m", "", &["workspace/w"])).outcome, Invalid);
}

#[test]
fn what_is_immutable_can_be_set_once() {
    let fixed = Definition { immutable: Immutable::Yes, ..definition("project.env") };
    let mut comply = world().define(fixed).build();
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=dev")).outcome, Allowed);
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=dev")).outcome, Allowed, "nothing changes");
    for other in ["env=qa", "env=dev,qa", "env="] {
        let refused = comply.act(&administrator(), &set_tags("project/p", other));
        assert_eq!((refused.outcome, refused.refusal), (Forbidden, Some(Refusal::Immutable { key: "env".into() })));
    }
}

#[test]
fn restricted_defaults_are_always_filled_in() {
    let default = vec!["prod".into()];
    let tag = Definition { restricted: Restricted::Yes, default, ..definition("project.env") };
    let mut comply = world().define(tag).policy("env", "workspace.env", "project.env").build();
    // Even where that breaks a policy.
    assert_eq!(comply.act(&end_user(), &create("project/n", "", &["workspace/w"])).outcome, Outcome::Blocked);
    let mut comply = world()
        .define(Definition { restricted: Restricted::Yes, default: vec!["prod".into()], ..definition("project.env") })
        .build();
    let created = comply.act(&end_user(), &create("project/n", "", &["workspace/w"]));
    assert_eq!((created.outcome, created.tags), (Allowed, Some(tags("env=prod"))));
    let created = comply.act(&end_user(), &create("project/m", "env=prod", &["workspace/w"]));
    assert_eq!(created.outcome, Allowed, "asking for the default is no change");
    let created = comply.act(&administrator(), &create("project/o", "env=dev", &["workspace/w"]));
    assert_eq!((created.outcome, created.tags), (Allowed, Some(tags("env=dev"))));
}

#[test]
fn other_defaults_are_left_out_where_they_break_a_policy() {
    let with_default = || Definition { default: vec!["prod".into()], ..definition("project.env") };
    let world = |env: &str| {
        let world = World::classic().object("workspace/w", env).define(with_default());
        world.policy("env", "workspace.env", "project.env")
    };
    let created = world("env=prod").build().act(&end_user(), &create("project/n", "", &["workspace/w"]));
    assert_eq!((created.outcome, created.tags), (Allowed, Some(tags("env=prod"))));
    let created = world("").build().act(&end_user(), &create("project/n", "", &["workspace/w"]));
    assert_eq!((created.outcome, created.tags), (Allowed, Some(Tags::new())));
    // Where it breaks either way, it is the value that is missing.
    let created = world("env=dev").build().act(&end_user(), &create("project/n", "", &["workspace/w"]));
    assert_eq!(created.outcome, Outcome::Blocked);
    assert_eq!(created.violations[0].b.values, Vec::<SmolStr>::new());
    let created = world("env=dev").build().act(&end_user(), &create("project/n", "env=dev", &["workspace/w"]));
    assert_eq!((created.outcome, created.tags), (Allowed, Some(tags("env=dev"))), "what is asked for wins");
}

#[test]
fn defaults_of_numbers_are_kept_in_their_shortest_form() {
    for restricted in [Restricted::Yes, Restricted::No] {
        let tag = Definition { default: vec!["5.0".into()], restricted, ..of_type(TagType::Number) };
        let mut comply = world().define(tag).build();
        let created = comply.act(&administrator(), &create("project/n", "", &["workspace/w"]));
        assert_eq!((created.outcome, created.tags), (Allowed, Some(tags("t=5"))), "{restricted:?}");
        let asked = comply.act(&end_user(), &create("project/m", "t=5.00", &["workspace/w"]));
        assert_eq!((asked.outcome, asked.tags), (Allowed, Some(tags("t=5"))), "{restricted:?}");
    }
}

#[test]
fn default_tags_that_are_numbers_are_kept_in_their_shortest_form() {
    let number = Definition { tag: TagType::Number, options: Vec::new(), ..definition("principal.t") };
    let mut comply = world().define(number).object("user/u", "t=5").build();
    assert_eq!(comply.act(&administrator(), &Action::SetDefaults { tags: tags("t=5.0") }).outcome, Allowed);
    assert_eq!(comply.tags_of(comply.lookup("user/u").unwrap()), tags("t=5"));
}

#[test]
fn values_become_numbers_when_their_tag_does() {
    let mut comply = world().object("user/u", "t=5.0,five").build();
    let number = Definition { tag: TagType::Number, options: Vec::new(), ..definition("principal.t") };
    assert_eq!(comply.act(&administrator(), &Action::Define(number)).outcome, Allowed);
    assert_eq!(comply.tags_of(comply.lookup("user/u").unwrap()), tags("t=5,five"), "as when it is read anew");
}

#[test]
fn a_definition_in_use_stays() {
    let mut comply =
        world().open(&["project.env", "workspace.env"]).policy("env", "workspace.env", "project.env").build();
    let undefine = Action::Undefine { subject: "project".into(), key: "env".into() };
    let refused = comply.act(&administrator(), &undefine);
    assert_eq!(refused.refusal, Some(Refusal::TagInUse { key: "env".into(), policy: "env".into() }));
    assert!(comply.act(&administrator(), &Action::DeletePolicy { policy: "env".into() }).outcome.is_done());
    assert_eq!(comply.act(&administrator(), &undefine).outcome, Allowed);
}

#[test]
fn a_definition_takes_its_values_with_it() {
    let mut comply = world().open(&["project.env", "workspace.env"]).build();
    for object in ["project/p", "workspace/w"] {
        assert_eq!(comply.act(&administrator(), &set_tags(object, "env=dev")).outcome, Allowed);
    }
    let undefine = Action::Undefine { subject: "project".into(), key: "env".into() };
    assert_eq!(comply.act(&administrator(), &undefine).outcome, Allowed);
    assert_eq!(comply.tags_of(comply.lookup("project/p").unwrap()), Tags::new());
    assert_eq!(comply.tags_of(comply.lookup("workspace/w").unwrap()), tags("env=dev"), "another kind keeps its own");
    assert_eq!(comply.act(&administrator(), &undefine).outcome, Invalid, "it is gone");
}
