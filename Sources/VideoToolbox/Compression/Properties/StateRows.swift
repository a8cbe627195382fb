// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Read-only properties.

extension CompressionProperty {
  static let stateRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_NumberOfPendingFrames as String, type: .integer(0...Int(Int32.max)),
      change: .readOnly,
      documentation: "The number of frames that were passed to the session and have not been output.",
      read: { NSNumber(value: $0.pendingFrames) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_EncoderID as String, type: .text, change: .readOnly,
      documentation: "The identifier of the encoder in use.", read: { $0.encoder.id as NSString }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_UsingHardwareAcceleratedVideoEncoder as String, type: .boolean,
      change: .readOnly, documentation: "Whether the encoder is hardware.",
      read: { NSNumber(value: $0.encoder.isHardwareAccelerated) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_UsingGPURegistryID as String, type: .other, change: .readOnly,
      documentation: "The registry ID of the GPU that the encoder runs on.",
      isOffered: { $0.gpuRegistryID != nil }, read: { $0.encoder.gpuRegistryID.map { NSNumber(value: $0) } }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SupportsBaseFrameQP as String, type: .boolean, change: .readOnly,
      documentation: "Whether a QP can be set for a single frame.",
      read: { NSNumber(value: $0.encoder.features.contains(.baseFrameQP)) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_SupportedPresetDictionaries as String, type: .other, change: .readOnly,
      documentation: "The presets by name, each as a dictionary of properties to set.",
      read: { CompressionPreset.dictionary(for: $0.encoder) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_PixelBufferPoolIsShared as String, type: .boolean, change: .readOnly,
      documentation: "Whether buffers of the session's pool are encoded without a conversion.",
      read: { NSNumber(value: $0.poolFormat == $0.inputFormat) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_VideoEncoderPixelBufferAttributes as String, type: .other,
      change: .readOnly,
      documentation: "The attributes of the pixel buffers that are encoded without a conversion.",
      read: { state in
        let formats = state.encoder.inputFormats(for: state.draft.configuration.profile)
          .map { NSNumber(value: $0.rawValue) }
        return NSDictionary(dictionary: [
          kCVPixelBufferPixelFormatTypeKey as String: NSArray(array: formats),
          kCVPixelBufferWidthKey as String: NSNumber(value: state.width),
          kCVPixelBufferHeightKey as String: NSNumber(value: state.height),
        ])
      }),
  ]
}
