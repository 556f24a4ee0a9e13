//! The same documents read by other editions of the rules than those in force, for whoever names some.

use std::sync::{Arc, Mutex, PoisonError};

use upheld_loader::load::{Broken, Choices};

use super::View;

/// Views by the editions that they were read with.
#[derive(Debug, Default)]
pub(super) struct Others(Mutex<Vec<(Vec<String>, Arc<View>)>>);

/// So many are kept beside a view: each is as large as it.
const KEPT: usize = 2;

impl View {
    /// The view by some editions; other systems keep theirs. Whoever asks first waits: not for threads that answer.
    pub(crate) fn under(self: &Arc<Self>, named: &[String]) -> Result<Arc<Self>, Box<Broken>> {
        let system = |edition: &str| edition.split('/').next().unwrap_or_default().to_owned();
        let is_named = |edition: &&String| named.iter().any(|other| system(other) == system(edition));
        let others = self.semantics().iter().filter(|edition| !is_named(edition));
        let mut semantics: Vec<String> = others.chain(named).cloned().collect();
        let mut in_force = self.semantics().to_vec();
        semantics.sort_unstable();
        semantics.dedup();
        in_force.sort_unstable();
        if semantics == in_force {
            return Ok(Arc::clone(self));
        }
        let mut kept = self.others.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, view)) = kept.iter().find(|(known, _)| *known == semantics) {
            return Ok(Arc::clone(view));
        }
        let choices = Arc::new(Choices { semantics: semantics.clone(), ..Choices::clone(&self.choices) });
        let view = Arc::new(Self::build(Arc::clone(&self.state), self.files.clone(), &choices)?);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((semantics, Arc::clone(&view)));
        Ok(view)
    }
}
