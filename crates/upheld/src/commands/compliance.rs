//! Questions about related objects and their tags.

pub(super) mod audit;
pub(super) mod can;
pub(super) mod fix;
mod history;
pub(super) mod offers;
pub(super) mod show;
pub(super) mod waivers;
pub(super) mod what_if;

use upheld_answers::compliance::Organisation as Asked;
use upheld_loader::load::Loaded;

use super::decision::now;
use super::{Session, refuse};
use crate::cli::Organisation;

/// Loads the user's files, to be asked at a moment; problems were printed if there is nothing to ask.
fn load(session: &Session<'_>, beside: Option<&str>) -> Option<Loaded> {
    if let Err(problem) = now(session) {
        refuse(&[problem]);
        return None;
    }
    session.load_beside(beside)
}

/// The objects that are asked about; problems were printed if there are none.
fn asked<'l>(session: &Session<'_>, loaded: &'l Loaded, organisation: &Organisation) -> Option<Asked<'l>> {
    match Asked::of(&loaded.snapshot, organisation.policies.as_deref(), session.options().now) {
        Ok(asked) => Some(asked),
        Err(problem) => {
            refuse(&[problem]);
            None
        }
    }
}
