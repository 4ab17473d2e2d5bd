//! The positions of labels on contour lines: on straight segments away from other lines, inside the frame.
//!
//! The thresholds and weights of the cost are heuristics, in units of the font size.

use crate::scene::font;
use crate::scene::{Point, Rect, boxes_overlap};

/// A contour line in pixels, with the text of its label.
#[derive(Debug, Clone)]
pub(crate) struct LabelledLine {
    pub(crate) points: Vec<Point>,
    pub(crate) text: String,
}

/// A label on a line.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    /// Index of its line.
    pub(crate) line: usize,
    /// The middle of the text, half a capital height above its baseline.
    pub(crate) centre: Point,
    /// Degrees, clockwise.
    pub(crate) rotation: f64,
    /// The segment of the line that the label interrupts, by arc length.
    pub(crate) gap: (f64, f64),
    corners: [Point; 4],
}

/// A polyline with the arc length at every vertex.
struct Polyline {
    points: Vec<Point>,
    lengths: Vec<f64>,
}

impl Polyline {
    fn new(points: &[Point]) -> Self {
        let mut lengths = vec![0.0];
        for pair in points.windows(2) {
            lengths.push(lengths[lengths.len() - 1] + distance(pair[0], pair[1]));
        }
        Self { points: points.to_vec(), lengths }
    }

    fn length(&self) -> f64 {
        self.lengths.last().copied().unwrap_or(0.0)
    }

