-- Documents that the first stage found for a query and that its pool does not hold, with their texts, so that methods can
-- rank the first stage's own candidates.
CREATE TABLE candidate (
    query   INTEGER NOT NULL REFERENCES query (id),
    name    TEXT NOT NULL,
    content INTEGER NOT NULL REFERENCES content (id),
    PRIMARY KEY (query, name)
) STRICT, WITHOUT ROWID;
