//! Answers as web pages.
//!
//! ```text
//! the document that programs get (JSON) ──▶ Page ──▶ HTML
//!                                           │
//!                   explanation · report · compliance · lists · policy · history · problem
//! ```
//!
//! A page is made of the document that a program would get to the same question, after everything was cut from it that its reader may
//! not see. So it cannot say more than that, and nothing is worked out here but how it looks. Every page is whole without a script.

mod address;
mod assets;
pub mod command;
mod compliance;
mod decision;
mod difference;
mod editor;
mod explanation;
mod gutter;
mod history;
mod home;
mod learn;
mod lists;
mod pairs;
mod pictures;
mod policy;
mod problem;
mod relation;
mod report;
mod review;
mod seen;
mod shell;
mod whatif;

pub use self::address::Address;
pub use self::assets::{Asset, FOLDER, asset};
pub use self::compliance::{MOST_IN_A_FILE, audit_file, compliance};
pub use self::editor::{Draft, Keeper, Tried, editor};
pub use self::explanation::{Inspector, explanation, headline, invitation, unanswered};
pub use self::history::{Changed, difference, history};
pub use self::home::home;
pub use self::learn::{lesson, lessons};
pub use self::lists::{Sort, code, codes, kinds, list, search, thing as address_of};
pub use self::pairs::connections;
pub use self::policy::{Beside, thing};
pub use self::problem::{diagnostics, problem, sign_in};
pub use self::review::{changes, findings};
pub use self::shell::{Around, Health, Medium, Page, Reader, Section};
pub use self::whatif::{Supposing, supposition};
