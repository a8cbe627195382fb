// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation
import Synchronization

/// Converts colours between primaries and transfer functions, in linear light.
public struct ColorTransform: Sendable, Hashable {
  /// Code points of ITU-T H.273.
  public var sourcePrimaries: UInt8
  public var sourceTransfer: UInt8
  public var targetPrimaries: UInt8
  public var targetTransfer: UInt8

  /// Makes a transform between H.273 code points. Unspecified ones (2) stand for BT.709 (1).
  public init(sourcePrimaries: UInt8, sourceTransfer: UInt8, targetPrimaries: UInt8, targetTransfer: UInt8) {
    func known(_ code: UInt8) -> UInt8 { code == 2 ? 1 : code }
    self.sourcePrimaries = known(sourcePrimaries)
    self.sourceTransfer = known(sourceTransfer)
    self.targetPrimaries = known(targetPrimaries)
    self.targetTransfer = known(targetTransfer)
  }

  /// Whether source and target are the same.
  public var isIdentity: Bool {
    sourcePrimaries == targetPrimaries
      && TransferCurve(sourceTransfer) == TransferCurve(targetTransfer)
      && TransferCurve(sourceTransfer) != nil
  }

  /// Whether `apply(to:)` can do the conversion: all code points are known, and the target is not
  /// of high dynamic range unless it has the source's transfer function. From high dynamic range to
  /// another transfer function, tones are mapped (`ToneMapping`).
  public var isSupported: Bool {
    guard let from = TransferCurve(sourceTransfer), let to = TransferCurve(targetTransfer),
      Primaries(sourcePrimaries) != nil, Primaries(targetPrimaries) != nil
    else { return false }
    return from == to || !to.isHighRange
  }

  /// Converts the colours of a buffer of 64-bit RGBA (`kCVPixelFormatType_64RGBALE`) in place.
  /// - Parameter buffer: The buffer.
  /// - Returns: false if the buffer has another format, or the transform is not supported.
  public func apply(to buffer: CVPixelBuffer) -> Bool {
    guard CVPixelBufferGetPixelFormatType(buffer) == kCVPixelFormatType_64RGBALE, isSupported,
      let from = TransferCurve(sourceTransfer), let to = TransferCurve(targetTransfer),
      let matrix = Primaries.matrix(from: sourcePrimaries, to: targetPrimaries)
    else { return false }
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    guard let base = CVPixelBufferGetBaseAddress(buffer) else { return false }
    let decode = CurveTables.decoding(from)
    let mapping = from == to ? nil : ToneMapping(from)
    // Tone mapping results in display light, which is encoded by the inverse of BT.1886, and not by
    // the camera's function.
    let encode = CurveTables.encoding(mapping != nil && to == .bt709 ? .gamma24 : to)
    let stride = CVPixelBufferGetBytesPerRow(buffer)
    let width = CVPixelBufferGetWidth(buffer)
    decode.withUnsafeBufferPointer { decode in
      encode.withUnsafeBufferPointer { encode in
        for y in 0..<CVPixelBufferGetHeight(buffer) {
          let row = (base + y * stride).assumingMemoryBound(to: UInt16.self)
          for x in 0..<width {
            let pixel = row + 4 * x
            var r = decode[Int(pixel[0])]
            var g = decode[Int(pixel[1])]
            var b = decode[Int(pixel[2])]
            if let mapping {
              var gain = mapping.scale
              if from == .hlg { gain *= ToneMapping.displayGain(r, g, b) }
              gain *= mapping.gain(max(r, g, b) * gain)
              r *= gain
              g *= gain
              b *= gain
            }
            pixel[0] = encode[CurveTables.index(matrix.0 * r + matrix.1 * g + matrix.2 * b)]
            pixel[1] = encode[CurveTables.index(matrix.3 * r + matrix.4 * g + matrix.5 * b)]
            pixel[2] = encode[CurveTables.index(matrix.6 * r + matrix.7 * g + matrix.8 * b)]
          }
        }
      }
    }
    return true
  }
}

