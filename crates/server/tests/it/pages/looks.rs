//! Pages in a real browser: they fit, say nothing wrong in the console, ask nobody else, and work by keyboard and without scripts.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jsonwebtoken::get_current_timestamp;
use serde_json::{Value as Json, json};
use upheld_server::Config;
use upheld_server::config::KeysLocation;

use super::browser::Browser;
use super::example;
use crate::auth::issuer::{self, Issuer, claims, keys_at};
use crate::support::{Served, eventually, installed};

/// An example; `written` is the demo with revisions.
fn shown(name: &str) -> Served {
    if name != "written" {
        return example(name);
    }
    let served = example("demo");
    let policy = |id: &str, effect: &str| json!({"id": id, "effect": effect, "subjects": [{"role": "ops"}], "resources": [{"path": "/x"}], "actions": []});
    let batches = [
        json!({"message": "let ops in at night", "put": [policy("night", "permit")]}),
        json!({"message": "a whole team", "put": (0..12).map(|number| policy(&format!("team-{number}"), "permit")).collect::<Vec<_>>()}),
        json!({"message": "keep ops out after all", "put": [policy("night", "deny")], "delete": ["AccessPolicy/access/team-3", "AccessPolicy/access/team-4"]}),
        json!({"message": "no longer needed", "delete": ["AccessPolicy/access/night"]}),
    ];
    for batch in batches {
        let written = served.post("/v1/revisions", &batch.to_string());
        assert_eq!(written.status, 201, "{}", written.text);
    }
    served
}

