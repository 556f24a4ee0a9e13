//! Diagnostics with the text, a caret, and what to do next.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use upheld_model::{Diagnostic, Files, Label, Severity, SourceId};

use super::hints::with_sources;
use super::text::Text;
use super::{print_aside, visible};

/// The most bytes of text that are shown around a mistake.
const LONGEST: usize = 1 << 16;

/// Nobody reads more at once.
const SHOWN: usize = 100;

/// Prints diagnostics to standard error, with a last line that counts them.
pub(crate) fn print(files: &Files, diagnostics: &[Diagnostic]) {
    print_aside(&render(files, diagnostics));
}

/// All diagnostics as text.
pub(crate) fn render(files: &Files, diagnostics: &[Diagnostic]) -> Text {
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN) {
        text.push_str(&one(files, diagnostic));
        text.push_str("\n\n");
    }
    if let Some(more) = diagnostics.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("… and {more} more\n\n"));
    }
    text.push_str(&summary(diagnostics));
    Text::rendered(&text)
}

fn one(files: &Files, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(visible(&diagnostic.message)).id(diagnostic.fault.code()));
    let mut sources: Vec<SourceId> = Vec::new();
    for label in diagnostic.label.iter().chain(&diagnostic.related) {
        if !sources.contains(&label.source) {
            sources.push(label.source);
        }
    }
    for source in sources {
        let primary = diagnostic.label.iter().filter(|label| label.source == source).map(|label| (label, true));
        let related = diagnostic.related.iter().filter(|label| label.source == source).map(|label| (label, false));
        let labels: Vec<(&Label, bool)> = primary.chain(related).collect();
        // Places that are far apart are shown one by one.
        let together = snippet(files, source, &labels).map(|snippet| vec![(labels.as_slice(), Some(snippet))]);
        let shown =
            together.unwrap_or_else(|| labels.chunks(1).map(|one| (one, snippet(files, source, one))).collect());
        for (labels, snippet) in shown {
            group = match snippet {
                Some(snippet) => group.element(snippet),
                None => group.elements(place(files, source, labels)),
            };
        }
    }
    let help: Vec<String> = diagnostic.help.iter().map(|help| visible(&with_sources(help))).collect();
    group = group.elements(help.iter().map(|help| Level::HELP.message(help)));
    Renderer::styled().render(&[group])
}

/// The lines around the labels only: files may be large.
fn snippet<'a>(
    files: &'a Files,
    source: SourceId,
    labels: &[(&'a Label, bool)],
) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let file = files.get(source)?;
    let text = file.tree.text();
    let start = labels.iter().map(|(label, _)| label.span.start as usize).min()?.min(text.len());
    let end = labels.iter().map(|(label, _)| label.span.end as usize).max()?.clamp(start, text.len());
    let window_start = text.get(..start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let window_end = text.get(end..)?.find('\n').map_or(text.len(), |newline| end + newline);
    let (line, _) = file.tree.position(u32::try_from(window_start).ok()?);
    let window = text.get(window_start..window_end).filter(|window| window.len() <= LONGEST)?;
    let annotations = labels.iter().map(|(label, primary)| {
        let kind = if *primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let from = (label.span.start as usize).clamp(window_start, window_end) - window_start;
        let to = first_line_end(window, from, (label.span.end as usize).clamp(window_start, window_end) - window_start);
        let annotation = kind.span(from..to.max(from));
        if label.text.is_empty() { annotation } else { annotation.label(visible(&label.text)) }
    });
    Some(Snippet::source(window).line_start(line).path(visible(&file.name)).fold(true).annotations(annotations))
}

/// The place alone, where the text around it is too long to show.
fn place<'a>(files: &'a Files, source: SourceId, labels: &[(&'a Label, bool)]) -> Option<Origin<'a>> {
    let (label, _) = labels.first()?;
    let found = files.locate_span(source, label.span)?;
    Some(Origin::path(visible(found.file)).line(found.line).char_column(found.column))
}

/// A long value is marked on its first line.
fn first_line_end(window: &str, from: usize, to: usize) -> usize {
    let newline = window.get(from..to).and_then(|marked| marked.find('\n'));
    newline.map_or(to, |newline| from + newline)
}

fn summary(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let counted = |count: usize, noun: &str| match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        count => Some(format!("{count} {noun}s")),
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let parts: Vec<String> = [counted(errors, "error"), counted(warnings, "warning")].into_iter().flatten().collect();
    let Some(first) = diagnostics.iter().max_by_key(|diagnostic| diagnostic.severity) else { return String::new() };
    let answered = if errors > 0 { "; nothing was answered" } else { "" };
    format!("{}{answered}. Explain a code: upheld codes {}\n", parts.join(" and "), first.fault.code())
}
