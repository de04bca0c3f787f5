use super::*;
use crate::domain::retrieval::unit_vector;
use std::collections::HashMap;

/// A BERT with one layer and eight dimensions, with weights from a sine.
fn tiny() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "sits", "outside", "bread",
    ];
    let vocabulary: HashMap<&str, usize> = words.iter().copied().zip(0..).collect();
    let write = |name: &str, value: serde_json::Value| {
        std::fs::write(folder.path().join(name), value.to_string()).unwrap();
    };
    write(
        "config.json",
        serde_json::json!({
            "model_type": "bert", "vocab_size": words.len(), "hidden_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 2, "intermediate_size": 16, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
            "max_position_embeddings": 16, "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
            "pad_token_id": 0
        }),
    );
    write(
        "tokenizer.json",
        serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "decoder": null, "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
        }),
    );
    let mut weights = HashMap::new();
    let mut add = |name: &str, shape: &[usize]| {
        let count = shape.iter().product::<usize>();
        let start = weights.len() as f32;
        let numbers: Vec<f32> = (0..count)
            .map(|at| (start + at as f32 * 1.7).sin())
            .collect();
        let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
        weights.insert(name.to_owned(), tensor);
    };
    add("embeddings.word_embeddings.weight", &[words.len(), 8]);
    add("embeddings.position_embeddings.weight", &[16, 8]);
    add("embeddings.token_type_embeddings.weight", &[2, 8]);
    let layer = "encoder.layer.0";
    for (name, out, input) in [
        ("attention.self.query", 8, 8),
        ("attention.self.key", 8, 8),
        ("attention.self.value", 8, 8),
        ("attention.output.dense", 8, 8),
        ("intermediate.dense", 16, 8),
        ("output.dense", 8, 16),
    ] {
        add(&format!("{layer}.{name}.weight"), &[out, input]);
        add(&format!("{layer}.{name}.bias"), &[out]);
    }
    for name in [
        "embeddings",
        "encoder.layer.0.attention.output",
        "encoder.layer.0.output",
    ] {
        add(&format!("{name}.LayerNorm.weight"), &[8]);
        add(&format!("{name}.LayerNorm.bias"), &[8]);
    }
    candle_core::safetensors::save(&weights, folder.path().join("model.safetensors")).unwrap();
    folder
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn padding_changes_no_vector() {
    let folder = tiny();
    let model = LocalModel::load(folder.path(), Some(TokenPooling::Mean)).unwrap();
    let together = model.embed(&texts(&["Cat sits outside", "bread"])).unwrap();
    let alone = model.embed(&texts(&["bread"])).unwrap();
    assert_eq!(together.exchange.usage.input, 5 + 3);
    for (x, y) in together.vectors[1].iter().zip(&alone.vectors[0]) {
        assert!((x - y).abs() < 1e-5, "{x} {y}");
    }
    assert_ne!(together.vectors[0], together.vectors[1]);
}

