//! Where the numbers on contour lines go: on flat stretches with room around them, never across the edge.

use super::font;
use super::scene::{Point, Rect, overlap};

/// A line of equal depth in the picture.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) points: Vec<Point>,
    /// What is written on it.
    pub(super) text: String,
}

/// A label on a line.
#[derive(Debug, Clone)]
pub(super) struct Label {
    /// Which line.
    pub(super) course: usize,
    /// The middle of the text, half of its height above the line it is written on.
    pub(super) centre: Point,
    /// Degrees, clockwise.
    pub(super) turn: f64,
    /// The stretch of the line, by length, that makes room for it.
    pub(super) gap: (f64, f64),
    corners: [Point; 4],
}

/// A point of a line, and how far along it is.
struct Walk {
    points: Vec<Point>,
    lengths: Vec<f64>,
}

impl Walk {
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

/// Finds places for labels of the given size, at most one a line and two a text; lines without a good place have none.
pub(super) fn place(courses: &[Course], area: Rect, size: f64, points: &[Point]) -> Vec<Label> {
    let walks: Vec<Walk> = courses.iter().map(|course| Walk::new(&course.points)).collect();
    // All lines as points close to one another, to see how much room there is.
    let dense: Vec<Vec<Point>> = walks.iter().map(|walk| steps(walk, 0.4 * size)).collect();
    let mut order: Vec<usize> = (0..courses.len()).collect();
    order.sort_by(|&a, &b| walks[b].length().total_cmp(&walks[a].length()));
    let mut labels: Vec<Label> = Vec::new();
    for course in order {
        let text = &courses[course].text;
        if labels.iter().filter(|label| courses[label.course].text == *text).count() >= 2 {
            continue;
        }
        let room = Room { area, size, points, dense: &dense, taken: &labels };
        if let Some(label) = room.best(course, &walks[course], text) {
            labels.push(label);
        }
    }
    labels
}

fn steps(walk: &Walk, step: f64) -> Vec<Point> {
    if walk.points.len() < 2 {
        return walk.points.clone();
    }
    let count = (walk.length() / step).ceil().clamp(1.0, 20_000.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let count = count as usize;
    (0..=count).map(|i| walk.at(walk.length() * i as f64 / count as f64)).collect()
}

struct Room<'a> {
    area: Rect,
    size: f64,
    points: &'a [Point],
    dense: &'a [Vec<Point>],
    taken: &'a [Label],
}

impl Room<'_> {
    fn best(&self, course: usize, walk: &Walk, text: &str) -> Option<Label> {
        let half = (0.5 * font::width(text) + 0.35) * self.size;
        if walk.points.len() < 2 || walk.length() < 3.2 * half {
            return None;
        }
        let step = 0.5 * self.size;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most some thousands")]
        let count = ((walk.length() - 2.0 * half) / step).clamp(0.0, 5000.0) as usize;
        let tried = (0..=count).filter_map(|i| self.tried(course, walk, half + step * i as f64, half));
        tried.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, label)| label)
    }

    /// How bad a label at this place would be, if it is possible at all.
    fn tried(&self, course: usize, walk: &Walk, s: f64, half: f64) -> Option<(f64, Label)> {
        let (from, to, size) = (walk.at(s - half), walk.at(s + half), self.size);
        let (dx, dy, chord) = (to[0] - from[0], to[1] - from[1], distance(from, to));
        if chord < 1.9 * half {
            return None;
        }
        let (ux, uy) = (dx / chord, dy / chord);
        // How far the line strays from the straight one that is written on.
        let offset = |p: Point| (p[0] - from[0]) * -uy + (p[1] - from[1]) * ux;
        let strays = (1..8).map(|k| offset(walk.at(s - half + 2.0 * half * f64::from(k) / 8.0)));
        let (low, high) = strays.fold((0.0f64, 0.0f64), |(low, high), o| (low.min(o), high.max(o)));
        if high - low > 0.3 * size {
            return None;
        }
        let middle = f64::midpoint(low, high);
        let centre =
            [f64::midpoint(from[0], to[0]) - uy * middle, f64::midpoint(from[1], to[1]) + ux * middle];
        let mut turn = dy.atan2(dx).to_degrees();
        if turn > 90.0 {
            turn -= 180.0;
        } else if turn <= -90.0 {
            turn += 180.0;
        }
        let corners = around(centre, turn, half, 0.62 * size);
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
        let wide = around(centre, turn, half + 0.6 * size, 1.2 * size);
        if self.taken.iter().any(|label| overlap(&label.corners, &wide)) {
            return None;
        }
        let clear = self.clearance(course, walk, centre, turn, half);
        if clear < 0.75 * size {
            return None;
        }
        let covered = self
            .points
            .iter()
            .filter(|point| within(**point, centre, turn, half + 0.2 * size, 0.8 * size))
            .count();
        let cost = 3.0 * (high - low) / size
            + turn.abs() / 60.0
            + (2.2 - clear / size).max(0.0)
            + 0.8 * (covered as f64).min(6.0);
        Some((cost, Label { course, centre, turn, gap: (s - half, s + half), corners }))
    }

    /// How close another line comes to the middle of the text.
    fn clearance(&self, course: usize, walk: &Walk, centre: Point, turn: f64, half: f64) -> f64 {
        let (sin, cos) = turn.to_radians().sin_cos();
        let (ends, reach) = ([-half, half], 3.0 * self.size);
        let from_text = |point: &Point| {
            let (x, y) = (point[0] - centre[0], point[1] - centre[1]);
            let along = (x * cos + y * sin).clamp(ends[0], ends[1]);
            (x - along * cos).hypot(y - along * sin)
        };
        let others =
            self.dense.iter().enumerate().filter(|(other, _)| *other != course).flat_map(|(_, line)| line);
        let nearest = others.map(from_text).fold(reach, f64::min);
        // The line itself may come back.
        let own = walk.points.iter().filter(|p| distance(**p, centre) > 1.8 * half);
        own.map(from_text).fold(nearest, f64::min)
    }
}

