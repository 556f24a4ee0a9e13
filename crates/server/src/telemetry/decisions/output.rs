//! Where lines go: appended to a file that is put aside when it has grown, or to standard output.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::config::{DecisionLog, DecisionLogTo};

/// What the first line says was before it.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Where lines go.
pub(super) struct Output {
    to: To,
    /// The hash of the last line.
    previous: String,
}

enum To {
    Stdout,
    File(Rotated),
}

struct Rotated {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    rotate_bytes: u64,
    keep_files: usize,
}

impl Output {
    /// Goes on where a file ends.
    pub(super) fn open(config: &DecisionLog) -> io::Result<Self> {
        let path = match &config.to {
            DecisionLogTo::Stdout => return Ok(Self { to: To::Stdout, previous: NOTHING.to_owned() }),
            DecisionLogTo::File(path) => path.clone(),
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        // A file that was just put aside leaves none behind if the process ends there.
        let last = last_line(&path)?.or(last_line(&aside(&path, 1))?);
        let previous = last.map_or_else(|| NOTHING.to_owned(), |line| hash(&line));
        let (mut file, mut bytes) = append_to(&path)?;
        if bytes > 0 && !ends_a_line(&path)? {
            // The end of a line that a crash cut off.
            file.write_all(b"\n")?;
            bytes += 1;
        }
        let (rotate_bytes, keep_files) = (config.rotate_bytes.max(1), config.keep_files);
        Ok(Self {
            to: To::File(Rotated { path, file: BufWriter::new(file), bytes, rotate_bytes, keep_files }),
            previous,
        })
    }

    /// The hash of the last line.
    pub(super) fn previous(&self) -> &str {
        &self.previous
    }

    /// Writes a line.
    pub(super) fn write(&mut self, line: &str) -> io::Result<()> {
        match &mut self.to {
            To::Stdout => writeln!(io::stdout().lock(), "{line}")?,
            To::File(file) => file.write(line)?,
        }
        self.previous = hash(line.as_bytes());
        Ok(())
    }

    /// Lets go what waits to be written together.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stdout => io::stdout().flush(),
            To::File(file) => file.file.flush(),
        }
    }

    /// Makes sure that everything outlives the machine.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.flush()?;
        match &self.to {
            To::Stdout => Ok(()),
            To::File(file) => file.file.get_ref().sync_all(),
        }
    }
}

impl Rotated {
    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.bytes >= self.rotate_bytes {
            self.put_aside()?;
        }
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")?;
        self.bytes += line.len() as u64 + 1;
        Ok(())
    }

    /// `log` becomes `log.1`, `log.1` becomes `log.2`, and the last is forgotten.
    fn put_aside(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if self.keep_files == 0 {
            remove(&self.path)?;
        } else {
            remove(&aside(&self.path, self.keep_files))?;
            for number in (1..self.keep_files).rev() {
                rename(&aside(&self.path, number), &aside(&self.path, number + 1))?;
            }
            rename(&self.path, &aside(&self.path, 1))?;
        }
        let (file, bytes) = append_to(&self.path)?;
        self.file = BufWriter::new(file);
        self.bytes = bytes;
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let bytes = file.metadata()?.len();
    Ok((file, bytes))
}

fn aside(path: &Path, number: usize) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    name.into()
}

/// What is not there is removed already.
fn remove(path: &Path) -> io::Result<()> {
    ignore_missing(fs::remove_file(path))
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    ignore_missing(fs::rename(from, to))
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn ends_a_line(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The last line of a file, without its end; nothing if there is no file, or no line in it.
fn last_line(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let mut read = 64 << 10;
    loop {
        // From behind, more and more, until a whole line is there.
        let from = length.saturating_sub(read);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        BufReader::new(&file).read_to_end(&mut tail)?;
        let lines = tail.strip_suffix(b"\n").unwrap_or(&tail);
        match lines.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => return Ok(lines.get(end + 1..).map(<[u8]>::to_vec)),
            None if from == 0 => return Ok(Some(lines.to_vec()).filter(|line| !line.is_empty())),
            None => read *= 4,
        }
    }
}

fn hash(line: &[u8]) -> String {
    format!("{:x}", Sha256::digest(line))
}
