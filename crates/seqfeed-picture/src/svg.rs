//! Draws a scene as SVG. Text stays text; images are embedded as PNG.

use std::fmt::Write as _;

use base64::Engine as _;
use seqfeed_core::Result;

use crate::colors::{BACKGROUND, Color};
use crate::pixels::encode;
use crate::scene::{Anchor, Rectangle, Scene, Shape, Size, Text};

/// The scene as the text of an SVG file.
pub(crate) fn svg(scene: &Scene) -> Result<String> {
    let (width, height) = (scene.width, scene.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
         {height}\" font-family=\"Inter, 'Helvetica Neue', Arial, sans-serif\">\n"
    );
    let whole = Rectangle { x: 0.0, y: 0.0, width, height };
    rectangle(&mut out, whole, &format!("fill=\"{}\"", hex(BACKGROUND)));
    for item in &scene.items {
        match item {
            Shape::Rectangle { at, color } => {
                rectangle(&mut out, *at, &format!("fill=\"{}\"", hex(*color)));
            }
            Shape::Outline { at, color } => {
                rectangle(&mut out, *at, &format!("fill=\"none\" stroke=\"{}\"", hex(*color)));
            }
            Shape::Text(line) => text(&mut out, line),
            Shape::Image { at, raster } => {
                let png = encode(raster.width, raster.height, raster.pixels.as_flattened())?;
                let data = base64::engine::general_purpose::STANDARD.encode(png);
                let Rectangle { x, y, width, height } = at;
                let _ = writeln!(
                    out,
                    "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
                     preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
                     href=\"data:image/png;base64,{data}\"/>"
                );
            }
        }
    }
    out.push_str("</svg>\n");
    Ok(out)
}

fn rectangle(out: &mut String, at: Rectangle, style: &str) {
    let Rectangle { x, y, width, height } = at;
    let _ = writeln!(
        out,
        "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" {style}/>"
    );
}

fn text(out: &mut String, line: &Text) {
    let Text { x, y, anchor, size, color, upwards, text } = line;
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let weight = if *size == Size::Title { " font-weight=\"600\"" } else { "" };
    let turn =
        if *upwards { format!(" transform=\"rotate(-90 {x:.2} {y:.2})\"") } else { String::new() };
    let _ = writeln!(
        out,
        "<text x=\"{x:.2}\" y=\"{y:.2}\" dy=\"0.35em\" font-size=\"{}\"{weight} text-anchor=\"{anchor}\" \
         fill=\"{}\"{turn}>{}</text>",
        size.height(),
        hex(*color),
        escape(text)
    );
}

fn hex([r, g, b]: Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Escapes text for XML, and removes forbidden characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cannot_write_svg() {
        assert_eq!(escape("a<script>&\"\u{1b}"), "a&lt;script&gt;&amp;&quot;\u{fffd}");
    }
}
