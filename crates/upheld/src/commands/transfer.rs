//! `export` and `import`: the history of a store, from one to another.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use upheld_model::{Diagnostic, Fault};
use upheld_server::config::StoreLocation;
use upheld_store::{
    Acceptance, HEAD_FILES, Remark, Revision, STORE_FILE, Signed, SigningKey, Sqlite, Store, Verified, VerifyingKey,
};

use super::{refuse, say, serve};
use crate::cli::Kept;
use crate::exit::Exit;
use crate::remote::{History, NoAnswer, Server};
use crate::render::text::text;
use crate::render::{exact, print_text};

/// Writes the history to standard output, signed if there is a key.
pub(super) fn export(kept: &Kept, key: Option<&Path>) -> Exit {
    let key = match key.map(SigningKey::read).transpose() {
        Ok(key) => key,
        Err(error) => return refuse(&[Diagnostic::error(Fault::Unreadable, error.to_string())]),
    };
    with_store(kept, async |store| {
        let mut out = BufWriter::new(exact());
        let exported = upheld_store::export(store, &mut out, key.as_ref()).await.map_err(|error| error.to_string())?;
        out.flush().map_err(|error| error.to_string())?;
        Ok(format!("exported {} revisions up to {}", exported.entries, exported.revision))
    })
}

/// Reads a history from standard input; with a key, only one that this key signed.
pub(super) fn import(kept: &Kept, key: Option<&Path>) -> Exit {
    let key = match key.map(VerifyingKey::read).transpose() {
        Ok(key) => key,
        Err(error) => return refuse(&[Diagnostic::error(Fault::Unreadable, error.to_string())]),
    };
    with_store(kept, async |store| {
        let imported =
            upheld_store::import(store, io::stdin().lock(), key.as_ref()).await.map_err(|error| error.to_string())?;
        Ok(format!("imported {} revisions up to {}", imported.entries, imported.revision))
    })
}

/// Says whether a store, an exported history, or that of a server is what was written into it. Exit code 1: it is not.
pub(super) fn verify(file: Option<&Path>, kept: &Kept, key: Option<&Path>, server: Option<Server>) -> Exit {
    let Some(file) = file else {
        // Whoever names a store means that one, also where a server is usually asked.
        let server = server.filter(|_| kept.data.is_none() && kept.database.is_none());
        return server.map_or_else(|| verify_store(kept), |server| verify_server(&server));
    };
    let key = match key.map(VerifyingKey::read).transpose() {
        Ok(key) => key,
        Err(error) => return refuse(&[Diagnostic::error(Fault::Unreadable, error.to_string())]),
    };
    let read: Box<dyn BufRead> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        match File::open(file) {
            Ok(opened) => Box::new(BufReader::new(opened)),
            Err(error) => {
                return refuse(&[Diagnostic::error(Fault::Unreadable, format!("{}: {error}", file.display()))]);
            }
        }
    };
    told(upheld_store::check_export(read, key.as_ref()).map_err(|problem| problem.to_string()))
}

fn verify_server(server: &Server) -> Exit {
    match server.history() {
        Ok(History::Lines(lines)) => {
            told(upheld_store::check_export(lines.as_bytes(), None).map_err(|problem| problem.to_string()))
        }
        Ok(History::Damaged(why)) => told(Err(why)),
        Err(NoAnswer { diagnostics, exit }) => {
            refuse(&diagnostics);
            exit
        }
    }
}

fn verify_store(kept: &Kept) -> Exit {
    match serve::store(kept) {
        Ok(StoreLocation::Folder(folder)) if has_no_store(&folder) => no_store(&folder),
        Ok(place) => {
            let Ok(runtime) = tokio::runtime::Runtime::new() else { return Exit::Failed };
            runtime.block_on(async {
                match place.open().await {
                    Ok(store) => told_of_store(store.as_ref()).await,
                    Err(error) => told(Err(error.to_string())),
                }
            })
        }
        Err(problem) => refuse(&[problem]),
    }
}

/// Says what a store lost, and lets it open from now on. Exit code 1: what is left is not whole, either.
pub(super) fn accept_loss(kept: &Kept, last: u64) -> Exit {
    let failed = |message: String| refuse(&[Diagnostic::error(Fault::Unreadable, message)]);
    let folder = match serve::store(kept) {
        Ok(StoreLocation::Folder(folder)) => folder,
        Ok(_) => return failed("only a store in a folder knows what it lost: name it with --data".to_owned()),
        Err(problem) => return refuse(&[problem]),
    };
    if has_no_store(&folder) {
        return no_store(&folder);
    }
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return Exit::Failed };
    runtime.block_on(async {
        let (store, accepted) = match Sqlite::accept_loss(&folder, Revision(last)).await {
            Ok(opened) => opened,
            Err(error) => return failed(error.to_string()),
        };
        match accepted {
            None => say("nothing is lost: there is nothing to accept"),
            Some(Acceptance { loss, log }) => {
                say(&format!("accepted: {}", loss.what()));
                if let Some(log) = log {
                    say(&format!("  the write-ahead log was copied to {}", log.display()));
                }
            }
        }
        told_of_store(&store).await
    })
}

/// Whether nothing in a folder is of a store.
fn has_no_store(folder: &Path) -> bool {
    [STORE_FILE].iter().chain(&HEAD_FILES).all(|file| !folder.join(file).exists())
}

fn no_store(folder: &Path) -> Exit {
    let message = format!("there is no store in {}", folder.display());
    let help = "name its folder with --data, or its database with --database";
    refuse(&[Diagnostic::error(Fault::NotFound, message).help(help)])
}

/// Whether it is whole, and what else there is to say.
async fn told_of_store(store: &dyn Store) -> Exit {
    let verified = match upheld_store::verify(store).await {
        Ok(verified) => store.remarks().await.map(|remarks| (verified, remarks)).map_err(|error| error.to_string()),
        Err(problem) => Err(problem.to_string()),
    };
    let (verified, remarks) = verified
        .map_or_else(|problem| (Err(problem), Vec::new()), |(verified, remarks)| (Ok((verified, Signed::No)), remarks));
    let exit = told(verified);
    for remark in remarks {
        let word = match remark {
            Remark::Loss(_) => "loss",
            Remark::Frames(_) => "log",
        };
        print_text(&text!("  {}    {}\n", word, remark));
    }
    exit
}

fn told(verified: Result<(Verified, Signed), String>) -> Exit {
    match verified {
        Ok((Verified { revision, oldest, digest, chain, documents, entries }, signed)) => {
            let span = if revision == oldest {
                format!("revision {revision}")
            } else {
                format!("revisions {oldest} to {revision}")
            };
            print_text(&text!(
                "Whole: {}, {} of them with what they changed, {} documents.\n  digest  {}\n  chain   {}\n",
                span,
                entries,
                documents,
                digest,
                chain
            ));
            match signed {
                Signed::No => {}
                Signed::By(key) => print_text(&text!("  signed  by {}\n", key)),
                Signed::Unchecked(key) => {
                    print_text(&text!("  signed  it says by {}, which --key would check\n", key));
                }
            }
            Exit::Yes
        }
        Err(problem) => {
            print_text(&text!("DAMAGED: {}.\n", problem));
            Exit::No
        }
    }
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
