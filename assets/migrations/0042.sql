-- Whose rights the judgments of the server were read with; NULL if all of them can be read.
ALTER TABLE sync ADD COLUMN reader TEXT;

-- Hashes of pairs and documents whose judgments by others can be read since the person has judged them.
CREATE TABLE revealed (
    item BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Showings are judgments now, no longer rows of their queries.
INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'shown', uid FROM shown WHERE EXISTS (SELECT 1 FROM sync);
