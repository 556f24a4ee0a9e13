//! Histories travel from any store to any other, whole or not at all.

use proptest::test_runner::{Config, TestRunner};
use upheld_store::{
    Head, Imported, Memory, Signed, SigningKey, Store, TransferError, VerifyingKey, check_export, export, import,
};

use crate::homes::Home;
use crate::random::{compare, steps, take};
use crate::support::{delete, fill, put, run, shown};

#[test]
fn a_history_is_the_same_in_sqlite() {
    travels(&Home::sqlite());
}

#[test]
fn a_history_is_the_same_in_postgres() {
    if let Some(home) = Home::postgres() {
        travels(&home);
    }
}

/// From memory to another store and back, and to one more of its kind.
fn travels(home: &Home) {
    let config = Config { cases: 16, failure_persistence: None, max_shrink_iters: 100, ..Config::default() };
    let tried = TestRunner::new(config).run(&steps(), |steps| {
        run(async {
            let origin = Memory::new();
            take(&origin, &steps).await;
            let (there, further, back) = (home.empty().await, home.empty().await, Memory::new());
            let texts = [
                carry(&origin, &*there).await,
                carry(&*there, &*further).await,
                carry(&*further, &back).await,
                written(&back).await,
            ];
            assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
            for store in [&*there, &*further, &back] {
                compare(&origin, store).await;
            }
            goes_on(&[&origin, &*there, &*further, &back]).await;
        });
        Ok(())
    });
    if let Err(error) = tried {
        panic!("{error}");
    }
}

/// What is appended afterwards has the same effect everywhere, also on the order.
async fn goes_on(stores: &[&dyn Store]) {
    let mut states = Vec::new();
    for store in stores {
        fill(*store, vec![vec![put("0", "x"), delete("1"), put("new", "x")], vec![put("1", "y"), put("2", "y")]]).await;
        states.push(store.state(None).await.unwrap());
    }
    assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "{states:?}");
}

async fn carry(from: &dyn Store, to: &dyn Store) -> String {
    let text = written(from).await;
    import(to, text.as_bytes(), None).await.unwrap();
    text
}

async fn written(store: &dyn Store) -> String {
    let mut text = Vec::new();
    let exported = export(store, &mut text, None).await.unwrap();
    assert_eq!(exported.revision, store.head().await.unwrap().revision);
    String::from_utf8(text).unwrap()
}

/// A history with two documents before its three entries.
async fn example() -> String {
    let store = Memory::new();
    let batches = vec![
        vec![put("a", "1"), put("b", "1")],
        vec![delete("b"), put("c", "2")],
        vec![put("a", "3")],
        vec![put("b", "4")],
        vec![delete("a")],
    ];
    fill(&store, batches).await;
    store.compact(upheld_store::Revision(2)).await.unwrap();
    written(&store).await
}

#[test]
fn an_import_says_what_it_brought() {
    run(async {
        let store = Home::sqlite();
        let store = store.empty().await;
        let imported = import(&*store, example().await.as_bytes(), None).await.unwrap();
        let head = store.head().await.unwrap();
        let expected = Imported { revision: head.revision, digest: head.digest, entries: 3, documents: 2 };
        assert_eq!(imported, expected);
        assert_eq!(shown(&store.state(None).await.unwrap()), "c=2@2 b=4@4");
        assert_eq!(*store.follow().borrow(), head.revision);
    });
}

#[test]
fn only_an_empty_store_takes_over_a_history() {
    run(async {
        let home = Home::sqlite();
        for store in [home.empty().await, Home::Memory.empty().await] {
            fill(&*store, vec![vec![put("mine", "1")]]).await;
            let answer = import(&*store, example().await.as_bytes(), None).await;
            assert!(matches!(answer, Err(TransferError::NotEmpty(revision)) if revision.0 == 1), "{answer:?}");
            assert_eq!(shown(&store.state(None).await.unwrap()), "mine=1@1");
        }
    });
}

