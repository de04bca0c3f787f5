//! Hamiltonian cycles that share no edges.

pub(super) type Edges = Vec<(usize, usize)>;

/// Edge-disjoint Hamiltonian cycles of the complete graph on `n` ≥ 2 vertices, and the remaining
/// perfect matching if `n` is even (Walecki's zigzag around a center; Alspach 2008).
pub(super) fn walecki(n: usize) -> (Vec<Edges>, Edges) {
    if n == 2 {
        return (Vec::new(), vec![(0, 1)]);
    }
    // Vertices 0..rim lie on a circle; for odd n, the last vertex is the center.
    let rim = if n % 2 == 1 { n - 1 } else { n };
    let zigzag = |start: usize| -> Vec<usize> {
        (0..rim)
            .map(|step| {
                let offset = step.div_ceil(2);
                if step % 2 == 1 {
                    (start + offset) % rim
                } else {
                    (start + rim - offset) % rim
                }
            })
            .collect()
    };
    if n % 2 == 1 {
        let cycles = (0..rim / 2)
            .map(|start| {
                let path = zigzag(start);
                let mut edges: Edges = path.windows(2).map(|w| (w[0], w[1])).collect();
                edges.push((path[rim - 1], n - 1));
                edges.push((n - 1, path[0]));
                edges
            })
            .collect();
        return (cycles, Vec::new());
    }
    // For even n: the odd construction on n − 1 vertices has n/2 − 1 cycles. The new vertex is
    // inserted into one edge of each; the removed edges form the matching, together with the edge
    // between the new vertex and the one vertex that they miss.
    let (mut cycles, _) = walecki(n - 1);
    let mut used = vec![false; n - 1];
    let mut matching = Edges::new();
    if !place(&mut cycles, 0, &mut used, &mut matching, n - 1) {
        return (cycles, Vec::new());
    }
    if let Some(left) = used.iter().position(|taken| !taken) {
        matching.push((left, n - 1));
    }
    (cycles, matching)
}

/// Chooses one edge of each cycle from `index` on, pairwise disjoint, and routes the cycle through
/// `hub` instead.
fn place(
    cycles: &mut [Edges],
    index: usize,
    used: &mut [bool],
    matching: &mut Edges,
    hub: usize,
) -> bool {
    let Some(cycle) = cycles.get(index) else {
        return true;
    };
    for position in 0..cycle.len() {
        let (x, y) = cycles[index][position];
        if used[x] || used[y] {
            continue;
        }
        used[x] = true;
        used[y] = true;
        matching.push((x, y));
        cycles[index][position] = (x, hub);
        cycles[index].push((hub, y));
        if place(cycles, index + 1, used, matching, hub) {
            return true;
        }
        cycles[index].pop();
        cycles[index][position] = (x, y);
        matching.pop();
        used[x] = false;
        used[y] = false;
    }
    false
}
