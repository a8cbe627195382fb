// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Converts YCbCr samples whose matrix Core Video has no constant for to a matrix that it has one
/// for, so that the attachments of a picture describe the samples: FCC (4), YCgCo (8), constant
/// luminance of BT.2020 (10) and of other primaries (13), and ICtCp (14), all in H.273, 8.3.
///
/// It works on 16-bit 4:4:4 pictures, with the samples of the stream in the upper bits.
struct MatrixConversion {
  /// The H.273 code point of the resulting matrix.
  let target: UInt8

  private enum Kind {
    /// A 3 by 3 matrix of code values, row by row, and an offset to be added.
    case linear([Float], offset: [Float])
    case general(Decoder)
  }
  private let kind: Kind

  /// The properties of a non-linear conversion.
  private struct Decoder {
    /// Converts luma (0 to 1) and chroma (-0.5 to 0.5) to R', G' and B'.
    let rgb: (Double, Double, Double) -> (Double, Double, Double)
    let codes: Codes
    let weights: Weights
  }

  /// Makes a conversion.
  /// - Parameters:
  ///   - matrix: Matrix coefficients of the source, a code point of H.273.
  ///   - primaries: Colour primaries of the source, a code point of H.273.
  ///   - transfer: Transfer characteristics of the source, a code point of H.273.
  ///   - isFullRange: Whether luma and chroma use the full range.
  ///   - height: Height of the picture in rows.
  /// - Returns: nil if Core Video has a name for the matrix, or if it is not known.
  init?(matrix: UInt8, primaries: UInt8, transfer: UInt8, isFullRange: Bool, height: Int) {
    let target = Self.target(matrix, primaries: primaries, height: height)
    guard let weights = Weights(matrix: target) else { return nil }
    self.target = target
    let codes = Codes(isFullRange: isFullRange)
    switch matrix {
    case 4:
      guard let own = Weights(matrix: 4) else { return nil }
      kind = Self.linear(own.toRGB, codes, weights, codes)
    case 8:
      // Y, Cg (green) and Co (orange): G' = Y + Cg, R' = Y - Cg + Co, B' = Y - Cg - Co. Chroma has
      // the range of luma.
      var own = codes
      own.chroma = codes.luma
      kind = Self.linear([1, -1, 1, 1, 1, 0, 1, -1, -1], own, weights, codes)
    case 10, 13:
      guard let own = matrix == 10 ? Weights(matrix: 9) : Weights(primaries: primaries),
        let curve = TransferCurve(transfer == 2 ? 1 : transfer)
      else { return nil }
      kind = .general(
        Decoder(rgb: Self.constantLuminance(own, curve), codes: codes, weights: weights))
    case 14:
      guard let curve = TransferCurve(transfer), curve.isHighRange else { return nil }
      kind = .general(Decoder(rgb: Self.constantIntensity(curve), codes: codes, weights: weights))
    default: return nil
    }
  }

  /// Whether Core Video has no name for this matrix, so that its pictures must be converted.
  static func isNeeded(_ matrix: UInt8) -> Bool { [4, 8, 10, 13, 14].contains(matrix) }

  /// The named matrix that is closest, or that belongs to the primaries.
  private static func target(_ matrix: UInt8, primaries: UInt8, height: Int) -> UInt8 {
    switch (matrix, primaries) {
    case (4, _): 6
    case (10, _), (14, _), (_, 9): 9
    case (_, 1): 1
    case (_, 5), (_, 6): 6
    case (_, 7): 7
    default: height >= 720 ? 1 : 6
    }
  }

  // MARK: Sample ranges and luma coefficients

  /// The scale of 8-bit code values: the value of black, and the ranges of luma and of chroma.
  private struct Codes {
    var black: Double
    var luma: Double
    var chroma: Double

    init(isFullRange: Bool) {
      (black, luma, chroma) = isFullRange ? (0, 255, 255) : (16, 219, 224)
    }
  }