    fn at(&self, s: f64) -> Point {
        let next = self.lengths.partition_point(|length| *length < s).clamp(1, self.points.len() - 1);
        let (from, to) = (self.lengths[next - 1], self.lengths[next]);
        let t = if to > from { ((s - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        let (a, b) = (self.points[next - 1], self.points[next]);
        [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Places labels of the given font size, at most one per line and two per text. A line without an admissible position has
/// no label.
pub(crate) fn place(lines: &[LabelledLine], area: Rect, size: f64, points: &[Point]) -> Vec<Label> {
    let polylines: Vec<Polyline> = lines.iter().map(|line| Polyline::new(&line.points)).collect();
    // All lines resampled densely, to measure the distance to them.
    let dense: Vec<Vec<Point>> = polylines.iter().map(|polyline| resampled(polyline, 0.4 * size)).collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|&a, &b| polylines[b].length().total_cmp(&polylines[a].length()));
    let mut labels: Vec<Label> = Vec::new();
    for line in order {
        let text = &lines[line].text;
        if labels.iter().filter(|label| lines[label.line].text == *text).count() >= 2 {
            continue;
        }
        let obstacles = Obstacles { area, size, points, dense: &dense, taken: &labels };
        if let Some(label) = obstacles.best(line, &polylines[line], text) {
            labels.push(label);
        }
    }
    labels
}

fn resampled(polyline: &Polyline, step: f64) -> Vec<Point> {
    if polyline.points.len() < 2 {
        return polyline.points.clone();
    }
    let count = (polyline.length() / step).ceil().clamp(1.0, 20_000.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let count = count as usize;
    (0..=count).map(|i| polyline.at(polyline.length() * i as f64 / count as f64)).collect()
}

/// What a position must keep clear of.
struct Obstacles<'a> {
    area: Rect,
    size: f64,
    points: &'a [Point],
    dense: &'a [Vec<Point>],
    taken: &'a [Label],
}

impl Obstacles<'_> {
    fn best(&self, line: usize, polyline: &Polyline, text: &str) -> Option<Label> {
        let half = (0.5 * font::width(text) + 0.35) * self.size;
        if polyline.points.len() < 2 || polyline.length() < 3.2 * half {
            return None;
        }
        let step = 0.5 * self.size;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most some thousands")]
        let count = ((polyline.length() - 2.0 * half) / step).clamp(0.0, 5000.0) as usize;
        let candidates =
            (0..=count).filter_map(|i| self.candidate(line, polyline, half + step * i as f64, half));
        candidates.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, label)| label)
    }

    /// The label centred at arc length `s` with its cost, if it is admissible.
    fn candidate(&self, line: usize, polyline: &Polyline, s: f64, half: f64) -> Option<(f64, Label)> {
        let (from, to, size) = (polyline.at(s - half), polyline.at(s + half), self.size);
        let (dx, dy, chord) = (to[0] - from[0], to[1] - from[1], distance(from, to));
        if chord < 1.9 * half {
            return None;
        }
        let (ux, uy) = (dx / chord, dy / chord);
        // The distance of the line from its chord, which is the direction of the text.
        let offset = |p: Point| (p[0] - from[0]) * -uy + (p[1] - from[1]) * ux;
        let deviations = (1..8).map(|k| offset(polyline.at(s - half + 2.0 * half * f64::from(k) / 8.0)));
        let (low, high) = deviations.fold((0.0f64, 0.0f64), |(low, high), o| (low.min(o), high.max(o)));
        if high - low > 0.3 * size {
            return None;
        }
        let middle = f64::midpoint(low, high);
        let centre =
            [f64::midpoint(from[0], to[0]) - uy * middle, f64::midpoint(from[1], to[1]) + ux * middle];
        let mut rotation = dy.atan2(dx).to_degrees();
        if rotation > 90.0 {
            rotation -= 180.0;
        } else if rotation <= -90.0 {
            rotation += 180.0;
        }
        let corners = rectangle(centre, rotation, half, 0.62 * size);
        let edge = 0.35 * size;
        let inner = Rect {
            left: self.area.left + edge,
            top: self.area.top + edge,
            right: self.area.right - edge,
            bottom: self.area.bottom - edge,
        };
        if !corners.iter().all(|corner| inner.contains(*corner)) {
            return None;
        }
        let wide = rectangle(centre, rotation, half + 0.6 * size, 1.2 * size);
        if self.taken.iter().any(|label| boxes_overlap(&label.corners, &wide)) {
            return None;
        }
        let clear = self.clearance(line, polyline, centre, rotation, half);
        if clear < 0.75 * size {
            return None;
        }
        let covered = self
            .points
            .iter()
            .filter(|point| within(**point, centre, rotation, half + 0.2 * size, 0.8 * size))
            .count();
        let cost = 3.0 * (high - low) / size
            + rotation.abs() / 60.0
            + (2.2 - clear / size).max(0.0)
            + 0.8 * (covered as f64).min(6.0);
        Some((cost, Label { line, centre, rotation, gap: (s - half, s + half), corners }))
    }

    /// The distance from the centre line of the text to the nearest other line, at most three font sizes.
    fn clearance(&self, line: usize, polyline: &Polyline, centre: Point, rotation: f64, half: f64) -> f64 {
        let (sin, cos) = rotation.to_radians().sin_cos();
        let (ends, limit) = ([-half, half], 3.0 * self.size);
        let from_text = |point: &Point| {
            let (x, y) = (point[0] - centre[0], point[1] - centre[1]);
            let along = (x * cos + y * sin).clamp(ends[0], ends[1]);
            (x - along * cos).hypot(y - along * sin)
        };
        let others =
            self.dense.iter().enumerate().filter(|(other, _)| *other != line).flat_map(|(_, line)| line);
        let nearest = others.map(from_text).fold(limit, f64::min);
        // The line itself may return to its label.
        let own = polyline.points.iter().filter(|p| distance(**p, centre) > 1.8 * half);
        own.map(from_text).fold(nearest, f64::min)
    }
}

fn rectangle(centre: Point, rotation: f64, half: f64, tall: f64) -> [Point; 4] {
    let (sin, cos) = rotation.to_radians().sin_cos();
    [[-half, -tall], [half, -tall], [half, tall], [-half, tall]]
        .map(|[x, y]| [centre[0] + x * cos - y * sin, centre[1] + x * sin + y * cos])
}

fn within(point: Point, centre: Point, rotation: f64, half: f64, tall: f64) -> bool {
    let (sin, cos) = rotation.to_radians().sin_cos();
    let (x, y) = (point[0] - centre[0], point[1] - centre[1]);
    (x * cos + y * sin).abs() <= half && (y * cos - x * sin).abs() <= tall
}

/// The line without the segment of its label.
pub(crate) fn interrupted(points: &[Point], closed: bool, (start, end): (f64, f64)) -> Vec<Vec<Point>> {
    let polyline = Polyline::new(points);
    let before = |s: &f64| *s < start;
    let after = |s: &f64| *s > end;
    let pick = |keep: &dyn Fn(&f64) -> bool| -> Vec<Point> {
        points.iter().zip(&polyline.lengths).filter(|(_, s)| keep(s)).map(|(p, _)| *p).collect()
    };
    let (mut head, tail) = (pick(&before), pick(&after));
    head.push(polyline.at(start));
    let mut rest = vec![polyline.at(end)];
    rest.extend(tail);
    if closed {
        // One polyline from the end of the gap to its start.
        rest.extend(head);
        return vec![rest];
    }
    vec![head, rest]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(radius: f64, text: &str) -> LabelledLine {
        let angle = |i: i32| f64::from(i) * std::f64::consts::TAU / 180.0;
        let points =
            (0..=180).map(|i| [500.0 + radius * angle(i).cos(), 400.0 + radius * angle(i).sin()]).collect();
        LabelledLine { points, text: text.into() }
    }

    #[test]
    fn labels_are_on_their_lines_inside_the_frame_and_do_not_overlap() {
        let area = Rect { left: 100.0, top: 100.0, right: 900.0, bottom: 700.0 };
        let lines: Vec<LabelledLine> =
            (1..12).map(|i| circle(45.0 * f64::from(i), &format!("0.{i}"))).collect();
        let labels = place(&lines, area, 20.0, &[]);
        assert!(labels.len() >= 5, "{}", labels.len());
        for (i, label) in labels.iter().enumerate() {
            assert!(label.corners.iter().all(|corner| area.contains(*corner)));
            let radius = 45.0 * (label.line + 1) as f64;
            assert!((distance(label.centre, [500.0, 400.0]) - radius).abs() < 6.0);
            assert!(labels[..i].iter().all(|other| !boxes_overlap(&other.corners, &label.corners)));
        }
    }

    #[test]
    fn lines_that_are_short_or_close_together_have_no_label() {
        let area = Rect { left: 0.0, top: 0.0, right: 1000.0, bottom: 800.0 };
        assert!(place(&[circle(12.0, "0.5")], area, 20.0, &[]).is_empty());
        let crowded: Vec<LabelledLine> = (0..9).map(|i| circle(200.0 + 6.0 * f64::from(i), "0.5")).collect();
        assert!(place(&crowded, area, 20.0, &[]).len() <= 2);
        assert!(place(&[], area, 20.0, &[]).is_empty());
        assert!(
            place(&[LabelledLine { points: vec![[1.0, 1.0]], text: "0.5".into() }], area, 20.0, &[])
                .is_empty()
        );
    }

    #[test]
    fn the_gap_is_at_the_label() {
        let line: Vec<Point> = (0..=10).map(|i| [f64::from(i), 0.0]).collect();
        let parts = interrupted(&line, false, (3.5, 6.25));
        assert_eq!(parts[0].last(), Some(&[3.5, 0.0]));
        assert_eq!(parts[1].first(), Some(&[6.25, 0.0]));
        let ring = circle(100.0, "");
        let parts = interrupted(&ring.points, true, (50.0, 90.0));
        assert_eq!(parts.len(), 1);
        let length: f64 = parts[0].windows(2).map(|pair| distance(pair[0], pair[1])).sum();
        assert!((length - (Polyline::new(&ring.points).length() - 40.0)).abs() < 1e-6);
    }
}
