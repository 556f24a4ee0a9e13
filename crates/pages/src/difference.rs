//! Two texts, line by line.

/// A line of either text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line<'t> {
    /// In both.
    Same(&'t str),
    /// In the first alone.
    Gone(&'t str),
    /// In the second alone.
    New(&'t str),
}

/// Beyond so many lines that differ, all of the first stand before all of the second.
const MOST: usize = 400;

/// Both texts in one: what begins and ends alike, and between that the longest common sequence of lines.
pub(crate) fn lines<'t>(before: &'t str, after: &'t str) -> Vec<Line<'t>> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let begin = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (old, new) = (before.get(begin..).unwrap_or_default(), after.get(begin..).unwrap_or_default());
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let (old, tail) = old.split_at(old.len() - end);
    let new = new.get(..new.len() - end).unwrap_or_default();
    let mut all: Vec<Line<'t>> = before.iter().take(begin).map(|line| Line::Same(line)).collect();
    all.extend(between(old, new));
    all.extend(tail.iter().map(|line| Line::Same(line)));
    all
}

fn between<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    if old.len().max(new.len()) > MOST {
        return old.iter().map(|line| Line::Gone(line)).chain(new.iter().map(|line| Line::New(line))).collect();
    }
    // `common[i][j]`: how many lines are common from `i` of one and `j` of the other on.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    let get =
        |common: &[Vec<usize>], i: usize, j: usize| common.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let most = if one == other {
                get(&common, i + 1, j + 1) + 1
            } else {
                get(&common, i + 1, j).max(get(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i).and_then(|row| row.get_mut(j)) {
                *cell = most;
            }
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    loop {
        match (old.get(i), new.get(j)) {
            (Some(one), Some(other)) if one == other => {
                all.push(Line::Same(one));
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other) if other.is_none() || get(&common, i + 1, j) >= get(&common, i, j + 1) => {
                all.push(Line::Gone(one));
                i += 1;
            }
            (_, Some(other)) => {
                all.push(Line::New(other));
                j += 1;
            }
            (_, None) => return all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_stays_and_the_rest_is_gone_or_new() {
        let told = lines("a\nb\nc\nd", "a\nx\nc\nd\ne");
        let expected =
            [Line::Same("a"), Line::Gone("b"), Line::New("x"), Line::Same("c"), Line::Same("d"), Line::New("e")];
        assert_eq!(told, expected);
    }

    #[test]
    fn both_texts_can_be_read_out_of_it() {
        for (before, after) in [("", "a\nb"), ("a\nb", ""), ("a\nb\na\nb", "b\na\nb\nb\na"), ("x\ny", "y\nx")] {
            let all = lines(before, after);
            let old: Vec<&str> = all
                .iter()
                .filter_map(|line| match line {
                    Line::Same(text) | Line::Gone(text) => Some(*text),
                    Line::New(_) => None,
                })
                .collect();
            let new: Vec<&str> = all
                .iter()
                .filter_map(|line| match line {
                    Line::Same(text) | Line::New(text) => Some(*text),
                    Line::Gone(_) => None,
                })
                .collect();
            assert_eq!((old.join("\n"), new.join("\n")), (before.to_owned(), after.to_owned()));
        }
    }
}
