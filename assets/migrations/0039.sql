-- Numbers of a draw for each query of the measurement, in the order of their names: the expected value, the
-- probability that one of its documents is drawn, and the sum over its documents of gradient²·max(p, 1 − p)²/probability,
-- as little-endian float64. NULL for draws of earlier versions, and for metrics that are not measured by slice.
ALTER TABLE measure_draw ADD COLUMN parts BLOB;
