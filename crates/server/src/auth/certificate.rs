//! Whom a certificate names. It was verified before: here it is only read.

use std::sync::Arc;

use jiff::Timestamp;
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts};

use super::caller::{AuthMethod, Caller};
use crate::config::Known;

/// The names in a certificate, the common name first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificate(Arc<[SmolStr]>);

impl Certificate {
    /// Reads the names. `None` if there are none, or if it is not a certificate.
    pub(crate) fn read(der: &[u8]) -> Option<Self> {
        let mut names = Vec::new();
        let mut body = Der(Der(der).expect(SEQUENCE)?);
        let mut fields = Der(body.expect(SEQUENCE)?);
        let mut field = fields.next()?;
        if field.0 == VERSION {
            field = fields.next()?;
        }
        // The serial number is past; the algorithm, the issuer and the validity are of no interest.
        if field.0 != INTEGER {
            return None;
        }
        for _ in 0..3 {
            fields.expect(SEQUENCE)?;
        }
        common_names(fields.expect(SEQUENCE)?, &mut names);
        while let Some((tag, content)) = fields.next() {
            if tag == EXTENSIONS {
                alternative_names(Der(content).expect(SEQUENCE)?, &mut names);
            }
        }
        (!names.is_empty()).then(|| Self(names.into()))
    }

    /// Until when a certificate is valid. `None` if it is not one.
    pub(crate) fn valid_until(der: &[u8]) -> Option<Timestamp> {
        let mut body = Der(Der(der).expect(SEQUENCE)?);
        let mut fields = Der(body.expect(SEQUENCE)?);
        if fields.next()?.0 == VERSION {
            fields.expect(INTEGER)?;
        }
        // The algorithm and the issuer stand before.
        for _ in 0..2 {
            fields.expect(SEQUENCE)?;
        }
        let mut validity = Der(fields.expect(SEQUENCE)?);
        validity.next()?;
        moment(validity.next()?)
    }

    /// Until when a list of revoked certificates says anything; `None` if it is not one, or does not say so.
    pub(crate) fn revocations_until(der: &[u8]) -> Option<Timestamp> {
        let mut body = Der(Der(der).expect(SEQUENCE)?);
        let mut fields = Der(body.expect(SEQUENCE)?);
        // The version, the algorithm, the issuer and when it was made stand before.
        fields.expect(INTEGER)?;
        for _ in 0..2 {
            fields.expect(SEQUENCE)?;
        }
        fields.next()?;
        moment(fields.next()?)
    }

    /// Who has it, with the roles that are known for its names.
    pub(crate) fn caller(&self, known: &[Known]) -> Caller {
        let name = self.0.first().map_or("", SmolStr::as_str);
        let (mut roles, mut groups) = (Vec::new(), Vec::new());
        for known in known.iter().filter(|known| self.0.iter().any(|name| fits(&known.name, name))) {
            roles.extend(known.roles.iter().map(SmolStr::new));
            groups.extend(known.groups.iter().map(SmolStr::new));
        }
        let mut claims = Facts::default();
        claims.set("names", Fact::List(self.0.iter().cloned().map(Fact::Text).collect()));
        Caller {
            roles: roles.into(),
            groups: groups.into(),
            claims: Arc::new(claims),
            ..Caller::new(name, AuthMethod::Certificate)
        }
    }
}

