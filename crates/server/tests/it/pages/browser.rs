//! A real browser, told what to do over a pipe: commands of the protocol of its tools for developers as JSON, each ended by a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::support::installed;

/// A browser with one page open, which ends with the test.
pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    said: BufReader<ChildStdout>,
    session: String,
    next: u64,
    /// What was said besides answers.
    events: Vec<Json>,
    _profile: TempDir,
}

/// A tab of a browser.
#[derive(Debug)]
pub(crate) struct Tab {
    session: String,
    target: String,
}

impl Browser {
    /// Starts one; none where there is no Chromium and that is fine.
    pub(crate) fn start() -> Option<Self> {
        let program = installed("chromium", "/usr/bin/chromium", Path::exists)?;
        let profile = tempfile::tempdir().unwrap();
        // The protocol is spoken over the third and fourth file, which a shell can give it.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#])
            .arg(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
            ])
            .args([
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (commands, said) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser =
            Self { child, commands, said, session: String::new(), next: 1, events: Vec::new(), _profile: profile };
        let first = browser.tab();
        browser.turn_to(&first);
        Some(browser)
    }

    /// Opens a tab in a window of its own, so that it is seen while others are.
    pub(crate) fn tab(&mut self) -> Tab {
        let before = std::mem::take(&mut self.session);
        let window = json!({"url": "about:blank", "newWindow": true});
        let target = self.tell("Target.createTarget", &window)["targetId"].as_str().unwrap().to_owned();
        let attached = self.tell("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        let tab = Tab { session: attached["sessionId"].as_str().unwrap().to_owned(), target };
        self.turn_to(&tab);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.tell(&format!("{domain}.enable"), &json!({}));
        }
        self.session = before;
        tab
    }

    /// From here on, everything is told to this tab.
    pub(crate) fn turn_to(&mut self, tab: &Tab) {
        self.session.clone_from(&tab.session);
    }

    /// Closes a tab that is not turned to.
    pub(crate) fn close(&mut self, tab: &Tab) {
        let before = std::mem::take(&mut self.session);
        self.tell("Target.closeTarget", &json!({"targetId": tab.target}));
        self.session = before;
    }

    /// Tells it something, and waits for the answer.
    pub(crate) fn tell(&mut self, method: &str, parameters: &Json) -> Json {
        let id = self.next;
        self.next += 1;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.commands.write_all(command.to_string().as_bytes()).unwrap();
        self.commands.write_all(&[0]).unwrap();
        self.commands.flush().unwrap();
        loop {
            let said = self.read();
            if said["id"] == id {
                assert!(said.get("error").is_none(), "{method}: {}", said["error"]);
                return said["result"].clone();
            }
            self.events.push(said);
        }
    }

    fn read(&mut self) -> Json {
        let mut bytes = Vec::new();
        self.said.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser ended");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Waits for an event.
    pub(crate) fn wait(&mut self, method: &str) -> Json {
        loop {
            let is_it = |event: &Json| event["method"] == method && event["sessionId"] == self.session;
            if let Some(place) = self.events.iter().position(is_it) {
                return self.events.remove(place)["params"].clone();
            }
            let said = self.read();
            self.events.push(said);
        }
    }

    /// Opens a page, and waits until everything is there.
    pub(crate) fn open(&mut self, address: &str) {
        self.loads(|browser| drop(browser.tell("Page.navigate", &json!({"url": address}))));
    }

    /// Clicks on what a selector finds, and waits until the page is there that it leads to.
    pub(crate) fn follow(&mut self, selector: &str) {
        self.loads(|browser| drop(browser.eval(&format!("document.querySelector({}).click()", json!(selector)))));
    }

    fn loads(&mut self, act: impl FnOnce(&mut Self)) {
        let own = self.session.clone();
        self.events.retain(|event| event["method"] != "Page.loadEventFired" || event["sessionId"] != own);
        act(self);
        self.wait("Page.loadEventFired");
    }

    /// What an expression comes to on the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Json {
        let wanted = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let told = self.tell("Runtime.evaluate", &wanted);
        assert!(told.get("exceptionDetails").is_none(), "{expression}: {told}");
        told["result"]["value"].clone()
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { key };
        let code = if key == "Enter" { 13 } else { 0 };
        for sort in ["keyDown", "keyUp"] {
            let text = if sort == "keyDown" { text } else { "" };
            self.tell(
                "Input.dispatchKeyEvent",
                &json!({"type": sort, "key": key, "text": text, "windowsVirtualKeyCode": code}),
            );
        }
    }

    /// Types a text.
    pub(crate) fn type_in(&mut self, text: &str) {
        self.tell("Input.insertText", &json!({"text": text}));
    }

    /// As wide as a screen, in light or dark.
    pub(crate) fn look(&mut self, width: u32, scheme: &str) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
        self.tell("Emulation.setDeviceMetricsOverride", &metrics);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.tell("Emulation.setEmulatedMedia", &features);
    }

    /// A picture of the whole page.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        use base64::Engine;
        let told = self.tell("Page.captureScreenshot", &json!({"format": "png", "captureBeyondViewport": true}));
        base64::engine::general_purpose::STANDARD.decode(told["data"].as_str().unwrap()).unwrap()
    }

    /// Errors of the console, exceptions, and requests to anybody else.
    pub(crate) fn complaints(&mut self, base: &str) -> Vec<String> {
        let told = std::mem::take(&mut self.events);
        told.iter()
            .filter_map(|event| {
                let parameters = &event["params"];
                match event["method"].as_str()? {
                    "Runtime.exceptionThrown" => Some(parameters.to_string()),
                    "Runtime.consoleAPICalled" if parameters["type"] == "error" => Some(parameters.to_string()),
                    "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
                        Some(parameters["entry"].to_string())
                    }
                    "Network.requestWillBeSent" => {
                        let url = parameters["request"]["url"].as_str()?;
                        let ours = url.starts_with(base) || url.starts_with("about:") || url.starts_with("data:");
                        (!ours).then(|| format!("a request to {url}"))
                    }
                    _ => None,
                }
            })
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
