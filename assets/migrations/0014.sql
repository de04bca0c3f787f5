-- Texts of documents compressed as replies are. Where `packed` is set, `text` is empty and `chars` says how long it is.
ALTER TABLE content ADD COLUMN chars INTEGER;
ALTER TABLE content ADD COLUMN dictionary INTEGER REFERENCES dictionary (id);
ALTER TABLE content ADD COLUMN packed BLOB;
