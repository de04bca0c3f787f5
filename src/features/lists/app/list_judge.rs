//! A judge as far as the key of a list call depends on it: without address, key and price.

use crate::client::call_key::identity_of;
use crate::domain::corpus::DocId;
use crate::domain::document_cut::DocumentCut;
use crate::features::lists::domain::AnswerForm;
use crate::features::methods::app::rerank::list_judge::strict_key;
use crate::judge::prompt::{self, Template};
use crate::judge::{
    JudgeSpec, MetadataFields, PoolText, Presented as _, PresentedQuestion, RerankAsk,
};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use serde_json::Value;
use std::sync::Arc;

/// A judge that is asked for one form of answer.
#[derive(Clone, Debug)]
pub(super) struct ListJudge {
    pub(super) spec: JudgeSpec,
    /// The metadata that it is shown with the documents.
    pub(super) fields: Option<MetadataFields>,
    form: AnswerForm,
    template: Template,
    cut: DocumentCut,
}

/// The question that asks for this form of answer.
pub(super) fn question(form: AnswerForm) -> RerankAsk {
    match form {
        AnswerForm::Order => RerankAsk::Rank,
        AnswerForm::BestWorst => RerankAsk::BestWorst,
        AnswerForm::Best(count) => RerankAsk::Select { count },
    }
}

impl ListJudge {
    /// The judge with the prompt for this form of answer, whatever prompt `spec` has. `None` for an
    /// offline judge or another one whose parameters do not say how documents are truncated.
    pub(super) fn new(
        spec: &JudgeSpec,
        fields: Option<&MetadataFields>,
        form: AnswerForm,
    ) -> Option<Self> {
        let answer = prompt::AnswerForm::of_rerank(question(form).kind());
        let plain = Template::parse(prompt::embedded(answer)).ok()?;
        let template = match fields {
            Some(fields) => plain.with_metadata(fields),
            None => plain,
        };
        let params: Value = serde_json::from_str(&spec.params).ok()?;
        let chars = params.get("max_document_chars")?.as_u64()?;
        Some(Self {
            spec: JudgeSpec {
                prompt_hash: template.hash.clone(),
                ..spec.clone()
            },
            fields: fields.cloned(),
            form,
            template,
            cut: DocumentCut {
                chars: chars.try_into().ok()?,
            },
        })
    }

    /// Hash of the judge with its model, prompt and parameters.
    pub(super) fn identity(&self) -> [u8; 32] {
        identity_of(&self.spec)
    }

    /// Hash of the judge and of everything that it is sent if it is shown these documents. It
    /// depends on the form of the answer, even where the identity does not.
    pub(super) fn key(&self, shown: PoolText) -> [u8; 32] {
        let question = PresentedQuestion {
            shown: (0..shown.documents.len()).collect(),
            pool: Arc::new(shown),
            ask: question(self.form),
        };
        let question = question.with_fields(self.fields.as_ref());
        strict_key(
            &self.spec,
            &self.template.fill_question(&question, self.cut),
        )
    }
}

/// The texts of some documents of a query in this order, or the first of them that is not in its
/// pool.
pub(super) fn shown_texts(
    db: &Db,
    query: QueryKey,
    shown: &[DocId],
) -> Result<std::result::Result<PoolText, DocId>> {
    let documents = db.document_ids(query)?;
    let mut places = Vec::new();
    for name in shown {
        match documents.iter().position(|of| of == name) {
            Some(place) => places.push(place),
            None => return Ok(Err(name.clone())),
        }
    }
    db.texts_of(query, &places).map(Ok)
}
