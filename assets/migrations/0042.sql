-- Whose rights the judgments of the server were read with; NULL if all of them can be read.
ALTER TABLE sync ADD COLUMN reader TEXT;

-- Hashes of pairs and documents whose judgments are to be read although they may be older than `reached`: those that the person has judged
-- since, and those of which a judgment could not be merged.
CREATE TABLE unread (
    item BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Showings are judgments now, no longer rows of their queries.
INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'shown', uid FROM shown WHERE EXISTS (SELECT 1 FROM sync);
