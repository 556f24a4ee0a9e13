//! What people read: numbers, tables, and the targets with their verdicts.

use std::time::Duration;

/// A count as a number to calculate with; counts here are far below what both can hold.
pub(crate) fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn whole(value: f64) -> usize {
    format!("{value:.0}").parse().unwrap_or(usize::MAX)
}

/// How often one duration holds another.
pub(crate) fn ratio(long: Duration, short: Duration) -> f64 {
    long.as_secs_f64() / short.as_secs_f64().max(1e-9)
}

/// `10 000 000`
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A figure with as many digits as mean something.
pub(crate) fn figure(value: f64) -> String {
    match value {
        value if value >= 10_000.0 => format!("{} 000", grouped(whole(value / 1_000.0))),
        value if value >= 100.0 => grouped(whole(value)),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// `13.4 ms`
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        seconds if seconds >= 1.0 => format!("{} s", figure(seconds)),
        seconds if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{:.1} µs", seconds * 1e6),
    }
}

/// `48.3 MB`
pub(crate) fn memory(bytes: Option<usize>) -> String {
    bytes.map_or_else(|| "not available".to_owned(), |bytes| format!("{} MB", figure(number(bytes) / 1e6)))
}

/// Prints a heading.
pub(crate) fn heading(text: &str) {
    println!("\n{text}\n");
}

/// Prints a line of a table: what it is, and a cell for each column.
pub(crate) fn row<T: AsRef<str>>(name: &str, cells: impl IntoIterator<Item = T>) {
    let cells: String = cells.into_iter().map(|cell| format!("{:>24}", cell.as_ref())).collect();
    println!("{}", format!("  {name:<44}{cells}").trim_end());
}

/// Says what is going on.
pub(crate) fn progress(text: &str) {
    eprintln!("... {text}");
}

/// What was to be reached, and whether it was.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    lines: Vec<String>,
}

impl Targets {
    /// A figure that must not be lower.
    pub(crate) fn at_least(&mut self, name: &str, value: f64, target: f64) {
        self.add(name, value, value >= target, &format!(">= {target}"));
    }

    /// A figure that must not be higher.
    pub(crate) fn at_most(&mut self, name: &str, value: f64, target: f64) {
        self.add(name, value, value <= target, &format!("<= {target}"));
    }

    fn add(&mut self, name: &str, value: f64, reached: bool, target: &str) {
        let verdict = if reached { "ok" } else { "MISSED" };
        self.lines.push(format!("  {verdict:<8}{name:<72}{:>8}   target {target}", figure(value)));
    }

    /// Prints them; fails if there were wrong answers.
    pub(crate) fn finish(&self, wrong: usize) -> Result<(), String> {
        self.print();
        if wrong == 0 { Ok(()) } else { Err(format!("{wrong} wrong answers")) }
    }

    /// Prints a line for each.
    pub(crate) fn print(&self) {
        heading("Targets");
        for line in &self.lines {
            println!("{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_what_is_known_of_them() {
        assert_eq!([0, 999, 1_000, 10_000_000].map(grouped), ["0", "999", "1 000", "10 000 000"]);
        let figures = [0.816, 12.34, 123.4, 1_902.3, 41_234.0].map(figure);
        assert_eq!(figures, ["0.82", "12.3", "123", "1 902", "41 000"]);
        let times = [2_441, 1, 0].map(Duration::from_secs).map(time);
        assert_eq!(times, ["2 441 s", "1.00 s", "0.0 µs"]);
        assert_eq!(time(Duration::from_micros(13_400)), "13.40 ms");
    }
}
