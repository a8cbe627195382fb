// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The properties of the decompression session in a reader output's settings
/// (`AVVideoDecompressionPropertiesKey`).
struct RequestedDecompressionProperties: @unchecked Sendable {
  // Sendable: property-list values that are never changed.
  private let entries: [(key: String, value: AnyObject)]

  init() { entries = [] }

  /// Reads the properties.
  /// - Parameter value: The value of `AVVideoDecompressionPropertiesKey`, or nil.
  /// - Throws: `AVError(.unsupportedOutputSettings)` unless it is a dictionary with strings as
  ///   keys.
  init(_ value: Any?) throws {
    guard let value else {
      entries = []
      return
    }
    // Programs use the keys either as Core Foundation strings or as Swift strings.
    var pairs: [(key: String, value: AnyObject)] = []
    guard
      let dictionary = value as? NSDictionary ?? (value as? [AnyHashable: Any]).map({ $0 as NSDictionary })
    else {
      throw Self.invalid("AVVideoDecompressionPropertiesKey is not a dictionary.")
    }
    for (key, value) in dictionary {
      guard let name = key as? String ?? (key as? NSString).map({ $0 as String }) else {
        throw Self.invalid("A key of AVVideoDecompressionPropertiesKey is not a string.")
      }
      pairs.append((name, value as AnyObject))
    }
    entries = pairs.sorted { $0.key < $1.key }
  }

  /// Properties that the reader implements itself, wherever they are in the output settings.
  static let ofReader: [String] = [
    kVTDecompressionPropertyKey_ThreadCount, kVTDecompressionPropertyKey_FieldMode,
    kVTDecompressionPropertyKey_DeinterlaceMode,
  ].map { $0 as String }

  /// The properties of `ofReader` that are set.
  var forReader: [String: Any] {
    entries.reduce(into: [:]) { if Self.ofReader.contains($1.key) { $0[$1.key] = $1.value } }
  }

  /// Sets the properties of a session. Properties that the decoder does not support, or that are
  /// read-only, are ignored, as Apple's reader does: a program that asks for the two layers of an
  /// MV-HEVC stream can read an ordinary stream as well.
  /// - Throws: `AVError(.unsupportedOutputSettings)` for a value that the decoder rejects, and for
  ///   layers other than the base layer of a stream that has several, because the decoders only
  ///   decode the base layer.
  func apply(to session: VTDecompressionSession, _ description: CMFormatDescription) throws {
    for (key, value) in entries where !Self.ofReader.contains(key) {
      let status = VTSessionSetProperty(session, key: key as NSString, value: value)
      switch status {
      case noErr: break
      case kVTPropertyNotSupportedErr, kVTPropertyReadOnlyErr:
        guard key == kVTDecompressionPropertyKey_RequestedMVHEVCVideoLayerIDs as String,
          description.tagCollections?.count ?? 0 > 1
        else { break }
        let layers = (value as? [Any] ?? []).map { ($0 as? NSNumber)?.int64Value }
        if layers.contains(where: { $0 != 0 }) {
          throw Self.invalid("The decoder gives the base layer of the stream alone.")
        }
      default: throw Self.invalid("The decoder does not take \(key) = \(value) (\(status)).")
      }
    }
  }

  private static func invalid(_ reason: String) -> AVError {
    AVError(
      .unsupportedOutputSettings, reason: reason,
      advice: "Give properties of VTDecompressionSession with values that they can have.")
  }
}
