-- Votes that the answer of a call for another vote led to: about documents with the same text. They are no calls.
ALTER TABLE call_total ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;

UPDATE call_total SET shared = coalesce((
    SELECT count(*) FROM battle JOIN vote ON vote.battle = battle.id AND vote.judge = call_total.judge
    WHERE battle.query = call_total.query AND call_key IS NOT NULL AND run IS NOT NULL
        AND latency_ms IS NULL AND cost_usd = 0.0 AND tokens_input = 0 AND tokens_output = 0), 0);

-- Earlier versions could plan a pair again in the order in which the judge had seen it, and copied the answer into the second
-- battle. A copy is no evidence: it goes, and its battle is open again. An answer that was paid for stays; if it was given in a
-- probe, which does not count, it takes the place of its copy.
CREATE TEMP TABLE copied_vote AS
SELECT copy.battle AS battle, copy.judge AS judge, own.query AS query, other.id AS original,
       own.a != other.a AS turned, min(other.game = 1000) AS of_probe
FROM vote AS copy
JOIN battle AS own ON own.id = copy.battle
JOIN battle AS other ON other.query = own.query AND min(other.a, other.b) = min(own.a, own.b)
    AND max(other.a, other.b) = max(own.a, own.b) AND other.id != own.id
JOIN vote AS original ON original.battle = other.id AND original.judge = copy.judge
WHERE copy.call_key IS NOT NULL AND copy.run IS NOT NULL
    AND copy.latency_ms IS NULL AND copy.cost_usd = 0.0 AND copy.tokens_input = 0 AND copy.tokens_output = 0
    AND original.call_key = copy.call_key
    AND (original.swapped != (other.a > other.b)) = (copy.swapped != (own.a > own.b))
    AND (other.game < own.game OR NOT (original.latency_ms IS NULL AND original.cost_usd = 0.0
        AND original.tokens_input = 0 AND original.tokens_output = 0))
GROUP BY copy.battle, copy.judge;

DELETE FROM vote WHERE (battle, judge) IN (SELECT battle, judge FROM copied_vote);

UPDATE vote SET (battle, swapped, margin) = (
        SELECT copied_vote.battle, vote.swapped != turned, CASE WHEN turned THEN 0.0 - vote.margin ELSE vote.margin END
        FROM copied_vote WHERE original = vote.battle AND copied_vote.judge = vote.judge AND of_probe)
    WHERE (battle, judge) IN (SELECT original, judge FROM copied_vote WHERE of_probe);

DELETE FROM battle WHERE game = 1000 AND id IN (SELECT original FROM copied_vote)
    AND NOT EXISTS (SELECT 1 FROM vote WHERE vote.battle = battle.id)
    AND NOT EXISTS (SELECT 1 FROM failure WHERE failure.battle = battle.id)
    AND NOT EXISTS (SELECT 1 FROM task WHERE task.battle = battle.id)
    AND NOT EXISTS (SELECT 1 FROM batch_call WHERE batch_call.battle = battle.id);

UPDATE call_total SET
    votes = votes - gone.copies, votes_priced = votes_priced - gone.copies,
    asked = asked - gone.copies, asked_priced = asked_priced - gone.copies,
    shared = shared - gone.copies,
    named_first = coalesce((
        SELECT sum(CASE WHEN vote.swapped THEN vote.margin > 0 ELSE vote.margin < 0 END)
        FROM battle JOIN vote ON vote.battle = battle.id AND vote.judge = call_total.judge
        WHERE battle.query = call_total.query), 0),
    tied = coalesce((
        SELECT sum(vote.margin = 0)
        FROM battle JOIN vote ON vote.battle = battle.id AND vote.judge = call_total.judge
        WHERE battle.query = call_total.query), 0)
FROM (SELECT query, judge, count(*) AS copies FROM copied_vote GROUP BY query, judge) AS gone
WHERE gone.query = call_total.query AND gone.judge = call_total.judge;

UPDATE query SET revision = revision + 1 WHERE id IN (SELECT query FROM copied_vote);
