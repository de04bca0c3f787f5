-- Pairs and documents as queues printed them, with names by which they are answered.
CREATE TABLE queue_item (
    id        TEXT PRIMARY KEY,
    annotator TEXT NOT NULL,
    list      TEXT NOT NULL,
    place     INTEGER NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    a         INTEGER NOT NULL,
    b         INTEGER NOT NULL,
    policy    TEXT NOT NULL,
    draw      TEXT NOT NULL,
    drawn_of  INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX queue_item_list ON queue_item (list, place);

CREATE TABLE ruling_item (
    id        TEXT PRIMARY KEY,
    annotator TEXT NOT NULL,
    query     INTEGER NOT NULL REFERENCES query (id),
    document  TEXT NOT NULL,
    drawn_of  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which verdict answers an item of a queue.
CREATE INDEX verdict_shown ON verdict (shown) WHERE shown IS NOT NULL;
