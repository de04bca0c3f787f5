//! Runs a sentence-transformers model from a folder on the local CPU: BERT, tokenizer and pooling,
//! with candle.

use super::embedded_texts::EmbeddedTexts;
use crate::domain::hex::hex;
use crate::judge::ensemble::TokenPooling;
use crate::judge::{Exchange, Usage};
use candle_core::{DType, Device, Error, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use tokenizers::{PaddingParams, Tokenizer, TruncationParams};

/// The configuration of the transformer.
const CONFIG: &str = "config.json";

/// The supported modules in `modules.json`.
const MODULES: &[&str] = &["Transformer", "Pooling", "Normalize"];

/// Why a model on this machine cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LocalModelError {
    #[error(
        "{}: {what}; path is a sentence-transformers folder of a BERT model with config.json, \
         tokenizer.json and model.safetensors",
        path.display()
    )]
    File { path: PathBuf, what: String },
    #[error("{0}")]
    Run(String),
}

pub(super) struct LocalModel {
    /// The hash of all files that were read.
    pub(super) identity: String,
    model: BertModel,
    tokenizer: Tokenizer,
    pooling: TokenPooling,
}

impl fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalModel")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct ModuleFile {
    r#type: String,
    /// The folder of its configuration, relative to that of the model.
    #[serde(default)]
    path: String,
}

impl ModuleFile {
    fn name(&self) -> &str {
        self.r#type.rsplit('.').next().unwrap_or_default()
    }
}

/// The configuration of a pooling module: a mode or a list of modes, or flags as written by
/// versions of sentence-transformers before 6.
#[derive(Deserialize)]
struct PoolingFile {
    pooling_mode: Option<Value>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl PoolingFile {
    /// The modes, whose vectors are concatenated if there are several.
    fn modes(&self) -> Vec<&str> {
        match &self.pooling_mode {
            Some(Value::String(mode)) => vec![mode],
            Some(Value::Array(modes)) => modes.iter().filter_map(Value::as_str).collect(),
            _ => {
                let flags = self.others.iter();
                flags
                    .filter(|(_, is_set)| is_set.as_bool() == Some(true))
                    .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
                    .map(|mode| mode.trim_end_matches("_token").trim_end_matches("_tokens"))
                    .collect()
            }
        }
    }

    fn pooling(&self) -> Option<TokenPooling> {
        match *self.modes() {
            ["cls"] => Some(TokenPooling::Cls),
            ["mean"] => Some(TokenPooling::Mean),
            _ => None,
        }
    }
}

/// What the configuration of a transformer says about pooling.
#[derive(Deserialize)]
struct TransformerFile {
    #[serde(default)]
    architectures: Vec<String>,
    /// As in the training options of SimCSE.
    pooler_type: Option<String>,
}

/// The class of models that are trained with SimCSE's code, which take the first token.
const SIMCSE: &str = "BertForCL";

#[derive(Deserialize)]
struct LengthFile {
    max_seq_length: Option<usize>,
}

impl LocalModel {
    /// Reads config.json, tokenizer.json and model.safetensors, and modules.json, the configuration
    /// of its pooling module and sentence_bert_config.json if they exist. `asked` takes precedence
    /// over the pooling that these files specify.
    pub(super) fn load(
        folder: &Path,
        asked: Option<TokenPooling>,
    ) -> Result<Self, LocalModelError> {
        let mut files = ModelFiles {
            folder,
            hash: Sha256::new(),
        };
        let config_file = files.read(CONFIG)?;
        let config: Config = files.parsed(CONFIG, &config_file)?;
        if config.model_type.as_deref() != Some("bert") {
            let kind = config.model_type.as_deref().unwrap_or("unknown");
            return Err(files.wrong(CONFIG, format!("model_type {kind:?} is not bert")));
        }
        let specified = files.pooling(&config_file)?;
        let Some(pooling) = asked.or(specified) else {
            return Err(files.wrong(
                "1_Pooling/config.json",
                "is missing, and no other file says how the model pools its tokens: add pooling = \
                 \"cls\" (SimCSE) or pooling = \"mean\" to the embedder, as the model's page says",
            ));
        };
        let length: Option<LengthFile> = files.optional("sentence_bert_config.json")?;
        let length = length.and_then(|file| file.max_seq_length);
        let max_length = config.max_position_embeddings;
        let tokenizer = files.read("tokenizer.json")?;
        let mut tokenizer = Tokenizer::from_bytes(tokenizer)
            .map_err(|error| files.wrong("tokenizer.json", error))?;
        tokenizer
            .with_truncation(Some(TruncationParams {
                max_length: length.unwrap_or(max_length).min(max_length),
                ..TruncationParams::default()
            }))
            .map_err(|error| files.wrong("tokenizer.json", error))?;
        tokenizer.with_padding(Some(PaddingParams {
            pad_id: config.pad_token_id as u32,
            ..PaddingParams::default()
        }));
        let weights = files.read("model.safetensors")?;
        let model = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(|error| files.wrong("model.safetensors", error))?;
        let mut identity = hex(&files.hash.finalize());
        if asked.is_some() && asked != specified {
            identity += &format!(" pooling {pooling:?}");
        }
        Ok(Self {
            identity,
            model,
            tokenizer,
            pooling,
        })
    }

