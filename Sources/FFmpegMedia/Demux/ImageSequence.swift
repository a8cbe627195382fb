// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A sequence of image files that are numbered without gaps, such as `frame%04d.png`.
package struct ImageSequence: Sendable, Equatable {
  /// The pattern for libavformat's image2 demuxer: the path, with the percent signs of its folder
  /// escaped.
  let pattern: String
  /// The lowest number of a file.
  package let first: Int
  /// The lowest missing number between two files; nil if there is none. image2 would end there, or
  /// skip it.
  let missing: Int?
  /// The name of an image that is not a regular file; nil if there is none. Opening a pipe would
  /// block until somebody writes into it, and a device has no end.
  let obstacle: String?

  /// Lists the files that match a pattern; nil if the path has no number to fill in, if a file has
  /// just this name, or if no file matches.
  /// - Parameter path: A path whose last component has `%d`, or `%04d` for four digits.
  package init?(_ path: String) {
    let name = (path as NSString).lastPathComponent
    guard let number = Self.number(in: name), !FileManager.default.fileExists(atPath: path) else {
      return nil
    }
    let folder = folderPath(path)
    let before = name[..<number.range.lowerBound]
    let after = name[number.range.upperBound...]
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
    var obstacle: String?
    let numbers = names.compactMap { entry -> Int? in
      guard entry.count > before.count + after.count, entry.hasPrefix(before), entry.hasSuffix(after) else {
        return nil
      }
      let digits = entry.dropFirst(before.count).dropLast(after.count)
      guard digits.allSatisfy({ ("0"..."9").contains($0) }), let value = Int32(digits),
        digits.count == max(number.digits, String(value).count)
      else { return nil }
      var fileStatus = stat()
      if stat((folder.isEmpty ? "" : folder + "/") + entry, &fileStatus) == 0,
        fileStatus.st_mode & S_IFMT != S_IFREG
      {
        obstacle = obstacle ?? entry
      }
      return Int(value)
    }
    guard let first = numbers.min() else { return nil }
    self.obstacle = obstacle
    self.first = first
    let all = Set(numbers)
    missing = all.count == (numbers.max() ?? first) - first + 1 ? nil : (first...).first { !all.contains($0) }
    pattern = folder.isEmpty ? name : folder.replacingOccurrences(of: "%", with: "%%") + "/" + name
  }

  /// Whether the last component of a path has a number to fill in.
  package static func isPattern(_ path: String) -> Bool {
    number(in: (path as NSString).lastPathComponent) != nil
  }

  /// Where a name has its only `%d` or `%04d`, and the least number of digits; nil if it has none
  /// or several.
  private static func number(in name: String) -> (range: Range<String.Index>, digits: Int)? {
    guard let sign = name.firstIndex(of: "%"), name.lastIndex(of: "%") == sign else { return nil }
    let rest = name[name.index(after: sign)...]
    guard let end = rest.firstIndex(of: "d") else { return nil }
    let width = rest[..<end]
    guard width.isEmpty || width.first == "0" && width.count <= 3, let digits = Int("0" + width) else {
      return nil
    }
    return (sign..<name.index(after: end), digits)
  }
}
