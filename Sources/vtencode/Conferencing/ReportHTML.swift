// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes the parts of a report page, in HTML without external resources.
enum ReportHTML {
  static func page(title: String, tab: String, body: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
    <title>\(escaped(tab))</title>
    <style>
    :root { color-scheme: light dark; --paper: #fff; --ink: #222; --faint: #555; --grid: #ddd;
      --first: #2f62a8; --second: #c26a10; --key: #1f7a3f; --repair: #8a3aaa; --alarm: #c03030; --line: #777;
      --freeze: #f3c9c9 }
    @media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e4e6ea; --faint: #a8adb6; --grid: #3a3f47;
      --first: #7fb0f5; --second: #f0a860; --key: #6fd08c; --repair: #d094f0; --alarm: #ff8080; --line: #9aa0a8;
      --freeze: #5a2c2c } }
    body { font: 15px/1.4 sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: var(--ink);
      background: var(--paper) }
    h1 { font-size: 1.3em; overflow-wrap: anywhere } h2 { font-size: 1.1em; margin: 1.6em 0 .3em }
    table { border-collapse: collapse } td { padding: .15em 1.2em .15em 0; vertical-align: top }
    td:first-child { color: var(--faint) }
    .scroll { overflow-x: auto } svg { width: 100%; min-width: 860px; height: auto; display: block }
    svg text { font: 12px sans-serif; fill: var(--faint) }
    @media (max-width: 900px) { .scroll::before { content: "Scroll the chart sideways to see all of it \\2192";
      position: sticky; left: 0; display: inline-block; font-size: .85em; color: var(--faint) } }
    .legend { margin: .2em 0 .4em } .legend span { display: inline-block; margin-right: 1.2em }
    .legend svg { display: inline-block; min-width: 0; width: 1.6em; height: .9em; margin-right: .4em;
      vertical-align: -.05em }
    @media (max-width: 480px) { body { margin: 1em auto }
      td { display: block; padding: 0; overflow-wrap: anywhere }
      td:first-child { padding-top: .4em } }
    </style></head><body>
    <h1>\(escaped(title))</h1>
    \(body)
    </body></html>

    """
  }

  static func heading(_ text: String) -> String { "<h2>\(escaped(text))</h2>\n" }

  static func table(_ rows: [(name: String, value: String)]) -> String {
    "<table>"
      + rows.map { "<tr><td>\(escaped($0.name))</td><td>\(escaped($0.value))</td></tr>" }.joined()
      + "</table>"
  }

  /// A legend that explains the marks of a chart.
  static func legend(_ items: [(mark: ChartMark, text: String)]) -> String {
    guard !items.isEmpty else { return "" }
    let keys = items.map { "<span>\($0.mark.sample)\(escaped($0.text))</span>" }
    return "<div class=\"legend\">" + keys.joined(separator: " ") + "</div>\n"
  }

  static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
  }
}
