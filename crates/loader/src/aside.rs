//! Files and folders that are not read, by why: nothing is left out in silence.

use std::collections::{BTreeMap, BTreeSet};

/// Why something is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// A template of a Helm chart: it becomes documents when the chart is rendered.
    HelmTemplate,
    /// What else a Helm chart is made of: its values, for example.
    HelmChart,
    /// A template of another program.
    Template,
    /// Nothing in it looks like ours, and it cannot be parsed.
    OtherProgram,
    /// Everything in it is encrypted.
    Encrypted,
    /// A link that leads nowhere.
    BrokenLink,
    /// A link to a folder: it may lead back here.
    LinkedFolder,
    /// Something that git ignores.
    Ignored,
    /// Something that the user excluded.
    Excluded,
    /// It was rendered, and is read as what came of it.
    Rendered,
}

impl Why {
    /// Whether somebody chose it.
    pub fn is_chosen(self) -> bool {
        matches!(self, Self::Ignored | Self::Excluded | Self::Rendered)
    }

    /// One of them, in words.
    pub fn word(self) -> &'static str {
        self.words().0
    }

    /// So many of them, in words.
    pub fn counted(self, count: usize) -> String {
        let (one, many) = self.words();
        format!("{count} {}", if count == 1 { one } else { many })
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::HelmTemplate => ("Helm template", "Helm templates"),
            Self::HelmChart => ("other file of a Helm chart", "other files of Helm charts"),
            Self::Template => ("template", "templates"),
            Self::OtherProgram => ("unreadable file of another program", "unreadable files of other programs"),
            Self::Encrypted => ("encrypted file", "encrypted files"),
            Self::BrokenLink => ("link that leads nowhere", "links that lead nowhere"),
            Self::LinkedFolder => ("linked folder", "linked folders"),
            Self::Ignored => ("file or folder that git ignores", "files and folders that git ignores"),
            Self::Excluded => ("excluded file or folder", "excluded files and folders"),
            Self::Rendered => ("file that was rendered", "files that were rendered"),
        }
    }
}

/// What was not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftAside {
    /// Names, as users know them.
    pub by_reason: BTreeMap<Why, BTreeSet<String>>,
    /// Folders that are Helm charts, and were not rendered.
    pub charts: BTreeSet<String>,
    /// Folders that say with Kustomize how files are changed before they are applied, and were not rendered.
    pub kustomizations: BTreeSet<String>,
}

impl LeftAside {
    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.by_reason.is_empty()
    }

    /// One more.
    pub fn add(&mut self, why: Why, name: impl Into<String>) {
        self.by_reason.entry(why).or_default().insert(name.into());
    }

    /// With others.
    pub fn extend(&mut self, other: Self) {
        for (why, names) in other.by_reason {
            self.by_reason.entry(why).or_default().extend(names);
        }
        self.charts.extend(other.charts);
        self.kustomizations.extend(other.kustomizations);
    }
}
