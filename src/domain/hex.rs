//! Hashes in hexadecimal.

/// Writes bytes as two lower-case hexadecimal digits each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that [`hex`] wrote; capital digits are accepted. `None` for any other text.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| Some(digit.to_digit(16)? as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    let pairs = digits.chunks_exact(2);
    Some(pairs.map(|pair| 16 * pair[0] + pair[1]).collect())
}

/// The first eight bytes of a hash in hexadecimal.
pub fn short_hex(hash: &[u8]) -> String {
    hex(hash.get(..8).unwrap_or(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_two_digits() {
        let bytes = [0, 10, 255, 1, 2, 3, 4, 5, 6];
        assert_eq!(hex(&bytes), "000aff010203040506");
        assert_eq!(short_hex(&bytes), "000aff0102030405");
        assert_eq!(short_hex(&bytes[..2]), "000a");
        for text in ["000aff010203040506", "000AFF010203040506"] {
            assert_eq!(from_hex(text).as_deref(), Some(&bytes[..]));
        }
        assert_eq!(from_hex(""), Some(Vec::new()));
        for bad in ["0", "000", "0g", "é0", "+1", " 1"] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }
}
