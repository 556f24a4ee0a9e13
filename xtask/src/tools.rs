//! Programs that some tests use: what is missing is listed, and installed only if that is asked for.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{chromium, debian, postgres, python};

/// Where tests write a line each for what they did without.
const LEFT_OUT: &str = "UPHELD_LEFT_OUT";
const LEFT_OUT_FILE: &str = "target/left-out.txt";

/// A program that some tests use.
pub(crate) trait Tool {
    /// As people call it.
    fn name(&self) -> &'static str;
    /// The variable that tells the tests to do without.
    fn without(&self) -> &'static str;
    /// Whether the tests can have it.
    fn is_there(&self) -> bool;
    /// What installing it runs, and where that goes.
    fn how(&self) -> String;
    /// Installs it. What goes wrong is printed.
    fn install(&self);
}

/// Whether what is missing is installed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is.
    Installed,
    /// It is only listed.
    Listed,
}

/// Runs tests with the tools that are there. Whether they passed.
pub(crate) fn with_tools(missing: Missing, mut command: Command, run: impl FnOnce(Command) -> bool) -> bool {
    let mut tools: Vec<&dyn Tool> = vec![&postgres::Postgres, &chromium::Chromium, &chromium::Axe];
    tools.extend(python::ALL.iter().map(|package| -> &dyn Tool { package }));
    tools.extend(debian::ALL.iter().map(|package| -> &dyn Tool { package }));
    let without: Vec<&dyn Tool> = tools.into_iter().filter(|tool| !can_be_had(*tool, missing)).collect();
    if missing == Missing::Listed && !without.is_empty() {
        println!("note: some tests need programs that are not here. `cargo xtask test --install` would run:");
        for tool in &without {
            println!("  {:<14} {}", tool.name(), tool.how());
        }
    }
    for tool in &without {
        command.env(tool.without(), "1");
    }
    let file = Path::new(LEFT_OUT_FILE);
    drop(fs::remove_file(file));
    if let Ok(folder) = std::env::current_dir() {
        command.env(LEFT_OUT, folder.join(file));
    }
    let passed = run(command);
    let left_out = fs::read_to_string(file).unwrap_or_default();
    if !without.is_empty() {
        let names: Vec<&str> = without.iter().map(|tool| tool.name()).collect();
        println!(
            "\nLeft out {} tests that need {}. To run everything: cargo xtask test --install",
            left_out.lines().count(),
            names.join(", ")
        );
    }
    passed
}

fn can_be_had(tool: &dyn Tool, missing: Missing) -> bool {
    if tool.is_there() {
        return true;
    }
    if std::env::var_os(tool.without()).is_some() {
        println!("note: {} is set; nothing is tested with {}.", tool.without(), tool.name());
        return false;
    }
    if missing == Missing::Installed {
        println!("note: installing {}", tool.name());
        tool.install();
        if !tool.is_there() {
            println!("note: {} could not be installed; nothing is tested with it.", tool.name());
        }
    }
    tool.is_there()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A tool that is there once it is installed.
    struct Wanted(Cell<bool>);

    impl Tool for Wanted {
        fn name(&self) -> &'static str {
            "wanted"
        }

        fn without(&self) -> &'static str {
            "UPHELD_WITHOUT_WANTED_IN_A_TEST"
        }

        fn is_there(&self) -> bool {
            self.0.get()
        }

        fn how(&self) -> String {
            "nothing".to_owned()
        }

        fn install(&self) {
            self.0.set(true);
        }
    }

    #[test]
    fn nothing_is_installed_unless_somebody_asks_for_it() {
        let tool = Wanted(Cell::new(false));
        assert!(!can_be_had(&tool, Missing::Listed) && !tool.is_there());
        assert!(can_be_had(&tool, Missing::Installed) && tool.is_there());
        assert!(can_be_had(&tool, Missing::Listed), "what is there is used");
    }
}
