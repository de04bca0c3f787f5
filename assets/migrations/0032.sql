-- Measurements of runs by rulings on drawn documents. `id`: the hash of the metric and of the ranks of the documents that count.
-- `baseline`: null if a single run is measured. `seed`: of the draws.
CREATE TABLE measurement (
    id         BLOB PRIMARY KEY,
    run        TEXT NOT NULL,
    baseline   TEXT,
    metric     TEXT NOT NULL,
    seed       INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The documents that were drawn for a person, numbered by `step` from 0, with what the estimate needs: later fits do not change
-- it. `probability`: of being drawn. `relevance`: the probability that the document is relevant. `gradient`: the expected impact
-- of its ruling on its query. `variance`: the expected variance of the estimate. `mean`: the expected mean over queries.
CREATE TABLE measure_draw (
    measurement BLOB NOT NULL,
    annotator   TEXT NOT NULL,
    step        INTEGER NOT NULL,
    query       TEXT NOT NULL,
    document    TEXT NOT NULL,
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    relevance   REAL NOT NULL CHECK (relevance BETWEEN 0 AND 1),
    gradient    REAL NOT NULL CHECK (gradient BETWEEN -2 AND 2),
    variance    REAL NOT NULL CHECK (variance > 0 AND variance < 1e300),
    mean        REAL NOT NULL CHECK (mean BETWEEN -2 AND 2),
    created_ms  INTEGER NOT NULL,
    PRIMARY KEY (measurement, annotator, step)
) STRICT, WITHOUT ROWID;
