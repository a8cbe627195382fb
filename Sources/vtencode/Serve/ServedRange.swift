// SPDX-License-Identifier: Apache-2.0

/// The byte range of a request's header `Range` (RFC 9110, 14).
enum ServedRange: Equatable {
  /// The whole file: there is no such header, or one that a server may ignore.
  case whole
  case part(Range<Int>)
  /// No byte of the file.
  case unsatisfiable

  /// - Parameters:
  ///   - header: the value of the header; nil if there is none.
  ///   - size: the size of the file in bytes.
  init(_ header: String?, size: Int) {
    self = .whole
    // Several ranges may be answered with all of the file (14.2).
    guard let header, header.utf8.count < 100, header.lowercased().hasPrefix("bytes="), !header.contains(",")
    else { return }
    let bounds = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
      .map { $0.trimmingPrefix(while: { $0 == " " }) }
    guard bounds.count == 2 else { return }
    func number(_ text: Substring) -> Int? {
      guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
      // A number that is too large for a size is one beyond every file's end.
      return Int(text) ?? .max
    }
    if bounds[0].isEmpty {
      guard let count = number(bounds[1]) else { return }
      self = count == 0 || size == 0 ? .unsatisfiable : .part(max(size - count, 0)..<size)
      return
    }
    guard let first = number(bounds[0]) else { return }
    var last = Int.max - 1
    if !bounds[1].isEmpty {
      guard let given = number(bounds[1]), given >= first else { return }
      last = given
    }
    self = first >= size ? .unsatisfiable : .part(first..<min(last, size - 1) + 1)
  }
}
