// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the settings of a reader's output say about the decompression session (`AVVideoDecompressionPropertiesKey`).
struct DecompressionProperties: @unchecked Sendable {
  // Sendable: property-list values that nobody changes.
  private let entries: [(key: String, value: AnyObject)]

  init() { entries = [] }

  /// - Throws: `AVError(.unsupportedOutputSettings)` for what is no dictionary with strings as keys.
  init(_ value: Any?) throws {
    guard let value else {
      entries = []
      return
    }
    // Programs write the keys as they are, which are objects, or as Swift's strings.
    var pairs: [(key: String, value: AnyObject)] = []
    guard
      let dictionary = value as? NSDictionary ?? (value as? [AnyHashable: Any]).map({ $0 as NSDictionary })
    else {
      throw Self.refusal("AVVideoDecompressionPropertiesKey is no dictionary.")
    }
    for (key, value) in dictionary {
      guard let name = key as? String ?? (key as? NSString).map({ $0 as String }) else {
        throw Self.refusal("A key of AVVideoDecompressionPropertiesKey is no string.")
      }
      pairs.append((name, value as AnyObject))
    }
    entries = pairs.sorted { $0.key < $1.key }
  }

  /// What the reader does itself, as it does with keys that stand beside `AVVideoDecompressionPropertiesKey`.
  static let ofReader: [String] = [
    kVTDecompressionPropertyKey_ThreadCount, kVTDecompressionPropertyKey_FieldMode,
    kVTDecompressionPropertyKey_DeinterlaceMode,
  ].map { $0 as String }

  /// Of `ofReader`, those that are there.
  var forReader: [String: Any] {
    entries.reduce(into: [:]) { if Self.ofReader.contains($1.key) { $0[$1.key] = $1.value } }
  }

  /// Sets the properties. Those that the decoder does not have, or that can only be read, are passed over, as Apple's
  /// reader passes them over: a program that asks for the two layers of an MV-HEVC stream reads an ordinary one as well.
  /// - Throws: `AVError(.unsupportedOutputSettings)` for a value that the decoder refuses, and for further layers of a
  ///   stream that has them: the decoders here decode the base layer alone.
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
          throw Self.refusal("The decoder gives the base layer of the stream alone.")
        }
      default: throw Self.refusal("The decoder does not take \(key) = \(value) (\(status)).")
      }
    }
  }

  private static func refusal(_ reason: String) -> AVError {
    AVError(
      .unsupportedOutputSettings, reason: reason,
      advice: "Give properties of VTDecompressionSession with values that they can have.")
  }
}
