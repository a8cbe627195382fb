// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The parts of a report page, in HTML that needs nothing else.
enum ReportHTML {
  static func page(title: String, tab: String, body: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8"><title>\(escaped(tab))</title>
    <style>
    body { font: 15px/1.4 sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222 }
    h1 { font-size: 1.3em; overflow-wrap: anywhere } h2 { font-size: 1.1em; margin: 1.6em 0 .3em }
    table { border-collapse: collapse } td { padding: .15em 1.2em .15em 0; vertical-align: top }
    td:first-child { white-space: nowrap; color: #555 }
    svg { width: 100%; height: auto } svg text { font: 12px sans-serif; fill: #444 }
    .legend { margin-left: -1em } .legend span { white-space: nowrap }
    .key { display: inline-block; width: .8em; height: .8em; margin: 0 .4em 0 1em }
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

  /// Colours and what they stand for.
  static func legend(_ items: [(color: String, text: String)]) -> String {
    guard !items.isEmpty else { return "" }
    let keys = items.map {
      "<span><span class=\"key\" style=\"background:\($0.color)\"></span>\(escaped($0.text))</span>"
    }
    return "<div class=\"legend\">" + keys.joined(separator: " ") + "</div>\n"
  }

  static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;")
  }
}
