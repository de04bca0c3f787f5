-- What a draw says about each query of the measurement, in the order of their names: three float64 per query, little-endian, namely
-- the expected value, the probability that one of its documents is drawn, and its part of the variance. NULL for draws of
-- earlier versions, and for metrics that are not measured by slice.
ALTER TABLE measure_draw ADD COLUMN parts BLOB CHECK (length(parts) % 24 = 0);
