//! Factors of symmetric matrices in row order.

use crate::domain::numeric::{axpy, dot};

/// Adds the curvature of `stiffness` · (e_a − e_b)²/2.
#[inline]
pub(super) fn add_spring(matrix: &mut [f64], size: usize, (a, b): (usize, usize), stiffness: f64) {
    matrix[a * size + a] += stiffness;
    matrix[b * size + b] += stiffness;
    matrix[a * size + b] -= stiffness;
    matrix[b * size + a] -= stiffness;
}

/// L⁻¹ for the Cholesky factor L of a positive definite matrix, in row order throughout.
pub(super) fn inverse_factor(mut matrix: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    for i in 0..size {
        let (above, rest) = matrix.split_at_mut(i * size);
        let row = &mut rest[..=i];
        for j in 0..i {
            let other = &above[j * size..=j * size + j];
            row[j] = (row[j] - dot::<8>(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot::<8>(&row[..i], &row[..i]);
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    let mut inverse = vec![0.0; size * size];
    for i in 0..size {
        let (above, rest) = inverse.split_at_mut(i * size);
        let row = &mut rest[..=i];
        let factor = &matrix[i * size..=i * size + i];
        for (k, &l) in factor[..i].iter().enumerate() {
            if l != 0.0 {
                axpy(-l, &above[k * size..=k * size + k], &mut row[..=k]);
            }
        }
        row[i] = 1.0;
        row.iter_mut().for_each(|cell| *cell /= factor[i]);
    }
    Some(inverse)
}

/// GᵀG for a lower triangular G.
pub(super) fn gram(factor: &[f64], size: usize) -> Vec<f64> {
    let mut cells = vec![0.0; size * size];
    for k in 0..size {
        let row = &factor[k * size..=k * size + k];
        for (i, &g) in row.iter().enumerate() {
            if g != 0.0 {
                axpy(g, &row[..=i], &mut cells[i * size..=i * size + i]);
            }
        }
    }
    for i in 0..size {
        for j in 0..i {
            cells[j * size + i] = cells[i * size + j];
        }
    }
    cells
}
