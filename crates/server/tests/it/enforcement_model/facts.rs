//! What is known of a request, in the model's own types.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde_json::{Map, Value as Json};

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unknown,
}

impl Truth {
    pub(super) fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
        }
    }

    /// Whether all hold.
    pub(super) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        truths.into_iter().fold(Self::Yes, |all, next| match (all, next) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Yes,
        })
    }

    /// Whether one holds.
    pub(super) fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        Self::all(truths.into_iter().map(Self::not)).not()
    }

    /// What holds of a path that is read in several ways: what all readings agree on.
    pub(super) fn agreed(truths: impl IntoIterator<Item = Self>) -> Self {
        truths.into_iter().reduce(|all, next| if all == next { all } else { Self::Unknown }).unwrap_or(Self::Unknown)
    }
}

/// A fact of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    Absent,
    Unknown,
    Is(Json),
}

impl Fact {
    /// What is null is as good as left out.
    pub(super) fn of(value: Option<&Json>) -> Self {
        match value {
            None | Some(Json::Null) => Self::Absent,
            // No number of 64 bits; the only larger ones that are generated are whole.
            Some(Json::Number(number)) if number.as_f64().is_some_and(|number| number.abs() >= 1.8e19) => Self::Unknown,
            Some(value) => Self::Is(value.clone()),
        }
    }

    /// As it is, if it is a text; what is something else cannot be known.
    pub(super) fn text(value: Option<&Json>) -> Self {
        match Self::of(value) {
            Self::Is(value) if !value.is_string() => Self::Unknown,
            fact => fact,
        }
    }

    pub(super) fn said(text: &str) -> Self {
        Self::Is(Json::from(text))
    }

    /// This one, or another one if it is not there.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Absent { other } else { self }
    }
}

/// Facts by their names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    pub(super) known: BTreeMap<String, Fact>,
    /// What is known of all others: that they are absent, or nothing.
    pub(super) others: Fact,
}

impl Facts {
    pub(super) fn none() -> Self {
        Self { known: BTreeMap::new(), others: Fact::Absent }
    }

    pub(super) fn of(map: Option<&Map<String, Json>>) -> Self {
        let known = map.into_iter().flatten().map(|(name, value)| (name.clone(), Fact::of(Some(value))));
        Self { known: known.filter(|(_, fact)| *fact != Fact::Absent).collect(), others: Fact::Absent }
    }

    /// By the whole name first, and then by its parts.
    pub(super) fn get(&self, name: &str) -> Fact {
        let plain = name.replace('"', "");
        if let Some(fact) = self.known.get(&plain).or_else(|| self.known.get(name)) {
            return fact.clone();
        }
        let mut parts = parts(name).into_iter();
        let first = parts.next().unwrap_or_default();
        let Some(fact) = self.known.get(&first) else { return self.others.clone() };
        // There may be one of the whole name.
        if plain != first && self.others == Fact::Unknown {
            return Fact::Unknown;
        }
        parts.fold(fact.clone(), |fact, part| match fact {
            Fact::Is(value) => Fact::of(value.get(&part)),
            fact => fact,
        })
    }
}

/// The parts of a name with dots; quotes keep them.
fn parts(name: &str) -> Vec<String> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for character in name.chars() {
        match character {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            other => parts.last_mut().unwrap().push(other),
        }
    }
    parts
}

/// How a path is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Path {
    Absent,
    Unreadable,
    /// It cannot be read, and each part of a policy that looks at it is supposed to come out so.
    Supposed(Truth),
    /// In these ways.
    Read(BTreeSet<String>),
}

/// A request with all that is known of it.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) subject_id: Fact,
    pub(super) subject_type: Fact,
    /// A list of texts.
    pub(super) roles: Fact,
    /// Whether there may be other roles.
    pub(super) more_roles: bool,
    pub(super) groups: Fact,
    pub(super) claims: Facts,
    pub(super) method: Fact,
    pub(super) operation: Fact,
    pub(super) action: Facts,
    pub(super) app: Fact,
    /// As it was written, without the query.
    pub(super) path: Fact,
    pub(super) resource_type: Fact,
    pub(super) resource_id: Fact,
    pub(super) host: Fact,
    pub(super) headers: Facts,
    pub(super) properties: Facts,
    pub(super) address: Fact,
    /// Seconds since 1970.
    pub(super) time: i64,
}

/// A host in lower case, without port and final dot; IPv6 as it is written shortest.
pub(super) fn host(written: &str) -> String {
    let lower = written.trim().to_lowercase();
    let inner = lower.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((inner, _)) = inner {
        return inner.parse::<IpAddr>().map_or(lower.clone(), |address| address.to_string());
    }
    if let Ok(address) = lower.parse::<IpAddr>() {
        return address.to_string();
    }
    let name = lower.rsplit_once(':').map_or(lower.as_str(), |(name, _)| name);
    name.strip_suffix('.').unwrap_or(name).to_owned()
}

/// An address; one of IPv4 may be written as IPv6.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    text.trim().parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// Whether an address is in a network, or is an address.
pub(super) fn is_within(address: IpAddr, network: &str) -> bool {
    let (base, length) = match network.split_once('/') {
        Some((base, length)) => (base, length.parse::<u32>().ok()),
        None => (network, None),
    };
    let Ok(base) = base.parse::<IpAddr>() else { return false };
    let bits = |address: IpAddr| match address {
        IpAddr::V4(four) => (u128::from(four.to_bits()) << 96, 32),
        IpAddr::V6(six) => (six.to_bits(), 128),
    };
    let ((own, width), (base, other)) = (bits(address), bits(base));
    let length = length.unwrap_or(other);
    width == other && (length == 0 || (own ^ base) >> (128 - length) == 0)
}

/// Seconds since 1970 of `2024-03-01T12:00:00Z`.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let years: i64 = (1970..year).map(|year| if leap(year) { 366 } else { 365 }).sum();
    let months: i64 = lengths.iter().take(usize::try_from(month - 1).ok()?).sum();
    Some((years + months + day - 1) * 86_400 + hour * 3600 + minute * 60 + second)
}
