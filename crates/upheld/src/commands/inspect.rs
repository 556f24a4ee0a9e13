//! `inspect`: what the API of an original system would answer, in its shape.

use upheld_dialects::dialect::Native;
use upheld_dialects::natives;
use upheld_loader::load::Loaded;
use upheld_model::{Diagnostic, Fault};

use super::{Session, refuse, say};
use crate::exit::Exit;
use crate::load;

pub(super) fn run(session: &Session<'_>, path: &str) -> Exit {
    let path = path.strip_prefix('/').map_or_else(|| format!("/{path}"), |_| path.to_owned());
    // A path that nobody knows is refused by an API in its own words, if there is but one.
    let mut all = natives();
    let Some(native) = natives().find(|native| path.starts_with(native.prefix())).or_else(|| all.next()) else {
        return refuse(&[Diagnostic::error(Fault::NotFound, format!("no API has the path `{path}`"))]);
    };
    let Some(loaded) = session.load_for(native) else { return Exit::Failed };
    match native.get(&loaded.snapshot, &path) {
        Ok(body) => {
            session.screen.print_data(&body);
            Exit::Yes
        }
        Err(problem) => {
            session.screen.print_data(&problem.body);
            say(&format!("error: {}", problem.message));
            Exit::Failed
        }
    }
}

impl Session<'_> {
    /// The snapshot of the user's files, with the editions that an API shows where the user named none.
    fn load_for(&self, native: &dyn Native) -> Option<Loaded> {
        if self.settings.semantics.origin != "default" {
            return self.load();
        }
        let mut settings = self.settings.clone();
        settings.semantics.value = native.editions().iter().map(|name| (*name).to_owned()).collect();
        load::snapshot(&settings, self.common.at.as_deref())
    }
}
