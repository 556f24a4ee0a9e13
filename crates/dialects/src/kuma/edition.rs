//! The editions of policies with target references.

/// What a release of Kuma means by such policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edition {
    /// Kuma 2: references by name, tags or labels; clients are listed by groups that do not overlap.
    V2,
    /// The same, with clients listed by cliques, as the late releases of Kuma 2 do.
    V2Cliques,
    /// Kuma 3: references by labels only, and no `from`.
    V3,
}

impl Edition {
    /// All of them, the oldest first.
    pub const ALL: [Self; 3] = [Self::V2, Self::V2Cliques, Self::V3];

    /// The name of its semantics.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2 => "kuma/2",
            Self::V2Cliques => "kuma/2-cliques",
            Self::V3 => "kuma/3",
        }
    }

    /// The edition of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|edition| edition.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_editions() {
        for edition in Edition::ALL {
            assert_eq!(Edition::of(edition.name()), Some(edition));
        }
        assert_eq!(Edition::of("kuma/0.3"), None);
    }
}
