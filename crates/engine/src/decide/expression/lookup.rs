//! A list in which many values are looked for: it is sorted once, and each value found in a few comparisons.
//!
//! What looking costs in steps stays what it costs one by one, so answers are the same, also where steps run out.

use super::Cause;
use super::value::{Budget, List, Value};
use crate::decide::number::Number;

/// Shorter lists are read from end to end.
const FEW: usize = 8;
/// Texts from this length on cost more than one step.
const LONG: usize = 64;

/// A list to look in.
pub(super) enum Lookup<'l> {
    /// Its elements are compared one by one.
    OneByOne(&'l List<'l>),
    /// All are small; each with the place where it stands, in order.
    Sorted(Vec<(Small<'l>, usize)>),
}

/// A value that is compared in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Small<'l> {
    Null,
    Bool(bool),
    Whole(i64),
    Large(u64),
    Text(&'l str),
}

impl<'l> Small<'l> {
    pub(super) fn of(value: &'l Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(truth) => Some(Self::Bool(*truth)),
            Value::Number(number) => Self::of_number(*number),
            Value::Text(text) => Some(Self::Text(text)),
            _ => None,
        }
    }

    pub(super) fn of_number(number: Number) -> Option<Self> {
        match number {
            Number::Whole(number) => Some(Self::Whole(number)),
            Number::Large(number) => Some(Self::Large(number)),
            Number::Other(_) => None,
        }
    }

    fn is_short(self) -> bool {
        !matches!(self, Self::Text(text) if text.len() >= LONG)
    }
}

impl<'l> Lookup<'l> {
    /// For so many values that are looked for.
    pub(super) fn of(list: &'l List<'l>, values: usize) -> Self {
        let is_worth_it = list.len() >= FEW && values >= FEW;
        let sorted = is_worth_it.then(|| {
            let small = |place: usize| Some((list.small(place)?, place)).filter(|(small, _)| small.is_short());
            let mut all = (0..list.len()).map(small).collect::<Option<Vec<_>>>()?;
            all.sort_unstable();
            Some(all)
        });
        sorted.flatten().map_or(Self::OneByOne(list), Self::Sorted)
    }

    /// Whether a value is an element.
    pub(super) fn has(&self, value: &Value<'_>, budget: &mut Budget) -> Result<bool, Cause> {
        let sorted = match self {
            Self::OneByOne(list) => return budget.is_in(value, list),
            Self::Sorted(sorted) => sorted,
        };
        let found = Small::of(value).and_then(|wanted| {
            let first = sorted.partition_point(|(small, _)| *small < wanted);
            sorted.get(first).filter(|(small, _)| *small == wanted).map(|(_, place)| place + 1)
        });
        budget.spend_on(sorted.len())?;
        budget.spend(found.unwrap_or(sorted.len()))?;
        Ok(found.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::request::Fact;

    fn facts(count: usize, numbers: &mut u64) -> Vec<Fact> {
        let mut below = |bound: u64| {
            *numbers = numbers.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*numbers >> 33) % bound
        };
        let is_small = below(4) > 0;
        let fact = |_| match below(if is_small { 8 } else { 12 }) {
            0 => Fact::Null,
            1 => Fact::Bool(below(2) == 0),
            2 | 3 => Fact::Number(below(9).into()),
            4 => Fact::Number((u64::MAX - below(3)).into()),
            5..8 => Fact::Text(["", "a", "b", "ab", "x"][usize::try_from(below(5)).unwrap()].into()),
            8 => Fact::Text("x".repeat(usize::try_from(60 + below(10)).unwrap()).into()),
            9 => Fact::Number(0.5.into()),
            10 => Fact::Unknown,
            _ => Fact::List(vec![Fact::Null]),
        };
        (0..count).map(fact).collect()
    }

    /// Answers and steps are those of comparing one by one, also where steps run out.
    #[test]
    fn p37_a_sorted_list_answers_as_one_that_is_read() {
        let (mut numbers, mut sorted) = (37, 0);
        for round in 0..3_000_usize {
            let (own, other) = (facts(round % 30, &mut numbers), facts(40, &mut numbers));
            let list = List::Facts(&own);
            let lookup = Lookup::of(&list, other.len());
            sorted += usize::from(matches!(lookup, Lookup::Sorted(_)));
            for wanted in other.iter().filter_map(|fact| Value::of_fact(fact).ok()) {
                let (mut one, mut two) = (Budget::new(), Budget::new());
                for _ in 0..300 {
                    let (found, naive) = (lookup.has(&wanted, &mut one), two.is_in(&wanted, &list));
                    assert_eq!((found, one.spent()), (naive, two.spent()), "{wanted:?} in {own:?}");
                    if naive == Err(Cause::TooManySteps) || round % 50 > 0 {
                        break;
                    }
                }
            }
        }
        assert!(sorted > 1_000, "{sorted}");
    }

    /// 60 values in a list of 60 are found by sorting, which takes few comparisons for each.
    #[test]
    fn p37_long_lists_of_small_values_are_sorted() {
        let (texts, few): (Vec<Fact>, Vec<Fact>) =
            ((0..60_u64).map(|number| Fact::Number(number.into())).collect(), vec![Fact::Null; 3]);
        assert!(matches!(Lookup::of(&List::Facts(&texts), 60), Lookup::Sorted(all) if all.len() == 60));
        assert!(matches!(Lookup::of(&List::Facts(&few), 60), Lookup::OneByOne(_)));
        assert!(matches!(Lookup::of(&List::Facts(&texts), 2), Lookup::OneByOne(_)));
    }
}
