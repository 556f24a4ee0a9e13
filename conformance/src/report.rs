//! What the program prints: a line for each family, and below it whatever did not pass.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::corpus::Family;
use crate::outcome::{Outcome, Tally};

/// Prints a family and returns how it went. `verbose` goes into each case.
pub(crate) fn family(
    out: &mut impl Write,
    family: &Family,
    outcomes: &[(String, Outcome)],
    verbose: bool,
) -> io::Result<Tally> {
    let tally = Tally::of(outcomes.iter().map(|(_, outcome)| outcome));
    writeln!(out, "{}: {tally}", family.name)?;
    if verbose {
        each_case(out, outcomes)?;
    } else {
        skipped_by_reason(out, outcomes)?;
    }
    Ok(tally)
}

fn each_case(out: &mut impl Write, outcomes: &[(String, Outcome)]) -> io::Result<()> {
    for (case, outcome) in outcomes {
        match outcome {
            Outcome::Passed => {}
            Outcome::Skipped(reason) => writeln!(out, "  skipped {case}: {reason}")?,
            Outcome::Failed(lines) => {
                writeln!(out, "  failed {case}")?;
                for line in lines {
                    writeln!(out, "    {line}")?;
                }
            }
        }
    }
    Ok(())
}

fn skipped_by_reason(out: &mut impl Write, outcomes: &[(String, Outcome)]) -> io::Result<()> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, outcome) in outcomes {
        if let Outcome::Skipped(reason) = outcome {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    for (reason, count) in reasons {
        writeln!(out, "  {count} skipped: {reason}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(verbose: bool, expected: &str) {
        let because = || Outcome::Skipped("because".to_owned());
        let results = [Outcome::Passed, Outcome::Failed(vec!["x: expected 1, got 2".to_owned()]), because(), because()];
        let outcomes: Vec<_> = ["a", "b", "c", "d"].map(str::to_owned).into_iter().zip(results).collect();
        let family_of_four = Family { name: "corpus/family".to_owned(), cases: Vec::new() };
        let mut out = Vec::new();
        let tally = family(&mut out, &family_of_four, &outcomes, verbose).unwrap();
        assert_eq!(tally, Tally { passed: 1, failed: 1, skipped: 2 });
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn in_short_reasons_are_counted() {
        check(false, "corpus/family: 1 passed, 1 failed, 2 skipped\n  2 skipped: because\n");
    }

    #[test]
    fn at_length_each_case_is_shown() {
        check(
            true,
            "corpus/family: 1 passed, 1 failed, 2 skipped\n  failed b\n    x: expected 1, got 2\n  \
             skipped c: because\n  skipped d: because\n",
        );
    }
}