/// Transfer characteristics of ITU-T H.273, table 3.
enum TransferCurve: Hashable {
  /// The one function of BT.601, BT.709, BT.2020 and SMPTE 170M.
  case bt709
  case gamma22
  /// BT.1886 with a black level of zero, which has no code point.
  case gamma24
  case gamma28
  case smpte240
  case linear
  case sRGB
  case gamma26
  case pq
  case hlg

  init?(_ code: UInt8) {
    switch code {
    case 1, 6, 14, 15: self = .bt709
    case 4: self = .gamma22
    case 5: self = .gamma28
    case 7: self = .smpte240
    case 8: self = .linear
    case 13: self = .sRGB
    case 16: self = .pq
    case 17: self = .gamma26
    case 18: self = .hlg
    default: return nil
    }
  }

  var isHighRange: Bool { self == .pq || self == .hlg }

  /// Linear light, 0 to 1, of a non-linear signal, 0 to 1.
  func light(_ v: Double) -> Double {
    switch self {
    case .linear: v
    case .bt709:
      v < 4.5 * 0.018053968510807 ? v / 4.5 : pow((v + 0.09929682680944) / 1.09929682680944, 1 / 0.45)
    case .gamma22: pow(v, 2.2)
    case .gamma24: pow(v, 2.4)
    case .gamma28: pow(v, 2.8)
    case .gamma26: pow(v, 2.6)
    case .smpte240: v < 4 * 0.0228 ? v / 4 : pow((v + 0.1115) / 1.1115, 1 / 0.45)
    case .sRGB: v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    case .pq:
      pow(
        max(pow(v, 1 / 78.84375) - 0.8359375, 0) / (18.8515625 - 18.6875 * pow(v, 1 / 78.84375)),
        1 / 0.1593017578125)
    case .hlg: v <= 0.5 ? v * v / 3 : (exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }
  }

  /// The inverse of `light(_:)`.
  func signal(_ l: Double) -> Double {
    switch self {
    case .linear: l
    case .bt709: l < 0.018053968510807 ? 4.5 * l : 1.09929682680944 * pow(l, 0.45) - 0.09929682680944
    case .gamma22: pow(l, 1 / 2.2)
    case .gamma24: pow(l, 1 / 2.4)
    case .gamma28: pow(l, 1 / 2.8)
    case .gamma26: pow(l, 1 / 2.6)
    case .smpte240: l < 0.0228 ? 4 * l : 1.1115 * pow(l, 0.45) - 0.1115
    case .sRGB: l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1 / 2.4) - 0.055
    case .pq:
      pow(
        (0.8359375 + 18.8515625 * pow(l, 0.1593017578125)) / (1 + 18.6875 * pow(l, 0.1593017578125)), 78.84375
      )
    case .hlg: l <= 1.0 / 12 ? (3 * l).squareRoot() : 0.17883277 * log(12 * l - 0.28466892) + 0.55991073
    }
  }
}

/// Tables of the transfer functions with 65,536 entries. Made on first use; thread-safe.
enum CurveTables {
  private static let lights = Mutex<[TransferCurve: [Float]]>([:])
  private static let signals = Mutex<[TransferCurve: [UInt16]]>([:])

  static func decoding(_ curve: TransferCurve) -> [Float] {
    lights.withLock { tables in
      if let table = tables[curve] { return table }
      let table = (0...65535).map { Float(curve.light(Double($0) / 65535)) }
      tables[curve] = table
      return table
    }
  }

  /// The table from light to signal, indexed by the fourth root of light: this gives dark values
  /// the resolution that the steepest function needs.
  static func encoding(_ curve: TransferCurve) -> [UInt16] {
    signals.withLock { tables in
      if let table = tables[curve] { return table }
      let table = (0...65535).map { (step: Int) -> UInt16 in
        let root = Double(step) / 65535
        let signal = curve.signal(root * root * root * root)
        return UInt16(min(max(signal, 0), 1) * 65535 + 0.5)
      }
      tables[curve] = table
      return table
    }
  }

