// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Synchronization

/// What Core Video knows about a pixel format.
struct PixelFormat: Sendable {
  struct Plane: Sendable, Equatable {
    /// The smallest group of pixels that fills whole bytes (or a codec's unit, as with v210).
    var blockWidth = 1
    var blockHeight = 1
    var bitsPerBlock: Int
    /// A row's count of blocks is a multiple of this.
    var blockHorizontalAlignment = 1
    var blockVerticalAlignment = 1
    var horizontalSubsampling = 1
    var verticalSubsampling = 1
    /// One block of black; empty means all zeros.
    var black: [UInt8] = []
  }

  enum Range: Sendable { case video, full, wide }

  struct Contents: OptionSet, Sendable {
    let rawValue: Int
    static let alpha = Contents(rawValue: 1)
    static let rgb = Contents(rawValue: 2)
    static let yCbCr = Contents(rawValue: 4)
    static let grayscale = Contents(rawValue: 8)
    static let senselArray = Contents(rawValue: 16)
  }

  var code: OSType
  var name: String
  var planes: [Plane]
  var contents: Contents
  /// The range of the components, nil where the notion does not apply (indexed colours, depth).
  var range: Range?
  var bitsPerComponent: Int
  /// Whether planes are addressed one by one; a planar format may have a single plane.
  var isPlanar: Bool

  init(
    _ code: OSType, _ name: String, _ planes: [Plane], _ contents: Contents, _ range: Range?, bits: Int,
    isPlanar: Bool? = nil
  ) {
    self.code = code
    self.name = name
    self.planes = planes
    self.contents = contents
    self.range = range
    bitsPerComponent = bits
    self.isPlanar = isPlanar ?? (planes.count > 1)
  }

  /// The format with a code, the built-in ones first, then those that the program registered.
  static func find(_ code: OSType) -> PixelFormat? {
    builtIn[code] ?? registered.withLock { $0[code]?.format }
  }

  /// A code as its four characters, or as a number if it is one of the old ones.
  static func text(_ code: OSType) -> String {
    let bytes = withUnsafeBytes(of: code.bigEndian, Array.init)
    guard bytes.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return String(code) }
    return "'" + String(decoding: bytes, as: UTF8.self) + "'"
  }

  static let builtIn = Dictionary(uniqueKeysWithValues: table.map { ($0.code, $0) })
  static let registered = Mutex<[OSType: Registered]>([:])

  /// A format that the program described itself.
  struct Registered: @unchecked Sendable {
    // Sendable: immutable property-list values, behind the mutex of the table.
    var format: PixelFormat
    var description: CFDictionary
  }
}
