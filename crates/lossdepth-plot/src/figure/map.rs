//! The depth over a plane: a heat map or filled zones, labelled contours, and the sample.

use super::axes::{Axis, Frame, Sizes, Style, format_ticks};
use super::contour_labels::{self, LabelledLine};
use super::legend::{KeySymbol, LegendKey, Shape};
use super::point_labels;
use crate::compute::{Field, Line, ticks};
use crate::scene::colour::{CATEGORIES, Colour, heat, on_heat};
use crate::scene::font;
use crate::scene::{Anchor, Image, Path, Point, Rect, Scene, Stroke, Text};

/// The data of a map.
pub struct Map<'a> {
    /// Names of the x and y axes.
    pub names: [String; 2],
    /// The ranges of the x and y axes.
    pub window: [(f64, f64); 2],
    /// What is behind the contours.
    pub background: Background<'a>,
    /// Contour lines with their levels, drawn on a heat map only.
    pub contours: Vec<(f64, Vec<Line>)>,
    /// Groups of points.
    pub points: Vec<Points>,
    /// Words beside points.
    pub labels: Vec<([f64; 2], String)>,
    /// Whether to draw the legend.
    pub legend: bool,
}

/// The background of a map.
pub enum Background<'a> {
    /// A heat map of the depth, with a colour bar.
    Heat(&'a Field),
    /// A heat map of the share of the reference that is at most as deep, from 0 to 1, with a colour bar.
    Percentiles(&'a Field),
    /// Filled areas, the largest first.
    Polygons(Vec<Polygon>),
}

/// An area of a map.
pub struct Polygon {
    /// Its legend entry; empty for none.
    pub name: String,
    /// Its boundaries; inside is by the even-odd rule.
    pub rings: Vec<Vec<[f64; 2]>>,
    /// The fill, from 0 (light) to 1 (dark); without one the boundary is dashed.
    pub shade: Option<f64>,
}

/// A group of points.
pub struct Points {
    /// Its legend entry.
    pub name: Option<String>,
    /// Coordinates.
    pub at: Vec<[f64; 2]>,
    /// Its marker.
    pub mark: Mark,
}

/// The marker of a group of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A shape and colour by index.
    Kind(usize),
    /// A small translucent dot.
    Dot,
    /// A large diamond.
    Outlier,
    /// A ring around a point that has a marker of its own.
    Ring,
    /// A white cross.
    Centre,
}

impl Background<'_> {
    /// What a heat map shows, what that is called, and the scale of its colours.
    fn heat(&self) -> Option<(&Field, &'static str, ColourScale)> {
        match self {
            Self::Heat(field) => Some((field, "depth", ColourScale::of(field.range()))),
            Self::Percentiles(field) => Some((field, "percentile", ColourScale { low: 0.0, high: 1.0 })),
            Self::Polygons(_) => None,
        }
    }
}

impl Mark {
    fn appearance(self) -> (Shape, Colour) {
        match self {
            Self::Kind(kind) => (Shape::ALL[kind % Shape::ALL.len()], CATEGORIES[kind % CATEGORIES.len()]),
            Self::Dot => (Shape::Circle, Colour::INK.with_opacity(0.55)),
            Self::Outlier => (Shape::Diamond, CATEGORIES[1]),
            Self::Ring => (Shape::Circle, CATEGORIES[1]),
            Self::Centre => (Shape::Cross, Colour::WHITE),
        }
    }
}

/// The number of distinct markers of [`Mark::Kind`].
pub const MAX_KINDS: usize = CATEGORIES.len();

/// The smallest window around the given one in which both axes of the map have the same scale. `legend` are the entries of
/// the map's legend, `heat` says whether it has a colour bar: both take space.
pub fn equal_window(
    style: &Style,
    names: &[String; 2],
    window: [(f64, f64); 2],
    legend: &[String],
    heat: bool,
) -> [(f64, f64); 2] {
    let keys = legend
        .iter()
        .map(|text| LegendKey { text: text.clone(), symbol: KeySymbol::Patch(Colour::WHITE) })
        .collect();
    let frame = frame(style, names, window, keys, heat, true);
    [(frame.x.low, frame.x.high), (frame.y.low, frame.y.high)]
}