    /// One vector per text; texts may have any length.
    pub(super) fn embed(&self, texts: &[String]) -> Result<EmbeddedTexts, LocalModelError> {
        let encodings = self
            .tokenizer
            .encode_batch(texts.to_vec(), true)
            .map_err(|error| LocalModelError::Run(error.to_string()))?;
        let width = encodings.first().map_or(0, |encoding| encoding.len());
        let all = |of: fn(&tokenizers::Encoding) -> &[u32]| {
            let numbers: Vec<u32> = encodings.iter().flat_map(of).copied().collect();
            Tensor::from_vec(numbers, (texts.len(), width), &Device::Cpu)
        };
        let run = || -> Result<EmbeddedTexts, Error> {
            let mask = all(|encoding| encoding.get_attention_mask())?;
            let (ids, types) = (
                all(|encoding| encoding.get_ids())?,
                all(|encoding| encoding.get_type_ids())?,
            );
            let words = self.model.forward(&ids, &types, Some(&mask))?;
            let pooled = match self.pooling {
                TokenPooling::Cls => words.narrow(1, 0, 1)?.squeeze(1)?,
                TokenPooling::Mean => {
                    let mask = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
                    let sum = words.broadcast_mul(&mask)?.sum(1)?;
                    sum.broadcast_div(&mask.sum(1)?)?
                }
            };
            let tokens = encodings
                .iter()
                .flat_map(|encoding| encoding.get_attention_mask());
            Ok(EmbeddedTexts {
                vectors: pooled.to_vec2()?,
                exchange: Exchange {
                    usage: Usage {
                        input: tokens.map(|shown| u64::from(*shown)).sum(),
                        ..Usage::default()
                    },
                    cost_usd: Some(0.0),
                    ..Exchange::default()
                },
            })
        };
        run().map_err(|error| LocalModelError::Run(error.to_string()))
    }
}

/// The files of a folder, hashed as they are read.
struct ModelFiles<'a> {
    folder: &'a Path,
    hash: Sha256,
}

impl ModelFiles<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn wrong(&self, name: &str, what: impl fmt::Display) -> LocalModelError {
        LocalModelError::File {
            path: self.path(name),
            what: what.to_string(),
        }
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, LocalModelError> {
        let bytes = std::fs::read(self.path(name))
            .map_err(|error| self.wrong(name, format!("cannot be read: {error}")))?;
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(&bytes);
        Ok(bytes)
    }

    fn json<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, LocalModelError> {
        let bytes = self.read(name)?;
        self.parsed(name, &bytes)
    }

    fn parsed<T: DeserializeOwned>(&self, name: &str, bytes: &[u8]) -> Result<T, LocalModelError> {
        serde_json::from_slice(bytes).map_err(|error| self.wrong(name, error))
    }

    /// The pooling that the files specify: the pooling module that modules.json lists or, without
    /// modules.json, the usual one; otherwise the configuration of the transformer.
    fn pooling(&mut self, config: &[u8]) -> Result<Option<TokenPooling>, LocalModelError> {
        let modules: Option<Vec<ModuleFile>> = self.optional("modules.json")?;
        let listed = modules.as_deref().unwrap_or_default();
        if let Some(module) = listed
            .iter()
            .find(|module| !MODULES.contains(&module.name()))
        {
            return Err(self.wrong("modules.json", format!("{:?} is not known", module.r#type)));
        }
        let module = listed.iter().find(|module| module.name() == "Pooling");
        let file = match (&modules, module) {
            (Some(_), None) => {
                return Err(self.wrong("modules.json", "lists no Pooling module"));
            }
            (Some(_), Some(module)) => format!("{}/config.json", module.path),
            (None, _) => "1_Pooling/config.json".to_owned(),
        };
        let pooling: Option<PoolingFile> = match module {
            Some(_) => Some(self.json(&file)?),
            None => self.optional(&file)?,
        };
        if let Some(pooling) = pooling {
            let known = pooling.pooling().ok_or_else(|| {
                let modes = pooling.modes().join(", ");
                let what = format!("neither the mean nor the first token alone, but {modes:?}");
                self.wrong(&file, what)
            })?;
            return Ok(Some(known));
        }
        let transformer: TransformerFile = self.parsed(CONFIG, config)?;
        match transformer.pooler_type.as_deref() {
            Some("cls" | "cls_before_pooler") => Ok(Some(TokenPooling::Cls)),
            Some("avg") => Ok(Some(TokenPooling::Mean)),
            Some(other) => Err(self.wrong(CONFIG, format!("pooler_type {other:?} is not known"))),
            None if transformer.architectures.iter().any(|name| name == SIMCSE) => {
                Ok(Some(TokenPooling::Cls))
            }
            None => Ok(None),
        }
    }

    fn optional<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, LocalModelError> {
        if self.path(name).exists() {
            self.json(name).map(Some)
        } else {
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests;
