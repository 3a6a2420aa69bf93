//! Finds the end of a value without looking at what is in it.

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

/// The offset behind the string whose opening quote is just before `from`, and whether it holds escapes.
pub(super) fn string(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    let mut at = from;
    let mut has_escapes = false;
    loop {
        match bytes.get(at)? {
            b'"' => return Some((at + 1, has_escapes)),
            b'\\' => {
                has_escapes = true;
                at += 2;
            }
            _ => at += 1,
        }
    }
}