#[test]
fn pooling_and_length_are_read_and_change_who_the_model_is() {
    let folder = tiny();
    let mean = LocalModel::load(folder.path(), Some(TokenPooling::Mean)).unwrap();
    std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    let pooling = folder.path().join("1_Pooling/config.json");
    std::fs::write(&pooling, r#"{"pooling_mode_cls_token": true}"#).unwrap();
    let length = folder.path().join("sentence_bert_config.json");
    std::fs::write(length, r#"{"max_seq_length": 4}"#).unwrap();
    let first = LocalModel::load(folder.path(), None).unwrap();
    assert_ne!(mean.identity, first.identity);
    let both = texts(&["cat sits bread bread", "cat sits"]);
    let vectors = first.embed(&both).unwrap();
    assert_eq!(
        (vectors.exchange.usage.input, &vectors.vectors[0]),
        (8, &vectors.vectors[1])
    );
    assert_ne!(mean.embed(&both).unwrap().vectors, vectors.vectors);

    std::fs::write(pooling, r#"{"pooling_mode_max_tokens": true}"#).unwrap();
    let error = LocalModel::load(folder.path(), None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("1_Pooling/config.json: neither the mean"),
        "{error}"
    );
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    std::fs::remove_dir_all(folder.path().join("1_Pooling")).unwrap();
    let error = LocalModel::load(folder.path(), Some(TokenPooling::Mean))
        .unwrap_err()
        .to_string();
    assert!(error.contains("tokenizer.json: cannot be read"), "{error}");
}

fn pooled(folder: &Path, asked: Option<TokenPooling>) -> Vec<Vec<f32>> {
    let model = LocalModel::load(folder, asked).unwrap();
    model
        .embed(&texts(&["cat sits outside", "bread"]))
        .unwrap()
        .vectors
}

fn refusal(folder: &Path) -> String {
    LocalModel::load(folder, None).unwrap_err().to_string()
}

/// Adds members to config.json.
fn configure(folder: &Path, members: &serde_json::Value) {
    let path = folder.join("config.json");
    let mut config: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let more = members.as_object().unwrap().clone();
    config.as_object_mut().unwrap().extend(more);
    std::fs::write(path, config.to_string()).unwrap();
}

#[test]
fn pooling_is_specified_by_the_model_or_the_user() {
    let folder = tiny();
    let folder = folder.path();
    // As saved by transformers, without a word about pooling.
    configure(folder, &serde_json::json!({"architectures": ["BertModel"]}));
    let error = refusal(folder);
    assert!(
        error.contains("add pooling = \"cls\" (SimCSE) or pooling = \"mean\""),
        "{error}"
    );
    let (cls, mean) = (
        pooled(folder, Some(TokenPooling::Cls)),
        pooled(folder, Some(TokenPooling::Mean)),
    );
    assert_ne!(cls, mean);
    // As saved by SimCSE's own code.
    configure(folder, &serde_json::json!({"architectures": ["BertForCL"]}));
    assert_eq!(pooled(folder, None), cls);
    configure(folder, &serde_json::json!({"pooler_type": "avg"}));
    assert_eq!(pooled(folder, None), mean);
    configure(folder, &serde_json::json!({"pooler_type": "avg_top2"}));
    assert!(refusal(folder).contains("pooler_type \"avg_top2\" is not known"));
    // The pooling module counts, wherever modules.json says that it is.
    std::fs::create_dir(folder.join("pool")).unwrap();
    let modules = serde_json::json!([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "pool", "type": "sentence_transformers.models.Pooling"},
    ]);
    std::fs::write(folder.join("modules.json"), modules.to_string()).unwrap();
    assert!(refusal(folder).contains("pool/config.json: cannot be read"));
    for (config, expected) in [
        (r#"{"pooling_mode": "cls", "include_prompt": true}"#, &cls),
        (r#"{"pooling_mode": ["mean"]}"#, &mean),
        (
            r#"{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}"#,
            &mean,
        ),
    ] {
        std::fs::write(folder.join("pool/config.json"), config).unwrap();
        assert_eq!(&pooled(folder, None), expected, "{config}");
    }
    assert_eq!(pooled(folder, Some(TokenPooling::Cls)), cls);
    for config in [
        r#"{"pooling_mode": ["mean", "cls"]}"#,
        r#"{"pooling_mode": "lasttoken"}"#,
        r#"{"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true}"#,
        "{}",
    ] {
        std::fs::write(folder.join("pool/config.json"), config).unwrap();
        assert!(refusal(folder).contains("pool/config.json: neither the mean"));
    }
    std::fs::write(
        folder.join("modules.json"),
        modules[0].to_string().replace('{', "[{").replace('}', "}]"),
    )
    .unwrap();
    assert!(refusal(folder).contains("modules.json: lists no Pooling module"));
}

/// Requires the folder of all-MiniLM-L6-v2 in `OVERRULE_MINILM`. The expected cosines are those
/// published by its authors.
#[test]
#[ignore = "needs OVERRULE_MINILM, a folder of all-MiniLM-L6-v2"]
fn cosines_are_those_of_the_original() {
    let folder = std::env::var("OVERRULE_MINILM").unwrap();
    let model = LocalModel::load(Path::new(&folder), None).unwrap();
    let texts = texts(&[
        "The new movie is awesome",
        "The new movie is so great",
        "The cat sits outside",
        "Do you like pizza?",
        "I love pasta",
    ]);
    let vectors = model.embed(&texts).unwrap().vectors;
    let vectors: Vec<Vec<f32>> = vectors
        .into_iter()
        .map(|vector| unit_vector(vector).unwrap())
        .collect();
    for (x, y, expected) in [(0, 1, 0.85), (3, 4, 0.51), (0, 3, 0.23)] {
        let found: f32 = vectors[x].iter().zip(&vectors[y]).map(|(x, y)| x * y).sum();
        assert!((found - expected).abs() < 0.1, "{x} {y} {found}");
    }
}
