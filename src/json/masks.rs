//! Sixty-four bytes at a time: where quotes, backslashes and brackets are, as bits.

use wide::u8x16;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

/// One bit for each byte of a block, the first byte lowest.
#[derive(Clone, Copy)]
pub(super) struct Masks {
    pub quotes: u64,
    pub backslashes: u64,
    /// `{` and `[`.
    pub opening: u64,
    /// `}` and `]`.
    pub closing: u64,
}

impl Masks {
    pub(super) fn of(block: &[u8; BLOCK]) -> Self {
        let mut masks = Self { quotes: 0, backslashes: 0, opening: 0, closing: 0 };
        // `{` and `[`, and `}` and `]`, differ in this bit only.
        let case = u8x16::splat(0x20);
        for (index, part) in block.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::new(*part);
            let folded = bytes | case;
            let bits = |found: u8x16| u64::from(found.to_bitmask()) << (16 * index);
            masks.quotes |= bits(bytes.simd_eq(u8x16::splat(b'"')));
            masks.backslashes |= bits(bytes.simd_eq(u8x16::splat(b'\\')));
            masks.opening |= bits(folded.simd_eq(u8x16::splat(b'{')));
            masks.closing |= bits(folded.simd_eq(u8x16::splat(b'}')));
        }
        masks
    }
}

/// What one block leaves to the next.
#[derive(Clone, Copy, Default)]
pub(super) struct Carry {
    /// The first byte of the next block is escaped.
    escaped: bool,
    /// The next block begins inside a string.
    in_string: bool,
}

impl Carry {
    /// Bits of the bytes that are inside a string; the opening quote counts, the closing one does not.
    pub(super) fn in_strings(&mut self, masks: &Masks) -> u64 {
        let quotes = masks.quotes & !self.escaped_bytes(masks.backslashes);
        let inside = prefix_xor(quotes) ^ if self.in_string { u64::MAX } else { 0 };
        self.in_string = inside >> 63 != 0;
        inside
    }

    /// Bits of the bytes behind an odd run of backslashes.
    fn escaped_bytes(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let carried = u64::from(self.escaped);
        if backslashes == 0 {
            self.escaped = false;
            return carried;
        }
        let escaping = backslashes & !carried;
        let follows = (escaping << 1) | carried;
        let odd_starts = escaping & !EVEN & !follows;
        let (ends, overflow) = odd_starts.overflowing_add(escaping);
        self.escaped = overflow;
        (EVEN ^ (ends << 1)) & follows
    }
}

/// Each bit becomes the parity of all bits up to it.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}
