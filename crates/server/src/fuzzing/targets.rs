//! Every reader of foreign bytes by its name, which is also that of its folder of kept bytes.

use std::cell::OnceCell;

use upheld_engine::decide::reference::{random, servers};

use super::{Target, documents, files, readers, requests};

/// A reader of foreign bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fuzzed {
    /// The name.
    pub name: &'static str,
    /// Gives it bytes; the error is what it does wrong with them, or how it differs from a reference.
    pub check: fn(&[u8]) -> Result<(), String>,
}

const fn fuzzed(name: &'static str, check: fn(&[u8]) -> Result<(), String>) -> Fuzzed {
    Fuzzed { name, check }
}

/// All of them. Of a reader that says whatever it thinks of bytes, it is asked that it comes back.
pub const TARGETS: [Fuzzed; 22] = [
    fuzzed("read_yaml", readers::yaml),
    fuzzed("read_json", readers::json),
    fuzzed("read_csv", readers::csv),
    fuzzed("mesh_documents", documents::check),
    fuzzed("gateway_manifests", documents::check),
    fuzzed("policy_kinds", documents::check),
    fuzzed("policy_sets", documents::check),
    fuzzed("related_objects", documents::check),
    fuzzed("expressions", documents::expression),
    fuzzed("patterns", documents::pattern),
    fuzzed("hosts", documents::host),
    fuzzed("decide", random::check),
    fuzzed("paths", servers::check),
    fuzzed("log_lines", files::log_line),
    fuzzed("histories", |bytes| {
        files::history(bytes);
        Ok(())
    }),
    fuzzed("security_files", files::security),
    fuzzed("certificates", |bytes| {
        files::certificate(bytes);
        Ok(())
    }),
    fuzzed("web_tokens", requests::web_token),
    fuzzed("http_requests", requests::http),
    fuzzed("forward_auth", requests::forward_auth),
    fuzzed("check_requests", requests::check_request),
    fuzzed("server_requests", requests::body),
];

thread_local! {
    static SERVER: OnceCell<Result<Target, String>> = const { OnceCell::new() };
}

/// Asks a server that is started once.
pub(super) fn with_server(ask: impl FnOnce(&Target) -> Result<(), String>) -> Result<(), String> {
    SERVER.with(|server| match server.get_or_init(Target::start) {
        Ok(target) => ask(target),
        Err(error) => Err(error.clone()),
    })
}
