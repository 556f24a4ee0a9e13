//! What must hold besides: the time, the address, an expression.

use std::cell::Cell;
use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use jiff::tz::TimeZone;
use smol_str::{SmolStr, ToSmolStr, format_smolstr};
use upheld_model::Timestamp;

use super::expression::Expression;
use super::request::{Maybe, NormalizedRequest};
use super::truth::Truth;

/// A condition of a policy. Two that are equal hold for the same requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// About the moment.
    Time(TimeWindow),
    /// About the address of the caller.
    Address(AddressLists),
    /// Anything else.
    Expression(Expression),
    /// About how long the policy is valid.
    Validity(Validity),
    /// What another system takes for granted.
    Always,
    /// What never holds, because the effect says nothing.
    Never,
}

impl Condition {
    /// Whether it holds for a request.
    pub fn holds(&self, asked: NormalizedRequest<'_>) -> Truth {
        self.measured(asked).0
    }

    /// The same, and how many steps that took.
    pub(super) fn measured(&self, asked: NormalizedRequest<'_>) -> (Truth, usize) {
        let steps = Cell::new(0);
        let truth = asked.in_every_reading(|asked| match self {
            Self::Expression(expression) => {
                let (truth, taken) = expression.measured(asked);
                steps.set(steps.get() + taken);
                truth
            }
            _ => self.holds_in_one(asked),
        });
        (truth, steps.get())
    }

    fn holds_in_one(&self, asked: NormalizedRequest<'_>) -> Truth {
        let environment = &asked.request.environment;
        match self {
            Self::Time(window) => match environment.time {
                Maybe::Is(moment) => window.holds(moment),
                Maybe::Absent | Maybe::Unknown => Truth::Error,
            },
            Self::Validity(validity) => match environment.time {
                Maybe::Is(moment) => validity.holds(moment).into(),
                Maybe::Absent | Maybe::Unknown => Truth::Error,
            },
            Self::Address(lists) => lists.holds(environment.ip.as_ref().map(SmolStr::as_str)),
            Self::Expression(expression) => expression.holds(asked),
            Self::Always => Truth::True,
            Self::Never => Truth::False,
        }
    }

    /// The word that users see and write.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Time(_) => "time",
            Self::Address(_) => "ip",
            Self::Expression(_) | Self::Always => "custom",
            Self::Never => "effect",
            Self::Validity(_) => "valid",
        }
    }
}

/// From a moment on, up to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validity {
    /// The first moment.
    pub from: Option<Timestamp>,
    /// The first moment that is too late.
    pub until: Option<Timestamp>,
}

impl Validity {
    fn holds(self, moment: Timestamp) -> bool {
        self.from.is_none_or(|from| moment >= from) && self.until.is_none_or(|until| moment < until)
    }
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.until) {
            (Some(from), Some(until)) => write!(f, "from {from} until {until}"),
            (Some(from), None) => write!(f, "from {from}"),
            (None, Some(until)) => write!(f, "until {until}"),
            (None, None) => write!(f, "at any time"),
        }
    }
}

/// Times of day, days of the week, and dates.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeWindow {
    /// The first second of the day.
    pub after: Option<u32>,
    /// The first second of the day that is too late.
    pub before: Option<u32>,
    /// The days of the week on which the window begins.
    pub days: Option<Weekdays>,
    /// Whether a window that ends before it begins goes over midnight.
    pub midnight: Midnight,
    /// Where the clock hangs.
    pub zone: TimeZone,
    /// Between which moments.
    pub dates: Validity,
}

/// What a window means that ends before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Midnight {
    /// It ends on the next day.
    Crossed,
    /// No time is in it.
    Never,
}

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// A set of days of the week.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weekdays(u8);

impl Weekdays {
    /// These days; Sunday is 0.
    pub fn of(days: impl IntoIterator<Item = u8>) -> Self {
        Self(days.into_iter().filter(|day| *day < 7).fold(0, |set, day| set | 1 << day))
    }

    /// Whether a day is in it.
    pub fn has(self, day: u8) -> bool {
        self.0 & 1 << (day % 7) != 0
    }
}

