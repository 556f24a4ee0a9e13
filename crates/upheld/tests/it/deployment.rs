//! S4: what `examples/deploy` has is run as it stands there, on the real program: arguments, environment, probes, reload and end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tempfile::TempDir;
use upheld_store::testing::Database;

const PROGRAM: &str = env!("CARGO_BIN_EXE_upheld");

/// Where the program is in an image, and on a machine with systemd.
const INSTALLED: &str = "/usr/local/bin/upheld";

const TOKEN: &str = "upheld_0123456789abcdef0123456789abcdef0123456789abcdef";

fn deployed(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/deploy").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Waits for what must come; how long it takes is not judged here.
fn eventually(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "still not: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A server that runs with nothing but what a file gives it.
struct Service {
    child: Child,
    port: u16,
    environment: BTreeMap<String, String>,
    told: Vec<String>,
}

impl Service {
    /// Starts a command line. The address of `UPHELD_LISTEN`, or the usual one, gets a free port.
    fn start(arguments: &[String], mut environment: BTreeMap<String, String>, folder: &Path) -> Self {
        let listen = environment.get("UPHELD_LISTEN").map_or("127.0.0.1:8181", String::as_str);
        let listen: SocketAddr = listen.parse().unwrap();
        let port = free_port();
        environment.insert("UPHELD_LISTEN".to_owned(), SocketAddr::from((listen.ip(), port)).to_string());
        let mut command = Command::new(PROGRAM);
        command.args(arguments).env_clear().envs(&environment).current_dir(folder).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut rest = BufReader::new(child.stderr.take().unwrap());
        let mut told: Vec<String> = Vec::new();
        while !told.last().is_some_and(|line| line.contains("/openapi.json")) {
            let mut line = String::new();
            assert!(rest.read_line(&mut line).unwrap() > 0, "{told:?}");
            told.push(line);
        }
        // Whoever does not read holds the server up.
        std::thread::spawn(move || std::io::copy(&mut rest, &mut std::io::sink()));
        Self { child, port, environment, told }
    }

    /// Runs a command as a container or a service manager does, with the environment of the server.
    fn run(&self, command: &[String]) -> ExitStatus {
        let (program, arguments) = command.split_first().unwrap();
        let program = if program == INSTALLED || program == "upheld" { PROGRAM } else { program };
        // What the image does not have cannot be run.
        Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(&self.environment)
            .stdout(Stdio::null())
            .status()
            .unwrap()
    }

    /// The status of an answer, as it is asked for by the address and without a token.
    fn get(&self, path: &str) -> u16 {
        self.ask("GET", path, "", "").0
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nuser-agent: kube-probe/1.33\r\naccept: */*\r\n{headers}\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    fn put_policy(&self) -> u16 {
        let policy = r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#;
        let headers = format!("authorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n");
        self.ask("PUT", "/v1/documents/AccessPolicy/access/a", &headers, policy).0
    }

    /// The cookie of a session that begins here.
    fn sign_in(&self) -> String {
        let headers =
            format!("origin: http://127.0.0.1:{}\r\ncontent-type: application/x-www-form-urlencoded\r\n", self.port);
        let (status, answer) = self.ask("POST", "/sign-in", &headers, &format!("token={TOKEN}&next=%2F"));
        assert_eq!(status, 303, "{answer}");
        let set = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        assert!(!set.contains(TOKEN), "{set}");
        set.split(';').next().unwrap().to_owned()
    }

    fn page(&self, cookie: &str) -> u16 {
        self.ask("GET", "/policies", &format!("accept: text/html\r\ncookie: {cookie}\r\n"), "").0
    }

    /// Tells it to end, and waits as long as whoever runs it would.
    fn end(mut self, signal: &str, patience: Duration) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([format!("-{signal}"), pid]).status().unwrap().success());
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < patience, "it does not end in time");
            std::thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(status.code(), Some(0));
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The documents of kubernetes.yaml, by their kind.
fn manifests() -> BTreeMap<String, Json> {
    let documents: Vec<Json> = serde_saphyr::from_multiple(&deployed("kubernetes.yaml")).unwrap();
    documents.into_iter().map(|document| (document["kind"].as_str().unwrap().to_owned(), document)).collect()
}

fn texts(list: &Json) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The environment of a container, with the values of a secret.
fn environment(container: &Json, secret: &BTreeMap<&str, String>) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::new();
    for variable in container["env"].as_array().unwrap() {
        let from = &variable["valueFrom"]["secretKeyRef"];
        let value = match variable["value"].as_str() {
            Some(value) => value.to_owned(),
            None => {
                assert_eq!(from["name"], "upheld", "{variable}");
                secret[from["key"].as_str().unwrap()].clone()
            }
        };
        environment.insert(variable["name"].as_str().unwrap().to_owned(), value);
    }
    environment
}

/// Whether a probe succeeds, as the kubelet finds out: by the address of the pod, and without a token.
fn succeeds(service: &Service, container: &Json, probe: &Json) -> bool {
    if let Some(get) = probe.get("httpGet") {
        let ports = container["ports"].as_array().unwrap();
        assert!(ports.iter().any(|port| port["name"] == get["port"]), "no port of that name: {probe}");
        return (200..400).contains(&service.get(get["path"].as_str().unwrap()));
    }
    service.run(&texts(&probe["exec"]["command"])).success()
}

const PROBES: [&str; 3] = ["startupProbe", "livenessProbe", "readinessProbe"];

#[test]
fn s4_the_kubernetes_files_run_as_they_are_and_their_probes_succeed() {
    let Some(mut database) = Database::start() else { return };
    let manifests = manifests();
    let deployment = &manifests["Deployment"]["spec"];
    let pod = &deployment["template"]["spec"];
    let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!("one container") };
    assert_eq!(container["image"], format!("upheld:{}", env!("CARGO_PKG_VERSION")));
    assert!(container.get("command").is_none(), "the image says which program it is");
    assert!(container.get("volumeMounts").is_none(), "nothing is mounted yet, so nothing is given here");
    let listens: SocketAddr = environment(
        container,
        &BTreeMap::from([("database", String::new()), ("token", String::new())]),
    )["UPHELD_LISTEN"]
        .parse()
        .unwrap();
    let port = &container["ports"][0];
    assert_eq!(port["containerPort"], listens.port());
    assert_eq!(manifests["Service"]["spec"]["ports"][0]["targetPort"], port["name"]);
    let labels = &deployment["template"]["metadata"]["labels"];
    assert_eq!(&manifests["Service"]["spec"]["selector"], labels);
    assert!(manifests["PodDisruptionBudget"]["spec"]["minAvailable"].as_u64() < deployment["replicas"].as_u64());

    let secret = BTreeMap::from([("database", database.url()), ("token", TOKEN.to_owned())]);
    let root = tempfile::tempdir().unwrap();
    let start = || Service::start(&texts(&container["args"]), environment(container, &secret), root.path());
    let (one, other) = (start(), start());
    for service in [&one, &other] {
        for probe in PROBES {
            assert!(succeeds(service, container, &container[probe]), "{probe}");
        }
        // The probes are all that strangers may ask.
        assert_eq!(service.get("/v1/documents"), 401);
        let (status, told) = service.ask("GET", "/readyz", "", "");
        assert_eq!((status, told.split_once("\r\n\r\n").unwrap().1), (200, r#"{"status":"ready"}"#));
        let told = service.told.concat();
        assert!(
            !told.contains(TOKEN) && !told.contains("  token  "),
            "the token is in the secret, and in no log: {told}"
        );
    }
    // All servers take one token, and a session holds on each of them.
    assert_eq!(one.put_policy(), 201);
    assert_eq!(other.put_policy(), 200);
    let cookie = one.sign_in();
    assert_eq!((one.page(&cookie), other.page(&cookie), other.page("upheld-session=x")), (200, 200, 401));

    // A server that lost its database goes on; `strict` tells.
    database.stop().unwrap();
    eventually("strict readiness fails", || one.get("/readyz?strict=true") == 503);
    assert!(succeeds(&one, container, &container["readinessProbe"]));
    database.start_again().unwrap();
    eventually("strict readiness comes back", || one.get("/readyz?strict=true") == 200);

    // With the setting that a comment names, it is not ready any more after that time.
    let comment = deployed("kubernetes.yaml");
    assert!(comment.contains("# - {name: UPHELD_MAX_STALE, value: 60s}"));
    let bounded = environment(container, &secret).into_iter().chain([("UPHELD_MAX_STALE".to_owned(), "2s".to_owned())]);
    let bounded = Service::start(&texts(&container["args"]), bounded.collect(), root.path());
    eventually("it is ready", || succeeds(&bounded, container, &container["readinessProbe"]));
    database.stop().unwrap();
    eventually("the readiness probe fails", || !succeeds(&bounded, container, &container["readinessProbe"]));
    assert!(succeeds(&bounded, container, &container["livenessProbe"]), "it is not restarted");
    assert!(succeeds(&one, container, &container["readinessProbe"]));

    let grace = Duration::from_secs(pod["terminationGracePeriodSeconds"].as_u64().unwrap());
    for service in [one, other, bounded] {
        service.end("TERM", grace);
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0, "its file system is read-only");
}

/// S4: three servers without tokens printed three tokens, and each took its own only.
#[test]
fn s4_servers_of_one_database_do_not_make_a_token_each() {
    let Some(database) = Database::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = |token: &str| {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", "127.0.0.1:0"]).env_clear().current_dir(folder.path());
        command.env("UPHELD_DATABASE", database.url()).env("UPHELD_BOOTSTRAP_TOKEN", token);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = run("");
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("UPHELD_BOOTSTRAP_TOKEN") && told.contains("openssl rand"), "{told}");
    let (code, told) = run("upheld_short");
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("at least 32") && !told.contains("upheld_short"), "{told}");
}

/// A unit of systemd: its sections with their settings, in order.
fn unit() -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in
        deployed("upheld.service").lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => name.clone_into(&mut section),
            None => {
                let (name, value) = line.split_once('=').unwrap();
                settings.push((section.clone(), name.to_owned(), value.to_owned()));
            }
        }
    }
    settings
}

#[test]
fn s4_the_systemd_unit_runs_as_it_is() {
    let unit = unit();
    let all = |name: &str| -> Vec<&str> {
        let own = unit.iter().filter(|(section, known, _)| section == "Service" && known == name);
        own.map(|(_, _, value)| value.as_str()).collect()
    };
    let one = |name: &str| *all(name).first().unwrap_or_else(|| panic!("no {name}"));
    let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };

    let root: TempDir = tempfile::tempdir().unwrap();
    // systemd makes these folders, and names them.
    let mut environment = BTreeMap::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for (setting, variable, place) in [
        ("StateDirectory", "STATE_DIRECTORY", "var/lib"),
        ("LogsDirectory", "LOGS_DIRECTORY", "var/log"),
        ("ConfigurationDirectory", "CONFIGURATION_DIRECTORY", "etc"),
    ] {
        let folder = root.path().join(place).join(one(setting));
        std::fs::create_dir_all(&folder).unwrap();
        environment.insert(variable.to_owned(), folder.display().to_string());
        folders.push(folder);
    }
    // A file that need not be there, with variables.
    let file = one("EnvironmentFile").strip_prefix('-').unwrap();
    let configuration = format!("/etc/{}/", one("ConfigurationDirectory"));
    assert!(file.starts_with(&configuration), "whoever looks for settings finds them in one folder");
    environment.insert("UPHELD_BOOTSTRAP_TOKEN".to_owned(), TOKEN.to_owned());

    let start = words(one("ExecStart"));
    let (program, arguments) = start.split_first().unwrap();
    assert_eq!(program, INSTALLED);
    let service = Service::start(arguments, environment, &root.path().join("etc"));
    for command in all("ExecStartPost") {
        assert!(service.run(&words(command)).success(), "{command}");
    }
    assert!(service.run(&words("upheld health --ready")).success());
    assert_eq!(service.put_policy(), 201);
    assert!(folders[0].join("upheld.db").is_file(), "the store is where systemd wants it");

    let reload: Vec<String> =
        words(one("ExecReload")).iter().map(|word| word.replace("$MAINPID", &service.child.id().to_string())).collect();
    assert!(service.run(&reload).success());
    assert!(service.run(&words("upheld health --ready")).success(), "a reload does not end it");
    assert_eq!(service.put_policy(), 200);

    let signal = one("KillSignal").strip_prefix("SIG").unwrap();
    service.end(signal, Duration::from_secs(one("TimeoutStopSec").parse().unwrap()));
}

/// The words of a line in a Containerfile that are written as JSON.
fn exec_form(text: &str, instruction: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let line = joined.lines().find(|line| line.starts_with(instruction)).unwrap_or_else(|| panic!("no {instruction}"));
    let (_, list) = line.split_once('[').unwrap();
    texts(&serde_json::from_str(&format!("[{list}")).unwrap())
}

#[test]
fn s4_the_container_runs_as_it_is_and_its_health_check_needs_nothing_else() {
    let text = deployed("Containerfile");
    let image = text.split("\nFROM ").last().unwrap();
    let data = tempfile::tempdir().unwrap();
    let variables = image.lines().find_map(|line| line.strip_prefix("ENV ")).unwrap();
    let variables = variables.split(' ').map(|variable| variable.split_once('=').unwrap());
    let environment: BTreeMap<String, String> = variables
        .map(|(name, value)| {
            let volume = image.lines().find_map(|line| line.strip_prefix("VOLUME ")).unwrap();
            let value = if value == volume { data.path().display().to_string() } else { value.to_owned() };
            (name.to_owned(), value)
        })
        .collect();
    assert_eq!(exec_form(image, "ENTRYPOINT"), [INSTALLED]);
    let service = Service::start(&exec_form(image, "CMD"), environment, data.path());
    let check = exec_form(image, "HEALTHCHECK");
    assert_eq!(check[0], INSTALLED, "the image has no other program for it");
    assert!(service.run(&check).success());
    let environment = service.environment.clone();
    service.end("TERM", Duration::from_secs(30));
    let status = Command::new(PROGRAM).args(&check[1..]).env_clear().envs(environment).stderr(Stdio::null()).status();
    assert_eq!(status.unwrap().code(), Some(1), "a server that is gone is not healthy");
}