  @inline(__always) static func index(_ light: Float) -> Int {
    Int((light < 0 ? 0 : light > 1 ? 1 : light).squareRoot().squareRoot() * 65535 + 0.5)
  }
}

/// Colour primaries and white point of ITU-T H.273, table 2, as CIE 1931 x and y.
struct Primaries {
  typealias Chromaticity = (x: Double, y: Double)
  let red: Chromaticity
  let green: Chromaticity
  let blue: Chromaticity
  let white: Chromaticity

  init?(_ code: UInt8) {
    let d65: Chromaticity = (0.3127, 0.3290)
    white = code == 11 ? (0.314, 0.351) : d65
    switch code {
    case 1: (red, green, blue) = ((0.640, 0.330), (0.300, 0.600), (0.150, 0.060))
    case 5: (red, green, blue) = ((0.640, 0.330), (0.290, 0.600), (0.150, 0.060))
    case 6, 7: (red, green, blue) = ((0.630, 0.340), (0.310, 0.595), (0.155, 0.070))
    case 9: (red, green, blue) = ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))
    case 11, 12: (red, green, blue) = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
    case 22: (red, green, blue) = ((0.630, 0.340), (0.295, 0.605), (0.155, 0.077))
    default: return nil
    }
  }

  typealias Matrix = (Float, Float, Float, Float, Float, Float, Float, Float, Float)

  /// The matrix, row by row, from linear RGB of one set of primaries to another; nil for an unknown
  /// code point.
  static func matrix(from: UInt8, to: UInt8) -> Matrix? {
    guard let source = Primaries(from), let target = Primaries(to) else { return nil }
    if from == to { return (1, 0, 0, 0, 1, 0, 0, 0, 1) }
    let adapted = multiply(adaptation(source.white, target.white), source.toXYZ)
    let m = multiply(invert(target.toXYZ), adapted).map { Float($0) }
    return (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
  }

  private static func xyz(_ c: Chromaticity) -> [Double] { [c.x / c.y, 1, (1 - c.x - c.y) / c.y] }

  private var toXYZ: [Double] {
    let r = Self.xyz(red)
    let g = Self.xyz(green)
    let b = Self.xyz(blue)
    let columns = [r[0], g[0], b[0], r[1], g[1], b[1], r[2], g[2], b[2]]
    let w = Self.xyz(white)
    let inverse = Self.invert(columns)
    let scale = (0..<3).map {
      inverse[3 * $0] * w[0] + inverse[3 * $0 + 1] * w[1] + inverse[3 * $0 + 2] * w[2]
    }
    return (0..<9).map { columns[$0] * scale[$0 % 3] }
  }

  /// The contributions of red and blue to the luminance of white.
  var lumaWeights: (red: Double, blue: Double) {
    let m = toXYZ
    return (m[3], m[5])
  }

  /// Bradford's chromatic adaptation from one white point to another.
  private static func adaptation(_ from: Chromaticity, _ to: Chromaticity) -> [Double] {
    if from == to { return [1, 0, 0, 0, 1, 0, 0, 0, 1] }
    let cone = [0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296]
    func response(_ c: Chromaticity) -> [Double] {
      let w = xyz(c)
      return (0..<3).map { cone[3 * $0] * w[0] + cone[3 * $0 + 1] * w[1] + cone[3 * $0 + 2] * w[2] }
    }
    let a = response(from)
    let b = response(to)
    let scale = [b[0] / a[0], 0, 0, 0, b[1] / a[1], 0, 0, 0, b[2] / a[2]]
    return multiply(invert(cone), multiply(scale, cone))
  }

  private static func multiply(_ a: [Double], _ b: [Double]) -> [Double] {
    (0..<9).map { (i: Int) -> Double in
      let row = 3 * (i / 3)
      let column = i % 3
      return a[row] * b[column] + a[row + 1] * b[3 + column] + a[row + 2] * b[6 + column]
    }
  }

  static func invert(_ m: [Double]) -> [Double] {
    let c = [
      m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
      m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
      m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3],
    ]
    let determinant = m[0] * c[0] + m[1] * c[3] + m[2] * c[6]
    return c.map { $0 / determinant }
  }
}
