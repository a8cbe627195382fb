// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Synchronization

/// The description of a pixel format.
struct PixelFormat: Sendable {
  struct Plane: Sendable, Equatable {
    /// The width in pixels of a block: the smallest group of pixels that fills whole bytes (or a
    /// unit of the format, as in v210).
    var blockWidth = 1
    var blockHeight = 1
    var bitsPerBlock: Int
    /// The number of blocks in a row is a multiple of this.
    var blockHorizontalAlignment = 1
    var blockVerticalAlignment = 1
    var horizontalSubsampling = 1
    var verticalSubsampling = 1
    /// The bytes of a black block; empty means all zeros.
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
  /// The range of the components; nil for formats without one (indexed colours, depth).
  var range: Range?
  var bitsPerComponent: Int
  /// Whether the planes are accessed separately; a planar format may have a single plane.
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

  /// Finds the format of a code, among the built-in ones first, then among those that the program
  /// has registered.
  static func find(_ code: OSType) -> PixelFormat? {
    builtIn[code] ?? registered.withLock { $0[code]?.format }
  }

  /// Returns a code as four characters in quotes, or as a decimal number if a byte is not printable
  /// ASCII (such as `kCVPixelFormatType_32ARGB`, 32).
  static func text(_ code: OSType) -> String {
    let bytes = withUnsafeBytes(of: code.bigEndian, Array.init)
    guard bytes.allSatisfy({ 0x20..<0x7F ~= $0 }) else { return String(code) }
    return "'" + String(decoding: bytes, as: UTF8.self) + "'"
  }

  static let builtIn = Dictionary(uniqueKeysWithValues: table.map { ($0.code, $0) })
  static let registered = Mutex<[OSType: Registered]>([:])

  /// A format that the program has registered.
  struct Registered: @unchecked Sendable {
    // Sendable: immutable property-list values, guarded by the mutex of `registered`.
    var format: PixelFormat
    var description: CFDictionary
  }
}
