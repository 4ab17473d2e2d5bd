//! Figures of loss depths: numbers are laid out as a [`Scene`] of shapes and text, and a scene is encoded as PNG or SVG.
//!
//! | step | module | what it knows |
//! |---|---|---|
//! | 1. compute | `compute` | planes through a sample, contours on a grid, quantiles, box statistics, ticks; no pixels |
//! | 2. lay out | `figure` | maps, curves, charts, box plots, ROC curves, pairs of images, panels: a function each to a [`Scene`] |
//! | 3. encode | `scene` | shapes, text and images in pixels; PNG and SVG |
//!
//! [`report`] writes a page for a browser instead: tables, sentences and pictures in one HTML file.
//!
//! The crate reads and writes no files: [`Scene::encode`] returns bytes. The font is embedded, so a figure has the same
//! bytes on every machine.
//!
//! ```
//! use lossdepth_plot::{Chart, Format, Style, Trace, TraceStyle, chart};
//! let trace = Trace { name: "depth".into(), points: vec![[0.0, 0.2], [1.0, 0.9]], style: TraceStyle::Line(4) };
//! let style = Style { width: 900, height: 600, title: None, caption: String::new(), text_scale: 1.0 };
//! let scene = chart(&style, &Chart { traces: vec![trace], ..Chart::new("x", "y") });
//! assert!(scene.encode(Format::Svg)?.starts_with(b"<svg "));
//! # Ok::<(), lossdepth_plot::EncodeError>(())
//! ```

// rustfmt sorts neighbouring `mod` lines; the comments keep the order of the flow.

// 1. compute
mod compute;
// 2. lay out
mod figure;
// 3. encode
mod scene;
// The same and more as a page for a browser.
pub mod report;

pub use compute::{BoxStatistics, EmpiricalDistribution, Field, Line, Plane, log_ticks, ticks};
pub use figure::{
    Background, Band, BoxKind, BoxPlot, Chart, Curve, ImagePair, LegendKey, MAX_KINDS, Map, Mark, Panels,
    Points, Polygon, Roc, Style, Trace, TraceStyle, box_plot, box_plot_legend, chart, chart_legend, curve,
    equal_window, images, map, map_legend, roc,
};
pub use scene::{EncodeError, Format, Scene};
