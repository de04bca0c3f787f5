-- Verdicts are added to the judges' votes from this version on. A project that holds verdicts keeps the rules that its scores
-- were made by (`legacy`) until somebody changes the setting; in one without, the former default becomes the new one.
UPDATE setting
   SET value = json_set(value, '$.override_mode',
       CASE json_extract(value, '$.override_mode') WHEN 'beside' THEN 'legacy-beside' ELSE 'legacy' END)
 WHERE name = 'rating' AND EXISTS (SELECT 1 FROM verdict);

INSERT INTO setting (name, value)
SELECT 'rating', '{"override_mode":"legacy"}'
 WHERE EXISTS (SELECT 1 FROM verdict) AND NOT EXISTS (SELECT 1 FROM setting WHERE name = 'rating');

UPDATE setting SET value = json_remove(value, '$.override_mode')
 WHERE name = 'rating' AND NOT EXISTS (SELECT 1 FROM verdict);

-- Numbers that were kept: documents with equal scores share a rank now.
UPDATE query SET revision = revision + 1;
