//! Damped inexact Newton method: Jacobi-preconditioned conjugate gradients on the sparse Hessian,
//! Armijo line search on the objective.

use super::link::LinkTerms;
use super::tastes::{OwnScores, Tie};
use super::ties::merge_ties;
use super::{Fit, Observation, RatingOptions};
use crate::domain::numeric::{axpy, dot};

const MAX_STEPS: usize = 200;

/// Maximum change of a score in one step.
const STEP_CAP: f64 = 4.0;

/// Gradient at which a fit counts as converged, for pools whose documents weigh up to 10,000
/// battles.
const TOLERANCE: f64 = 1e-10;

/// The solver continues until here, or to the rounding of the gradient's terms, as long as each
/// step at least halves the gradient.
const GOAL: f64 = 1e-14;

/// Scores that differ by more than this are never treated as equal, however flat the objective is.
const MOST_TOLERANCE: f64 = 1e-7;

/// Minimizes Σ weight · loss(slope · (e_b − e_a) + offset) + ½ · precision · |θ|², where e are the
/// scores θ; with tastes, those of the judge who answered, and ½ · κ · |e − θ|² is added for each
/// judge.
pub(super) fn minimize(
    documents: usize,
    observations: &[Observation],
    options: &RatingOptions,
    warm: Option<&[f64]>,
    link: impl Fn(f64, f64) -> LinkTerms + Copy,
) -> Fit {
    let own = OwnScores::new(documents, observations, options);
    let mut state = NewtonState::new(&own, observations, options.precision());
    let mut scores = match warm {
        Some(warm) if warm.len() == documents && warm.iter().all(|e| e.is_finite()) => {
            warm.to_vec()
        }
        _ => vec![0.0; documents],
    };
    own.extend(&mut scores);
    let groups = ScoreGroups::new(&own, &state.edges);
    groups.centre(&mut scores);
    let scale = state.scale();
    let tolerance = TOLERANCE.max(GOAL * scale);
    let goal = GOAL.max(f64::EPSILON * scale);

    let mut trial = vec![0.0; scores.len()];
    let mut value = state.evaluate(&scores, link);
    let mut gradient = largest(&state.gradient);
    let mut before = f64::INFINITY;
    let mut iterations = 0;
    while gradient > goal
        && !(gradient <= tolerance && gradient > 0.5 * before)
        && iterations < MAX_STEPS
    {
        iterations += 1;
        state.newton_step(gradient);
        let reach = largest(&state.step);
        if reach > STEP_CAP {
            state.step.iter_mut().for_each(|s| *s *= STEP_CAP / reach);
        }
        let rise = dot::<4>(&state.gradient, &state.step);
        let slack = 1e-13 * (1.0 + value.abs());
        let mut length = 1.0;
        let mut reached = value;
        for _ in 0..60 {
            for ((t, e), s) in trial.iter_mut().zip(&scores).zip(&state.step) {
                *t = e + length * s;
            }
            reached = state.evaluate(&trial, link);
            if reached <= value - 1e-4 * length * rise + slack {
                break;
            }
            length *= 0.5;
        }
        value = reached;
        std::mem::swap(&mut scores, &mut trial);
        before = gradient;
        gradient = largest(&state.gradient);
    }
    groups.centre(&mut scores);
    let tastes = own.tastes(&scores);
    scores.truncate(documents);
    merge_ties(&mut scores, state.score_tolerance(tolerance));
    Fit {
        scores,
        tastes,
        iterations,
        gradient,
        converged: gradient <= tolerance,
    }
}

/// An observation with 4-byte indexes, so that the conjugate-gradient loop reads less memory.
struct NewtonEdge {
    a: u32,
    b: u32,
    score: f64,
    weight: f64,
    slope: f64,
    offset: f64,
}

/// An entry of the Hessian: curvature × (e_b − e_a)².
struct HessianEntry {
    a: u32,
    b: u32,
    stiffness: f64,
}

struct NewtonState {
    /// Number of documents: their scores come first, and have a prior.
    documents: usize,
    precision: f64,
    /// The judges' own scores, each tied to that of its document.
    ties: Vec<Tie>,
    /// κ, the stiffness of each tie.
    taste_precision: f64,
    edges: Vec<NewtonEdge>,
    springs: Vec<HessianEntry>,
    /// The negative gradient of the objective.
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    inverse: Vec<f64>,
    step: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
}

