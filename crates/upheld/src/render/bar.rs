//! How far work is that may take long.

use indicatif::{ProgressBar, ProgressStyle};
use upheld_answers::Progress;

/// A bar on terminals; it hides itself elsewhere.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// For things of which there may be many.
    pub(crate) fn new(things: &str) -> Self {
        let bar = ProgressBar::new(0);
        Self(
            match ProgressStyle::with_template(&format!(
                "{{wide_bar}} {{human_pos}} of {{human_len}} {things}, {{eta}}"
            )) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            },
        )
    }

    /// Takes it away.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn expect(&self, things: u64) {
        self.0.inc_length(things);
    }

    fn done(&self, things: u64) {
        self.0.inc(things);
    }
}
