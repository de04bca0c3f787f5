-- What each query's votes come to for the judges' cards, until its revision changes; `cases` is what regressions go over.
CREATE TABLE tally (
    query    INTEGER PRIMARY KEY REFERENCES query (id),
    revision INTEGER NOT NULL,
    value    BLOB NOT NULL,
    cases    BLOB NOT NULL
) STRICT;

-- Parts of reports over the whole project, until what they are made from is in another state.
CREATE TABLE report_part (
    name  TEXT PRIMARY KEY,
    state BLOB NOT NULL,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
