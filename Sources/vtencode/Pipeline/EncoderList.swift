// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoToolbox

/// An entry of `VTCopyVideoEncoderList`.
struct ListedEncoder: Sendable {
  var id: String
  var name: String
  var codecType: CMVideoCodecType
  var codecName: String
  var isHardware: Bool
  /// Whether this encoder uses a look-ahead by default, where the user gives no number of frames.
  var looksAheadByDefault: Bool
  /// Whether the stream is the same for any number of threads.
  var isIndependentOfThreadCount: Bool
  /// Whether it makes HEVC Main 10.
  var makesMain10: Bool

  static func all() throws -> [ListedEncoder] {
    var list: CFArray?
    let status = VTCopyVideoEncoderList(nil, &list)
    guard status == noErr, let entries = list as? [[CFString: Any]] else {
      throw Failure("the list of encoders cannot be read (error \(status))")
    }
    return entries.compactMap { ListedEncoder($0) }
  }

  /// The encoder with this identifier; nil if there is none on this machine.
  static func named(_ id: String) -> ListedEncoder? { (try? all())?.first { $0.id == id } }

  /// The identifier that a user means: an identifier, or the end of one after a dot, such as
  /// `x264`.
  /// - Returns: the identifier; the text as it is if it means none, or several.
  static func identifier(_ text: String) -> String {
    let identifiers = Set(((try? all()) ?? []).map(\.id))
    guard !identifiers.contains(text) else { return text }
    let meant = identifiers.filter { $0.hasSuffix("." + text) }
    return meant.count == 1 ? meant.first ?? text : text
  }

  private init?(_ entry: [CFString: Any]) {
    guard let id = entry[kVTVideoEncoderList_EncoderID] as? String,
      let type = (entry[kVTVideoEncoderList_CodecType] as? NSNumber)?.uint32Value
    else { return nil }
    func flag(_ key: CFString) -> Bool { (entry[key] as? Bool) ?? false }
    self.id = id
    name = entry[kVTVideoEncoderList_DisplayName] as? String ?? id
    codecType = type
    codecName = entry[kVTVideoEncoderList_CodecName] as? String ?? ""
    isHardware = flag(kVTVideoEncoderList_IsHardwareAccelerated)
    looksAheadByDefault = flag(kOVTVideoEncoderList_LooksAheadByDefault)
    isIndependentOfThreadCount = flag(kOVTVideoEncoderList_IsIndependentOfThreadCount)
    let selection = entry[kVTVideoEncoderList_SupportedSelectionProperties] as? [CFString: [CFString: Any]]
    let profiles = selection?[kVTCompressionPropertyKey_ProfileLevel]?[kVTPropertySupportedValueListKey]
    makesMain10 = (profiles as? [CFString])?.contains(kVTProfileLevel_HEVC_Main10_AutoLevel) ?? false
  }
}
