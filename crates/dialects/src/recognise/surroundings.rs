//! What lies beside the documents that are meant for us.

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
