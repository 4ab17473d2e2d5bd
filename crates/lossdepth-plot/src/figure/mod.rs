//! Figures: each lays out its data as a [`Scene`](crate::Scene).
//!
//! `axes` has what most figures share: sizes, axes, the frame, the caption; `legend` has the keys.

mod axes;
mod box_plot;
mod chart;
mod contour_labels;
mod curve;
mod images;
mod legend;
mod map;
mod panels;
mod point_labels;
mod roc;

pub use axes::Style;
pub use box_plot::{BoxKind, BoxPlot, box_plot, box_plot_legend};
pub use chart::{Band, Chart, Trace, TraceStyle, chart, chart_legend};
pub use curve::{Curve, curve};
pub use images::{ImagePair, images};
pub use legend::LegendKey;
pub use map::{Background, MAX_KINDS, Map, Mark, Points, Polygon, equal_window, map, map_legend};
pub use panels::Panels;
pub use roc::{Roc, roc};