fn frame(
    style: &Style,
    names: &[String; 2],
    window: [(f64, f64); 2],
    keys: Vec<LegendKey>,
    heat: bool,
    equal: bool,
) -> Frame {
    let sizes = style.sizes();
    let right = if heat { 46.0 * sizes.unit + 4.6 * sizes.tick } else { 0.4 * sizes.tick };
    let axis = |k: usize| Axis::new(names[k].clone(), window[k].0, window[k].1);
    Frame::new(style, axis(0), axis(1), keys, right, equal)
}

/// Draws a map.
pub fn map(style: &Style, map: &Map<'_>) -> Scene {
    let heat = map.background.heat();
    let keys = if map.legend { map_legend(map) } else { Vec::new() };
    let frame = frame(style, &map.names, map.window, keys, heat.is_some(), false);
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    let lines = match heat {
        Some((field, name, scale)) => {
            scene.image(heat_image(field, &frame, scale));
            colour_bar(&mut scene, &frame, (name, scale), &map.contours);
            contour_lines(map, &frame, scale)
        }
        None => Lines::default(),
    };
    if let Background::Polygons(polygons) = &map.background {
        for polygon in polygons {
            draw_polygon(&mut scene, &frame, polygon);
        }
    }
    lines.paths.into_iter().for_each(|path| scene.path(path));
    draw_points(&mut scene, &frame, &map.points);
    let rings = map.points.iter().filter(|points| points.mark == Mark::Ring);
    let rings = rings.flat_map(|points| points.at.iter().copied());
    let labels = point_labels::place(&map.labels, &frame, rings, &lines.texts);
    lines.texts.into_iter().chain(labels).for_each(|text| scene.text(text));
    frame.draw(&mut scene);
    scene
}

/// The linear scale from depths to colours.
#[derive(Debug, Clone, Copy)]
struct ColourScale {
    low: f64,
    high: f64,
}

impl ColourScale {
    fn of((low, high): (f64, f64)) -> Self {
        // Do not magnify rounding errors of a constant depth.
        if high - low > 1e-9 { Self { low, high } } else { Self { low: low - 0.5, high: high + 0.5 } }
    }

    fn share(self, depth: f64) -> f64 {
        (depth - self.low) / (self.high - self.low)
    }
}

/// The legend of a map.
pub fn map_legend(map: &Map<'_>) -> Vec<LegendKey> {
    let areas = match &map.background {
        Background::Heat(_) | Background::Percentiles(_) => &[][..],
        Background::Polygons(polygons) => polygons,
    };
    // The smallest area first.
    let areas = areas.iter().rev().map(|area| LegendKey { text: area.name.clone(), symbol: symbol(area) });
    let points = map.points.iter().filter_map(|points| {
        let (shape, colour) = points.mark.appearance();
        let colour = if points.mark == Mark::Centre { Colour::INK } else { colour };
        let symbol = match points.mark {
            Mark::Ring => KeySymbol::Ring(colour),
            _ => KeySymbol::Mark(shape, colour),
        };
        Some(LegendKey { text: points.name.clone()?, symbol })
    });
    points.chain(areas).filter(|key| !key.text.is_empty()).collect()
}

fn symbol(area: &Polygon) -> KeySymbol {
    match area.shade {
        Some(shade) => KeySymbol::Patch(heat(shade)),
        None => KeySymbol::Line(Stroke { colour: Colour::GREY, width: 2.5, dash: Some([8.0, 6.0]) }),
    }
}

/// Number of colour steps: finer steps are hardly visible and make larger files (heuristic).
const COLOURS: f64 = 128.0;

