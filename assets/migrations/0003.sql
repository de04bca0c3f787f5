-- Adjudication: how an item came before a person, what they were sure of, and what they put off.
-- A verdict given after the reveal `replaces` the blind one; `revealed_ms` says when the judges' votes were shown.
-- `inclusion`: the probability with which the queue's design put the pair before the person, NULL where it has none.
ALTER TABLE verdict ADD COLUMN confidence TEXT;
ALTER TABLE verdict ADD COLUMN cause TEXT;
ALTER TABLE verdict ADD COLUMN policy TEXT;
ALTER TABLE verdict ADD COLUMN role TEXT;
ALTER TABLE verdict ADD COLUMN inclusion REAL CHECK (inclusion > 0 AND inclusion <= 1);
ALTER TABLE verdict ADD COLUMN revealed_ms INTEGER;

-- What queues have laid before people, in order: the ledger that estimates over all pairs rest on. `draw` is `priority`,
-- `control` or `repeat`, `drawn_of` the number of pairs that a control was drawn from.
CREATE TABLE shown (
    uid       TEXT PRIMARY KEY,
    annotator TEXT NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    a         INTEGER NOT NULL,
    b         INTEGER NOT NULL,
    policy    TEXT NOT NULL,
    draw      TEXT NOT NULL,
    drawn_of  INTEGER,
    shown_ms  INTEGER NOT NULL,
    later_ms  INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_annotator ON shown (annotator, shown_ms);
ALTER TABLE verdict ADD COLUMN shown TEXT REFERENCES shown (uid);

-- A cache of how urgent each pair of a query is; good while the revisions agree.
CREATE TABLE urgency (
    query    INTEGER PRIMARY KEY REFERENCES query (id),
    revision INTEGER NOT NULL,
    value    BLOB NOT NULL
) STRICT;

-- Pairs with a known answer, to measure people by.
CREATE TABLE gold (
    query    INTEGER NOT NULL REFERENCES query (id),
    a        INTEGER NOT NULL,
    b        INTEGER NOT NULL,
    decision TEXT NOT NULL,
    note     TEXT,
    PRIMARY KEY (query, a, b)
) STRICT, WITHOUT ROWID;

-- Battles that a sampler asked only some judges about: a battle with rows here wants these judges and no others.
CREATE TABLE task (
    battle INTEGER NOT NULL REFERENCES battle (id),
    judge  INTEGER NOT NULL REFERENCES judge (id),
    round  INTEGER NOT NULL,
    PRIMARY KEY (battle, judge)
) STRICT, WITHOUT ROWID;
