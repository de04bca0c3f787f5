//! Draws SVG pictures as PNG, with the fonts of this machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

/// Pixels per unit of the SVG.
const SCALE: f32 = 2.0;
/// The largest side of a picture, in pixels.
const SIDE_MAX: f32 = 20_000.0;
/// Common sans-serif fonts of various systems, best first.
const SANS: [&str; 6] = [
    "DejaVu Sans",
    "Helvetica",
    "Arial",
    "Liberation Sans",
    "Noto Sans",
    "Segoe UI",
];

#[derive(Debug, thiserror::Error)]
pub enum PngError {
    #[error("this machine has no fonts; write .svg, or install a font such as DejaVu Sans")]
    NoFonts,
    #[error("the picture is too large; write .svg")]
    TooLarge,
    #[error("the picture cannot be read: {0}")]
    Svg(#[from] resvg::usvg::Error),
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}

/// The picture as PNG, at twice its size.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let family = sans_family(fonts).ok_or(PngError::NoFonts)?;
    fonts.set_sans_serif_family(&family);
    options.font_family = family;
    let tree = Tree::from_str(svg, &options)?;
    let (width, height) = (
        (tree.size().width() * SCALE).ceil(),
        (tree.size().height() * SCALE).ceil(),
    );
    if width.max(height) > SIDE_MAX {
        return Err(PngError::TooLarge);
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or(PngError::TooLarge)?;
    let scale = Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|error| PngError::Encoding(error.to_string()))
}

/// A font family for text: one of [`SANS`], or else the first installed one.
fn sans_family(fonts: &Database) -> Option<String> {
    let has = |family: &&str| {
        let query = Query {
            families: &[Family::Name(family)],
            ..Query::default()
        };
        fonts.query(&query).is_some()
    };
    let first = || Some(fonts.faces().next()?.families.first()?.0.clone());
    SANS.iter()
        .copied()
        .find(has)
        .map(str::to_owned)
        .or_else(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::svg::histogram_svg;

    #[test]
    fn a_picture_has_twice_the_size_of_the_svg_or_says_why_there_is_none() {
        match png(&histogram_svg(&[], "ndcg", "Title", "caption")) {
            Ok(bytes) => {
                assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
                assert_eq!(bytes[16..20], 1_520u32.to_be_bytes());
            }
            Err(error) => assert!(matches!(error, PngError::NoFonts), "{error}"),
        }
        assert!(png("no svg").is_err());
    }
}
