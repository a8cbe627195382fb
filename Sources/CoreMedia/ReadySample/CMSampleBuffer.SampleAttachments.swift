// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation

extension CMSampleBuffer {
  /// The attachments of one sample.
  public struct SampleAttachments: Equatable, Sendable {
    /// The attachments by `kCMSampleAttachmentKey_*`, with property list values.
    public private(set) var dictionaryRepresentation: [String: any Sendable]

    public init(_ dictionary: [String: any Sendable] = [:]) { dictionaryRepresentation = dictionary }

    public static func == (a: SampleAttachments, b: SampleAttachments) -> Bool {
      NSDictionary(dictionary: a.dictionaryRepresentation)
        == NSDictionary(dictionary: b.dictionaryRepresentation)
    }

    /// An attachment, as a property list value; setting nil removes it.
    public subscript(rawAttachment key: String) -> (any Sendable)? {
      get { dictionaryRepresentation[key] }
      set { dictionaryRepresentation[key] = newValue }
    }

    private func bool(_ key: CFString) -> Bool? {
      dictionaryRepresentation[key as String].flatMap { ($0 as Any) as? NSNumber }?.boolValue
    }

    private func integer(_ key: CFString) -> Int? {
      dictionaryRepresentation[key as String].flatMap { ($0 as Any) as? NSNumber }?.intValue
    }

    private mutating func set(_ key: CFString, _ value: (any Sendable)?) {
      dictionaryRepresentation[key as String] = value
    }

    /// Whether decoding cannot begin at the sample.
    public var isNotSync: Bool {
      get { bool(kCMSampleAttachmentKey_NotSync) ?? false }
      set { set(kCMSampleAttachmentKey_NotSync, newValue) }
    }
    public var isPartialSync: Bool {
      get { bool(kCMSampleAttachmentKey_PartialSync) ?? false }
      set { set(kCMSampleAttachmentKey_PartialSync, newValue) }
    }
    public var hasRedundantCoding: Bool? {
      get { bool(kCMSampleAttachmentKey_HasRedundantCoding) }
      set { set(kCMSampleAttachmentKey_HasRedundantCoding, newValue) }
    }
    public var isDependedOnByOthers: Bool? {
      get { bool(kCMSampleAttachmentKey_IsDependedOnByOthers) }
      set { set(kCMSampleAttachmentKey_IsDependedOnByOthers, newValue) }
    }
    public var dependsOnOthers: Bool? {
      get { bool(kCMSampleAttachmentKey_DependsOnOthers) }
      set { set(kCMSampleAttachmentKey_DependsOnOthers, newValue) }
    }
    public var earlierDisplayTimesAllowed: Bool? {
      get { bool(kCMSampleAttachmentKey_EarlierDisplayTimesAllowed) }
      set { set(kCMSampleAttachmentKey_EarlierDisplayTimesAllowed, newValue) }
    }
    public var displayImmediately: Bool {
      get { bool(kCMSampleAttachmentKey_DisplayImmediately) ?? false }
      set { set(kCMSampleAttachmentKey_DisplayImmediately, newValue) }
    }
    public var doNotDisplay: Bool {
      get { bool(kCMSampleAttachmentKey_DoNotDisplay) ?? false }
      set { set(kCMSampleAttachmentKey_DoNotDisplay, newValue) }
    }
    public var hevcTemporalSubLayerAccess: Bool {
      get { bool(kCMSampleAttachmentKey_HEVCTemporalSubLayerAccess) ?? false }
      set { set(kCMSampleAttachmentKey_HEVCTemporalSubLayerAccess, newValue) }
    }
    public var hevcStepwiseTemporalSubLayerAccess: Bool {
      get { bool(kCMSampleAttachmentKey_HEVCStepwiseTemporalSubLayerAccess) ?? false }
      set { set(kCMSampleAttachmentKey_HEVCStepwiseTemporalSubLayerAccess, newValue) }
    }
    public var hevcSyncSampleNALUnitType: Int? {
      get { integer(kCMSampleAttachmentKey_HEVCSyncSampleNALUnitType) }
      set { set(kCMSampleAttachmentKey_HEVCSyncSampleNALUnitType, newValue) }
    }
    public var audioIndependentSampleDecoderRefreshCount: Int? {
      get { integer(kCMSampleAttachmentKey_AudioIndependentSampleDecoderRefreshCount) }
      set { set(kCMSampleAttachmentKey_AudioIndependentSampleDecoderRefreshCount, newValue) }
    }

    init(_ buffer: CMSampleBuffer, _ index: Int) {
      self.init()
      guard let list = buffer.dictionaries(create: false)?.dictionaries, list.indices.contains(index) else {
        return
      }
      for case (let key as String, let value) in list[index] {
        dictionaryRepresentation[key] = CVPixelBufferAttributes.sendable(value)
      }
    }

    func apply(to buffer: CMSampleBuffer, _ index: Int) {
      guard !dictionaryRepresentation.isEmpty || buffer.dictionaries(create: false) != nil,
        let list = buffer.dictionaries(create: true)?.dictionaries, list.indices.contains(index)
      else { return }
      list[index].removeAllObjects()
      for (key, value) in dictionaryRepresentation { list[index][key] = value }
    }
  }
}
