//! The keys of a legend: their symbols, and how they are drawn in rows.

use super::axes::Sizes;
use crate::scene::colour::Colour;
use crate::scene::font;
use crate::scene::{Anchor, Path, Point, Rect, Scene, Stroke, Text};

/// The height of a row of keys, in units of their text.
pub(crate) const LEGEND_LINE: f64 = 1.7;

/// An entry of a legend.
#[derive(Debug, Clone)]
pub struct LegendKey {
    pub(crate) text: String,
    pub(crate) symbol: KeySymbol,
}

/// The symbol of a legend entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeySymbol {
    Mark(Shape, Colour),
    Ring(Colour),
    Patch(Colour),
    Frame(Stroke),
    Line(Stroke),
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Triangle,
    Square,
    Diamond,
    TriangleDown,
    Cross,
}

impl Shape {
    pub(crate) const ALL: [Self; 7] = [
        Self::Circle,
        Self::Triangle,
        Self::Square,
        Self::Diamond,
        Self::TriangleDown,
        Self::Circle,
        Self::Square,
    ];

    /// Equal markers at some points; all shapes have about the same area.
    pub(crate) fn marks(self, points: &[Point], radius: f64, fill: Colour, edge: Stroke) -> Path {
        let corners: &[Point] = match self {
            Self::Circle => {
                return Path {
                    lines: vec![points.to_vec()],
                    dots: Some(radius),
                    fill: Some(fill),
                    stroke: Some(edge),
                    ..Path::default()
                };
            }
            Self::Triangle => &[[0.0, -1.3], [1.17, 0.75], [-1.17, 0.75]],
            Self::TriangleDown => &[[0.0, 1.3], [-1.17, -0.75], [1.17, -0.75]],
            Self::Square => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
            Self::Diamond => &[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]],
            Self::Cross => &[
                [-0.35, -1.5],
                [0.35, -1.5],
                [0.35, -0.35],
                [1.5, -0.35],
                [1.5, 0.35],
                [0.35, 0.35],
                [0.35, 1.5],
                [-0.35, 1.5],
                [-0.35, 0.35],
                [-1.5, 0.35],
                [-1.5, -0.35],
                [-0.35, -0.35],
            ],
        };
        let marker =
            |[x, y]: &Point| corners.iter().map(|[dx, dy]| [x + radius * dx, y + radius * dy]).collect();
        Path {
            lines: points.iter().map(marker).collect(),
            closed: true,
            separate: true,
            fill: Some(fill),
            stroke: Some(edge),
            ..Path::default()
        }
    }
}

/// Draws one row of a legend from its left end.
pub(crate) fn draw_keys(scene: &mut Scene, row: &[(f64, LegendKey)], [mut x, line]: Point, sizes: Sizes) {
    let Sizes { unit, tick, .. } = sizes;
    for (width, key) in row {
        draw_key(scene, key, [x + 0.7 * tick, line - 0.5 * font::CAPITAL * tick], tick, unit);
        scene.text(Text {
            text: key.text.clone(),
            at: [x + 1.7 * tick, line],
            anchor: Anchor::Start,
            size: tick,
            colour: Colour::INK,
            rotation: 0.0,
            halo: None,
        });
        x += width;
    }
}

fn draw_key(scene: &mut Scene, key: &LegendKey, [x, y]: Point, tick: f64, unit: f64) {
    let edge = |colour| Stroke { colour, width: 1.6 * unit, dash: None };
    match key.symbol {
        KeySymbol::Mark(shape, colour) => {
            scene.path(shape.marks(&[[x, y]], 0.33 * tick, colour, edge(Colour::WHITE)));
        }
        KeySymbol::Ring(colour) => {
            let stroke = Stroke { colour, width: 0.11 * tick, dash: None };
            let (lines, stroke) = (vec![vec![[x, y]]], Some(stroke));
            scene.path(Path { lines, dots: Some(0.36 * tick), stroke, ..Path::default() });
        }
        KeySymbol::Patch(colour) => {
            let (half, tall) = (0.6 * tick, 0.38 * tick);
            let patch = Rect { left: x - half, top: y - tall, right: x + half, bottom: y + tall };
            scene.path(Path {
                lines: vec![patch.corners()],
                closed: true,
                fill: Some(colour),
                stroke: Some(edge(Colour::GREY)),
                ..Path::default()
            });
        }
        KeySymbol::Frame(stroke) => {
            let (half, tall) = (0.6 * tick, 0.36 * tick);
            let patch = Rect { left: x - half, top: y - tall, right: x + half, bottom: y + tall };
            scene.path(Path {
                lines: vec![patch.corners()],
                closed: true,
                stroke: Some(stroke),
                ..Path::default()
            });
        }
        KeySymbol::Line(stroke) => scene.line([x - 0.7 * tick, y], [x + 0.7 * tick, y], stroke),
    }
}

/// Breaks legend entries into rows, with the width of each entry.
pub(crate) fn legend_rows(keys: Vec<LegendKey>, inner: f64, sizes: Sizes) -> Vec<Vec<(f64, LegendKey)>> {
    let mut rows: Vec<Vec<(f64, LegendKey)>> = Vec::new();
    for key in keys {
        let key = LegendKey { text: font::truncated(&key.text, inner / sizes.tick - 3.5), ..key };
        let width = (font::width(&key.text) + 3.2) * sizes.tick;
        match rows.last_mut() {
            Some(row) if row.iter().map(|(width, _)| width).sum::<f64>() + width <= inner => {
                row.push((width, key));
            }
            _ => rows.push(vec![(width, key)]),
        }
    }
    rows
}
