//! The options of commands that draw a picture.

use crate::app::error::AppError;
use crate::app::output_file::{SVG, check_ending, write_whole};
use crate::app::picture::{check_png, write_png};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct PictureOptions {
    /// Draw a picture to this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw a picture to this PNG file (needs a build with the feature `png`)
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

impl PictureOptions {
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.svg.iter().chain(&self.png).map(PathBuf::as_path)
    }

    /// Rejects names of other formats, and PNG in a build without it, before any work is done.
    pub(crate) fn check(&self) -> Result<(), AppError> {
        if let Some(path) = &self.svg {
            check_ending(path, &[SVG])?;
        }
        if let Some(path) = &self.png {
            check_png(path)?;
        }
        Ok(())
    }

    /// Writes the files that were asked for; `draw` is called only if there are any.
    pub(crate) fn write(
        &self,
        draw: impl FnOnce() -> Result<String, AppError>,
    ) -> Result<(), AppError> {
        if self.files().next().is_none() {
            return Ok(());
        }
        let picture = draw()?;
        if let Some(path) = &self.svg {
            write_whole(path, |out| Ok(out.write_all(picture.as_bytes())?))?;
        }
        if let Some(path) = &self.png {
            write_whole(path, |out| write_png(&picture, out))?;
        }
        Ok(())
    }
}
