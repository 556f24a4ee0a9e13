//! One connection of HTTP/1.1, kept alive, with as little work as possible: what is measured is the server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

#[derive(Debug)]
pub(super) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Self { stream, received: Vec::with_capacity(1 << 16) })
    }

    /// Posts a body; the answer.
    pub(super) fn ask(&mut self, path: &str, body: &str) -> Result<String, String> {
        self.send(&format!("POST {path}"), "", body)
    }

    /// As [`Self::ask`], as somebody who may.
    pub(super) fn ask_as(&mut self, token: &str, path: &str, body: &str) -> Result<String, String> {
        self.send(&format!("POST {path}"), &format!("authorization: Bearer {token}\r\n"), body)
    }

    /// Gets an answer, as somebody who may.
    pub(super) fn get_as(&mut self, token: &str, path: &str) -> Result<String, String> {
        self.send(&format!("GET {path}"), &format!("authorization: Bearer {token}\r\n"), "")
    }

    /// Gets an answer.
    pub(super) fn get(&mut self, path: &str) -> Result<String, String> {
        self.send(&format!("GET {path}"), "", "")
    }

    /// Puts a policy, as somebody who may.
    pub(super) fn put(&mut self, token: &str, policy: &str) -> Result<String, String> {
        let header = format!("authorization: Bearer {token}\r\n");
        self.send("PUT /v1/documents/AccessPolicy/access/changing", &header, policy)
    }

    fn send(&mut self, line: &str, headers: &str, body: &str) -> Result<String, String> {
        self.begin(line, headers, body)?;
        self.end()
    }

    /// Posts a body without waiting for the answer.
    pub(super) fn begin_to_ask(&mut self, path: &str, body: &str) -> Result<(), String> {
        self.begin(&format!("POST {path}"), "", body)
    }

    /// Sends a request without waiting for the answer.
    pub(super) fn begin(&mut self, line: &str, headers: &str, body: &str) -> Result<(), String> {
        let request = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).map_err(|error| error.to_string())
    }

    /// Waits for the answer, which must be a success.
    pub(super) fn end(&mut self) -> Result<String, String> {
        let Answer { head, body } = self.answer()?;
        if head.starts_with("HTTP/1.1 2") { Ok(body) } else { Err(format!("{head}\n{body}")) }
    }

    /// How many bytes the last answer had.
    pub(super) fn received(&self) -> usize {
        self.received.len()
    }

    /// Waits for the answer.
    pub(super) fn answer(&mut self) -> Result<Answer, String> {
        self.received.clear();
        loop {
            if let Some(answer) = Answer::whole(&self.received) {
                return Ok(answer);
            }
            let mut piece = [0; 1 << 14];
            let count = self.stream.read(&mut piece).map_err(|error| error.to_string())?;
            if count == 0 {
                return Err("the server closed the connection".to_owned());
            }
            self.received.extend_from_slice(piece.get(..count).unwrap_or_default());
        }
    }
}

/// An answer, whatever it says.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: String,
    body: String,
}

impl Answer {
    /// Once all of it is there.
    fn whole(received: &[u8]) -> Option<Self> {
        let end = received.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(received.get(..end)?).ok()?;
        let field = |wanted: &str| {
            let fields = head.lines().filter_map(|line| line.split_once(':'));
            let mut own = fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
            own.next().map(|(_, value)| value.trim())
        };
        let rest = received.get(end + 4..)?;
        let body = match field("content-length").and_then(|length| length.parse::<usize>().ok()) {
            Some(length) => rest.get(..length)?,
            // In pieces: the last one is empty.
            None => rest.strip_suffix(b"0\r\n\r\n")?,
        };
        Some(Self { head: head.to_owned(), body: String::from_utf8_lossy(body).into_owned() })
    }
}
