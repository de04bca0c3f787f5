//! Runs a sentence-transformers model from a folder on the local CPU: BERT, tokenizer and pooling,
//! with candle.

use super::embedded_texts::EmbeddedTexts;
use crate::domain::hex::hex;
use crate::judge::{Exchange, Usage};
use candle_core::{DType, Device, Error, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use tokenizers::{PaddingParams, Tokenizer, TruncationParams};

/// The supported modules in `modules.json`.
const MODULES: &[&str] = &["Transformer", "Pooling", "Normalize"];

/// How the token vectors are pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pooling {
    Mean,
    First,
}

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
    pooling: Pooling,
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
}

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct LengthFile {
    max_seq_length: Option<usize>,
}

impl LocalModel {
    /// Reads config.json, tokenizer.json and model.safetensors, and modules.json,
    /// 1_Pooling/config.json and sentence_bert_config.json if they exist.
    pub(super) fn load(folder: &Path) -> Result<Self, LocalModelError> {
        let mut files = ModelFiles {
            folder,
            hash: Sha256::new(),
        };
        let config: Config = files.json("config.json")?;
        if config.model_type.as_deref() != Some("bert") {
            let kind = config.model_type.as_deref().unwrap_or("unknown");
            return Err(files.wrong("config.json", format!("model_type {kind:?} is not bert")));
        }
        let modules: Vec<ModuleFile> = files.optional("modules.json")?.unwrap_or_default();
        let unknown = modules.iter().find(|module| {
            let name = module.r#type.rsplit('.').next().unwrap_or_default();
            !MODULES.contains(&name)
        });
        if let Some(module) = unknown {
            return Err(files.wrong("modules.json", format!("{:?} is not known", module.r#type)));
        }
        let pooling: Option<PoolingFile> = files.optional("1_Pooling/config.json")?;
        let pooling = match pooling.map(|p| (p.pooling_mode_mean_tokens, p.pooling_mode_cls_token))
        {
            None | Some((true, false)) => Pooling::Mean,
            Some((false, true)) => Pooling::First,
            Some(_) => {
                let what = "neither the mean nor the first token alone";
                return Err(files.wrong("1_Pooling/config.json", what));
            }
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
        let hash = files.hash.finalize();
        Ok(Self {
            identity: hex(&hash),
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
                Pooling::First => words.narrow(1, 0, 1)?.squeeze(1)?,
                Pooling::Mean => {
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
        serde_json::from_slice(&bytes).map_err(|error| self.wrong(name, error))
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
