//! Heat map of throughput over mean length and skew of rows.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::measurement::{self, Measurement};
use super::page::Page;
use super::style;
use crate::lengths::Sweep;
use crate::table::grouped;

/// Size of a cell, and the margins to the left and above.
const CELL: (i32, i32) = (108, 42);
const LEFT: i32 = 150;
const TOP: i32 = 44;

/// Draws a map for each swept operation of one device.
///
/// # Errors
/// The chart cannot be drawn.
pub fn draw(page: &mut Page, device: &str, of_device: &[&Measurement]) -> Result<()> {
    let swept: Vec<(Sweep, &Measurement)> = of_device.iter().filter_map(|m| Some((m.sweep?, *m))).collect();
    if swept.is_empty() {
        return Ok(());
    }
    page.heading(2, &format!("Row lengths: {device}"));
    page.paragraph(
        "GB/s of the lower bound on bytes, by mean row length (vertical) and skew (horizontal: the standard deviation of \
         the lengths' logarithms; 0 means equal lengths). Below, and as the colour: the ratio to a plain copy's GB/s.",
    );
    for ((op, values), cells) in measurement::by(&swept, |(_, m)| (m.op.clone(), m.values)) {
        let cells: Vec<Cell> = cells.into_iter().filter_map(|(sweep, m)| Cell::new(*sweep, m)).collect();
        if cells.is_empty() {
            continue;
        }
        page.heading(3, &format!("{op}, {} values", grouped(values)));
        page.svg(&map(&cells)?);
    }
    Ok(())
}

struct Cell {
    sweep: Sweep,
    gb_s: f64,
    copy: Option<f64>,
}

impl Cell {
    fn new(sweep: Sweep, m: &Measurement) -> Option<Self> {
        Some(Self { sweep, gb_s: m.gb_s()?, copy: m.copy_gb_s.filter(|c| *c > 0.0) })
    }
}

fn map(cells: &[Cell]) -> Result<String> {
    let mut means: Vec<u32> = cells.iter().map(|c| c.sweep.mean).collect();
    let mut skews: Vec<f64> = cells.iter().map(|c| c.sweep.skew).collect();
    means.sort_unstable();
    means.dedup();
    skews.sort_by(f64::total_cmp);
    skews.dedup();
    let best = cells.iter().map(|c| c.gb_s).fold(0.0, f64::max);
    let size = (LEFT + CELL.0 * skews.len() as i32 + 10, TOP + CELL.1 * means.len() as i32 + 10);
    style::svg((size.0 as u32, size.1 as u32), |area| {
        for (k, skew) in skews.iter().enumerate() {
            let at = (LEFT + CELL.0 * k as i32 + CELL.0 / 2, TOP - 8);
            let text = if k == 0 { format!("skew {skew}") } else { skew.to_string() };
            area.draw(&Text::new(text, at, style::text(14, BLACK, HPos::Center, VPos::Bottom)))?;
        }
        for (k, mean) in means.iter().enumerate() {
            let at = (LEFT - 10, TOP + CELL.1 * k as i32 + CELL.1 / 2);
            let text = if k == 0 { format!("mean length {mean}") } else { mean.to_string() };
            area.draw(&Text::new(text, at, style::text(14, BLACK, HPos::Right, VPos::Center)))?;
        }
        for cell in cells {
            let column = skews.iter().position(|s| *s == cell.sweep.skew).unwrap_or(0) as i32;
            let row = means.iter().position(|m| *m == cell.sweep.mean).unwrap_or(0) as i32;
            let (x, y) = (LEFT + CELL.0 * column, TOP + CELL.1 * row);
            let share = cell.gb_s / cell.copy.unwrap_or(best);
            let (colour, ink) = shade(share);
            area.draw(&Rectangle::new([(x, y), (x + CELL.0 - 2, y + CELL.1 - 2)], colour.filled()))?;
            let middle = (x + CELL.0 / 2 - 1, y + CELL.1 / 2 - 1);
            let first = style::text(14, ink, HPos::Center, VPos::Bottom);
            area.draw(&Text::new(style::short(cell.gb_s), (middle.0, middle.1 + 1), first))?;
            if cell.copy.is_some() {
                let second = style::text(12, ink, HPos::Center, VPos::Top);
                area.draw(&Text::new(format!("{:.0} %", 100.0 * share), (middle.0, middle.1 + 3), second))?;
            }
        }
        Ok(())
    })
}

/// The colour of a share, from pale for 0 to dark blue for 1, and the colour of text on it.
fn shade(share: f64) -> (RGBColor, RGBColor) {
    let share = share.clamp(0.0, 1.0);
    let mix = |from: f64, to: f64| (from + (to - from) * share) as u8;
    let colour = RGBColor(mix(236.0, 8.0), mix(242.0, 48.0), mix(249.0, 107.0));
    (colour, if share > 0.45 { WHITE } else { BLACK })
}
