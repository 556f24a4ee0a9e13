//! Which parts of a policy cut nothing, and which stars are no wildcards: ids, sorts, groups and operations are compared as they are.

use smol_str::SmolStr;

use super::rule::{ANY_METHOD, Matcher, Target, Test};

impl Target {
    /// Whether each clause has an alternative that is nothing but wildcards.
    pub fn is_wildcard(&self) -> bool {
        let cuts_nothing = |matchers: &[Matcher]| matchers.is_empty() || matchers.iter().any(Matcher::is_wildcard);
        self.clauses().into_iter().all(|(_, matchers)| cuts_nothing(matchers))
    }

    /// Values with a star in fields that have no wildcards, with the word of the field; those of `not` are told when policies are read.
    pub fn literal_stars(&self) -> Vec<(&'static str, &SmolStr)> {
        self.clauses().into_iter().flat_map(|(_, matchers)| matchers).flat_map(Matcher::literal_stars).collect()
    }
}

impl Matcher {
    fn is_wildcard(&self) -> bool {
        self.tests.iter().all(Test::is_wildcard)
    }

    fn literal_stars(&self) -> Vec<(&'static str, &SmolStr)> {
        self.tests.iter().flat_map(Test::literal_stars).collect()
    }
}

impl Test {
    fn is_wildcard(&self) -> bool {
        match self {
            Self::Role(patterns) | Self::App(patterns) => patterns.iter().any(|pattern| pattern.text() == "*"),
            Self::Path(patterns) => patterns.iter().any(|pattern| matches!(pattern.text(), "*" | "**" | "/**")),
            Self::Method(methods) => methods.iter().any(|method| method == ANY_METHOD),
            Self::Id(_)
            | Self::SubjectType(_)
            | Self::Group(_)
            | Self::Fact(_)
            | Self::Type(_)
            | Self::ResourceId(_)
            | Self::OwnedBySubject
            | Self::Operation(_)
            | Self::Not(_) => false,
        }
    }

    fn literal_stars(&self) -> Vec<(&'static str, &SmolStr)> {
        let (word, values) = match self {
            Self::Id(values) | Self::ResourceId(values) => ("id", values),
            Self::SubjectType(values) | Self::Type(values) => ("type", values),
            Self::Group(values) => ("group", values),
            Self::Operation(values) => ("operation", values),
            Self::Role(_)
            | Self::App(_)
            | Self::Path(_)
            | Self::Method(_)
            | Self::Fact(_)
            | Self::OwnedBySubject
            | Self::Not(_) => {
                return Vec::new();
            }
        };
        values.iter().filter(|value| value.contains('*')).map(|value| (word, value)).collect()
    }
}
