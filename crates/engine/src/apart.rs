//! Why no part of something has all tags that are wanted. The nearest part alone could mislead: another may have what it lacks.

use upheld_model::{Sym, TagSet, Want};

/// What all parts together lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// No part has the tag as wanted; the value that the first part with such a tag has.
    Tag(Sym, Want, Option<Sym>),
    /// Every tag is there, but no part has all of them.
    Together(usize),
}

/// What is lacking; nothing where a value that is not known could be the wanted one. `sees`: the only tags that count.
pub(crate) fn lacking<'t>(
    wants: &[(Sym, Want)],
    parts: &(impl Iterator<Item = &'t TagSet> + Clone),
    sees: Option<&[Sym]>,
) -> Option<Lack> {
    for (key, want) in wants {
        let visible = sees.is_none_or(|keys| keys.contains(key));
        let tags = parts.clone().filter(|_| visible).filter_map(|part| part.get(*key));
        let (mut met, mut other) = (false, None);
        for tag in tags {
            match (want, tag.value) {
                (Want::Any, _) => met = true,
                (Want::Exactly(_), None) => return None,
                (Want::Exactly(wanted), Some(value)) if value == *wanted => met = true,
                (Want::Exactly(_), Some(value)) => other = other.or(Some(value)),
            }
        }
        if !met {
            return Some(Lack::Tag(*key, *want, other));
        }
    }
    Some(Lack::Together(wants.len()))
}
