//! Whether the path of a request can change what a policy says.

use super::condition::Condition;
use super::fact_test::{FactOf, FactTest};
use super::rule::{Matcher, Rule, Target, Test};

impl Rule {
    /// Whether its target or a condition looks at the path.
    pub(super) fn reads_path(&self) -> bool {
        self.target.reads_path() || self.conditions.iter().any(Condition::reads_path)
    }
}

impl Target {
    /// Whether an alternative looks at the path.
    pub(super) fn reads_path(&self) -> bool {
        self.clauses().into_iter().flat_map(|(_, matchers)| matchers).any(Matcher::reads_path)
    }
}

impl Matcher {
    /// Whether a test looks at the path.
    pub(super) fn reads_path(&self) -> bool {
        self.tests.iter().any(|test| match test {
            Test::Path(_) => true,
            Test::Fact(FactTest { of, path, .. }) => {
                *of == FactOf::Resource && path.first().is_some_and(|name| name == "path")
            }
            Test::Not(matcher) => matcher.reads_path(),
            Test::Id(_)
            | Test::SubjectType(_)
            | Test::Role(_)
            | Test::Group(_)
            | Test::App(_)
            | Test::Type(_)
            | Test::ResourceId(_)
            | Test::OwnedBySubject
            | Test::Method(_)
            | Test::Operation(_) => false,
        })
    }
}

impl Condition {
    fn reads_path(&self) -> bool {
        match self {
            // A field whose name is computed may be any, and so may be one of the whole resource or request.
            Self::Expression(expression) => expression.reads().iter().any(|fact| {
                matches!(fact.as_str(), "request" | "resource")
                    || fact.starts_with("resource.path")
                    || fact.starts_with("resource[")
            }),
            Self::Time(_) | Self::Address(_) | Self::Validity(_) | Self::Always | Self::Never => false,
        }
    }
}
