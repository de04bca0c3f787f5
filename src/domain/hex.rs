//! Hashes in hexadecimal.

/// Writes bytes as two lower-case hexadecimal digits each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
    }
}
