-- Texts of prompts by the hash that identifies them in a judge (judge.prompt_hash). A hash without a row here is that of a
-- built-in prompt, or of a prompt whose text was never stored. `fields`: the metadata that is shown with the documents, which is
-- part of the hash. `parent`: the hash of the prompt that this one was made from. `examples`: the names of the queries whose
-- pairs are examples in the text, as a JSON array.
CREATE TABLE prompt (
    hash       TEXT PRIMARY KEY,
    text       TEXT NOT NULL,
    fields     TEXT,
    parent     TEXT,
    note       TEXT,
    author     TEXT,
    examples   TEXT NOT NULL DEFAULT '[]',
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
