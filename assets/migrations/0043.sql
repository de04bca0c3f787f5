-- Decisions on whether list calls count in the scores of the project. The latest row applies. `model`: their weights as a JSON object;
-- NULL if they do not count.
CREATE TABLE list_counting (
    uid        TEXT PRIMARY KEY,
    model      TEXT,
    author     TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX list_call_of_key ON list_call (key);
