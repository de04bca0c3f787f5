//! Pictures of a query's matrices, and of what a screen shows.

use super::error::{AppError, invalid};
use super::output_file::{PNG, SVG, check_ending};
use crate::domain::priority::top_of;
use crate::domain::ranking::{DocumentOrder, OrderChange, OrderComparison, View};
use crate::domain::sanitize;
use crate::formats::svg::{OrderRow, SvgCell, SvgLabel, TwoOrders, two_orders_svg};
use crate::judge::OFFLINE_LABEL;
use crate::store::corpus::{DocumentInfo, QueryInfo, QueryKey};
use crate::store::{Db, Store};
use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::ptr;

/// Maximum number of documents for which a picture contains all cells.
pub const WHOLE: usize = 2_000;

/// A chart that is written to a file.
pub trait Picture: fmt::Debug + Send + Sync {
    /// A file name without an ending.
    fn file_name(&self) -> &'static str;

    fn svg(&self, store: &Store) -> Result<String, AppError>;
}

/// The error of a build that cannot write PNG.
const WITHOUT_PNG: &str = "this overrule was built without PNG; write .svg, or build it with \
                           `cargo install --path . --features png`";

/// Rejects a file name for a format other than SVG and PNG, or for one that this build cannot
/// write.
pub fn check_picture_name(path: &Path) -> Result<(), AppError> {
    check_ending(path, &[SVG, PNG])?;
    if PNG.names(path) {
        return check_png(path);
    }
    Ok(())
}

/// Rejects a PNG file in a build that cannot write one.
pub fn check_png(path: &Path) -> Result<(), AppError> {
    check_ending(path, &[PNG])?;
    if cfg!(feature = "png") {
        Ok(())
    } else {
        Err(AppError::file(path, WITHOUT_PNG))
    }
}

/// Writes a picture as PNG if the file name says so, or else as SVG.
pub fn write_picture(
    svg: &str,
    path: Option<&Path>,
    out: &mut (dyn Write + Send),
) -> Result<(), AppError> {
    if path.is_some_and(|path| PNG.names(path)) {
        return write_png(svg, out);
    }
    Ok(out.write_all(svg.as_bytes())?)
}

#[cfg(feature = "png")]
pub fn write_png(svg: &str, out: &mut (dyn Write + Send)) -> Result<(), AppError> {
    let png = crate::formats::png::png(svg)
        .map_err(|error| AppError::Failed(format!("no PNG is written: {error}")))?;
    Ok(out.write_all(&png)?)
}

#[cfg(not(feature = "png"))]
pub fn write_png(_: &str, _: &mut (dyn Write + Send)) -> Result<(), AppError> {
    Err(invalid!("{WITHOUT_PNG}"))
}

/// A chart that is already drawn, because it is small.
#[derive(Debug)]
pub struct DrawnPicture {
    pub file_name: &'static str,
    pub svg: String,
}

impl Picture for DrawnPicture {
    fn file_name(&self) -> &'static str {
        self.file_name
    }

    fn svg(&self, _: &Store) -> Result<String, AppError> {
        Ok(self.svg.clone())
    }
}

/// Equal only to itself.
impl PartialEq for dyn Picture {
    fn eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self, other)
    }
}

impl Eq for dyn Picture {}

/// Checks that a matrix is small enough to be drawn.
pub fn check_size(documents: usize) -> Result<(), AppError> {
    if documents > WHOLE {
        return Err(invalid!(
            "{documents} documents: pictures are limited to {WHOLE} documents"
        ));
    }
    Ok(())
}

/// The labels of the rows of a matrix.
pub fn row_labels(documents: &[DocumentInfo], view: &View, order: &[usize]) -> Vec<SvgLabel> {
    order
        .iter()
        .filter_map(|at| {
            let (document, standing) = (documents.get(*at)?, view.standings.get(*at)?);
            let title = document.title.as_deref().unwrap_or(&document.snippet);
            Some(SvgLabel {
                rank: standing.map_or_else(|| "–".to_owned(), |of| of.rank.to_string()),
                id: document.id.to_string(),
                title: sanitize::line(title).into_owned(),
                zelo: standing.map(|of| of.zelo),
                se: standing.and_then(|of| of.se),
            })
        })
        .collect()
}

