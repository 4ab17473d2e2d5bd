//! The lengths of texts in Parquet's delta encodings, followed without being decoded: the library reserves memory for as many
//! as the stream claims.

/// The most lengths a byte of a page may stand for. Equal lengths take no bits at all; writers store 128 of them in 5 bytes,
/// and this leaves room for larger blocks (a heuristic).
const PER_BYTE: usize = 1024;

const CUT: &str = "a page ends within its lengths";
const CLAIM: &str = "a page claims more lengths than it has values";
const BLOCKS: &str = "a page has lengths in blocks of no size";

/// What follows a stream of at most `most` lengths: a header (values in a block, parts of a block, lengths in all, the first
/// length), then the blocks, each with its least difference, the bits of a value in each part, and the parts.
pub(super) fn after(page: &[u8], most: usize) -> Result<&[u8], &'static str> {
    let mut bytes = page;
    let [block, parts, lengths, _first] =
        [number(&mut bytes)?, number(&mut bytes)?, number(&mut bytes)?, number(&mut bytes)?];
    let lengths = usize::try_from(lengths).map_err(|_| CLAIM)?;
    if lengths > most || lengths / PER_BYTE > page.len() {
        return Err(CLAIM);
    }
    let (Ok(block), Ok(parts)) = (usize::try_from(block), usize::try_from(parts)) else { return Err(BLOCKS) };
    let size = block.checked_div(parts).filter(|size| *size > 0).ok_or(BLOCKS)?;
    // The first length is in the header.
    let mut left = lengths.saturating_sub(1);
    while left > 0 {
        number(&mut bytes)?;
        let widths = bytes.get(..parts).ok_or(CUT)?;
        bytes = &bytes[parts..];
        for &width in widths {
            // A part that is not needed is not there.
            if left == 0 {
                break;
            }
            let length = size.checked_mul(usize::from(width)).ok_or(CUT)? / 8;
            // The last one may be cut short.
            bytes = bytes.get(length.min(bytes.len())..).ok_or(CUT)?;
            left = left.saturating_sub(size);
        }
    }
    Ok(bytes)
}

/// A number in seven bits a byte.
fn number(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0u64;
    for place in 0..10 {
        let (first, rest) = bytes.split_first().ok_or(CUT)?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << (7 * place);
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(CUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams() {
        // Five lengths of 3: a block of 128 in 4 parts, no bits.
        let equal = [0x80, 0x01, 4, 5, 6, 0, 0, 0, 0, 0];
        let both = [&equal[..], b"rest"].concat();
        assert_eq!(after(&both, 5), Ok(&b"rest"[..]));
        assert_eq!(after(&both, 4), Err(CLAIM));
        assert_eq!(after(&equal[..7], 5), Err(CUT));
        // One length has no block; none has not even that one.
        assert_eq!(after(&[0x80, 0x01, 4, 1, 6, 9], 5), Ok(&[9][..]));
        assert_eq!(after(&[0x80, 0x01, 4, 0, 0], 5), Ok(&[][..]));
        // One bit a value: four bytes for a part of 32, and the other parts are not needed.
        let bits = [0x80, 0x01, 4, 5, 6, 0, 1, 8, 8, 8, 0xf, 0, 0, 0, 7];
        assert_eq!(after(&bits, 5), Ok(&[7][..]));
    }

    #[test]
    fn claims() {
        // 2^40 lengths in one block without bits.
        let all = [0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0, 0, 0];
        assert_eq!(after(&all, i32::MAX as usize), Err(CLAIM));
        assert_eq!(after(&all, usize::MAX), Err(CLAIM));
        // Blocks and parts of no size.
        assert_eq!(after(&[0, 4, 5, 6, 0, 0, 0, 0, 0], 5), Err(BLOCKS));
        assert_eq!(after(&[0x80, 0x01, 0, 5, 6, 0], 5), Err(BLOCKS));
    }
}
