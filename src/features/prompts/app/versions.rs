//! The versions of prompts that a project knows: built-in ones, stored ones, and hashes of judges
//! whose texts are unknown.

use crate::app::error::{AppError, invalid};
use crate::domain::sanitize;
use crate::features::prompts::domain::{PromptUse, PromptVersion};
use crate::features::prompts::store::StoredPrompt;
use crate::judge::prompt::{BATTLE_PROMPTS, Template, battle_prompt, battle_prompt_of_hash};
use crate::judge::{MetadataFields, PromptText};
use crate::store::{Db, Result, Store};

/// Minimum number of digits of a hash that can stand for it.
const LEAST_DIGITS: usize = 4;

/// A new version of a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewVersion {
    pub text: String,
    /// The version that it was made from.
    pub parent: Option<PromptVersion>,
    pub note: Option<String>,
    pub author: String,
    /// Names of the queries whose pairs are examples in the text.
    pub examples: Vec<String>,
}

/// All versions: built-in ones first, then those whose texts are unknown, then the others, oldest
/// first.
pub fn versions(db: &Db) -> Result<Vec<PromptVersion>> {
    let built_in = BATTLE_PROMPTS
        .iter()
        .filter_map(|(_, text)| Some(of_text(Template::parse(text).ok()?.stored())));
    let mut found: Vec<PromptVersion> = built_in.collect();
    let stored = db.stored_prompts()?;
    for (hash, of) in db.prompt_uses()? {
        place(&mut found, &hash, &stored).judges.push(of);
    }
    for stored in stored {
        let version = of_stored(stored);
        if !found.iter().any(|known| known.hash == version.hash) {
            found.push(version);
        }
    }
    found.sort_by_key(|version| (version.name.is_none(), version.created_ms));
    Ok(found)
}

/// The version with this hash, which is added if it is missing.
fn place<'a>(
    found: &'a mut Vec<PromptVersion>,
    hash: &str,
    stored: &[StoredPrompt],
) -> &'a mut PromptVersion {
    let at = found.iter().position(|version| version.hash == hash);
    let at = at.unwrap_or_else(|| {
        let stored = stored.iter().find(|stored| stored.prompt.hash == hash);
        let version = match (stored, battle_prompt_of_hash(hash)) {
            (Some(stored), _) => of_stored(stored.clone()),
            (None, Some((_, text))) => of_text(text),
            (None, None) => unknown(hash),
        };
        found.push(version);
        found.len() - 1
    });
    &mut found[at]
}

fn unknown(hash: &str) -> PromptVersion {
    PromptVersion {
        hash: hash.to_owned(),
        name: None,
        text: None,
        fields: None,
        project_texts: None,
        parent: None,
        note: None,
        author: None,
        examples: Vec::new(),
        created_ms: None,
        judges: Vec::<PromptUse>::new(),
    }
}

fn of_text(prompt: PromptText) -> PromptVersion {
    let name = BATTLE_PROMPTS
        .iter()
        .find(|(_, text)| **text == prompt.text);
    PromptVersion {
        name: name.map(|(name, _)| *name),
        text: Some(prompt.text),
        fields: prompt.fields,
        project_texts: prompt.project_texts,
        ..unknown(&prompt.hash)
    }
}

fn of_stored(stored: StoredPrompt) -> PromptVersion {
    PromptVersion {
        parent: stored.parent,
        note: stored.note,
        author: stored.author,
        examples: stored.examples,
        created_ms: Some(stored.created_ms),
        ..of_text(stored.prompt)
    }
}

