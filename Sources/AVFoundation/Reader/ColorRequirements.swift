// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The colour properties to which pictures are converted: the value of `AVVideoColorPropertiesKey`.
struct ColorRequirements: Sendable {
  let primaries: String
  let transferFunction: String
  let matrix: String

  /// Reads the properties.
  /// - Parameter value: The value of `AVVideoColorPropertiesKey`.
  /// - Throws: `AVError.unsupportedOutputSettings` unless all three properties are given and known.
  init(_ value: Any) throws {
    let properties = value as? [String: Any] ?? [:]
    func name(_ key: String, _ code: (CFString?) -> Int32) throws -> String {
      guard let name = properties[key] as? String, code(name as CFString) != 2 else {
        throw AVError(
          .unsupportedOutputSettings, reason: "\(key) is missing or not known.",
          advice:
            "Give colour primaries, transfer function and YCbCr matrix, each with a value of AVVideoSettings."
        )
      }
      return name
    }
    primaries = try name(AVVideoColorPrimariesKey, CVColorPrimariesGetIntegerCodePointForString)
    transferFunction = try name(AVVideoTransferFunctionKey, CVTransferFunctionGetIntegerCodePointForString)
    matrix = try name(AVVideoYCbCrMatrixKey, CVYCbCrMatrixGetIntegerCodePointForString)
  }

  /// The options of a decompression session that converts to these colours.
  var options: DecompressionOptions {
    var options = DecompressionOptions()
    options.primaries = primaries
    options.transferFunction = transferFunction
    options.matrix = matrix
    return options
  }

  /// Checks that the pictures of a track can be converted.
  /// - Throws: `AVError.unsupportedOutputSettings` if they cannot.
  func check(against stream: MediaStream) throws {
    let source = stream.codec.pointer.pointee
    let transform = ColorTransform(
      sourcePrimaries: UInt8(clamping: source.color_primaries.rawValue),
      sourceTransfer: UInt8(clamping: source.color_trc.rawValue),
      targetPrimaries: UInt8(clamping: CVColorPrimariesGetIntegerCodePointForString(primaries as CFString)),
      targetTransfer: UInt8(
        clamping: CVTransferFunctionGetIntegerCodePointForString(transferFunction as CFString)))
    guard transform.isSupported else {
      throw AVError(
        .unsupportedOutputSettings, reason: "The track's colours cannot be converted to these.",
        advice: "A high dynamic range cannot be made of an ordinary one.")
    }
  }
}