/// The colour of every pixel, by the value at its centre.
fn heat_image(field: &Field, frame: &Frame, scale: ColourScale) -> Image {
    let area = frame.area;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of a picture")]
    let size = |length: f64| length.round().max(1.0) as usize;
    let (columns, rows) = (size(area.width()), size(area.height()));
    let colour = |value: f64| heat((scale.share(value) * COLOURS).round() / COLOURS);
    let across = |i: usize| frame.x.low + (i as f64 + 0.5) / columns as f64 * (frame.x.high - frame.x.low);
    let up = |j: usize| frame.y.high - (j as f64 + 0.5) / rows as f64 * (frame.y.high - frame.y.low);
    let pixels = (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j)));
    let pixels = pixels.map(|(i, j)| colour(field.at([across(i), up(j)]))).collect();
    // Aligned with the pixels, so that drawing does not interpolate.
    let (left, top) = (area.left.round(), area.top.round());
    let area = Rect { left, top, right: left + columns as f64, bottom: top + rows as f64 };
    Image { area, columns, rows, pixels, smooth: true }
}

fn colour_bar(
    scene: &mut Scene,
    frame: &Frame,
    (name, scale): (&str, ColourScale),
    contours: &[(f64, Vec<Line>)],
) {
    let (Sizes { unit, tick, .. }, area) = (frame.sizes, frame.area);
    let left = area.right + 1.0 * tick;
    let bar = Rect { left, top: area.top + 1.7 * tick, right: left + 46.0 * unit, bottom: area.bottom };
    let shades = (0..200).map(|i| heat(1.0 - (f64::from(i) + 0.5) / 200.0)).collect();
    scene.image(Image { area: bar, columns: 1, rows: 200, pixels: shades, smooth: false });
    let thin = Stroke { colour: Colour::INK, width: 2.2 * unit, dash: None };
    scene.path(Path { lines: vec![bar.corners()], closed: true, stroke: Some(thin), ..Path::default() });
    let word = |text: String, at: Point, anchor| Text {
        text,
        at,
        anchor,
        size: tick,
        colour: Colour::INK,
        rotation: 0.0,
        halo: None,
    };
    let mut levels: Vec<f64> = contours.iter().map(|(level, _)| *level).collect();
    if levels.is_empty() {
        levels = ticks(scale.low.max(0.0), scale.high.min(1.0), 6);
    }
    let (names, factor) = format_ticks(&levels);
    scene.text(word(
        font::truncated(&format!("{name}{factor}"), 6.0),
        [bar.left, area.top + 0.75 * tick],
        Anchor::Start,
    ));
    let mut last = f64::INFINITY;
    for (level, text) in levels.iter().zip(names) {
        let y = bar.bottom - scale.share(*level) * bar.height();
        if !(bar.top - 1.0..=bar.bottom + 1.0).contains(&y) {
            continue;
        }
        let stroke = Stroke { colour: on_heat(scale.share(*level)), width: 1.8 * unit, dash: None };
        scene.line([bar.left, y], [bar.right, y], stroke);
        // Skip labels that would overlap: levels given by the user may be close.
        if (last - y).abs() >= 1.05 * tick {
            let text = font::truncated(&text, 3.6);
            scene.text(word(text, [bar.right + 0.35 * tick, y + 0.5 * font::CAPITAL * tick], Anchor::Start));
            last = y;
        }
    }
}

fn draw_polygon(scene: &mut Scene, frame: &Frame, polygon: &Polygon) {
    let unit = frame.sizes.unit;
    let lines: Vec<Vec<Point>> =
        polygon.rings.iter().map(|ring| ring.iter().map(|p| frame.to_pixels(*p)).collect()).collect();
    let stroke = match polygon.shade {
        Some(_) => Stroke { colour: Colour::INK.with_opacity(0.75), width: 2.2 * unit, dash: None },
        None => Stroke { colour: Colour::GREY, width: 2.5 * unit, dash: Some([12.0 * unit, 9.0 * unit]) },
    };
    scene.path(Path {
        lines,
        closed: true,
        fill: polygon.shade.map(heat),
        stroke: Some(stroke),
        clip: Some(frame.area),
        ..Path::default()
    });
}

