//! Pictures: a figure is laid out as a [`Scene`] of shapes and words, and the scene becomes PNG or SVG.
//!
//! [`figure`](plane) → [`Scene`] → [`raster`] or [`svg`]. What is to be seen was computed by the library; here it is
//! only arranged. Letters come from a font within the program, so a picture is the same on every machine.

mod axes;
mod boxes;
mod chart;
mod colour;
mod curve;
mod font;
mod images;
mod labels;
mod panels;
mod plane;
mod raster;
mod roc;
mod scene;
mod svg;

pub(crate) use axes::Style;
pub(crate) use boxes::{BoxKind, BoxPlot, box_keys, box_plot};
pub(crate) use chart::{Band, Chart, Look, Trace, chart, chart_keys};
pub(crate) use curve::{Curve, curve};
pub(crate) use images::{Pair, images};
pub(crate) use panels::Panels;
pub(crate) use plane::{Ground, KINDS, Map, Mark, Points, Polygon, equal_window, map, map_keys};
pub(crate) use roc::{Roc, roc};
pub(crate) use scene::Scene;

use crate::error::{Error, Result};
use crate::write::Whole;
use std::path::PathBuf;

/// The kind of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Png,
    Svg,
}

/// A picture to write, and how.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    path: PathBuf,
    kind: Kind,
}

impl Target {
    /// The kind is in the extension.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let lower = path.to_lowercase();
        let kind = match lower.rsplit_once('.') {
            Some((_, "png")) => Kind::Png,
            Some((_, "svg")) => Kind::Svg,
            _ => return Err("the name must end in .png or .svg".into()),
        };
        Ok(Self { path: PathBuf::from(path), kind })
    }

    /// Makes room for the file, so that a folder that cannot be written to is known before the work is done.
    pub(crate) fn open(&self) -> Result<Open> {
        Ok(Open { file: Whole::open(&self.path)?, kind: self.kind })
    }
}

/// A picture that has a place but is not there yet.
pub(crate) struct Open {
    file: Whole,
    kind: Kind,
}

impl Open {
    /// Draws the scene; only now does the file have its name.
    pub(crate) fn draw(self, scene: &Scene) -> Result<()> {
        let bytes = match self.kind {
            Kind::Png => raster::png(scene),
            Kind::Svg => Ok(svg::svg(scene).into_bytes()),
        };
        let bytes = bytes.map_err(|why| Error::Usage(format!("cannot draw: {why}")))?;
        self.file.write(&bytes)
    }
}
