-- What a student predicts, as a file or a training gave it; of a name and step the latest row is in force. `source`: a file's
-- name, or built-in. `hash`: of all that it predicts. `model`: what it is made of, as JSON, where it was trained here.
CREATE TABLE student (
    id         INTEGER PRIMARY KEY,
    uid        TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    step       INTEGER,
    source     TEXT NOT NULL,
    hash       BLOB NOT NULL,
    model      TEXT,
    annotator  TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX student_name ON student (name, step, created_ms, uid);

-- A student's predictions about the pairs of one query, packed: for each the places of the documents that were shown first
-- and second (4 bytes each), then P(first) and P(second) (8 bytes each), all little-endian. `pairs`: different ones.
CREATE TABLE prediction (
    student INTEGER NOT NULL REFERENCES student (id),
    query   INTEGER NOT NULL REFERENCES query (id),
    pairs   INTEGER NOT NULL,
    both    INTEGER NOT NULL,
    packed  BLOB NOT NULL,
    UNIQUE (student, query)
) STRICT;
CREATE INDEX prediction_query ON prediction (query);
