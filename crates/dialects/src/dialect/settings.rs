//! Settings of the systems themselves: what they were started with, as far as it can change an answer and stands in no
//! document. A dialect declares them once; command line, environment and `upheld.yaml` offer them under the same name.

use upheld_engine::Companions;
use upheld_model::Diagnostic;

use super::{Dialect, dialects};

/// The settings of one system, each given as `NAME=VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct SystemSettings {
    /// The name of the flag, of the key in `upheld.yaml`, and in capitals of the variable `UPHELD_NAME`.
    pub name: &'static str,
    /// What can be set, in a line.
    pub about: &'static str,
    /// Reads what was given; all mistakes at once.
    pub read: fn(&[String]) -> Result<Companions, Vec<Diagnostic>>,
}

/// The settings of all systems.
pub fn system_settings() -> impl Iterator<Item = &'static SystemSettings> {
    dialects().flat_map(Dialect::settings)
}

/// Reads what was given, by the names of systems. Nothing is set for a system of which nothing was given.
pub fn read_settings<'g>(
    given: impl IntoIterator<Item = (&'g str, &'g [String])>,
) -> Result<Companions, Vec<Diagnostic>> {
    let (mut settings, mut problems) = (Companions::default(), Vec::new());
    for (name, values) in given.into_iter().filter(|(_, values)| !values.is_empty()) {
        let Some(system) = system_settings().find(|system| system.name == name) else { continue };
        match (system.read)(values) {
            Ok(read) => settings = settings.with_all(read),
            Err(wrong) => problems.extend(wrong),
        }
    }
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}
