//! One value of an array, as its bytes in a file.

/// How the values of an array are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) kind: Kind,
    /// Bytes a value.
    pub(super) size: usize,
    pub(super) big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
    /// Text of one byte a character, filled up with zeros.
    Bytes,
    /// Text of four bytes a character, filled up with zeros.
    Unicode,
}

impl Scalar {
    /// Nothing, if there are no numbers of this size.
    pub(super) fn new(kind: Kind, size: usize, big_endian: bool) -> Option<Self> {
        let fits = match kind {
            Kind::Float => matches!(size, 2 | 4 | 8),
            Kind::Signed | Kind::Unsigned => matches!(size, 1 | 2 | 4 | 8),
            Kind::Bool => size == 1,
            Kind::Bytes => (1..=1 << 16).contains(&size),
            Kind::Unicode => (4..=1 << 18).contains(&size) && size.is_multiple_of(4),
        };
        fits.then_some(Self { kind, size, big_endian })
    }

    pub(super) fn is_text(self) -> bool {
        matches!(self.kind, Kind::Bytes | Kind::Unicode)
    }

    /// A value as a number; text is none.
    pub(super) fn number(self, bytes: &[u8]) -> f64 {
        let bits = self.bits(bytes);
        match (self.kind, self.size) {
            (Kind::Float, 8) => f64::from_bits(bits),
            (Kind::Float, 4) => f64::from(f32::from_bits(u32::try_from(bits).unwrap_or(0))),
            (Kind::Float, _) => half(bits),
            (Kind::Signed, _) => self.signed(bits) as f64,
            (Kind::Unsigned, _) => bits as f64,
            (Kind::Bool, _) => f64::from(u8::from(bits != 0)),
            (Kind::Bytes | Kind::Unicode, _) => f64::NAN,
        }
    }

    /// A value as a text: numbers in full.
    pub(super) fn text(self, bytes: &[u8]) -> String {
        let text = match self.kind {
            Kind::Float => return self.number(bytes).to_string(),
            Kind::Signed => return self.signed(self.bits(bytes)).to_string(),
            Kind::Unsigned | Kind::Bool => return self.bits(bytes).to_string(),
            Kind::Bytes => String::from_utf8_lossy(bytes).into_owned(),
            Kind::Unicode => bytes
                .chunks_exact(4)
                .map(|c| {
                    let c = [c[0], c[1], c[2], c[3]];
                    let code = if self.big_endian { u32::from_be_bytes(c) } else { u32::from_le_bytes(c) };
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
                })
                .collect(),
        };
        text.trim_end_matches('\0').to_owned()
    }

    fn bits(self, bytes: &[u8]) -> u64 {
        let push = |bits: u64, byte: &u8| (bits << 8) | u64::from(*byte);
        let bytes = &bytes[..bytes.len().min(8)];
        if self.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
    }

    fn signed(self, bits: u64) -> i64 {
        let unused = 64 - 8 * self.size.min(8);
        (bits << unused).cast_signed() >> unused
    }
}

/// A number in half precision.
fn half(bits: u64) -> f64 {
    let (exponent, fraction) = ((bits >> 10) & 31, (bits & 1023) as f64);
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction / 1024.0) * 2f64.powi(i32::try_from(e).unwrap_or(0) - 15),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_kind() {
        let number = |kind, bytes: &[u8], big| Scalar::new(kind, bytes.len(), big).unwrap().number(bytes);
        for big in [false, true] {
            let order = |mut bytes: Vec<u8>| {
                if big {
                    bytes.reverse();
                }
                bytes
            };
            assert_eq!(number(Kind::Float, &order((-1.5e300f64).to_le_bytes().to_vec()), big), -1.5e300);
            assert_eq!(number(Kind::Float, &order(0.1f32.to_le_bytes().to_vec()), big), f64::from(0.1f32));
            assert_eq!(number(Kind::Signed, &order((-2i16).to_le_bytes().to_vec()), big), -2.0);
            assert_eq!(number(Kind::Signed, &order(i64::MIN.to_le_bytes().to_vec()), big), i64::MIN as f64);
            assert_eq!(number(Kind::Unsigned, &order(70_000u32.to_le_bytes().to_vec()), big), 70_000.0);
            // 1, -2, the smallest, 65504, infinity.
            for (half, value) in [
                (0x3c00u16, 1.0),
                (0xc000, -2.0),
                (1, 2f64.powi(-24)),
                (0x7bff, 65504.0),
                (0x7c00, f64::INFINITY),
            ] {
                assert_eq!(number(Kind::Float, &order(half.to_le_bytes().to_vec()), big), value);
            }
        }
        assert_eq!(number(Kind::Signed, &[0xff], false), -1.0);
        assert_eq!(number(Kind::Bool, &[1], false), 1.0);
    }

    #[test]
    fn texts_of_every_kind() {
        let text = |kind, bytes: &[u8]| Scalar::new(kind, bytes.len(), false).unwrap().text(bytes);
        assert_eq!(text(Kind::Unsigned, &u64::MAX.to_le_bytes()), u64::MAX.to_string());
        assert_eq!(text(Kind::Signed, &(-5i32).to_le_bytes()), "-5");
        assert_eq!(text(Kind::Float, &1f64.to_le_bytes()), "1");
        assert_eq!(text(Kind::Bytes, b"ab\0\0"), "ab");
        assert_eq!(text(Kind::Unicode, b"\xe9\0\0\0b\0\0\0\0\0\0\0"), "éb");
    }
}
