//! A drawing before it is SVG or pixels: rectangles, lines, text, images.

use super::colors::Color;
use super::heat::Raster;

/// A drawing; units are about a pixel of a plain screen, from the upper left corner.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<Item>,
}

#[derive(Debug)]
pub(super) enum Item {
    Rectangle {
        at: Rectangle,
        color: Color,
    },
    /// The outline alone.
    Outline {
        at: Rectangle,
        color: Color,
    },
    Text(Text),
    Image {
        at: Rectangle,
        raster: Raster,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rectangle {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A line of text.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) x: f64,
    /// The middle of its height.
    pub(super) y: f64,
    pub(super) anchor: Anchor,
    pub(super) size: Size,
    pub(super) color: Color,
    /// Upwards, turned to the left.
    pub(super) upwards: bool,
    pub(super) text: String,
}

/// What of a text lies at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Small,
    Title,
}

impl Size {
    /// Height of its letters with what hangs below.
    pub(super) fn height(self) -> f64 {
        match self {
            Size::Small => 12.0,
            Size::Title => 16.0,
        }
    }
}

impl Scene {
    pub(super) fn rectangle(&mut self, at: Rectangle, color: Color) {
        self.items.push(Item::Rectangle { at, color });
    }

    pub(super) fn outline(&mut self, at: Rectangle, color: Color) {
        self.items.push(Item::Outline { at, color });
    }

    pub(super) fn image(&mut self, at: Rectangle, raster: Raster) {
        self.items.push(Item::Image { at, raster });
    }

    pub(super) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        color: Color,
        text: impl Into<String>,
    ) {
        let (size, upwards) = (Size::Small, false);
        self.items.push(Item::Text(Text { x, y, anchor, size, color, upwards, text: text.into() }));
    }

    pub(super) fn title(&mut self, x: f64, y: f64, color: Color, text: impl Into<String>) {
        let (size, upwards, anchor) = (Size::Title, false, Anchor::Start);
        self.items.push(Item::Text(Text { x, y, anchor, size, color, upwards, text: text.into() }));
    }

    pub(super) fn upwards(&mut self, x: f64, y: f64, color: Color, text: impl Into<String>) {
        let (size, upwards, anchor) = (Size::Small, true, Anchor::Middle);
        self.items.push(Item::Text(Text { x, y, anchor, size, color, upwards, text: text.into() }));
    }
}
