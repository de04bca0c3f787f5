//! State of an import and of its dialog.

#[derive(Debug, Default)]
pub struct ImportState {
    /// The file from which a new project is to be created, while its name is requested.
    pub source: Option<String>,
    /// The file being imported.
    pub going: Option<GoingImport>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GoingImport {
    /// Its name without the folder.
    pub file: String,
    /// The share read so far, in 0..=1, if known.
    pub share: Option<f64>,
}
