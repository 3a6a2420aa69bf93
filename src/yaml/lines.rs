//! The lines of a file, whatever ends them, and what its first bytes say about its encoding.

use std::io::{self, BufRead, Chain, Cursor, Read};

/// UTF-8 byte order mark.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The lines of a file without what ends them: LF, CRLF or a lone CR.
pub(super) struct Lines<R> {
    input: R,
    after_cr: bool,
}

impl<R: BufRead> Lines<R> {
    /// The lines of an input.
    pub(super) fn new(input: R) -> Self {
        Self { input, after_cr: false }
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut begun = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let Some(&first) = buffer.first() else { return Ok(begun.then_some(line)) };
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                self.input.consume(1);
                continue;
            }
            begun = true;
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (text, rest) = buffer.split_at(end.unwrap_or(buffer.len()));
            line.extend_from_slice(text);
            self.after_cr = rest.first() == Some(&b'\r');
            let used = text.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

/// An input whose first four bytes were looked at.
pub(super) type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Looks at the first bytes of an input: its name when it is an encoding other than UTF-8, and the whole input.
pub(super) fn peek<R: BufRead>(mut input: R) -> io::Result<(Option<&'static str>, Peeked<R>)> {
    let mut head = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut head)?;
    let encoding = foreign_encoding(&head);
    Ok((encoding, Cursor::new(head).chain(input)))
}

/// The encoding that the first bytes show, when it is not UTF-8. Without a byte order mark the NUL halves of the
/// first ASCII characters tell.
fn foreign_encoding(head: &[u8]) -> Option<&'static str> {
    Some(match *head {
        [0xFF, 0xFE, 0, 0] => "UTF-32 (little endian)",
        [0, 0, 0xFE, 0xFF] => "UTF-32 (big endian)",
        [0xFF, 0xFE, ..] => "UTF-16 (little endian)",
        [0xFE, 0xFF, ..] => "UTF-16 (big endian)",
        [a, 0, 0, 0] if a != 0 => "UTF-32 (little endian)",
        [0, 0, 0, a] if a != 0 => "UTF-32 (big endian)",
        [a, 0, b, 0] if a != 0 && b != 0 => "UTF-16 (little endian)",
        [0, a, 0, b] if a != 0 && b != 0 => "UTF-16 (big endian)",
        _ => return None,
    })
}
