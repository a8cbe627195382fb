// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Changes to the boxes of a movie whose `moov` comes last, so that no sample moves.
enum MovieBytes {
  static func number(_ data: Data, _ at: Int) -> Int {
    data[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  static func big(_ value: Int, count: Int = 4) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) })
  }

  /// Adds a box at the end of the first picture description.
  static func addToDescription(_ box: Data, of entry: String = "avc1", in data: inout Data) throws {
    func place(_ type: String, after: Int) throws -> Int {
      guard let found = data.range(of: Data(type.utf8), in: after..<data.count) else {
        throw Tool.Failure(description: "no \(type)")
      }
      return found.lowerBound - 4
    }
    var at = 0
    var places: [Int] = []
    for type in ["moov", "trak", "mdia", "minf", "stbl", "stsd", entry] {
      at = try place(
        type, after: type == "moov" ? data.range(of: Data("mdat".utf8))?.upperBound ?? 0 : at + 4)
      places.append(at)
    }
    let last = places[places.count - 1]
    data.insert(contentsOf: box, at: last + number(data, last))
    for at in places { data.replaceSubrange(at..<at + 4, with: big(number(data, at) + box.count)) }
  }

  /// A `clap` box of a width, a height and offsets, whole numbers.
  static func cleanAperture(_ width: Int, _ height: Int, x: Int = 0, y: Int = 0) -> Data {
    var box = big(40)
    box.append(contentsOf: Array("clap".utf8))
    for value in [width, 1, height, 1, x, 1, y, 1] { box.append(big(value)) }
    return box
  }
}
