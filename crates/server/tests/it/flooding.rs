//! Many streams by few connections: S3 of the second round. What is kept for strangers stays within their limits, however many they open.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use upheld_server::Config;
use upheld_server::config::{Anonymous, Limits, Security};

use crate::strangers::{TOKEN, frame, tokens};
use crate::support::{Served, eventually};

const CONNECTIONS: u32 = 4;
const STREAMS: u32 = 50;

/// A server that decides for strangers.
fn served(limits: Limits) -> (tempfile::TempDir, Served) {
    let folder = tempfile::tempdir().unwrap();
    let security =
        Security { tokens: Some(tokens(&folder)), anonymous: Some(Anonymous::Decide), ..Security::default() };
    let served = Served::guarded(Config { security, limits, ..Config::default() });
    (folder, served)
}

/// A number of the server.
fn number(served: &Served, name: &str) -> usize {
    let bearer = format!("Bearer {TOKEN}");
    let metrics = served.ask("GET", "/metrics", &[("authorization", &bearer)], "").text;
    let line = format!("{name} ");
    let number = metrics.lines().find_map(|found| found.strip_prefix(&line)).expect("it is counted");
    number.trim_end_matches(".0").parse().unwrap()
}

/// A connection of HTTP/2 with streams that each say how much they send, and send one byte of it.
fn flood(served: &Served, path: &str, length: usize) -> TcpStream {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    // The names of all but the origin stand in the table of all connections.
    let head = [
        vec![0x83, 0x86, 4],
        text(path),
        vec![1],
        text("localhost"),
        vec![0x0f, 0x0d],
        text(&length.to_string()),
        vec![0x0f, 0x10],
        text(if path == "/sign-in" { "application/x-www-form-urlencoded" } else { "application/json" }),
        vec![0],
        text("origin"),
        text("http://localhost"),
    ];
    let head = head.concat();
    let head = if path == "/sign-in" { &head[..] } else { &head[..head.len() - 25] };
    let mut stream = served.connect();
    stream.write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &frame(4, 0, 0, &[])].concat()).unwrap();
    for number in 0..STREAMS {
        let id = 2 * number + 1;
        stream.write_all(&[frame(1, 4, id, head), frame(0, 0, id, b"t")].concat()).unwrap();
    }
    stream
}

/// Reads until so many streams are answered or reset; how many of these were answered well.
fn refused(stream: &mut TcpStream, count: usize) -> usize {
    let (mut ended, mut well) = (BTreeSet::new(), 0);
    while ended.len() < count {
        let mut begin = [0; 9];
        stream.read_exact(&mut begin).unwrap();
        let [one, two, three, sort, flags, id @ ..] = begin;
        let mut content = vec![0; usize::try_from(u32::from_be_bytes([0, one, two, three])).unwrap()];
        stream.read_exact(&mut content).unwrap();
        match sort {
            1 => {
                ended.insert(id);
                // 200 stands in the table of all connections, other statuses of refusals do not.
                well += usize::from(content.first() == Some(&0x88));
            }
            3 => drop(ended.insert(id)),
            4 if flags & 1 == 0 => stream.write_all(&frame(4, 1, 0, &[])).unwrap(),
            _ => {}
        }
    }
    well
}

/// Bodies of which each would fit: there is room for as many as one address may have, and those who promise more are refused before they send it.
#[test]
fn s3_bodies_that_are_promised_stay_within_what_one_address_may_have() {
    const BODY: usize = 900_000;
    const ROOM: usize = 4_000_000;
    let (_folder, served) = served(Limits { bytes: 4 * ROOM, bytes_of_one: ROOM, ..Limits::default() });
    let mut connections: Vec<_> = (0..CONNECTIONS).map(|_| flood(&served, "/v1/decide", BODY)).collect();
    // The last one may be larger than what is left.
    let kept = ROOM / BODY + 1;
    eventually(|| number(&served, "upheld_held_bytes") == kept * BODY);
    assert_eq!(served.get("/healthz").status, 200);
    // All but those that are kept are refused at once, wherever they are.
    let streams = usize::try_from(STREAMS).unwrap();
    let well: usize = connections.iter_mut().map(|one| refused(one, streams - kept)).sum();
    assert_eq!((well, number(&served, "upheld_held_bytes")), (0, kept * BODY));
    assert_eq!(served.post("/v1/decide", "{}").status, 200, "small requests of the same address go on");
    drop(connections);
    eventually(|| number(&served, "upheld_held_bytes") == 0);
}

/// Forms are read in as many places as strangers have, and large ones are not read.
#[test]
fn s3_forms_by_many_streams_have_as_many_places_as_strangers() {
    const PLACES: usize = 4;
    let (_folder, served) = served(Limits { reading: 2 * PLACES, ..Limits::default() });
    let mut connections: Vec<_> = (0..CONNECTIONS).map(|_| flood(&served, "/sign-in", 60_000)).collect();
    let streams = usize::try_from(STREAMS).unwrap();
    let well: usize = connections.iter_mut().map(|one| refused(one, streams - PLACES)).sum();
    assert_eq!(well, 0);
    assert_eq!(served.get("/healthz").status, 200);
    assert_eq!(number(&served, "upheld_held_bytes"), 0, "what is small is bounded by the places");
    drop(connections);
    eventually(|| served.get("/sign-in").status == 200);
    let mut connections: Vec<_> = (0..CONNECTIONS).map(|_| flood(&served, "/sign-in", 2 << 20)).collect();
    let well: usize = connections.iter_mut().map(|one| refused(one, streams)).sum();
    assert_eq!((well, number(&served, "upheld_held_bytes")), (0, 0));
    assert_eq!(served.get("/sign-in").status, 200, "they have no place");
}