  /// The weights of red and blue in luma (Kr and Kb of H.273, 8.3).
  private struct Weights {
    let red: Double
    let blue: Double
    var green: Double { 1 - red - blue }

    init?(matrix: UInt8) {
      switch matrix {
      case 1: (red, blue) = (0.2126, 0.0722)
      case 4: (red, blue) = (0.30, 0.11)
      case 5, 6: (red, blue) = (0.299, 0.114)
      case 7: (red, blue) = (0.212, 0.087)
      case 9: (red, blue) = (0.2627, 0.0593)
      default: return nil
      }
    }

    /// The weights that follow from primaries (H.273, equations 32 to 37).
    init?(primaries: UInt8) {
      guard let weights = Primaries(primaries == 2 ? 1 : primaries)?.lumaWeights else { return nil }
      (red, blue) = (weights.red, weights.blue)
    }

    /// The matrix from luma and chroma to R', G' and B', row by row.
    var toRGB: [Double] {
      let (r, b) = (2 - 2 * red, 2 - 2 * blue)
      return [1, 0, r, 1, -b * blue / green, -r * red / green, 1, b, 0]
    }

    func luma(_ r: Double, _ g: Double, _ b: Double) -> Double { red * r + green * g + blue * b }

    /// The matrix from R', G' and B' to luma and chroma, row by row.
    var fromRGB: [Double] {
      let (r, b) = (2 - 2 * red, 2 - 2 * blue)
      return [
        red, green, blue, -red / b, -green / b, (1 - blue) / b, (1 - red) / r, -green / r, -blue / r,
      ]
    }
  }

  private static func linear(
    _ toRGB: [Double], _ from: Codes, _ weights: Weights, _ to: Codes
  ) -> Kind {
    let fromRGB = weights.fromRGB
    let columns: [Double] = [1 / from.luma, 1 / from.chroma, 1 / from.chroma]
    let rows: [Double] = [to.luma, to.chroma, to.chroma]
    let before: [Double] = [from.black, 128, 128]
    var offset: [Double] = [to.black, 128, 128]
    var matrix = [Float](repeating: 0, count: 9)
    for row in 0..<3 {
      for column in 0..<3 {
        var sum = 0.0
        for middle in 0..<3 { sum += fromRGB[3 * row + middle] * toRGB[3 * middle + column] }
        let factor = rows[row] * sum * columns[column]
        matrix[3 * row + column] = Float(factor)
        offset[row] -= factor * before[column]
      }
    }
    return .linear(matrix, offset: offset.map { Float(256 * $0) })
  }

  /// Constant luminance (H.273, equations 59 to 68): luma is computed from linear light, and chroma
  /// is scaled by its largest possible values, which differ for positive and negative ones.
  private static func constantLuminance(
    _ weights: Weights, _ curve: TransferCurve
  ) -> (Double, Double, Double) -> (Double, Double, Double) {
    let (nb, pb) = (curve.signal(1 - weights.blue), 1 - curve.signal(weights.blue))
    let (nr, pr) = (curve.signal(1 - weights.red), 1 - curve.signal(weights.red))
    return { y, cb, cr in
      let b = y + cb * 2 * (cb <= 0 ? nb : pb)
      let r = y + cr * 2 * (cr <= 0 ? nr : pr)
      let light = (curve.light(limited(y)), curve.light(limited(r)), curve.light(limited(b)))
      let green = (light.0 - weights.red * light.1 - weights.blue * light.2) / weights.green
      return (r, curve.signal(limited(green)), b)
    }
  }

