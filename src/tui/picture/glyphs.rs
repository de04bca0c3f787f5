//! Block elements and plain rules as rectangles within a cell of 8 × 16.

type Shape = (usize, usize, usize, usize);

/// The rectangles (x, y, width, height) of a symbol, or `None` where it is better set as text.
pub(super) fn shapes(symbol: char) -> Option<Vec<Shape>> {
    let light = |from, to| (from, 7, to - from, 1);
    let heavy = |from, to| (from, 7, to - from, 2);
    Some(match symbol {
        '▁'..='▇' => {
            let eighths = symbol as usize - '▁' as usize + 1;
            vec![(0, 16 - eighths * 2, 8, eighths * 2)]
        }
        '▉'..='▏' => vec![(0, 0, '▏' as usize - symbol as usize + 1, 16)],
        '▐' => vec![(4, 0, 4, 16)],
        '▖' => vec![(0, 8, 4, 8)],
        '▗' => vec![(4, 8, 4, 8)],
        '▘' => vec![(0, 0, 4, 8)],
        '▝' => vec![(4, 0, 4, 8)],
        '─' => vec![light(0, 8)],
        '━' => vec![heavy(0, 8)],
        '╴' => vec![light(0, 4)],
        '╶' => vec![light(4, 8)],
        '╸' => vec![heavy(0, 4)],
        '╺' => vec![heavy(4, 8)],
        '╼' => vec![light(0, 4), heavy(4, 8)],
        '╾' => vec![heavy(0, 4), light(4, 8)],
        '│' => vec![(4, 0, 1, 16)],
        '╷' => vec![(4, 8, 1, 8)],
        '╵' => vec![(4, 0, 1, 8)],
        '┌' | '╭' => vec![light(4, 8), (4, 7, 1, 9)],
        '┐' | '╮' => vec![light(0, 5), (4, 7, 1, 9)],
        '└' | '╰' => vec![light(4, 8), (4, 0, 1, 8)],
        '┘' | '╯' => vec![light(0, 5), (4, 0, 1, 8)],
        '├' => vec![light(4, 8), (4, 0, 1, 16)],
        '┤' => vec![light(0, 5), (4, 0, 1, 16)],
        '┬' => vec![light(0, 8), (4, 7, 1, 9)],
        '┴' => vec![light(0, 8), (4, 0, 1, 8)],
        '┼' => vec![light(0, 8), (4, 0, 1, 16)],
        _ => return None,
    })
}