impl TimeWindow {
    /// A moment as the clock shows it: `Sun 05:30`; where dates matter, the whole moment.
    pub fn clock(&self, moment: Timestamp) -> SmolStr {
        match jiff::Timestamp::from_nanosecond(i128::from(moment.0)) {
            Ok(known) if self.dates == Validity::default() => {
                let local = self.zone.to_datetime(known);
                let day = usize::try_from(local.weekday().to_sunday_zero_offset()).unwrap_or_default();
                let day = DAYS.get(day).unwrap_or(&"");
                format_smolstr!("{day} {:02}:{:02}", local.hour(), local.minute())
            }
            _ => moment.to_smolstr(),
        }
    }

    /// Whether a moment is in it.
    pub fn is_open(&self, moment: Timestamp) -> bool {
        self.holds(moment) == Truth::True
    }

    fn holds(&self, moment: Timestamp) -> Truth {
        if !self.dates.holds(moment) {
            return Truth::False;
        }
        if self.after.is_none() && self.before.is_none() && self.days.is_none() {
            return Truth::True;
        }
        let Ok(moment) = jiff::Timestamp::from_nanosecond(i128::from(moment.0)) else { return Truth::Error };
        let local = self.zone.to_datetime(moment);
        let clock = |part: i8| u32::try_from(part).unwrap_or_default();
        let second = clock(local.hour()) * 3600 + clock(local.minute()) * 60 + clock(local.second());
        let today = u8::try_from(local.weekday().to_sunday_zero_offset()).unwrap_or_default();
        let (after, before) = (self.after.unwrap_or(0), self.before.unwrap_or(u32::MAX));
        let overnight = self.midnight == Midnight::Crossed && after > before;
        let inside = if overnight { second >= after || second < before } else { second >= after && second < before };
        // What began yesterday counts as yesterday's.
        let begun = if overnight && second < before { (today + 6) % 7 } else { today };
        (inside && self.days.is_none_or(|days| days.has(begun))).into()
    }
}

impl fmt::Display for TimeWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = |second: u32| format!("{:02}:{:02}", second / 3600, second / 60 % 60);
        let mut parts: Vec<String> = Vec::new();
        match (self.after, self.before) {
            (Some(after), Some(before)) => parts.push(format!("{}-{}", clock(after), clock(before))),
            (Some(after), None) => parts.push(format!("after {}", clock(after))),
            (None, Some(before)) => parts.push(format!("before {}", clock(before))),
            (None, None) => {}
        }
        if let Some(days) = self.days {
            let names = (0..).zip(DAYS).filter(|(day, _)| days.has(*day)).map(|(_, name)| name);
            parts.push(names.collect::<Vec<_>>().join(","));
        }
        if self.dates != Validity::default() {
            parts.push(self.dates.to_string());
        }
        if (self.after.is_some() || self.before.is_some() || self.days.is_some())
            && let Some(zone) = self.zone.iana_name()
        {
            parts.push(zone.to_owned());
        }
        if parts.is_empty() {
            parts.push("any".to_owned());
        }
        f.write_str(&parts.join(" "))
    }
}

/// Addresses that may, and addresses that may not.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressLists {
    /// By network; no list of those that may means all.
    Networks {
        /// Those that may.
        allow: Option<Vec<IpNet>>,
        /// Those that may not.
        block: Vec<IpNet>,
    },
    /// By text, as another system does it.
    Texts {
        /// Those that may.
        allow: Option<Vec<SmolStr>>,
        /// Those that may not.
        block: Vec<SmolStr>,
    },
}

impl AddressLists {
    fn holds(&self, address: Maybe<&str>) -> Truth {
        match (self, address) {
            (Self::Networks { allow, block }, Maybe::Is(address)) => {
                let Ok(address) = address.parse::<IpAddr>() else { return Truth::Error };
                let address = address.to_canonical();
                let among = |networks: &[IpNet]| networks.iter().any(|network| network.contains(&address));
                (allow.as_deref().is_none_or(among) && !among(block)).into()
            }
            // Nothing is looked at, so no address is needed.
            (Self::Texts { allow: None, block }, _) if block.is_empty() => Truth::True,
            (Self::Texts { allow, block }, Maybe::Is(address)) => {
                let among = |texts: &[SmolStr]| texts.iter().any(|text| text == address);
                (allow.as_deref().is_none_or(among) && !among(block)).into()
            }
            (_, Maybe::Absent | Maybe::Unknown) => Truth::Error,
        }
    }
}
