//! What is in a picture, in pixels from the top left corner.

use super::colour::Colour;
use super::font;

/// A place in the picture.
pub(super) type Point = [f64; 2];

/// Shapes and words, the later ones on top.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) items: Vec<Item>,
    /// Said to those who cannot see it, and by programs that show the file.
    pub(super) description: String,
}

#[derive(Debug)]
pub(super) enum Item {
    Path(Path),
    Text(Text),
    Image(Image),
}

/// Some lines, drawn and filled together (even-odd) unless they are separate.
#[derive(Debug, Default, Clone)]
pub(super) struct Path {
    pub(super) lines: Vec<Vec<Point>>,
    pub(super) closed: bool,
    /// A circle of this radius around every point instead of lines between them.
    pub(super) dots: Option<f64>,
    /// Each line is a shape of its own, the later ones on top.
    pub(super) separate: bool,
    pub(super) fill: Option<Colour>,
    pub(super) stroke: Option<Stroke>,
    /// Nothing is drawn outside of it.
    pub(super) clip: Option<Rect>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke {
    pub(super) colour: Colour,
    pub(super) width: f64,
    /// On and off.
    pub(super) dash: Option<[f64; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Debug, Clone)]
#[expect(clippy::struct_field_names, reason = "the text of a text")]
pub(super) struct Text {
    pub(super) text: String,
    /// Where its line starts, is centred or ends.
    pub(super) at: Point,
    pub(super) anchor: Anchor,
    pub(super) size: f64,
    pub(super) colour: Colour,
    /// Degrees, clockwise.
    pub(super) turn: f64,
    /// A margin of another colour around the letters.
    pub(super) halo: Option<(Colour, f64)>,
}

/// Pixels, stretched over a rectangle.
#[derive(Debug, Clone)]
pub(super) struct Image {
    pub(super) area: Rect,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// From the top left, line by line.
    pub(super) pixels: Vec<Colour>,
    /// Blended where it is stretched; otherwise every pixel is a square of one colour.
    pub(super) smooth: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(super) fn corners(&self) -> Vec<Point> {
        let Self { left, top, right, bottom } = *self;
        vec![[left, top], [right, top], [right, bottom], [left, bottom]]
    }

    pub(super) fn contains(&self, [x, y]: Point) -> bool {
        x >= self.left && x <= self.right && y >= self.top && y <= self.bottom
    }
}

impl Text {
    pub(super) fn width(&self) -> f64 {
        self.size * font::width(&self.text)
    }

    /// How far to the left of its place the text starts.
    pub(super) fn offset(&self) -> f64 {
        match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => self.width() / 2.0,
            Anchor::End => self.width(),
        }
    }

    /// The corners of the box around it.
    #[cfg(test)]
    pub(super) fn corners(&self) -> [Point; 4] {
        let (sin, cos) = self.turn.to_radians().sin_cos();
        let (left, up, down) = (-self.offset(), -font::CAPITAL * self.size, font::DESCENT * self.size);
        let right = left + self.width();
        [[left, up], [right, up], [right, down], [left, down]]
            .map(|[x, y]| [self.at[0] + x * cos - y * sin, self.at[1] + x * sin + y * cos])
    }
}

impl Scene {
    pub(super) fn new(width: u32, height: u32, description: String) -> Self {
        Self { width, height, items: Vec::new(), description }
    }

    pub(super) fn path(&mut self, path: Path) {
        self.items.push(Item::Path(path));
    }

    pub(super) fn text(&mut self, text: Text) {
        if !text.text.is_empty() {
            self.items.push(Item::Text(text));
        }
    }

    pub(super) fn image(&mut self, image: Image) {
        self.items.push(Item::Image(image));
    }

    /// A line between two points.
    pub(super) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.path(Path { lines: vec![vec![from, to]], stroke: Some(stroke), ..Path::default() });
    }

    #[cfg(test)]
    pub(super) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.items.iter().filter_map(|item| match item {
            Item::Text(text) => Some(text),
            _ => None,
        })
    }

    /// Checks that all words are within the picture.
    #[cfg(test)]
    pub(super) fn assert_tidy(&self) {
        for text in self.texts() {
            for [x, y] in text.corners() {
                let inside =
                    x >= 0.0 && y >= 0.0 && x <= f64::from(self.width) && y <= f64::from(self.height);
                assert!(inside, "{text:?} sticks out at {x}, {y}");
            }
        }
    }
}

/// Whether two boxes, turned or not, have a point in common: no line along a side of one of them is between them.
pub(super) fn overlap(a: &[Point; 4], b: &[Point; 4]) -> bool {
    let normals = |corners: &[Point; 4]| {
        [0, 1].map(|i| [corners[i + 1][1] - corners[i][1], corners[i][0] - corners[i + 1][0]])
    };
    let shadow = |corners: &[Point; 4], [x, y]: Point| {
        corners
            .iter()
            .map(|p| p[0] * x + p[1] * y)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)))
    };
    normals(a).into_iter().chain(normals(b)).all(|normal| {
        let ((low, high), (other_low, other_high)) = (shadow(a, normal), shadow(b, normal));
        low <= other_high && other_low <= high
    })
}
