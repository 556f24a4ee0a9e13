//! What lies beside the documents that are meant for us.

use upheld_engine::Companions;
use upheld_model::{Diagnostic, Files, Severity, SourceId};

use super::kustomization;

/// Whether everything that is read is meant for us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Surroundings {
    /// It is: what cannot be read, or is there twice, is a mistake.
    #[default]
    Own,
    /// Files of other programs lie between, as in repositories. What is not ours is left aside, and of an object that two folders
    /// describe the first counts, with a warning.
    Mixed,
}

impl Surroundings {
    /// As somebody who reads documents was told.
    pub(crate) fn of(settings: &Companions) -> Self {
        settings.get().copied().unwrap_or_default()
    }

    /// What is said of something that is defined a second time. Where two folders of a repository define it, as an overlay beside its base
    /// or a chart beside what was rendered of it, one of them is meant, and nobody knows which: then the first counts, and it is no error.
    pub(crate) fn twice(self, files: &Files, error: Diagnostic) -> Diagnostic {
        let place = |source: SourceId| files.get(source).map(|file| kustomization::split(&file.name));
        let second = error.label.as_ref().and_then(|label| place(label.source));
        let first = error.related.first().and_then(|label| place(label.source));
        let (Self::Mixed, Some((one, first)), Some((other, second))) = (self, first, second) else { return error };
        if one == other {
            return error;
        }
        let exclude = |folder: &str, file: &str| if folder.is_empty() { format!("/{file}") } else { folder.to_owned() };
        let help = format!(
            "to choose, leave one out: `--exclude {}` or `--exclude {}`",
            exclude(one, first),
            exclude(other, second)
        );
        let mut softened = Diagnostic {
            severity: Severity::Warning,
            message: format!("{}, and the first counts", error.message),
            help: vec![help],
            ..error
        };
        if let Some(label) = &mut softened.label {
            "second definition, left aside".clone_into(&mut label.text);
        }
        softened
    }
}
