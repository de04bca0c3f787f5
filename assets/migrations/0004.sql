-- How a run that plays in rounds chooses its battles, as a JSON object; NULL for the plain plan.
ALTER TABLE run ADD COLUMN campaign TEXT;
