-- The sort key of a decision whose `created_ms` would put it in the wrong place because a clock was wrong; NULL if
-- `created_ms` is the sort key.
ALTER TABLE verdict ADD COLUMN order_ms INTEGER;
ALTER TABLE undo ADD COLUMN order_ms INTEGER;
ALTER TABLE ruling ADD COLUMN order_ms INTEGER;
ALTER TABLE ruling_undo ADD COLUMN order_ms INTEGER;

-- The SHA-256 of the project's guideline at the time of the decision, in hexadecimal; NULL without a guideline and for
-- imported decisions.
ALTER TABLE verdict ADD COLUMN guideline TEXT;
ALTER TABLE ruling ADD COLUMN guideline TEXT;

-- Changes of settings, for the log. Rows are only ever added.
CREATE TABLE setting_change (
    uid        TEXT PRIMARY KEY,
    annotator  TEXT NOT NULL,
    setting    TEXT NOT NULL,
    before     TEXT NOT NULL,
    after      TEXT NOT NULL,
    changed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Reasons written before a decision, which uses the reason and deletes the row. `a` is the smaller position.
CREATE TABLE verdict_draft (
    annotator TEXT NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    a         INTEGER NOT NULL,
    b         INTEGER NOT NULL,
    note      TEXT NOT NULL,
    PRIMARY KEY (annotator, query, a, b)
) STRICT, WITHOUT ROWID;
CREATE TABLE ruling_draft (
    annotator TEXT NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    document  TEXT NOT NULL,
    note      TEXT NOT NULL,
    PRIMARY KEY (annotator, query, document)
) STRICT, WITHOUT ROWID;

-- Documents whose ruling a person postponed.
CREATE TABLE ruling_later (
    annotator TEXT NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    document  TEXT NOT NULL,
    later_ms  INTEGER NOT NULL,
    PRIMARY KEY (annotator, query, document)
) STRICT, WITHOUT ROWID;

-- To find the verdict that replaces another.
CREATE INDEX verdict_replaces ON verdict (replaces) WHERE replaces IS NOT NULL;
