//! A folder that an image is built of, without a network: the program is in it, and nothing is fetched or compiled while building.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Outcome, create, program, told, write};

/// How the image is built. The base brings the C library; certificates to check whom a database is are mounted, or in another base.
const CONTAINERFILE: &str = r#"# upheld in a container, of a program that is built already. In this folder:
#
#   podman build --network none -t upheld .
#   podman run --rm -p 127.0.0.1:8181:8181 -v upheld-data:/data upheld
#
# The log of revisions is in the volume /data. To serve files as well, mount a folder and add `--watch /policies`.

ARG BASE=docker.io/library/debian:stable-slim
FROM ${BASE}
COPY upheld /usr/local/bin/upheld
COPY LICENSE THIRD-PARTY.md /usr/share/doc/upheld/
COPY man/ /usr/share/man/
COPY completions/upheld.bash /usr/share/bash-completion/completions/upheld
COPY --chown=65532:65532 --chmod=700 data/ /data/
USER 65532:65532
ENV XDG_DATA_HOME=/data UPHELD_LISTEN=0.0.0.0:8181 MALLOC_ARENA_MAX=2
VOLUME /data
EXPOSE 8181
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["/usr/local/bin/upheld", "health"]
ENTRYPOINT ["/usr/local/bin/upheld"]
CMD ["serve", "--log-format", "json"]
"#;

/// Makes the folder beside a filled one.
pub(super) fn context(home: &Path, filled: &Path, name: &str) -> Outcome<PathBuf> {
    let folder = home.join(format!("{name}-container"));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| told(&folder, &error))?;
    }
    create(&folder.join("data"))?;
    // An empty folder is not kept by everything that carries folders around.
    write(&folder.join("data/.keep"), "")?;
    for file in [&program("upheld"), "LICENSE", "THIRD-PARTY.md"] {
        let from = filled.join(file);
        fs::copy(&from, folder.join(file)).map_err(|error| told(&from, &error))?;
    }
    for part in ["man", "completions"] {
        super::copy_folder(&filled.join(part), &folder.join(part))?;
    }
    write(&folder.join("Containerfile"), CONTAINERFILE)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_the_image_is_built_of_is_in_the_folder() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let filled = home.path().join("filled");
        for file in ["upheld", "LICENSE", "THIRD-PARTY.md", "man/man1/upheld.1", "completions/upheld.bash"] {
            let path = filled.join(file);
            create(path.parent().expect("has one")).expect("is writable");
            write(&path, file).expect("is writable");
        }
        let context = context(home.path(), &filled, "upheld-1").expect("is made");
        let text = fs::read_to_string(context.join("Containerfile")).expect("is there");
        let copied = text.lines().filter_map(|line| line.strip_prefix("COPY "));
        let words = copied.flat_map(|line| {
            let words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with("--")).collect();
            words.split_last().map_or(Vec::new(), |(_, from)| from.to_vec())
        });
        let sources: Vec<&str> = words.collect();
        assert_eq!(sources.len(), 6, "{sources:?}");
        for source in sources {
            assert!(context.join(source).exists(), "{source}");
        }
        assert!(!text.contains("RUN "), "nothing is fetched or compiled");
        let programs = text.lines().filter_map(|line| line.split_once("CMD [\"").or(line.split_once("ENTRYPOINT [\"")));
        let programs: Vec<&str> = programs.filter_map(|(_, rest)| rest.split('"').next()).collect();
        // The last ones are the arguments of the second.
        assert_eq!(
            programs,
            ["/usr/local/bin/upheld", "/usr/local/bin/upheld", "serve"],
            "what is not in the image is not run"
        );
    }
}
