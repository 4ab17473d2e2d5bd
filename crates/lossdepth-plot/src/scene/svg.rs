//! A scene as SVG. Text stays text, so that it can be searched, edited and read by screen readers.

use super::colour::Colour;
use super::raster;
use super::{Anchor, Image, Item, Path, Rect, Scene, Stroke, Text};
use std::fmt::Write;

pub(crate) fn svg(scene: &Scene) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escape(&scene.description)
    );
    let mut clips: Vec<Rect> = Vec::new();
    for item in &scene.items {
        match item {
            Item::Path(path) => {
                let clip = path.clip.map(|clip| clip_id(&mut out, &mut clips, clip));
                write_path(&mut out, path, clip);
            }
            Item::Text(text) => write_text(&mut out, text),
            Item::Image(image) => write_image(&mut out, image),
        }
    }
    out + "</svg>\n"
}

/// The number of a clipping rectangle, which is written when first needed.
fn clip_id(out: &mut String, clips: &mut Vec<Rect>, clip: Rect) -> usize {
    if let Some(known) = clips.iter().position(|known| *known == clip) {
        return known;
    }
    clips.push(clip);
    let (x, y, w, h) = (round(clip.left), round(clip.top), round(clip.width()), round(clip.height()));
    let id = clips.len() - 1;
    let _ = writeln!(
        out,
        "<clipPath id=\"clip{id}\"><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/></clipPath>"
    );
    id
}

fn write_path(out: &mut String, path: &Path, clip: Option<usize>) {
    let mut style = match path.fill {
        Some(colour) => format!("fill=\"{}\"{}", colour.hex(), opacity("fill", colour)),
        None => "fill=\"none\"".to_owned(),
    };
    if let Some(Stroke { colour, width, dash }) = path.stroke {
        let _ = write!(
            style,
            " stroke=\"{}\"{} stroke-width=\"{}\" stroke-linejoin=\"round\"",
            colour.hex(),
            opacity("stroke", colour),
            round(width)
        );
        if let Some([on, off]) = dash {
            let _ = write!(style, " stroke-dasharray=\"{} {}\"", round(on), round(off));
        }
    }
    let clip = clip.map(|id| format!(" clip-path=\"url(#clip{id})\"")).unwrap_or_default();
    if let Some(radius) = path.dots {
        let _ = writeln!(out, "<g {style}{clip}>");
        for [x, y] in path.lines.iter().flatten() {
            let _ =
                writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", round(*x), round(*y), round(radius));
        }
        out.push_str("</g>\n");
        return;
    }
    if path.separate {
        let _ = writeln!(out, "<g {style}{clip}>");
        for line in &path.lines {
            let _ = writeln!(out, "<path d=\"{}\"/>", data(std::slice::from_ref(line), path.closed));
        }
        out.push_str("</g>\n");
        return;
    }
    let data = data(&path.lines, path.closed);
    let _ = writeln!(out, "<path {style} fill-rule=\"evenodd\"{clip} d=\"{data}\"/>");
}

/// The `d` attribute of some polylines.
fn data(lines: &[Vec<[f64; 2]>], closed: bool) -> String {
    let mut data = String::new();
    for line in lines.iter().filter(|line| !line.is_empty()) {
        for (i, [x, y]) in line.iter().enumerate() {
            let _ = write!(data, "{}{} {}", if i == 0 { 'M' } else { 'L' }, round(*x), round(*y));
        }
        if closed {
            data.push('Z');
        }
    }
    data
}

fn write_text(out: &mut String, text: &Text) {
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y) = (round(text.at[0]), round(text.at[1]));
    let rotation = if text.rotation == 0.0 {
        String::new()
    } else {
        format!(" transform=\"rotate({} {x} {y})\"", round(text.rotation))
    };
    let halo = text.halo.map_or_else(String::new, |(colour, width)| {
        format!(
            " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
            colour.hex(),
            round(2.0 * width)
        )
    });
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{halo}{rotation}>{}</text>",
        round(text.size),
        text.colour.hex(),
        escape(&text.text)
    );
}

fn write_image(out: &mut String, image: &Image) {
    let Ok(bytes) = raster::encode(&image.pixels, image.columns, image.rows) else { return };
    let area = image.area;
    let style = if image.smooth { "" } else { " style=\"image-rendering:pixelated\"" };
    let _ = writeln!(
        out,
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\"{style} \
         xlink:href=\"data:image/png;base64,{}\"/>",
        round(area.left),
        round(area.top),
        round(area.width()),
        round(area.height()),
        base64(&bytes)
    );
}

fn opacity(of: &str, colour: Colour) -> String {
    if colour.opacity < 1.0 { format!(" {of}-opacity=\"{}\"", round(colour.opacity)) } else { String::new() }
}

/// Rounded to hundredths of a pixel.
fn round(x: f64) -> f64 {
    (100.0 * x).round() / 100.0 + 0.0
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 cannot represent them.
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

/// Base 64 with padding (RFC 4648).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (word >> (18 - 6 * place)) & 63;
            out.push(if place <= chunk.len() { DIGITS[digit as usize] as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_the_examples_of_rfc_4648() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b & \"c\"\u{0}\n"), "a&lt;b &amp; &quot;c&quot;  ");
    }
}
