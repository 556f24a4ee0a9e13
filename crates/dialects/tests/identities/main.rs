//! Who documents are: what a reader takes for two things has two identities, and all ways to write one thing have one.
#![cfg(test)]

mod laws;
mod table;

use upheld_dialects::{Identities, Identity, Nameless, dialects};
use upheld_engine::Snapshot;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Files, SourceId};
use upheld_syntax::parse;

/// Everything that some texts say together, each a file of its own.
pub(crate) fn loaded(texts: &[&str]) -> Result<Loaded, Vec<String>> {
    let input = |(place, text): (usize, &&str)| Input::text(format!("{place}.yaml"), Format::Yaml, *text);
    load(texts.iter().enumerate().map(input).collect(), &[])
        .map_err(|broken| broken.diagnostics.as_slice().iter().map(|diagnostic| diagnostic.message.clone()).collect())
}

/// Who the only document of a text is, by the kinds of a snapshot.
pub(crate) fn identity(snapshot: &Snapshot, text: &str) -> Result<Identity, Nameless> {
    let (file, problems) = parse("text.yaml", Format::Yaml, text.to_owned(), SourceId::new(0));
    assert!(problems.as_slice().is_empty(), "{text}");
    let files: Files = [file].into_iter().collect();
    let mut documents = files.iter().flat_map(|(_, file)| file.tree.documents());
    let document = documents.next().unwrap();
    assert!(documents.next().is_none(), "{text}");
    Identities::of(snapshot).identity(document)
}

/// What a snapshot lists, by the file that it stands in.
pub(crate) fn listed(snapshot: &Snapshot) -> Vec<(String, Identity)> {
    let name = |source: SourceId| snapshot.files().get(source).map(|file| file.name.clone()).unwrap_or_default();
    let text = |symbol| snapshot.text(symbol);
    let policies = snapshot.policies().iter().map(|(_, policy)| {
        (name(policy.at.source), Identity::new(text(policy.kind), text(policy.scope), text(policy.name)))
    });
    let objects = snapshot.objects().iter().map(|(_, object)| {
        (name(object.at.source), Identity::new(text(object.kind), text(object.scope), text(object.name)))
    });
    let related = dialects().flat_map(|dialect| dialect.objects(snapshot));
    let related = related.filter_map(|object| Some((name(object.at?.source), object.identity())));
    policies.chain(objects).chain(related).collect()
}
