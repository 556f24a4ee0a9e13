//! Columns that line up.

use unicode_width::UnicodeWidthStr;

use super::style::{HEADING, paint};
use super::text::{Piece, Text};
use super::visible;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table; the first row is the heading.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    cells: Vec<String>,
    style: anstyle::Style,
}

const INDENT: &str = "  ";
const GAP: usize = 2;

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row whose first cell has a style.
    pub(crate) fn row(&mut self, style: anstyle::Style, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row { cells: cells.into_iter().map(|cell| visible(&cell)).collect(), style });
    }

    /// The lines of the table. On a terminal that is too narrow, the last `foldable` columns go to lines of their own, and more
    /// if that is not enough.
    pub(crate) fn render(&self, width: Option<usize>, foldable: usize) -> Text {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let kept = self.kept(&widths, width, foldable);
        let heading: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut text = String::new();
        self.line(&heading, &widths, kept, |_, cell| paint(HEADING, cell).as_str().to_owned(), &mut text);
        for row in &self.rows {
            let style = |column: usize, cell: &str| {
                if column == 0 { paint(row.style, cell).as_str().to_owned() } else { cell.to_owned() }
            };
            self.line(&row.cells, &widths, kept, style, &mut text);
            let indent = INDENT.len() + widths.first().copied().unwrap_or(0) + GAP;
            for (cell, (name, align)) in
                row.cells.iter().zip(&self.columns).skip(kept).filter(|(cell, _)| !cell.is_empty())
            {
                // A number alone says nothing.
                let told =
                    if *align == Align::Right { format!("{} {cell}", name.to_lowercase()) } else { cell.clone() };
                text.push_str(indented(&told, indent, width).as_str());
            }
        }
        Text::laid_out(text)
    }

    /// How many columns stay beside each other; the first two always do.
    fn kept(&self, widths: &[usize], width: Option<usize>, foldable: usize) -> usize {
        let all = self.columns.len();
        let fits = |kept: usize| {
            let total = INDENT.len() + widths.iter().take(kept).sum::<usize>() + GAP * kept.saturating_sub(1);
            width.is_none_or(|width| total <= width)
        };
        if foldable == 0 || fits(all) {
            return all;
        }
        let most = all.saturating_sub(foldable);
        (2..=most).rev().find(|kept| fits(*kept)).unwrap_or(most.min(2))
    }

    fn width(&self, column: usize) -> usize {
        let heading = self.columns.get(column).map_or(0, |(name, _)| name.width());
        let cells = self.rows.iter().filter_map(|row| row.cells.get(column)).map(|cell| cell.width());
        cells.fold(heading, usize::max)
    }

    fn line(
        &self,
        cells: &[String],
        widths: &[usize],
        kept: usize,
        style: impl Fn(usize, &str) -> String,
        text: &mut String,
    ) {
        let mut line = INDENT.to_owned();
        for (column, ((cell, width), (_, align))) in cells.iter().zip(widths).zip(&self.columns).take(kept).enumerate()
        {
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            if column > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            match align {
                Align::Left => line.push_str(&(style(column, cell) + &padding)),
                Align::Right => line.push_str(&(padding + &style(column, cell))),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// A sentence with an indent, broken at spaces where there is a width.
pub(crate) fn indented(sentence: &(impl Piece + ?Sized), indent: usize, width: Option<usize>) -> Text {
    let wrapped = wrap(sentence, width.map(|width| width.saturating_sub(indent).max(20)));
    Text::laid_out(wrapped.as_str().lines().map(|line| format!("{}{line}\n", " ".repeat(indent))).collect())
}

/// Breaks a sentence at spaces; without a width it stays one line.
pub(crate) fn wrap(sentence: &(impl Piece + ?Sized), width: Option<usize>) -> Text {
    let sentence = sentence.piece();
    let Some(width) = width else { return Text::laid_out(sentence.into_owned()) };
    let mut lines: Vec<String> = Vec::new();
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    Text::laid_out(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(&[("STATE", Align::Left), ("TAGS", Align::Right), ("BECAUSE", Align::Left)]);
        table.row(anstyle::Style::new(), ["WON", "4", "most tags"].map(str::to_owned));
        table.row(anstyle::Style::new(), ["LOST", "12", ""].map(str::to_owned));
        table
    }

    fn plain(text: &Text) -> String {
        anstream::adapter::strip_str(text.as_str()).to_string()
    }

    #[test]
    fn columns_line_up_and_lines_do_not_end_in_spaces() {
        assert_eq!(
            plain(&sample().render(None, 1)),
            "  STATE  TAGS  BECAUSE\n  WON       4  most tags\n  LOST     12\n"
        );
    }

    #[test]
    fn a_narrow_terminal_folds_the_last_columns() {
        assert_eq!(
            plain(&sample().render(Some(20), 1)),
            "  STATE  TAGS\n  WON       4\n         most tags\n  LOST     12\n"
        );
    }

    #[test]
    fn a_terminal_that_is_narrower_still_folds_more_columns() {
        let mut table = Table::new(&[
            ("KIND", Align::Left),
            ("FOR", Align::Left),
            ("RESULT", Align::Left),
            ("BEAT", Align::Right),
            ("NOTE", Align::Left),
        ]);
        table.row(anstyle::Style::new(), ["Timeout", "backend", "requestTimeout: 15s", "2", ""].map(str::to_owned));
        let text = "  KIND     FOR\n  Timeout  backend\n           requestTimeout: 15s\n           beat 2\n";
        assert_eq!(plain(&table.render(Some(30), 1)), text);
    }

    #[test]
    fn piped_sentences_stay_one_line() {
        assert_eq!(wrap("one two three", None).as_str(), "one two three");
        assert_eq!(wrap("one two three", Some(8)).as_str(), "one two\nthree");
    }
}
