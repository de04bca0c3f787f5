-- The account that a batch was submitted with: a salted hash of the address, the key and the other headers, from which the key
-- cannot be read; NULL for batches of earlier versions.
ALTER TABLE batch ADD COLUMN account TEXT;

-- When the provider first reported that the batch is over, by the clock of this machine.
ALTER TABLE batch ADD COLUMN over_ms INTEGER;

-- `batch_call.done` is the outcome of a call: 0 none yet, 1 a vote, 2 an answer that is not a vote, 3 an error of the provider.
-- Until now, 1 stood for all outcomes; in closed batches that makes no difference.
UPDATE batch_call SET done = CASE
        WHEN EXISTS (SELECT 1 FROM failure JOIN batch ON batch.id = batch_call.batch
            WHERE failure.battle = batch_call.battle AND failure.judge = batch.judge AND failure.run = batch.run
                AND failure.attempt = batch_call.attempt AND failure.raw IS NOT NULL) THEN 2
        ELSE 3
    END
    WHERE done = 1 AND batch IN (SELECT id FROM batch WHERE closed_ms IS NULL)
        AND NOT EXISTS (SELECT 1 FROM vote JOIN batch ON batch.id = batch_call.batch
            WHERE vote.battle = batch_call.battle AND vote.judge = batch.judge);