impl NewtonState {
    fn new(own: &OwnScores, observations: &[Observation], precision: f64) -> Self {
        let edges: Vec<NewtonEdge> = observations
            .iter()
            .filter(|o| o.counts())
            .map(|o| NewtonEdge {
                a: own.place(o, o.a),
                b: own.place(o, o.b),
                score: o.score,
                weight: o.weight,
                slope: o.slope,
                offset: o.offset,
            })
            .collect();
        let springs = edges
            .iter()
            .map(|edge| HessianEntry {
                a: edge.a,
                b: edge.b,
                stiffness: 0.0,
            })
            .collect();
        let zeros = || vec![0.0; own.len()];
        Self {
            documents: own.documents(),
            precision,
            ties: own.ties(),
            taste_precision: own.precision(),
            edges,
            springs,
            gradient: zeros(),
            diagonal: zeros(),
            inverse: zeros(),
            step: zeros(),
            residual: zeros(),
            direction: zeros(),
            image: zeros(),
        }
    }

    /// The largest sum of weights at one document, which bounds the sum of the terms of its
    /// gradient.
    fn scale(&self) -> f64 {
        let mut sums = vec![0.0; self.gradient.len()];
        for edge in &self.edges {
            let size = edge.weight * edge.slope.abs();
            sums[edge.a as usize] += size;
            sums[edge.b as usize] += size;
        }
        largest(&sums)
    }

    /// How far a score can be from the optimum if no component of the gradient exceeds `gradient`:
    /// a document moves by about its component divided by its curvature.
    fn score_tolerance(&self, gradient: f64) -> f64 {
        let flattest = self
            .diagonal
            .iter()
            .copied()
            .filter(|curvature| *curvature > 0.0)
            .fold(f64::INFINITY, f64::min);
        (gradient / flattest).min(MOST_TOLERANCE)
    }

    /// Returns the objective at `scores` and stores the gradient, the Hessian's entries and its
    /// diagonal.
    fn evaluate(&mut self, scores: &[f64], link: impl Fn(f64, f64) -> LinkTerms) -> f64 {
        self.gradient.fill(0.0);
        self.diagonal[..self.documents].fill(self.precision);
        self.diagonal[self.documents..].fill(0.0);
        let mut objective = 0.0;
        for (edge, spring) in self.edges.iter().zip(&mut self.springs) {
            let (a, b) = (edge.a as usize, edge.b as usize);
            let local = link(
                edge.slope * (scores[b] - scores[a]) + edge.offset,
                edge.score,
            );
            objective += edge.weight * local.loss;
            let pull = edge.weight * edge.slope * local.pull;
            self.gradient[b] += pull;
            self.gradient[a] -= pull;
            spring.stiffness = edge.weight * edge.slope * edge.slope * local.curvature;
            self.diagonal[b] += spring.stiffness;
            self.diagonal[a] += spring.stiffness;
        }
        for tie in &self.ties {
            let (document, own) = (tie.document as usize, tie.own as usize);
            let taste = scores[own] - scores[document];
            objective += 0.5 * self.taste_precision * taste * taste;
            let pull = self.taste_precision * taste;
            self.gradient[document] += pull;
            self.gradient[own] -= pull;
            self.diagonal[document] += self.taste_precision;
            self.diagonal[own] += self.taste_precision;
        }
        let with_prior = self.gradient.iter_mut().zip(scores);
        for (g, e) in with_prior.take(self.documents) {
            *g -= self.precision * e;
            objective += 0.5 * self.precision * e * e;
        }
        objective
    }

    /// Without a prior, the Hessian is singular along a common shift, which rounding would amplify.
    /// This stiffness against shifts changes no step, since the gradient sums to 0.
    fn anchor(&self) -> f64 {
        if self.precision > 0.0 {
            return 0.0;
        }
        let documents = self.diagonal.len().max(1) as f64;
        self.diagonal.iter().sum::<f64>() / (documents * documents)
    }