/// A moment in one of its two forms.
fn moment((tag, time): (u8, &[u8])) -> Option<Timestamp> {
    let time = std::str::from_utf8(time).ok()?;
    // Years of two digits are those from 1950 to 2049.
    let whole = match (tag, time.get(..2)?.parse::<u8>().ok()?) {
        (GENERALIZED_TIME, _) => time.to_owned(),
        (UTC_TIME, 50..) => format!("19{time}"),
        (UTC_TIME, _) => format!("20{time}"),
        _ => return None,
    };
    let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%SZ", whole).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const IDENTIFIER: u8 = 0x06;
const UTF8: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const PRINTABLE: u8 = 0x13;
const IA5: u8 = 0x16;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// Alternative names: mail addresses, names of hosts, URIs.
const ALTERNATIVES: [u8; 3] = [0x81, 0x82, 0x86];
/// 2.5.4.3
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
/// 2.5.29.17
const ALTERNATIVE_NAME: [u8; 3] = [0x55, 0x1d, 0x11];

fn common_names(subject: &[u8], names: &mut Vec<SmolStr>) {
    let mut parts = Der(subject);
    while let Some((SET, part)) = parts.next() {
        let mut attributes = Der(part);
        while let Some((SEQUENCE, attribute)) = attributes.next() {
            let mut attribute = Der(attribute);
            if attribute.expect(IDENTIFIER) == Some(&COMMON_NAME)
                && let Some((UTF8 | PRINTABLE | IA5, name)) = attribute.next()
            {
                push(name, names);
            }
        }
    }
}

fn alternative_names(extensions: &[u8], names: &mut Vec<SmolStr>) {
    let mut extensions = Der(extensions);
    while let Some((SEQUENCE, extension)) = extensions.next() {
        let mut extension = Der(extension);
        if extension.expect(IDENTIFIER) != Some(&ALTERNATIVE_NAME) {
            continue;
        }
        // Whether it is critical may stand in between.
        while let Some((tag, value)) = extension.next() {
            let mut listed = Der(Some(value)
                .filter(|_| tag == OCTETS)
                .and_then(|value| Der(value).expect(SEQUENCE))
                .unwrap_or_default());
            while let Some((tag, name)) = listed.next() {
                if ALTERNATIVES.contains(&tag) {
                    push(name, names);
                }
            }
        }
    }
}

/// A name that people cannot see is none.
fn push(bytes: &[u8], names: &mut Vec<SmolStr>) {
    if let Ok(name) = std::str::from_utf8(bytes)
        && !name.is_empty()
        && !name.chars().any(char::is_control)
        && !names.iter().any(|known| known == name)
    {
        names.push(SmolStr::new(name));
    }
}

/// Values one after the other, in the distinguished encoding.
#[derive(Clone, Copy)]
struct Der<'d>(&'d [u8]);

impl<'d> Der<'d> {
    /// The next value: its tag and its content.
    fn next(&mut self) -> Option<(u8, &'d [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match usize::from(*first) {
            short @ 0..=0x7f => (short, rest),
            long @ 0x81..=0x84 => {
                let (length, rest) = rest.split_at_checked(long - 0x80)?;
                (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    /// The content of the next value, which must have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'d [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::*;

    fn certificate(common: &str, alternatives: Vec<SanType>) -> Vec<u8> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.remove(DnType::CommonName);
        if !common.is_empty() {
            parameters.distinguished_name.push(DnType::OrganizationName, "Acme");
            parameters.distinguished_name.push(DnType::CommonName, common);
        }
        parameters.subject_alt_names = alternatives;
        let key = KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn all_names_are_read_the_common_name_first() {
        let der = certificate(
            "gate",
            vec![
                SanType::DnsName("gate.example".try_into().unwrap()),
                SanType::URI("spiffe://example/gate".try_into().unwrap()),
            ],
        );
        let names: Vec<SmolStr> = ["gate", "gate.example", "spiffe://example/gate"].map(SmolStr::new).to_vec();
        assert_eq!(Certificate::read(&der), Some(Certificate(names.into())));
    }

    #[test]
    fn without_names_there_is_nobody() {
        assert_eq!(Certificate::read(&certificate("", Vec::new())), None);
    }

    #[test]
    fn what_is_cut_or_changed_is_read_without_panic() {
        let der = certificate("gate", vec![SanType::DnsName("gate.example".try_into().unwrap())]);
        for length in 0..der.len() {
            Certificate::read(&der[..length]);
        }
        for at in 0..der.len() {
            let mut changed = der.clone();
            changed[at] ^= 0xff;
            Certificate::read(&changed);
            Certificate::valid_until(&changed);
        }
    }

    #[test]
    fn the_end_of_a_certificate_is_read_in_both_ways_of_writing_it() {
        for year in [2031, 2049, 2050, 2131] {
            let mut parameters = CertificateParams::default();
            parameters.not_after = rcgen::date_time_ymd(year, 2, 3);
            let der = parameters.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec();
            let until = Certificate::valid_until(&der).unwrap();
            assert_eq!(until.to_string(), format!("{year}-02-03T00:00:00Z"));
        }
        assert_eq!(Certificate::valid_until(b"nonsense"), None);
    }

    #[test]
    fn roles_come_from_the_configuration() {
        let known =
            |name: &str, role: &str| Known { name: name.to_owned(), roles: vec![role.to_owned()], groups: Vec::new() };
        let der = certificate("gate", vec![SanType::URI("spiffe://example/ns/a".try_into().unwrap())]);
        let known = [known("gate", "asker"), known("spiffe://example/*", "viewer"), known("gat", "admin")];
        let caller = Certificate::read(&der).unwrap().caller(&known);
        assert_eq!((caller.name.as_str(), &caller.roles[..]), ("gate", &["asker".into(), "viewer".into()][..]));
    }
}
