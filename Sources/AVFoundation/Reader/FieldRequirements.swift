// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A value for `kVTDecompressionPropertyKey_DeinterlaceMode` in a reader output's settings. It
/// deinterlaces as `kVTDecompressionProperty_DeinterlaceMode_Temporal` does, but produces one
/// picture per field, at the time of the field.
public nonisolated(unsafe) let kOVTDecompressionProperty_DeinterlaceMode_TemporalFields: CFString =
  "OVTTemporalFields"

/// The treatment of the two fields of interlaced pictures.
///
/// Temporal modes need the neighbouring pictures, so the reader implements them. The decompression
/// session implements the other modes.
struct FieldRequirements: Sendable {
  var temporal: Deinterlacer.Rate?
  /// Values of the session's properties.
  private var mode: String?
  private var deinterlaceMode: String?

  /// Whether pictures are modified. A deinterlace mode without a field mode has no effect.
  var changesPictures: Bool {
    temporal != nil || mode != nil && mode != kVTDecompressionProperty_FieldMode_BothFields as String
  }

  init() {}

  init(_ settings: [String: Any]) throws {
    func text(_ key: CFString) throws -> String? {
      guard let value = settings[key as String] else { return nil }
      guard let text = value as? String else { throw Self.unsupported("\(key)") }
      return text
    }
    mode = try text(kVTDecompressionPropertyKey_FieldMode)
    deinterlaceMode = try text(kVTDecompressionPropertyKey_DeinterlaceMode)
    let isTemporal = deinterlaceMode == kVTDecompressionProperty_DeinterlaceMode_Temporal as String
    let isOfFields = deinterlaceMode == kOVTDecompressionProperty_DeinterlaceMode_TemporalFields as String
    guard isTemporal || isOfFields else { return }
    deinterlaceMode = nil
    guard mode == kVTDecompressionProperty_FieldMode_DeinterlaceFields as String else { return }
    mode = nil
    temporal = isOfFields ? .field : .frame
  }

  func apply(to session: VTDecompressionSession) throws {
    for (key, value) in [
      (kVTDecompressionPropertyKey_FieldMode, mode),
      (kVTDecompressionPropertyKey_DeinterlaceMode, deinterlaceMode),
    ] {
      guard let value else { continue }
      guard VTSessionSetProperty(session, key: key, value: value as CFString) == noErr else {
        throw Self.unsupported("\(key)")
      }
    }
  }

  private static func unsupported(_ key: String) -> AVError {
    AVError(
      .unsupportedOutputSettings, reason: "The value of \(key) is not known.",
      advice: "Use one of the constants of VTDecompressionProperties.")
  }
}