/// Every view once, where it has something to show.
const VIEWS: [(&str, &str, &str); 28] = [
    ("home", "demo", "/"),
    ("connection", "demo", "/connection?from=web-1&to=backend-1"),
    ("connection-tie", "demo", "/connection?from=web-1&to=backend-1&kind=HealthCheck"),
    ("pairs", "demo", "/connections?kind=TrafficLog"),
    ("grants", "demo", "/connections?kind=TrafficPermission"),
    ("layers", "kuma-matching-real-resources", "/explain?what=dataplane/web-1"),
    ("gateway", "demo", "/gateway"),
    ("route", "demo", "/gateway?what=httproute/checkout&kind=TrafficPolicy"),
    ("access", "demo", "/access?subject=role%3Dadmin&action=DELETE&resource=/api/audit/123"),
    ("compliance", "compliance", "/compliance"),
    ("related", "demo", "/explain?what=project/trial~workspace/lab"),
    ("policies", "demo", "/policies"),
    ("policy", "demo", "/policy/TrafficLog/default/web-to-backend-policy"),
    ("editor", "demo", "/edit/policy/HealthCheck/default/hc-a?for=from%3Dweb-1%26to%3Dbackend-1"),
    ("what-if", "demo", "/connection?from=web-1&to=backend-1&without=HealthCheck/default/hc-a&everywhere=true"),
    ("compared", "demo", "/access?subject=role%3Dadmin&action=GET&resource=/api/users&was=subject%3Drole%253Duser"),
    ("search", "demo", "/search?q=web"),
    ("history", "written", "/history"),
    ("difference", "written", "/history?from=2&to=3"),
    ("findings", "demo", "/findings"),
    ("changes", "written", "/changes?from=2&to=3"),
    ("kinds", "demo", "/kinds"),
    ("code", "demo", "/codes/UP201"),
    ("learn", "demo", "/learn"),
    ("lesson", "demo", "/learn/select?step=6"),
    ("lesson-layers", "demo", "/learn/merge?step=3"),
    ("problem", "demo", "/connection?from=wbe-1&to=backend-1"),
    ("sign-in", "demo", "/sign-in"),
];

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/pages");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn every_view_fits_wide_and_narrow_light_and_dark_and_has_its_picture_taken() {
    let Some(mut browser) = Browser::start() else { return };
    let mut wrong = Vec::new();
    for name in ["demo", "kuma-matching-real-resources", "compliance", "written"] {
        let served = shown(name);
        for (view, _, path) in VIEWS.iter().filter(|(_, of, _)| *of == name) {
            for (width, scheme) in [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")] {
                browser.look(width, scheme);
                browser.open(&format!("{}{path}", served.base()));
                let over = browser.eval("document.documentElement.scrollWidth - innerWidth");
                if over.as_i64().unwrap() > 0 {
                    wrong.push(format!("{view} at {width} is {over} too wide"));
                }
                wrong.extend(low_contrast(&mut browser).into_iter().map(|what| format!("{view} {scheme}: {what}")));
                std::fs::write(folder().join(format!("{view}-{scheme}-{width}.png")), browser.picture()).unwrap();
                // The page that says that nothing is called so is a 422, which browsers tell in their console.
                let expected = |complaint: &String| *view == "problem" && complaint.contains("422");
                wrong.extend(browser.complaints(served.base()).into_iter().filter(|one| !expected(one)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Text that stands out too little from what is behind it.
fn low_contrast(browser: &mut Browser) -> Vec<String> {
    const LOOK: &str = r#"(() => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
        const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = (element) => { for (let at = element; at; at = at.parentElement) { const color = rgba(getComputedStyle(at).backgroundColor); if (color[3] > 200) return color; } return [255, 255, 255, 255]; };
        const found = new Set();
        for (const element of document.querySelectorAll("body *")) {
            const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
            if (!own || element.offsetParent === null || element.closest(".hidden, .skip, dialog")) continue;
            const [front, back] = [light(rgba(getComputedStyle(element).color)), light(behind(element))];
            const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
            if (ratio < 4.5) found.add(`${element.tagName}.${element.className} ${ratio.toFixed(1)} "${element.textContent.slice(0, 20)}"`);
        }
        return [...found].slice(0, 5);
    })()"#;
    let told = browser.eval(LOOK);
    told.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// Lets axe-core look at a page: what it finds that is serious.
const RUN: &str = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations\
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))\
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 2).map((node) => node.html).join(' ')}`))";

#[test]
fn nothing_serious_keeps_anybody_from_using_a_page() {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/axe/node_modules/axe-core/axe.min.js");
    let Some(axe) = installed("axe", usual, Path::exists) else { return };
    let axe = std::fs::read_to_string(axe).unwrap();
    let Some(mut browser) = Browser::start() else { return };
    let mut wrong = Vec::new();
    for name in ["demo", "kuma-matching-real-resources", "compliance", "written"] {
        let served = shown(name);
        for (view, _, path) in VIEWS.iter().filter(|(_, of, _)| *of == name) {
            for (width, scheme) in [(1440, "light"), (390, "dark")] {
                browser.look(width, scheme);
                browser.open(&format!("{}{path}", served.base()));
                browser.eval(&format!("{axe}; 0"));
                let found = browser.eval(RUN);
                wrong.extend(found.as_array().unwrap().iter().map(|one| format!("{view} {width} {scheme}: {one}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_question_is_asked_by_keyboard_alone() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("demo");
    browser.look(1440, "light");
    browser.open(&format!("{}/policies", served.base()));
    browser.press("/");
    browser.type_in("web-1 → backend-1");
    browser.press("Enter");
    let headline = || "document.querySelector('h1').textContent";
    let address = |browser: &mut Browser| browser.eval("location.pathname + location.search");
    for _ in 0..100 {
        if address(&mut browser) == "/connection?from=web-1&to=backend-1"
            && browser.eval("document.readyState") == "complete"
        {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(address(&mut browser), "/connection?from=web-1&to=backend-1");
    assert!(browser.eval(headline()).as_str().unwrap().contains("apply to web-1 → backend-1"));
    browser.press("j");
    assert_eq!(browser.eval("document.querySelectorAll('.marked').length"), 1);
    assert_eq!(browser.eval("document.activeElement.tagName"), "A", "what is marked can be opened");
    browser.press("?");
    assert_eq!(browser.eval("document.querySelector('#keys').open"), true);
    assert_eq!(browser.complaints(served.base()), Vec::<String>::new());
}

#[test]
fn without_scripts_everything_can_be_read() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("demo");
    let text = |browser: &mut Browser, path: &str| -> Json {
        browser.open(&format!("{}{path}", served.base()));
        let root = browser.tell("DOM.getDocument", &json!({"depth": 0}))["root"]["nodeId"].clone();
        let main = browser.tell("DOM.querySelector", &json!({"nodeId": root, "selector": "main"}))["nodeId"].clone();
        browser.tell("DOM.getOuterHTML", &json!({"nodeId": main}))["outerHTML"].clone()
    };
    let plain = |html: &Json| -> String {
        // Scripts only show buttons that need them.
        html.as_str().unwrap().replace(" hidden=\"\"", "").replace(" hidden", "")
    };
    for path in [
        "/",
        "/connection?from=web-1&to=backend-1",
        "/access?subject=role%3Dadmin&action=DELETE&resource=/api/audit/123",
    ] {
        let with = text(&mut browser, path);
        browser.tell("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
        let without = text(&mut browser, path);
        browser.tell("Emulation.setScriptExecutionDisabled", &json!({"value": false}));
        assert_eq!(plain(&with).len(), plain(&without).len(), "{path}");
    }
}

#[test]
fn violations_are_filtered_without_scripts() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("compliance");
    browser.look(1440, "light");
    browser.open(&format!("{}/compliance", served.base()));
    let shown = "[...document.querySelectorAll('.violation')].filter((one) => one.offsetParent !== null).length";
    let all = browser.eval(shown).as_u64().unwrap();
    let hard = browser.eval("document.querySelectorAll('.violation.hard').length").as_u64().unwrap();
    browser.eval("document.querySelector('#show-hard').click()");
    assert_eq!(browser.eval(shown).as_u64(), Some(all - hard), "the style sheet hides what is not checked");
    browser.eval("document.querySelector('#show-hard').click()");
    assert_eq!(browser.eval(shown).as_u64(), Some(all));
    assert_eq!(browser.complaints(served.base()), Vec::<String>::new());
}

/// Rows of policies that nobody sees.
const HIDDEN: &str = "[...document.querySelectorAll('tr[data-candidate]')].filter((row) => row.offsetHeight < 12 || \
    row.querySelector('.st').offsetWidth < 12).map((row) => row.textContent)";

#[test]
fn whatever_state_a_policy_has_its_row_is_seen() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("demo");
    for path in ["/learn/select?step=6", "/access?subject=role%3Dadmin&action=DELETE&resource=/api/audit/123"] {
        for width in [1440, 390] {
            browser.look(width, "light");
            browser.open(&format!("{}{path}", served.base()));
            assert!(browser.eval("document.querySelectorAll('tr.skip').length").as_u64().unwrap() > 0, "{path}");
            assert_eq!(browser.eval(HIDDEN), json!([]), "{path} at {width}");
        }
    }
}

#[test]
fn a_lesson_is_walked_through_without_scripts() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("demo");
    browser.look(1440, "light");
    browser.tell("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    let (mut path, mut headlines) = ("/learn/select?step=1".to_owned(), Vec::new());
    while path.starts_with("/learn/") {
        browser.open(&format!("{}{path}", served.base()));
        headlines.push(inside(&mut browser, "h1"));
        path = attribute(&mut browser, ".steps .main", "href");
    }
    let told = |step: usize| served.get(&format!("/v1/lessons/select?step={step}")).json();
    let expected: Vec<String> = (1..=7)
        .map(|step| told(step)["answer"]["answers"][0]["headline"]["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(headlines, expected);
    assert_eq!(path, "/learn", "the last step leads to all lessons");
    assert_eq!(browser.complaints(served.base()), Vec::<String>::new());
}

/// The first element that a selector finds, where no script may look.
fn found(browser: &mut Browser, selector: &str) -> Json {
    let root = browser.tell("DOM.getDocument", &json!({"depth": 0}))["root"]["nodeId"].clone();
    browser.tell("DOM.querySelector", &json!({"nodeId": root, "selector": selector}))["nodeId"].clone()
}

/// What is between the tags of an element.
fn inside(browser: &mut Browser, selector: &str) -> String {
    let node = found(browser, selector);
    let html = browser.tell("DOM.getOuterHTML", &json!({"nodeId": node}))["outerHTML"].as_str().unwrap().to_owned();
    html.split_once('>').unwrap().1.rsplit_once("</").unwrap().0.to_owned()
}

/// An attribute of an element.
fn attribute(browser: &mut Browser, selector: &str, name: &str) -> String {
    let node = found(browser, selector);
    let told = browser.tell("DOM.getAttributes", &json!({"nodeId": node}))["attributes"].clone();
    let pairs: Vec<&str> = told.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    pairs.chunks(2).find(|pair| pair[0] == name).unwrap()[1].to_owned()
}

#[test]
fn news_is_told_and_nothing_moves() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("demo");
    browser.look(1440, "light");
    browser.open(&format!("{}/connection?from=web-1&to=backend-1", served.base()));
    let before = browser.eval("document.querySelector('main').innerHTML");
    let batch = json!({"message": "night shift", "put": [{"id": "night", "effect": "deny", "subjects": [], "resources": [{"path": "/x"}], "actions": []}]});
    // The stream begins a moment after the page.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(served.post("/v1/revisions", &batch.to_string()).status, 201);
    let browser = std::cell::RefCell::new(browser);
    eventually(|| browser.borrow_mut().eval("!document.querySelector('#live').hidden") == true);
    let mut browser = browser.into_inner();
    let news = browser.eval("document.querySelector('#live').textContent");
    assert!(news.as_str().unwrap().contains("Revision 1 is here (night shift"), "{news}");
    assert_eq!(browser.eval("document.querySelector('main').innerHTML"), before);
}

#[test]
fn files_that_break_and_are_mended_are_told_and_nothing_moves() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policies.yaml");
    let good =
        "{id: admins, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: [{method: '*'}]}";
    std::fs::write(&file, good).unwrap();
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    browser.look(1440, "light");
    browser.open(&format!("{}/access?subject=role%3Dadmin&action=GET&resource=/x", served.base()));
    let before = browser.eval("document.querySelector('main').innerHTML");
    std::thread::sleep(std::time::Duration::from_millis(500));
    std::fs::write(&file, good.replace("permit", "allow-it")).unwrap();
    let browser = std::cell::RefCell::new(browser);
    let pill = || browser.borrow_mut().eval("document.querySelector('#pill').textContent");
    eventually(|| pill().as_str().unwrap().contains("last good snapshot"));
    let told = browser.borrow_mut().eval("document.querySelector('#live').textContent");
    assert!(told.as_str().unwrap().contains("allow-it"), "{told}");
    std::fs::write(&file, good).unwrap();
    eventually(|| pill().as_str().unwrap().contains("mended"));
    let mut browser = browser.into_inner();
    assert_eq!(browser.eval("document.querySelector('main').innerHTML"), before);
    assert_eq!(browser.complaints(served.base()), Vec::<String>::new());
}

#[test]
fn what_is_typed_in_an_editor_is_tried_as_one_types() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("demo");
    browser.look(1440, "light");
    browser.open(&format!("{}/edit/policy/HealthCheck/default/hc-a", served.base()));
    let numbers = "document.querySelector('.lines').textContent.trim().split('\\n').length";
    let lines = browser.eval(numbers).as_i64().unwrap();
    browser.eval("document.querySelector('#text').focus(); document.querySelector('#text').setSelectionRange(0, 0)");
    browser.type_in("# a remark\n");
    assert_eq!(browser.eval(numbers).as_i64().unwrap(), lines + 1);
    let browser = std::cell::RefCell::new(browser);
    let tried =
        || browser.borrow_mut().eval("document.querySelector('#tried').textContent").as_str().unwrap().to_owned();
    eventually(|| tried().contains("No result changes"));
    browser.borrow_mut().type_in("sourcs: []\n");
    eventually(|| tried().contains("sourcs"));
    assert_eq!(browser.into_inner().complaints(served.base()), Vec::<String>::new());
}

#[test]
fn somebody_signs_in_with_a_token_of_an_identity_provider() {
    let Some(mut browser) = Browser::start() else { return };
    let issuer = Issuer::new("k1");
    let (url, _) = keys_at(Arc::new(Mutex::new(issuer.set())));
    let served = issuer::served(KeysLocation::Url { url, authority: None });
    let base = served.base().to_owned();
    browser.look(1440, "light");
    browser.open(&format!("{base}/policies?kind=AccessPolicy"));
    assert_eq!(browser.eval("document.querySelector('.button.main').textContent"), "Sign in", "strangers see nothing");
    let browser = RefCell::new(browser);
    let is = |expression: &str| eventually(|| browser.borrow_mut().eval(expression) == true);
    let signs_in = |token: &str| {
        browser.borrow_mut().eval("document.querySelector('a.main[href^=\"/sign-in\"]')?.click()");
        is("document.querySelector('#token') !== null");
        browser.borrow_mut().eval("document.querySelector('#token').focus()");
        browser.borrow_mut().type_in(token);
        browser.borrow_mut().press("Enter");
    };
    let expired = get_current_timestamp() - 3600;
    signs_in(&issuer.sign(&claims(&json!({"exp": expired}))));
    is("document.querySelector('[role=alert]') !== null");
    let token = issuer.sign(&claims(&json!({})));
    signs_in(&token);
    is("location.pathname + location.search === '/policies?kind=AccessPolicy' && document.readyState === 'complete'");
    let mut browser = browser.into_inner();
    let told = browser.eval("document.body.textContent");
    assert!(told.as_str().unwrap().contains("Sign out") && !told.as_str().unwrap().contains("Sign in"), "{told}");
    assert_eq!(browser.eval("document.cookie.includes('upheld-session')"), false, "no script reads it");
    assert_eq!(browser.eval("fetch('/v1/policies').then((said) => said.status)"), 401, "endpoints do not take it");
    browser.open(&format!("{base}/history"));
    assert_eq!(browser.eval("document.querySelector('h1').textContent"), "0 revisions written.");
    browser
        .eval("[...document.querySelectorAll('footer button')].find((one) => one.textContent === 'Sign out').click()");
    let browser = RefCell::new(browser);
    eventually(|| browser.borrow_mut().eval("document.body?.textContent.includes('Sign in') ?? false") == true);
    let complaints = browser.borrow_mut().complaints(&base);
    let others: Vec<&String> = complaints.iter().filter(|one| !one.contains("401")).collect();
    assert_eq!(others, Vec::<&String>::new());
}
