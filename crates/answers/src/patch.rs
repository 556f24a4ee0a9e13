//! Edits of files as a unified diff, which `git apply` and `patch` take.

pub use upheld_syntax::edit::FileEdit;
use upheld_syntax::edit::{Replacement, applied};

/// The lines before and after a change that are shown with it.
const CONTEXT: usize = 3;

/// Lines that change together: old ones, by number, and those that stand there then.
struct Block<'f> {
    first: usize,
    old: Vec<&'f str>,
    new: Vec<String>,
}

/// A file that changes, as a unified diff; `name` is how it is called from where the diff is applied.
pub fn unified(file: &FileEdit, name: &str) -> String {
    let lines: Vec<&str> = file.before.split_inclusive('\n').collect();
    // Of which nothing is left, a file goes.
    let then = if file.after.is_empty() { "/dev/null".to_owned() } else { format!("b/{name}") };
    let mut text = format!("--- a/{name}\n+++ {then}\n");
    let mut shift = 0_isize;
    for hunk in hunks(blocks(file, &lines)) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let start = first.first.saturating_sub(CONTEXT);
        let end = (last.first + last.old.len() + CONTEXT).min(lines.len());
        let mut body = String::new();
        let (mut at, mut added) = (start, 0_isize);
        for block in &hunk {
            lines.iter().take(block.first).skip(at).for_each(|line| put(&mut body, ' ', line));
            block.old.iter().for_each(|line| put(&mut body, '-', line));
            block.new.iter().for_each(|line| put(&mut body, '+', line));
            at = block.first + block.old.len();
            added += signed(block.new.len()) - signed(block.old.len());
        }
        lines.iter().take(end).skip(at).for_each(|line| put(&mut body, ' ', line));
        let length = signed(end - start);
        // Of nothing, the line before it is named.
        let from = |line: isize, length: isize| if length == 0 { line } else { line + 1 };
        let (old, new) = (signed(start), signed(start) + shift);
        let length_then = length + added;
        let (old, new) = (from(old, length), from(new, length_then));
        text.push_str(&format!("@@ -{old},{length} +{new},{length_then} @@\n{body}"));
        shift += added;
    }
    text
}

fn signed(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}

fn put(body: &mut String, sign: char, line: &str) {
    body.push(sign);
    body.push_str(line);
    if !line.ends_with('\n') {
        body.push_str("\n\\ No newline at end of file\n");
    }
}

/// The lines that change, in order.
fn blocks<'f>(file: &'f FileEdit, lines: &[&'f str]) -> Vec<Block<'f>> {
    let mut starts = vec![0_usize];
    for line in lines {
        starts.push(starts.last().copied().unwrap_or_default() + line.len());
    }
    let line_of = |byte: usize| {
        starts.partition_point(|start| *start <= byte).saturating_sub(1).min(lines.len().saturating_sub(1))
    };
    let mut groups: Vec<(usize, usize, Vec<Replacement>)> = Vec::new();
    for own in &file.replacements {
        let (start, end) = (own.span.start as usize, own.span.end as usize);
        let (first, last) = (line_of(start), line_of(end.saturating_sub(1).max(start)));
        match groups.last_mut() {
            Some((_, known, all)) if first <= *known => {
                *known = (*known).max(last);
                all.push(own.clone());
            }
            _ => groups.push((first, last, vec![own.clone()])),
        }
    }
    groups.into_iter().filter_map(|group| block(file, lines, &starts, group)).collect()
}

fn block<'f>(
    file: &'f FileEdit,
    lines: &[&'f str],
    starts: &[usize],
    (first, last, mut replacements): (usize, usize, Vec<Replacement>),
) -> Option<Block<'f>> {
    let (start, end) = (*starts.get(first)?, *starts.get(last + 1)?);
    let offset = u32::try_from(start).ok()?;
    for own in &mut replacements {
        own.span.start -= offset;
        own.span.end -= offset;
    }
    let after = applied(file.before.get(start..end)?, &replacements)?;
    let mut old: Vec<&str> = lines.get(first..=last)?.to_vec();
    let mut new: Vec<String> = after.split_inclusive('\n').map(str::to_owned).collect();
    let same = old.iter().zip(&new).take_while(|(one, other)| *one == other).count();
    old.drain(..same);
    new.drain(..same);
    while old.last().zip(new.last()).is_some_and(|(one, other)| *one == other) {
        old.pop();
        new.pop();
    }
    Some(Block { first: first + same, old, new })
}

/// Blocks that are shown together, because no more than their context is between them.
fn hunks(blocks: Vec<Block<'_>>) -> Vec<Vec<Block<'_>>> {
    let mut hunks: Vec<Vec<Block<'_>>> = Vec::new();
    for block in blocks {
        match hunks.last_mut() {
            Some(hunk) if hunk.last().is_some_and(|last| block.first <= last.first + last.old.len() + 2 * CONTEXT) => {
                hunk.push(block);
            }
            _ => hunks.push(vec![block]),
        }
    }
    hunks
}