    /// Solves Hessian · step = gradient, only as accurately as the distance to the optimum
    /// requires.
    fn newton_step(&mut self, gradient: f64) {
        for (inverse, d) in self.inverse.iter_mut().zip(&self.diagonal) {
            *inverse = if *d > 0.0 { 1.0 / d } else { 1.0 };
        }
        self.step.fill(0.0);
        self.residual.copy_from_slice(&self.gradient);
        for ((p, r), inverse) in self
            .direction
            .iter_mut()
            .zip(&self.residual)
            .zip(&self.inverse)
        {
            *p = r * inverse;
        }
        let mut energy = dot::<4>(&self.residual, &self.direction);
        let goal = dot::<4>(&self.residual, &self.residual) * gradient.clamp(1e-8, 0.1).powi(2);
        let anchor = self.anchor();
        for _ in 0..4 * self.step.len() + 50 {
            self.hessian_times_direction(anchor);
            let resistance = dot::<4>(&self.direction, &self.image);
            if resistance.is_nan() || resistance <= 0.0 {
                break;
            }
            let length = energy / resistance;
            axpy(length, &self.direction, &mut self.step);
            axpy(-length, &self.image, &mut self.residual);
            if dot::<4>(&self.residual, &self.residual) <= goal {
                break;
            }
            for ((z, r), inverse) in self.image.iter_mut().zip(&self.residual).zip(&self.inverse) {
                *z = r * inverse;
            }
            let next = dot::<4>(&self.residual, &self.image);
            let keep = next / energy;
            energy = next;
            for (p, z) in self.direction.iter_mut().zip(&self.image) {
                *p = z + keep * *p;
            }
        }
    }

    /// image = Hessian · direction.
    fn hessian_times_direction(&mut self, anchor: f64) {
        let shift = if anchor > 0.0 {
            anchor * self.direction.iter().sum::<f64>()
        } else {
            0.0
        };
        for (y, p) in self.image.iter_mut().zip(&self.direction) {
            *y = self.precision * p + shift;
        }
        // The judges' own scores have no prior.
        self.image[self.documents..].fill(shift);
        for tie in &self.ties {
            let (document, own) = (tie.document as usize, tie.own as usize);
            let force = self.taste_precision * (self.direction[own] - self.direction[document]);
            self.image[own] += force;
            self.image[document] -= force;
        }
        for spring in &self.springs {
            let (a, b) = (spring.a as usize, spring.b as usize);
            let force = spring.stiffness * (self.direction[b] - self.direction[a]);
            self.image[b] += force;
            self.image[a] -= force;
        }
    }
}

/// Documents that have met, directly or through others, and judges' scores for them. Shifting a group
/// does not change the likelihood, so at the optimum the documents' scores of each group sum to 0.
struct ScoreGroups {
    documents: usize,
    of: Vec<u32>,
    /// Number of documents in each group.
    sizes: Vec<u32>,
}

impl ScoreGroups {
    fn new(own: &OwnScores, edges: &[NewtonEdge]) -> Self {
        let documents = own.documents();
        let pairs = edges.iter().map(|e| (e.a as usize, e.b as usize));
        let ties = own.ties();
        let tied = ties
            .iter()
            .map(|tie| (tie.document as usize, tie.own as usize));
        let (of, count) = super::structure::groups(own.len(), pairs.chain(tied));
        let mut sizes = vec![0; count];
        for &group in of.iter().take(documents) {
            sizes[group] += 1;
        }
        Self {
            documents,
            of: of.into_iter().map(|group| group as u32).collect(),
            sizes,
        }
    }

    fn centre(&self, scores: &mut [f64]) {
        let mut means = vec![0.0; self.sizes.len()];
        for (&group, e) in self.of.iter().zip(&*scores).take(self.documents) {
            means[group as usize] += e;
        }
        for (mean, &size) in means.iter_mut().zip(&self.sizes) {
            *mean /= f64::from(size);
        }
        for (&group, e) in self.of.iter().zip(scores) {
            *e -= means[group as usize];
        }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, v| {
        if v.is_nan() {
            f64::NAN
        } else {
            v.abs().max(most)
        }
    })
}
