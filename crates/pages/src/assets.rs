//! The style sheet and the script. Their names change with what is in them, so browsers may keep them for ever.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// How all pages look.
pub(crate) const STYLE: &str = include_str!("../assets/style.css");
/// Keys, copying and news; nothing that is read needs it.
pub(crate) const SCRIPT: &str = include_str!("../assets/script.js");
/// The sign of the house.
pub(crate) const ICON: &str = include_str!("../assets/icon.svg");

/// Where assets are.
pub const FOLDER: &str = "/pages";

/// A file that pages refer to.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// What it is sent as.
    pub media_type: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// All of them by their names.
static NAMED: LazyLock<[(String, Asset); 3]> = LazyLock::new(|| {
    [
        named("style", "css", "text/css; charset=utf-8", STYLE),
        named("script", "js", "text/javascript; charset=utf-8", SCRIPT),
        named("icon", "svg", "image/svg+xml", ICON),
    ]
});

fn named(name: &str, ending: &str, media_type: &'static str, text: &'static str) -> (String, Asset) {
    let hash: String = Sha256::digest(text).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    (format!("{name}-{hash}.{ending}"), Asset { media_type, text })
}

/// The asset of a name, as addresses have it.
pub fn asset(name: &str) -> Option<Asset> {
    NAMED.iter().find(|(known, _)| known == name).map(|(_, asset)| *asset)
}

pub(crate) fn style() -> String {
    address(0)
}

pub(crate) fn script() -> String {
    address(1)
}

pub(crate) fn icon() -> String {
    address(2)
}

fn address(number: usize) -> String {
    let name = NAMED.get(number).map_or("", |(name, _)| name.as_str());
    format!("{FOLDER}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_is_found_by_the_name_that_pages_give() {
        for (address, text) in [(style(), STYLE), (script(), SCRIPT), (icon(), ICON)] {
            let name = address.strip_prefix("/pages/").expect("is in the folder");
            assert_eq!(asset(name).expect("is there").text, text);
        }
        assert!(asset("style.css").is_none(), "a name without its hash would be kept for ever");
    }

    #[test]
    fn assets_are_small() {
        assert!(STYLE.len() < 25_000, "{}", STYLE.len());
        assert!(SCRIPT.len() < 7_500, "{}", SCRIPT.len());
    }
}