  /// ICtCp (H.273, equations 69 to 77; BT.2100): intensity, and two differences of the cone
  /// responses.
  private static func constantIntensity(
    _ curve: TransferCurve
  ) -> (Double, Double, Double) -> (Double, Double, Double) {
    let scale = 1.0 / 4096
    let toCones: [Double] = [1688, 2146, 262, 683, 2951, 462, 99, 309, 3688].map { $0 * scale }
    let toIntensity: [Double] =
      (curve == .pq
      ? [2048, 2048, 0, 6610, -13613, 7003, 17933, -17390, -543]
      : [2048, 2048, 0, 3625, -7465, 3840, 9500, -9212, -288]).map { $0 * scale }
    let (fromCones, fromIntensity) = (Primaries.invert(toCones), Primaries.invert(toIntensity))
    func apply(_ m: [Double], _ v: (Double, Double, Double)) -> (Double, Double, Double) {
      (
        m[0] * v.0 + m[1] * v.1 + m[2] * v.2, m[3] * v.0 + m[4] * v.1 + m[5] * v.2,
        m[6] * v.0 + m[7] * v.1 + m[8] * v.2
      )
    }
    return { i, t, p in
      let cones = apply(fromIntensity, (i, t, p))
      let light = apply(
        fromCones,
        (curve.light(limited(cones.0)), curve.light(limited(cones.1)), curve.light(limited(cones.2))))
      return (
        curve.signal(limited(light.0)), curve.signal(limited(light.1)), curve.signal(limited(light.2))
      )
    }
  }

  private static func limited(_ value: Double) -> Double { min(max(value, 0), 1) }

  // MARK: Conversion

  /// Converts a YUV444P16 picture in place; other formats are left as they are.
  func apply(to picture: PictureView) {
    guard picture.format == AV_PIX_FMT_YUV444P16LE, picture.width > 0 else { return }
    for row in 0..<picture.height {
      let lines = (0..<3).compactMap { plane in
        picture.planes[plane].map { base in
          UnsafeMutableRawPointer(base + row * Int(picture.strides[plane]))
            .assumingMemoryBound(to: UInt16.self)
        }
      }
      guard lines.count == 3 else { return }
      switch kind {
      case .linear(let matrix, let offset):
        Self.convert(lines[0], lines[1], lines[2], count: picture.width, matrix, offset)
      case .general(let decoder):
        Self.convert(lines[0], lines[1], lines[2], count: picture.width, decoder)
      }
    }
  }

  private static func convert(
    _ y: UnsafeMutablePointer<UInt16>, _ cb: UnsafeMutablePointer<UInt16>,
    _ cr: UnsafeMutablePointer<UInt16>, count: Int, _ matrix: [Float], _ offset: [Float]
  ) {
    func code(_ value: Float) -> UInt16 { UInt16(min(max(value, 0), 65535) + 0.5) }
    matrix.withUnsafeBufferPointer { m in
      offset.withUnsafeBufferPointer { o in
        for x in 0..<count {
          let (a, b, c) = (Float(y[x]), Float(cb[x]), Float(cr[x]))
          y[x] = code(m[0] * a + m[1] * b + m[2] * c + o[0])
          cb[x] = code(m[3] * a + m[4] * b + m[5] * c + o[1])
          cr[x] = code(m[6] * a + m[7] * b + m[8] * c + o[2])
        }
      }
    }
  }

  private static func convert(
    _ y: UnsafeMutablePointer<UInt16>, _ cb: UnsafeMutablePointer<UInt16>,
    _ cr: UnsafeMutablePointer<UInt16>, count: Int, _ decoder: Decoder
  ) {
    let (codes, weights) = (decoder.codes, decoder.weights)
    func code(_ value: Double) -> UInt16 { UInt16(min(max(value * 256, 0), 65535) + 0.5) }
    for x in 0..<count {
      let (r, g, b) = decoder.rgb(
        (Double(y[x]) / 256 - codes.black) / codes.luma, (Double(cb[x]) / 256 - 128) / codes.chroma,
        (Double(cr[x]) / 256 - 128) / codes.chroma)
      let luma = weights.luma(r, g, b)
      y[x] = code(codes.black + codes.luma * luma)
      cb[x] = code(128 + codes.chroma * (b - luma) / (2 - 2 * weights.blue))
      cr[x] = code(128 + codes.chroma * (r - luma) / (2 - 2 * weights.red))
    }
  }
}
