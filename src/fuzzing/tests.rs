use super::*;
use crate::domain::sampling::SeededRng;
use std::path::Path;

/// Inputs a target, made from its examples.
const INPUTS: usize = 1_500;

/// What makes an input interesting: signs of the formats, and bytes that are often handled wrongly.
const PIECES: [&[u8]; 28] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"null",
    b"true",
    b"-0.0",
    b"1e999",
    b"-1",
    b"NaN",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"\0",
    b"```json\n",
    b"<think>",
    b"<score>",
];

fn examples(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// One change of `input`.
fn change(input: &mut Vec<u8>, other: &[u8], rng: &mut SeededRng) {
    let at = rng.below(input.len() + 1);
    let end = (at + 1 + rng.below(16)).min(input.len());
    match rng.below(7) {
        0 if at < input.len() => input[at] ^= 1 << rng.below(8),
        1 if at < input.len() => input[at] = PIECES[rng.below(PIECES.len())][0],
        2 => drop(input.drain(at..end)),
        3 => {
            let again = input[at..end].to_vec();
            input.splice(at..at, again);
        }
        4 => input.truncate(at),
        5 => {
            let from = rng.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        _ => {
            let piece = PIECES[rng.below(PIECES.len())];
            input.splice(at..at, piece.iter().copied());
        }
    }
}

#[test]
fn no_input_breaks_a_law() {
    for (name, target) in TARGETS {
        let examples = examples(name);
        assert!(!examples.is_empty(), "{name}");
        examples.iter().for_each(|example| target(example));
        let mut rng = SeededRng::new(1, &["fuzz", name]);
        for _ in 0..INPUTS {
            let mut input = examples[rng.below(examples.len())].clone();
            let other = &examples[rng.below(examples.len())];
            for _ in 0..=rng.below(4) {
                change(&mut input, other, &mut rng);
            }
            let ran = std::panic::catch_unwind(|| target(&input));
            assert!(ran.is_ok(), "{name}: {}", String::from_utf8_lossy(&input));
        }
    }
}

#[test]
fn every_target_has_its_program() {
    let manifest = include_str!("../../fuzz/Cargo.toml");
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
