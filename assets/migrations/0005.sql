-- Label court: a benchmark's labels, rankings to measure, what judges picked, what people ruled.
-- Queries and documents go by their identifiers: labels and rankings name more of them than the pools hold.
CREATE TABLE label (
    query    TEXT NOT NULL,
    document TEXT NOT NULL,
    grade    INTEGER NOT NULL,
    PRIMARY KEY (query, document)
) STRICT, WITHOUT ROWID;
INSERT INTO label
SELECT name, document, grade FROM (
    SELECT query.name, document.name AS document,
           CASE WHEN json_valid(metadata) AND json_type(metadata, '$.grade') = 'integer'
                THEN json_extract(metadata, '$.grade') END AS grade
    FROM document JOIN query ON query.id = document.query
    WHERE instr(metadata, '"grade"')
)
WHERE grade BETWEEN -2147483648 AND 2147483647;

-- `empty` lists the queries for which nothing was found: they count as 0.
CREATE TABLE ranking (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    empty      TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE ranked (
    ranking  INTEGER NOT NULL REFERENCES ranking (id),
    query    TEXT NOT NULL,
    document TEXT NOT NULL,
    score    REAL NOT NULL,
    PRIMARY KEY (ranking, query, document)
) STRICT, WITHOUT ROWID;

-- One row a call of a judge on a pool, answered or failed for good. `record` is the line of the file of picks.
CREATE TABLE pick (
    id          INTEGER PRIMARY KEY,
    query       INTEGER NOT NULL REFERENCES query (id),
    permutation INTEGER NOT NULL,
    call        TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    created_ms  INTEGER NOT NULL,
    record      TEXT NOT NULL,
    UNIQUE (query, permutation, call, attempt, created_ms)
) STRICT;
CREATE INDEX pick_query ON pick (query);

-- `relevant` is the grade that the finding *relevant* put into the labels of the query's dataset when it was ruled.
-- `grade`, `against`, `answers`: the label, and how many of how many answers went against it, at that time.
-- `draw` is `priority` or `control`; `drawn_of` the number of disagreements that a control was drawn from.
CREATE TABLE ruling (
    uid         TEXT PRIMARY KEY,
    query       INTEGER NOT NULL REFERENCES query (id),
    document    TEXT NOT NULL,
    finding     TEXT NOT NULL,
    relevant    INTEGER NOT NULL,
    fault       TEXT,
    note        TEXT,
    annotator   TEXT NOT NULL,
    blind       INTEGER NOT NULL,
    active_ms   INTEGER,
    revealed_ms INTEGER,
    grade       INTEGER,
    against     INTEGER NOT NULL,
    answers     INTEGER NOT NULL,
    draw        TEXT,
    drawn_of    INTEGER,
    replaces    TEXT REFERENCES ruling (uid),
    created_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ruling_document ON ruling (query, document);

CREATE TABLE ruling_undo (
    uid        TEXT PRIMARY KEY,
    ruling     TEXT NOT NULL UNIQUE REFERENCES ruling (uid),
    annotator  TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
