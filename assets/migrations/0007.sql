-- Files that were taken in: who did it, when, and what the import said that it had done. Rows are only ever added.
CREATE TABLE import (
    uid         TEXT PRIMARY KEY,
    annotator   TEXT NOT NULL,
    told        TEXT NOT NULL,
    imported_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
