//! Colours, number formats and SVG elements shared by the charts.

use std::error::Error;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width of a chart.
pub const WIDTH: u32 = 1100;

/// Colour-blind safe palette (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// Colour of the `k`-th series.
pub fn colour(k: usize) -> RGBColor {
    COLOURS[k % COLOURS.len()]
}

/// Colour of the grid lines.
pub const GRID: RGBColor = RGBColor(225, 228, 232);

/// Text style of the given size and anchor.
pub fn text(size: u32, colour: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    TextStyle { color: colour.to_backend_color(), ..TextStyle::from(("sans-serif", size)) }.pos(Pos::new(h, v))
}

/// A chart as SVG.
///
/// # Errors
/// The chart cannot be drawn.
pub fn svg(
    size: (u32, u32),
    draw: impl FnOnce(&DrawingArea<SVGBackend, Shift>) -> Result<(), Box<dyn Error>>,
) -> Result<String> {
    let mut out = String::new();
    {
        let area = SVGBackend::with_string(&mut out, size).into_drawing_area();
        let drawn = || {
            draw(&area)?;
            Ok::<_, Box<dyn Error>>(area.present()?)
        };
        drawn().map_err(|e| anyhow!("the chart cannot be drawn: {e}"))?;
    }
    Ok(out)
}

/// A range for a logarithmic axis, with a margin below the least number and above the greatest.
pub fn log_range(numbers: impl Iterator<Item = f64> + Clone, margin: f64) -> Option<std::ops::Range<f64>> {
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let greatest = numbers.fold(0.0, f64::max);
    (least > 0.0 && greatest.is_finite() && least <= greatest).then(|| least / margin..greatest * margin)
}

/// Formats a number with two or three significant digits.
pub fn short(n: f64) -> String {
    match n.abs() {
        a if a >= 99.5 => format!("{n:.0}"),
        a if a >= 0.95 => format!("{n:.1}"),
        a if a >= 0.095 => format!("{n:.2}"),
        _ => format!("{n:.3}"),
    }
}
