//! Finds the end of a value without looking at what is in it.

use wide::u8x16;

use super::masks::{BLOCK, Carry, Masks};

/// The offset behind the container whose opening bracket is just before `from`; `None` if it does not end.
/// Needs no memory, however deep it is nested.
pub(super) fn container(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth: u64 = 1;
    let mut carry = Carry::default();
    let (blocks, rest) = bytes.get(from..)?.as_chunks::<BLOCK>();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(end) = block_end(block, &mut depth, &mut carry) {
            return Some(from + index * BLOCK + end);
        }
    }
    // Spaces behind the end change nothing.
    let mut last = [b' '; BLOCK];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    let end = block_end(&last, &mut depth, &mut carry)?;
    Some(from + blocks.len() * BLOCK + end)
}

/// The offset in the block behind the bracket that closes everything.
fn block_end(block: &[u8; BLOCK], depth: &mut u64, carry: &mut Carry) -> Option<usize> {
    let masks = Masks::of(block);
    let outside = !carry.in_strings(&masks);
    let (opening, mut closing) = (masks.opening & outside, masks.closing & outside);
    if u64::from(closing.count_ones()) < *depth {
        *depth = *depth + u64::from(opening.count_ones()) - u64::from(closing.count_ones());
        return None;
    }
    let mut closed: u64 = 0;
    while closing != 0 {
        let at = closing.trailing_zeros();
        closed += 1;
        let opened_before = (opening & ((1u64 << at) - 1)).count_ones();
        if *depth + u64::from(opened_before) == closed {
            return Some(at as usize + 1);
        }
        closing &= closing - 1;
    }
    *depth = *depth + u64::from(opening.count_ones()) - closed;
    None
}

/// A string as far as its end is concerned.
pub(super) struct Ending {
    /// Offset behind the closing quote.
    pub end: usize,
    /// There are escapes in it.
    pub has_escapes: bool,
    /// There are control characters in it, which JSON refuses.
    pub has_controls: bool,
}

/// Finds the end of the string whose opening quote is just before `from`; `None` if it does not end.
pub(super) fn string(bytes: &[u8], from: usize) -> Option<Ending> {
    let mut ending = Ending { end: from, has_escapes: false, has_controls: false };
    loop {
        ending.end = next_special(bytes, ending.end)?;
        match bytes.get(ending.end)? {
            b'"' => {
                ending.end += 1;
                return Some(ending);
            }
            b'\\' => {
                ending.has_escapes = true;
                ending.end += 2;
            }
            _ => {
                ending.has_controls = true;
                ending.end += 1;
            }
        }
    }
}

/// The offset of the next quote, backslash or control character.
fn next_special(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let (parts, tail) = rest.as_chunks::<16>();
    for (index, part) in parts.iter().enumerate() {
        let part = u8x16::new(*part);
        let quote = part.simd_eq(u8x16::splat(b'"'));
        let backslash = part.simd_eq(u8x16::splat(b'\\'));
        let control = part.min(u8x16::splat(0x1f)).simd_eq(part);
        let found = (quote | backslash | control).to_bitmask();
        if found != 0 {
            return Some(from + index * 16 + found.trailing_zeros() as usize);
        }
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    tail.iter().position(special).map(|at| from + parts.len() * 16 + at)
}