fn around(centre: Point, turn: f64, half: f64, tall: f64) -> [Point; 4] {
    let (sin, cos) = turn.to_radians().sin_cos();
    [[-half, -tall], [half, -tall], [half, tall], [-half, tall]]
        .map(|[x, y]| [centre[0] + x * cos - y * sin, centre[1] + x * sin + y * cos])
}

fn within(point: Point, centre: Point, turn: f64, half: f64, tall: f64) -> bool {
    let (sin, cos) = turn.to_radians().sin_cos();
    let (x, y) = (point[0] - centre[0], point[1] - centre[1]);
    (x * cos + y * sin).abs() <= half && (y * cos - x * sin).abs() <= tall
}

/// The line without the stretch that its label takes.
pub(super) fn interrupted(points: &[Point], closed: bool, (start, end): (f64, f64)) -> Vec<Vec<Point>> {
    let walk = Walk::new(points);
    let before = |s: &f64| *s < start;
    let after = |s: &f64| *s > end;
    let pick = |keep: &dyn Fn(&f64) -> bool| -> Vec<Point> {
        points.iter().zip(&walk.lengths).filter(|(_, s)| keep(s)).map(|(p, _)| *p).collect()
    };
    let (mut head, tail) = (pick(&before), pick(&after));
    head.push(walk.at(start));
    let mut rest = vec![walk.at(end)];
    rest.extend(tail);
    if closed {
        // From the end of the gap once around to its start.
        rest.extend(head);
        return vec![rest];
    }
    vec![head, rest]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(radius: f64, text: &str) -> Course {
        let angle = |i: i32| f64::from(i) * std::f64::consts::TAU / 180.0;
        let points =
            (0..=180).map(|i| [500.0 + radius * angle(i).cos(), 400.0 + radius * angle(i).sin()]).collect();
        Course { points, text: text.into() }
    }

    #[test]
    fn labels_are_on_their_lines_inside_and_apart() {
        let area = Rect { left: 100.0, top: 100.0, right: 900.0, bottom: 700.0 };
        let courses: Vec<Course> = (1..12).map(|i| circle(45.0 * f64::from(i), &format!("0.{i}"))).collect();
        let labels = place(&courses, area, 20.0, &[]);
        assert!(labels.len() >= 5, "{}", labels.len());
        for (i, label) in labels.iter().enumerate() {
            assert!(label.corners.iter().all(|corner| area.contains(*corner)));
            let radius = 45.0 * (label.course + 1) as f64;
            assert!((distance(label.centre, [500.0, 400.0]) - radius).abs() < 6.0);
            assert!(labels[..i].iter().all(|other| !overlap(&other.corners, &label.corners)));
        }
    }

    #[test]
    fn a_crowded_or_short_line_has_no_label() {
        let area = Rect { left: 0.0, top: 0.0, right: 1000.0, bottom: 800.0 };
        assert!(place(&[circle(12.0, "0.5")], area, 20.0, &[]).is_empty());
        let crowded: Vec<Course> = (0..9).map(|i| circle(200.0 + 6.0 * f64::from(i), "0.5")).collect();
        assert!(place(&crowded, area, 20.0, &[]).len() <= 2);
        assert!(place(&[], area, 20.0, &[]).is_empty());
        assert!(
            place(&[Course { points: vec![[1.0, 1.0]], text: "0.5".into() }], area, 20.0, &[]).is_empty()
        );
    }

    #[test]
    fn the_gap_is_where_the_label_is() {
        let line: Vec<Point> = (0..=10).map(|i| [f64::from(i), 0.0]).collect();
        let parts = interrupted(&line, false, (3.5, 6.25));
        assert_eq!(parts[0].last(), Some(&[3.5, 0.0]));
        assert_eq!(parts[1].first(), Some(&[6.25, 0.0]));
        let ring = circle(100.0, "");
        let parts = interrupted(&ring.points, true, (50.0, 90.0));
        assert_eq!(parts.len(), 1);
        let length: f64 = parts[0].windows(2).map(|pair| distance(pair[0], pair[1])).sum();
        assert!((length - (Walk::new(&ring.points).length() - 40.0)).abs() < 1e-6);
    }
}
