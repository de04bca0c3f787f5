-- The scores of a query beside its summary, in pool order, as long as nothing has changed: so that writing a dataset whose
-- votes are all there fits nothing anew.
ALTER TABLE summary ADD COLUMN scores BLOB;