#[derive(Default)]
struct Lines {
    paths: Vec<Path>,
    texts: Vec<Text>,
}

/// The contour lines, interrupted at their labels.
fn contour_lines(map: &Map<'_>, frame: &Frame, scale: ColourScale) -> Lines {
    let size = 0.85 * frame.sizes.tick;
    let levels: Vec<f64> = map.contours.iter().map(|(level, _)| *level).collect();
    let (names, _) = format_ticks(&levels);
    let mut labelled = Vec::new();
    let mut styles = Vec::new();
    for ((level, lines), name) in map.contours.iter().zip(&names) {
        for line in lines {
            let mut points: Vec<Point> = line.points.iter().map(|p| frame.to_pixels(*p)).collect();
            if line.closed {
                points.extend(points.first().copied());
            }
            labelled.push(LabelledLine { points, text: name.clone() });
            styles.push((scale.share(*level), line.closed));
        }
    }
    let points: Vec<Point> =
        map.points.iter().flat_map(|p| p.at.iter().map(|at| frame.to_pixels(*at))).collect();
    let labels = contour_labels::place(&labelled, frame.area, size, &points);
    let mut drawn = Lines::default();
    for (i, (line, (share, closed))) in labelled.iter().zip(&styles).enumerate() {
        let label = labels.iter().find(|label| label.line == i);
        let lines = match label {
            Some(label) => contour_labels::interrupted(&line.points, *closed, label.gap),
            None => vec![line.points.clone()],
        };
        let stroke =
            Stroke { colour: on_heat(*share).with_opacity(0.8), width: 2.0 * frame.sizes.unit, dash: None };
        let path = Path { lines, stroke: Some(stroke), clip: Some(frame.area), ..Path::default() };
        drawn.paths.push(path);
        if let Some(label) = label {
            let (sin, cos) = label.rotation.to_radians().sin_cos();
            // From the middle of the digits to their baseline.
            let down = 0.5 * font::CAPITAL * size;
            drawn.texts.push(Text {
                text: line.text.clone(),
                at: [label.centre[0] - sin * down, label.centre[1] + cos * down],
                anchor: Anchor::Middle,
                size,
                colour: on_heat(*share),
                rotation: label.rotation,
                halo: Some((heat(*share), 0.16 * size)),
            });
        }
    }
    drawn
}

fn draw_points(scene: &mut Scene, frame: &Frame, points: &[Points]) {
    let total: usize = points.iter().map(|kind| kind.at.len()).sum();
    // Few points are drawn larger (heuristic).
    let radius = (8.5 * (200.0 / total.max(1) as f64).powf(0.22)).clamp(3.0, 9.0) * frame.sizes.unit;
    for kind in points {
        let (shape, colour) = kind.mark.appearance();
        if kind.mark == Mark::Ring {
            let visible = kind.at.iter().map(|p| frame.to_pixels(*p)).filter(|p| frame.area.contains(*p));
            scene.path(ring(visible.collect(), 1.9 * radius, colour, 0.45 * radius));
            continue;
        }
        let visible: Vec<Point> =
            kind.at.iter().map(|p| frame.to_pixels(*p)).filter(|p| frame.area.contains(*p)).collect();
        let (size, edge) = match kind.mark {
            Mark::Centre => (13.0 * frame.sizes.unit, Colour::INK),
            Mark::Dot => (0.5 * radius, Colour::WHITE.with_opacity(0.6)),
            Mark::Outlier | Mark::Ring => (1.35 * radius, Colour::WHITE),
            Mark::Kind(0) => (radius, Colour::WHITE),
            Mark::Kind(_) => (1.15 * radius, Colour::WHITE),
        };
        let edge = Stroke { colour: edge, width: (0.24 * radius).max(1.2 * frame.sizes.unit), dash: None };
        if !visible.is_empty() {
            scene.path(Path { clip: Some(frame.area), ..shape.marks(&visible, size, colour, edge) });
        }
    }
}

