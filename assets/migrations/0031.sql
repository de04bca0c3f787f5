-- The texts of the project that a prompt shows (guideline, domain, language), as JSON; they are part of its hash. Without any, null.
ALTER TABLE prompt ADD COLUMN project_texts TEXT;
