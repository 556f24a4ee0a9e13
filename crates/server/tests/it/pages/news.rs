//! News in a real browser with its defaults: all tabs share one stream, and no page keeps a connection from another one.

use std::cell::RefCell;

use serde_json::json;

use super::browser::{Browser, Tab};
use super::example;
use crate::support::{Served, eventually};

/// How many streams of events the server has open.
fn streams(served: &Served) -> u64 {
    let numbers = served.get("/metrics").text;
    let line = numbers.lines().find_map(|line| line.strip_prefix("upheld_event_streams ")).unwrap();
    line.parse().unwrap()
}

/// A browser keeps six connections to a server. With one stream for each page that it keeps, the sixth page waits for a connection.
#[test]
fn n1_twelve_pages_one_after_the_other_share_one_stream() {
    let Some(browser) = Browser::start() else { return };
    twelve_pages(browser);
}

/// Plain addresses of other machines have no locks.
#[test]
fn n1_twelve_pages_do_without_locks() {
    let Some(mut browser) = Browser::start() else { return };
    let script = json!({"source": "delete Navigator.prototype.locks"});
    browser.tell("Page.addScriptToEvaluateOnNewDocument", &script);
    twelve_pages(browser);
}

fn twelve_pages(mut browser: Browser) {
    let served = example("demo");
    browser.look(1440, "light");
    browser.open(&format!("{}/", served.base()));
    let pages = ["/connections", "/gateway", "/access", "/compliance", "/policies", "/history"];
    for page in pages.iter().cycle().take(12) {
        browser.follow(&format!("header.top a[href='{page}']"));
        assert_eq!(browser.eval("location.pathname"), *page);
        eventually(|| streams(&served) == 1);
    }
    // The way back is also one of pages that are kept.
    browser.eval("history.back()");
    let browser = RefCell::new(browser);
    let at = |path: &str| browser.borrow_mut().eval("location.pathname") == path;
    eventually(|| at("/policies") && streams(&served) == 1);
    written(&served, "night");
    eventually(|| told(&mut browser.borrow_mut(), 1));
    assert_eq!(browser.borrow_mut().complaints(served.base()), Vec::<String>::new());
}

fn written(served: &Served, name: &str) {
    let policy = json!({"id": name, "effect": "deny", "subjects": [], "resources": [{"path": "/x"}], "actions": []});
    let batch = json!({"message": name, "put": [policy]});
    assert_eq!(served.post("/v1/revisions", &batch.to_string()).status, 201);
}

/// Whether a page tells of a revision.
fn told(browser: &mut Browser, revision: u64) -> bool {
    let words = format!("document.querySelector('#live')?.textContent.includes('Revision {revision} is here')");
    browser.eval(&words) == true
}

#[test]
fn n1_eight_tabs_share_one_stream_and_hand_it_over() {
    let Some(mut browser) = Browser::start() else { return };
    let served = example("demo");
    let tabs: Vec<Tab> = (0..8).map(|_| browser.tab()).collect();
    let pages = ["/", "/connections", "/gateway", "/access", "/compliance", "/policies", "/history", "/kinds"];
    for (tab, page) in tabs.iter().zip(pages) {
        browser.turn_to(tab);
        browser.open(&format!("{}{page}", served.base()));
        assert_eq!(browser.eval("document.visibilityState"), "visible");
        assert!(streams(&served) <= 2);
    }
    let browser = RefCell::new(browser);
    let all_told = |tabs: &[Tab], revision: u64| {
        eventually(|| {
            assert!(streams(&served) <= 2);
            tabs.iter().all(|tab| {
                browser.borrow_mut().turn_to(tab);
                told(&mut browser.borrow_mut(), revision)
            })
        });
    };
    eventually(|| streams(&served) == 1);
    written(&served, "first");
    all_told(&tabs, 1);
    // The first tab came first, so it has the stream.
    let [first, others @ ..] = &tabs[..] else { panic!("there are eight") };
    browser.borrow_mut().turn_to(&others[0]);
    browser.borrow_mut().close(first);
    written(&served, "second");
    all_told(others, 2);
    // A page that was read before the last write is told of it when it is seen again.
    let [second, ..] = others else { panic!("there are seven") };
    browser.borrow_mut().turn_to(second);
    browser
        .borrow_mut()
        .eval("dispatchEvent(new PageTransitionEvent('pagehide')); document.querySelector('#live').textContent");
    written(&served, "third");
    all_told(&others[1..], 3);
    browser.borrow_mut().turn_to(second);
    assert!(!told(&mut browser.borrow_mut(), 3), "who is away hears nothing");
    browser.borrow_mut().eval("dispatchEvent(new PageTransitionEvent('pageshow')); 0");
    all_told(&others[..1], 3);
    eventually(|| streams(&served) == 1);
}
