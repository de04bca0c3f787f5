-- The query that a call was made for; NULL for a call about none or two, and for calls of earlier versions and of other projects.
ALTER TABLE rerank_call ADD COLUMN of_query INTEGER REFERENCES query (id);
CREATE INDEX rerank_call_query ON rerank_call (of_query) WHERE of_query IS NOT NULL;
