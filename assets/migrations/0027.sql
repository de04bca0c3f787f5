-- The kind of a failure: `llm_output_invalid`, `provider_error` or `input_error`, as in ranksmith's results. NULL for a query
-- that was ranked.
ALTER TABLE rerank_result ADD COLUMN failure_type TEXT;
UPDATE rerank_result SET failure_type = CASE
        WHEN failure LIKE 'malformed reply: %' OR failure LIKE 'reply cut off: %' OR failure LIKE 'refused: %'
            THEN 'llm_output_invalid'
        WHEN failure LIKE 'no connection: %' OR failure LIKE 'timed out: %' OR failure LIKE 'rate limited: %'
            OR failure LIKE 'quota exhausted: %' OR failure LIKE 'not authorised: %' OR failure LIKE 'bad request: %'
            OR failure LIKE 'prompt too long: %' OR failure LIKE 'server error: %' OR failure LIKE 'filtered: %'
            OR failure LIKE 'judge crashed: %' OR failure LIKE 'voted before: %'
            THEN 'provider_error'
        WHEN failure LIKE 'length_mismatch: %' OR failure LIKE 'out_of_range_rank: %' OR failure LIKE 'duplicate_rank: %'
            OR failure LIKE 'an answer of another kind: %' OR failure LIKE '% is no %' OR failure LIKE 'expected % scores, %'
            THEN 'llm_output_invalid'
        ELSE 'input_error'
    END
    WHERE failure IS NOT NULL;

-- How many of the calls were answered by a call of another ranking or of an earlier run; NULL if a previous version did not
-- count them.
ALTER TABLE rerank_result ADD COLUMN shared_calls INTEGER;

-- The maximum number of characters of a document that was shown; NULL if documents were shown whole.
ALTER TABLE rerank_result ADD COLUMN document_chars INTEGER;

-- The documents that were longer and were truncated, as JSON; NULL if a previous version did not record them.
ALTER TABLE rerank_result ADD COLUMN cut TEXT;