/// Circles without a fill.
fn ring(at: Vec<Point>, radius: f64, colour: Colour, width: f64) -> Path {
    let stroke = Stroke { colour, width, dash: None };
    Path { lines: vec![at], dots: Some(radius), stroke: Some(stroke), ..Path::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Item, boxes_overlap};

    fn field(f: impl Fn(f64, f64) -> f64) -> Field {
        let side: Vec<f64> = (0..61).map(|i| -3.0 + 0.1 * f64::from(i)).collect();
        let values = side.iter().flat_map(|y| side.iter().map(|x| f(*x, *y)).collect::<Vec<_>>()).collect();
        Field::new(side.clone(), side, values).unwrap()
    }

    fn picture(style: &Style, field: &Field, names: [&str; 2]) -> Scene {
        let (low, high) = field.range();
        let levels = ticks(low, high, 11);
        map(
            style,
            &Map {
                names: names.map(str::to_owned),
                window: [(-3.0, 3.0); 2],
                background: Background::Heat(field),
                contours: levels.iter().map(|level| (*level, field.lines(*level))).collect(),
                points: vec![Points { name: None, at: vec![[0.0, 0.0], [1.0, 2.0]], mark: Mark::Kind(0) }],
                labels: [[1.0, 2.0], [1.05, 2.0], [2.9, -2.9], [2.9, -2.8]]
                    .map(|at| (at, "row 12345".to_owned()))
                    .to_vec(),
                legend: true,
            },
        )
    }

    fn style(width: u32, height: u32) -> Style {
        Style { width, height, title: Some("a title".into()), caption: "words ".repeat(60), text_scale: 1.0 }
    }

    #[test]
    fn text_is_inside_and_does_not_overlap_for_any_size_and_names() {
        let hill = field(|x, y| (-(x * x + 2.0 * y * y) / 3.0).exp());
        let long = "a name that is far too long for any axis of a picture that should be readable ".repeat(3);
        for (width, height) in [(1800, 1500), (600, 500), (2400, 900), (400, 1600)] {
            for names in [["x", "y"], [&long, &long]] {
                let scene = picture(&style(width, height), &hill, names);
                scene.assert_text_inside();
                let boxes: Vec<_> = scene.texts().map(|text| (text.corners(), &text.text)).collect();
                for (i, (a, text)) in boxes.iter().enumerate() {
                    for (b, other) in &boxes[..i] {
                        assert!(!boxes_overlap(a, b), "{width}x{height}: `{text}` and `{other}`");
                    }
                }
            }
        }
    }

    #[test]
    fn most_contours_have_a_label_and_it_is_on_the_map() {
        let hill = field(|x, y| (-(x * x + 2.0 * y * y) / 7.0).exp());
        let scene = picture(&style(1800, 1500), &hill, ["x", "y"]);
        let on_lines: Vec<&Text> = scene.texts().filter(|text| text.halo.is_some()).collect();
        assert!(on_lines.len() >= 6, "{}", on_lines.len());
    }

    #[test]
    fn a_constant_field_is_one_colour_without_contours() {
        let scene = picture(&style(900, 750), &field(|_, _| 0.25), ["x", "y"]);
        scene.assert_text_inside();
        let Some(Item::Image(image)) = scene.items.first() else { panic!("no heat map") };
        assert!(image.pixels.iter().all(|colour| *colour == image.pixels[0]));
    }

    #[test]
    fn deeper_is_darker() {
        let slope = field(|x, _| (x + 3.0) / 6.0);
        let scene = picture(&style(900, 750), &slope, ["x", "y"]);
        let Some(Item::Image(image)) = scene.items.first() else { panic!("no heat map") };
        assert_eq!(image.pixels[0], heat(0.0));
        assert_eq!(image.pixels[image.columns - 1], heat(1.0));
    }
}