#[test]
fn a_history_that_was_altered_leaves_no_trace() {
    run(async {
        let home = Home::sqlite();
        let store = home.empty().await;
        let text = example().await;
        let lines: Vec<&str> = text.lines().collect();
        let mut broken = vec![String::new(), "{}".to_owned(), "hello".to_owned()];
        for index in 0..lines.len() {
            let mut without = lines.clone();
            without.remove(index);
            broken.push(without.join("\n"));
            let mut twice = lines.clone();
            twice.insert(index, lines[index]);
            broken.push(twice.join("\n"));
            let mut cut = lines.clone();
            cut[index] = lines[index].split_at(lines[index].len() / 2).0;
            broken.push(cut.join("\n"));
        }
        for (old, new) in [(r#""text":"4""#, r#""text":"5""#), (r#""revision":5"#, r#""revision":6"#), ("/c", "/d")] {
            assert!(text.contains(old), "{text}");
            broken.push(text.replace(old, new));
        }
        for broken in broken {
            let answer = import(&*store, broken.as_bytes(), None).await;
            assert!(answer.is_err(), "{broken}");
            assert_eq!(store.head().await.unwrap(), Head::default());
        }
        import(&*store, text.as_bytes(), None).await.unwrap();
    });
}

#[test]
fn a_history_of_a_newer_program_is_refused() {
    run(async {
        let text = example().await.replacen("\"version\":2", "\"version\":4", 1);
        let error = import(&Memory::new(), text.as_bytes(), None).await.unwrap_err().to_string();
        assert_eq!(error, "line 1: its format has version 4, and this program supports versions up to 3");
    });
}

#[test]
fn a_history_of_an_older_program_gets_its_chain() {
    run(async {
        let exported = example().await;
        let older = exported.lines().map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            if line.get("version").is_some() {
                line["version"] = 1.into();
            }
            for part in [line.clone(), line["entry"].clone()] {
                let fields = part.as_object().into_iter().flat_map(serde_json::Map::keys);
                for field in fields.filter(|field| *field == "chain" || *field == "oldestChain") {
                    let holder = if line["entry"].is_object() { &mut line["entry"] } else { &mut line };
                    holder.as_object_mut().unwrap().remove(field);
                }
            }
            line.to_string()
        });
        let older = older.collect::<Vec<_>>().join("\n");
        assert!(!older.contains("hain"), "{older}");
        let store = Memory::new();
        let imported = import(&store, older.as_bytes(), None).await.unwrap();
        assert_eq!(upheld_store::verify(&store).await.unwrap().revision, imported.revision);
    });
}

/// Keys that `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` made.
const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIKhqd8ekiuNrqYQ3ck63/ONl06cLG9IlMmaPNWG5JFqG
-----END PRIVATE KEY-----
";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA9UM2jcSs/voI1RRFM4iax+ZC92gNsZ9rN5nj/acBe+g=
-----END PUBLIC KEY-----
";
const OTHER: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEATTbrIJmqSYZV0WD5xk26gTKVDj1xY3jk5jbV+J7T5qY=
-----END PUBLIC KEY-----
";

#[test]
fn a_signature_says_who_wrote_a_history_and_every_byte_of_it_counts() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let private = SigningKey::read(&file("private.pem", PRIVATE)).unwrap();
        let public = VerifyingKey::read(&file("public.pem", PUBLIC)).unwrap();
        let other = VerifyingKey::read(&file("other.pem", OTHER)).unwrap();
        for broken in ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", PRIVATE] {
            assert!(VerifyingKey::read(&file("broken.pem", broken)).is_err());
        }
        assert!(SigningKey::read(&file("broken.pem", PUBLIC)).is_err());

        let store = Memory::new();
        fill(&store, vec![vec![put("a", "1")], vec![put("b", "2"), delete("a")]]).await;
        let mut signed = Vec::new();
        export(&store, &mut signed, Some(&private)).await.unwrap();
        let (verified, by) = check_export(&*signed, Some(&public)).unwrap();
        assert_eq!((verified.revision.0, by), (2, Signed::By(public.name())));
        assert_eq!(check_export(&*signed, None).unwrap().1, Signed::Unchecked(public.name()));
        import(&Memory::new(), &*signed, Some(&public)).await.unwrap();

        let wrong = import(&Memory::new(), &*signed, Some(&other)).await.unwrap_err();
        assert!(matches!(wrong, TransferError::WrongSignature { .. }), "{wrong}");
        let mut plain = Vec::new();
        export(&store, &mut plain, None).await.unwrap();
        let refused = Memory::new();
        let missing = import(&refused, &*plain, Some(&public)).await.unwrap_err();
        assert!(matches!(missing, TransferError::NotSigned(_)), "{missing}");
        assert_eq!(refused.head().await.unwrap().revision.0, 0, "nothing was taken over");
        assert_eq!(check_export(&*plain, None).unwrap().1, Signed::No);

        // Whatever byte is another one, or missing at the end, it is not what was signed. The line feed after the last line says nothing.
        for place in 0..signed.len() - 1 {
            let mut altered = signed.clone();
            altered[place] ^= 1;
            assert!(check_export(&*altered, Some(&public)).is_err(), "byte {place}");
        }
        for end in (0..signed.len() - 1).step_by(7) {
            assert!(check_export(&signed[..end], Some(&public)).is_err(), "cut at {end}");
        }
        let twice = [&*signed, b"\n", &*signed].concat();
        assert!(check_export(&*twice, Some(&public)).is_err());
    });
}
