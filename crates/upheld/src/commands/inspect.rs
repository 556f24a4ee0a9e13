//! `inspect`: what Kuma's own Inspect API would answer, in its shape.

use upheld_dialects::kuma::view;
use upheld_input::load::Loaded;

use super::{Session, say};
use crate::exit::Exit;
use crate::load;

/// The editions that these endpoints show, unless the user names others.
const EDITIONS: [&str; 2] = [view::EDITION, "kuma/2"];

pub(super) fn run(session: &Session<'_>, path: &str) -> Exit {
    let Some(loaded) = session.load_for(&EDITIONS) else { return Exit::Failed };
    let path = path.strip_prefix('/').map_or_else(|| format!("/{path}"), |_| path.to_owned());
    match view::inspect(&loaded.snapshot, &path) {
        Ok(body) => {
            session.screen.print_data(&body);
            Exit::Yes
        }
        Err(problem) => {
            session.screen.print_data(&problem.body());
            say(&format!("error: {problem}"));
            Exit::Failed
        }
    }
}

impl Session<'_> {
    /// The snapshot of the user's files, with other editions than usual where the user named none.
    fn load_for(&self, editions: &[&str]) -> Option<Loaded> {
        if self.settings.semantics.origin != "default" {
            return self.load();
        }
        let mut settings = self.settings.clone();
        settings.semantics.value = editions.iter().map(|name| (*name).to_owned()).collect();
        load::snapshot(&settings, self.common.at.as_deref())
    }
}