/// The votes and verdicts on a pair, from the row document's point of view; without them, the answers
/// outside battles that decide it.
pub fn observed_cell(view: &View, row: usize, column: usize) -> SvgCell {
    let cell = view.cell(row, column);
    let is_open = cell.verdict.is_none() && cell.observed.is_none() && !cell.planned;
    let answers = cell.answers.filter(|_| is_open);
    SvgCell {
        value: cell.verdict.flatten().or(cell.observed).or(answers),
        planned: cell.planned,
        missing: cell.missing > 0,
        overruled: cell.verdict.is_some(),
        expected: false,
        answered: answers.and(answers_noun(view)),
    }
}

/// What the answers outside battles are, in singular.
pub fn answers_noun(view: &View) -> Option<&'static str> {
    view.rows().answers.as_ref().map(|answers| answers.noun)
}

/// The notes below a picture of a query.
pub fn picture_caption(view: &View, offline: bool) -> String {
    let offline = offline.then(|| OFFLINE_LABEL.to_owned());
    let student = view.student_in_fit();
    let student = student.map(|(student, share)| student.words(share));
    offline
        .into_iter()
        .chain(student)
        .chain(view.basis_note())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// A query in both orders.
pub struct QueryOrders {
    pub query: QueryInfo,
    pub documents: Vec<DocumentInfo>,
    pub view: View,
    /// Whether any of the judges are lexical.
    pub offline: bool,
    /// `None` without scores.
    pub comparison: Option<OrderComparison>,
}

impl QueryOrders {
    pub fn read(db: &Db, key: QueryKey) -> crate::store::Result<Self> {
        let view = db.view(key)?;
        Ok(Self {
            query: db.query(key)?,
            documents: db.documents(key)?,
            offline: db.judges_of(key)?.iter().any(|(_, spec)| spec.is_offline()),
            comparison: OrderComparison::of(&view, top_of(&view)),
            view,
        })
    }

    /// Both matrices and the scores.
    pub fn svg(&self) -> Result<String, AppError> {
        check_size(self.documents.len())?;
        let Some(comparison) = &self.comparison else {
            return Err(invalid!(
                "query {:?} has no scores yet; judge it first",
                self.query.id.as_str()
            ));
        };
        let order = self.view.order(DocumentOrder::Zelo);
        let changes: HashMap<usize, &OrderChange> = comparison
            .changes
            .iter()
            .map(|change| (change.document, change))
            .collect();
        let rows: Vec<OrderRow> = row_labels(&self.documents, &self.view, &order)
            .into_iter()
            .zip(&order)
            .map(|(label, document)| match changes.get(document) {
                Some(change) => OrderRow {
                    label,
                    hybrid: change.hybrid.to_string(),
                    moved: change.movement(),
                    is_certain: change.is_certain(),
                },
                None => OrderRow {
                    label,
                    ..OrderRow::default()
                },
            })
            .collect();
        let mut hybrid: Vec<usize> = (0..order.len()).collect();
        hybrid.sort_by_key(|at| order[*at]);
        Ok(two_orders_svg(&TwoOrders {
            title: &format!("{}: {}", self.query.id, self.query.text),
            sentences: &comparison.sentences(),
            caption: &picture_caption(&self.view, self.offline),
            rows: &rows,
            hybrid: &hybrid,
            top: comparison.top,
            cell: &|row, column| observed_cell(&self.view, order[row], order[column]),
        }))
    }
}

/// The picture of a query in both orders.
#[derive(Debug)]
pub struct TwoOrdersPicture(pub QueryKey);

impl Picture for TwoOrdersPicture {
    fn file_name(&self) -> &'static str {
        "two-orders"
    }

    fn svg(&self, store: &Store) -> Result<String, AppError> {
        let key = self.0;
        store
            .read_blocking(move |db| QueryOrders::read(db, key))?
            .svg()
    }
}
