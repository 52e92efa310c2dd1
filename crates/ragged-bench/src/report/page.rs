//! The HTML around the charts.

/// An HTML page under construction.
#[derive(Debug, Default)]
pub struct Page(String);

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>ragged: measurements</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff; max-width: 1140px; margin: 2em auto;
  padding: 0 1em; }
h1 { font-size: 1.7em; } h2 { margin-top: 2.2em; font-size: 1.25em; } h3 { font-size: 1em; margin: 1.5em 0 .3em; }
p { max-width: 75ch; }
svg { max-width: 100%; height: auto; display: block; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; margin: .6em 0 1.5em; }
th, td { padding: .15em .8em .15em 0; text-align: right; } th:first-child, td:first-child { text-align: left; }
th { border-bottom: 1px solid #8c959f; font-weight: 600; }
</style>
</head>
<body>
<h1>ragged: measurements</h1>
";

impl Page {
    /// Appends a heading of that level.
    pub fn heading(&mut self, level: u8, text: &str) {
        self.0 += &format!("<h{level}>{}</h{level}>\n", escaped(text));
    }

    /// Appends a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.0 += &format!("<p>{}</p>\n", escaped(text));
    }

    /// Appends a chart.
    pub fn svg(&mut self, svg: &str) {
        self.0 += svg;
        self.0.push('\n');
    }

    /// Appends a table; its first column is text.
    pub fn table(&mut self, header: &[String], rows: &[Vec<String>]) {
        let line = |tag: &str, cells: &[String]| {
            let cells: String = cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escaped(c))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let rows: String = rows.iter().map(|cells| line("td", cells)).collect();
        self.0 += &format!("<table>\n{}{rows}</table>\n", line("th", header));
    }

    /// Completes the file.
    pub fn finish(self) -> String {
        format!("{HEAD}{}</body>\n</html>\n", self.0)
    }
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