/// The version that `reference` names: the name of a built-in prompt, a hash or its first digits,
/// or the name of a judge, which stands for the prompt of most of its votes.
///
/// # Errors
/// There is none, or there are several.
pub fn find_version<'a>(
    versions: &'a [PromptVersion],
    reference: &str,
) -> std::result::Result<&'a PromptVersion, AppError> {
    let built_in = |of: &&PromptVersion| of.name == Some(reference) && of.fields.is_none();
    if let Some(found) = versions.iter().find(built_in) {
        return Ok(found);
    }
    let votes = |of: &PromptVersion| {
        of.judges
            .iter()
            .filter(|of| of.judge == reference)
            .map(|of| of.votes + 1)
            .sum::<usize>()
    };
    if let Some(found) = versions
        .iter()
        .filter(|of| votes(of) > 0)
        .max_by_key(|of| votes(of))
    {
        return Ok(found);
    }
    let name = sanitize::line(reference);
    let begins = |of: &&PromptVersion| of.hash.starts_with(reference);
    let mut found = versions.iter().filter(begins);
    match (found.next(), found.next()) {
        (Some(only), None) if reference.len() >= LEAST_DIGITS => Ok(only),
        (Some(_), Some(_)) if reference.len() >= LEAST_DIGITS => Err(invalid!(
            "{name:?} stands for several prompts; give more digits (`overrule prompt list`)"
        )),
        _ => Err(invalid!(
            "there is no prompt {name:?}; give a hash (at least {LEAST_DIGITS} digits), a built-in \
             name or a judge with votes (`overrule prompt list`)"
        )),
    }
}

/// Stores a new version. Returns its hash, and whether it is new.
///
/// # Errors
/// The text is not a prompt for battles, or names a text that the project lacks.
pub fn add_version(
    store: &Store,
    new: NewVersion,
    now_ms: i64,
) -> std::result::Result<(String, bool), AppError> {
    let template = Template::parse(&new.text).map_err(AppError::invalid)?;
    if !template.answer.is_of_battles() {
        let answer = template.answer.name();
        return Err(invalid!(
            "the prompt asks for {answer}, which is not an answer to a battle; a battle needs a \
             score, a choice or a letter"
        ));
    }
    let parent = new.parent.as_ref();
    let fields = parent
        .and_then(|parent| parent.fields.as_deref())
        .and_then(MetadataFields::of_canonical);
    let template = match &fields {
        Some(fields) => template.with_metadata(fields),
        None => template,
    };
    let texts = store.read_blocking(|db| db.project_texts())?;
    let template = template
        .with_project_texts(&texts)
        .map_err(AppError::invalid)?;
    let stored = StoredPrompt {
        prompt: template.stored(),
        parent: parent
            .map(|parent| parent.hash.clone())
            .filter(|parent| *parent != template.hash),
        note: new.note,
        author: Some(new.author),
        examples: new.examples,
        created_ms: now_ms,
    };
    let is_built_in = BATTLE_PROMPTS
        .iter()
        .any(|(name, _)| battle_prompt(name) == Some(stored.prompt.text.as_str()));
    let added = store.write_blocking(move |db| db.add_prompt(&stored))?;
    Ok((template.hash, added && !is_built_in))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::JudgeSpec;

    fn judge(db: &Db, name: &str, prompt: &str) {
        let spec = JudgeSpec {
            name: name.to_owned(),
            provider: "openai".to_owned(),
            model: "m".to_owned(),
            prompt_hash: prompt.to_owned(),
            params: "{}".to_owned(),
        };
        db.judge(&spec).unwrap();
    }

    #[test]
    fn prompts_of_earlier_votes_are_identified_by_their_hash() {
        let db = Db::scratch().unwrap();
        let score = Template::parse(battle_prompt("score").unwrap()).unwrap();
        let with_metadata = score.clone().with_metadata(&MetadataFields::All);
        judge(&db, "gpt", &score.hash);
        judge(&db, "meta", &with_metadata.hash);
        judge(&db, "own", "0123456789abcdef");
        let found = versions(&db).unwrap();
        let of = |name| find_version(&found, name).unwrap();
        assert_eq!(
            (of("gpt").name, of("gpt").fields.as_deref()),
            (Some("score"), None)
        );
        assert_eq!(of("meta").fields.as_deref(), Some("all"));
        assert_eq!(of("meta").text, of("score").text);
        assert_eq!(of("own").text, None);
        assert_eq!(of("0123").hash, "0123456789abcdef");
        assert!(find_version(&found, "012").is_err());
        assert_eq!(of("score").judges.len(), 1);
        // A text that was unknown is known once a run records it.
        db.record_prompt(&score.stored(), 7).unwrap();
        let found = versions(&db).unwrap();
        assert_eq!(found.iter().filter(|of| of.name.is_some()).count(), 10);
    }
}
