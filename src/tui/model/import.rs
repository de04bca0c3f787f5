//! An import, and the dialog that begins one.

#[derive(Debug, Default)]
pub struct ImportState {
    /// What the dialog asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    /// The file that a new project is to be made of, while its name is asked for.
    pub source: Option<String>,
    /// The file that is being imported.
    pub going: Option<GoingImport>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GoingImport {
    /// Its name without the folder.
    pub file: String,
    /// How much of it has been read, 0..=1, where that is known.
    pub share: Option<f64>,
}
