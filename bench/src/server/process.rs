//! A server in a process of its own, so that what it uses is not what those use who ask it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use tokio::runtime::Runtime;
use upheld_server::config::{AccessApi, Anonymous, Security, StoreLocation, Trust};
use upheld_server::{Config, start};

/// The name under which this program serves.
pub(crate) const CHILD: &str = "serve-for-others";

/// The token of somebody who may do everything, and its hash.
pub(super) const TOKEN: &str = "upheld_bench-0123456789abcdef0123456789abcdef";
/// The token of somebody who may ask.
pub(super) const ASKER: &str = "upheld_bench-asker-0123456789abcdef0123456789";
const TOKENS: &str = "tokens: [{name: bench, roles: [admin], sha256: '@'}, {name: asker, roles: [asker], sha256: '?'}]";

/// A server; it ends with this.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// As long as it is open, the server goes on.
    input: Option<ChildStdin>,
    pub(super) address: SocketAddr,
}

impl Process {
    /// Starts one with the policies of a file; everything that it writes goes into the folder of that. `anonymous` is what callers
    /// without a token may do.
    pub(super) fn start(policies: &Path, anonymous: Anonymous) -> Result<Self, String> {
        let failed = |error: std::io::Error| error.to_string();
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.arg(CHILD).arg(policies).arg(anonymous.word()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let input = child.stdin.take();
        let mut line = String::new();
        let output = child.stdout.take().ok_or("there is no output")?;
        BufReader::new(output).read_line(&mut line).map_err(failed)?;
        let address = line.trim().parse().map_err(|_| "the server did not start".to_owned())?;
        Ok(Self { child, input, address })
    }

    /// The number of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.status("VmRSS:")
    }

    /// The most memory that it had at once, in bytes.
    pub(super) fn peak_memory(&self) -> usize {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or_default() * 1024
    }

    /// Files and connections that it has open.
    pub(super) fn handles(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        if self.child.wait().is_err() {
            eprintln!("note: the server did not end as asked");
        }
    }
}

/// Serves until the input ends.
pub(crate) fn serve(policies: &str, anonymous: &str) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let policies = Path::new(policies);
    let folder = policies.parent().ok_or("the policies are in no folder")?;
    let tokens = folder.join("tokens.yaml");
    std::fs::write(&tokens, TOKENS.replace('@', &hash(TOKEN)).replace('?', &hash(ASKER)))
        .map_err(|error| failed(&error))?;
    let anonymous = [Anonymous::None, Anonymous::Decide].into_iter().find(|known| known.word() == anonymous);
    // Proxies of this machine may say who asks.
    let trust = Trust::read(&["peer=127.0.0.1".to_owned()]).map_err(|problem| problem.message)?;
    let config = Config {
        access: AccessApi { trust, ..AccessApi::default() },
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        store: StoreLocation::Folder(folder.join("data")),
        watch: vec![policies.to_owned()],
        security: Security { tokens: Some(tokens), anonymous, ..Security::default() },
        ..Config::default()
    };
    let runtime = Runtime::new().map_err(|error| failed(&error))?;
    let running = runtime.block_on(start(config)).map_err(|error| failed(&error))?;
    println!("{}", running.address());
    std::io::stdin().read_to_end(&mut Vec::new()).map_err(|error| failed(&error))?;
    runtime.block_on(running.stop());
    Ok(())
}

fn hash(token: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
