-- The cache of the priorities of each query's pairs, split by policy, so that a queue reads one policy only. It is
-- valid while the revisions agree. `form`: version of the encoding. `top`: number of ranks that count as the top. `highest`: the
-- highest priority under each policy, as float64 (NaN: no pair has one).
DROP TABLE urgency;

CREATE TABLE urgency (
    query    INTEGER PRIMARY KEY REFERENCES query (id),
    revision INTEGER NOT NULL,
    form     INTEGER NOT NULL,
    top      INTEGER NOT NULL,
    highest  BLOB NOT NULL
) STRICT;

-- `part`: 0 for the pairs, otherwise the number of a policy under which some pair has a priority. A table with row ids holds the values
-- in its leaves only, so that one is found in a few reads.
CREATE TABLE urgency_part (
    id    INTEGER PRIMARY KEY,
    query INTEGER NOT NULL REFERENCES query (id),
    part  INTEGER NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (query, part)
) STRICT;
