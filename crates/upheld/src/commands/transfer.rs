//! `export` and `import`: the history of a store, from one to another.

use std::io::{self, BufWriter, Write};

use upheld_model::{Diagnostic, Fault};

use super::{refuse, say, serve};
use crate::cli::Kept;
use crate::exit::Exit;

/// Writes the history to standard output.
pub(super) fn export(kept: &Kept) -> Exit {
    with_store(kept, async |store| {
        let mut out = BufWriter::new(io::stdout().lock());
        let exported = upheld_store::export(store, &mut out).await.map_err(|error| error.to_string())?;
        out.flush().map_err(|error| error.to_string())?;
        Ok(format!("exported {} revisions up to {}", exported.entries, exported.revision))
    })
}

/// Reads a history from standard input.
pub(super) fn import(kept: &Kept) -> Exit {
    with_store(kept, async |store| {
        let imported = upheld_store::import(store, io::stdin().lock()).await.map_err(|error| error.to_string())?;
        Ok(format!("imported {} revisions up to {}", imported.entries, imported.revision))
    })
}

fn with_store(kept: &Kept, work: impl AsyncFnOnce(&dyn upheld_store::Store) -> Result<String, String>) -> Exit {
    let failed = |message: String| refuse(&[Diagnostic::error(Fault::Unreadable, message)]);
    let place = match serve::store(kept) {
        Ok(place) => place,
        Err(problem) => return refuse(&[problem]),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return failed(format!("cannot start: {error}")),
    };
    let done = runtime.block_on(async {
        let store = place.open().await.map_err(|error| error.to_string())?;
        work(store.as_ref()).await
    });
    match done {
        Ok(told) => {
            say(&told);
            Exit::Yes
        }
        Err(message) => failed(message),
    }
}
