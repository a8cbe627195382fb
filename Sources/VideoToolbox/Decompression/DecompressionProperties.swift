// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// The state of a decompression session that its read-only properties are read from.
struct DecompressionState {
  var format: StreamFormat
  var decoder: DecoderDescription
  var pipeline: DecompressionPipeline
  /// The pixel formats that images can have, the decoder's own first.
  var pixelFormats: NSArray {
    let native = format.nativePixelFormat
    return ([native] + PixelConverter.writableFormats.filter { $0 != native }).map { NSNumber(value: $0) }
      as NSArray
  }
}

/// The properties of a decompression session, one row each.
enum DecompressionProperties {
  typealias Row = SessionProperty<DecompressionState>

  static let table: [Row] = poolRows + progressRows + behaviourRows + formatRows

  private static let poolRows = [
    Row(
      kVTDecompressionPropertyKey_PixelBufferPool, .other, "The pool from which output buffers are allocated."
    ).with {
      $0.read = { state in state.pipeline.properties { output, _ in output.pool } }
    },
    Row(
      kVTDecompressionPropertyKey_PixelBufferPoolIsShared, .boolean,
      "Whether frames are decoded directly into the pool's buffers."
    ).with {
      $0.read = { state in NSNumber(value: state.pipeline.properties { output, _ in output.isDirect }) }
    },
    Row(
      kVTDecompressionPropertyKey_OutputPoolRequestedMinimumBufferCount, .integer(0...1024),
      "The least number of buffers that the pool keeps, 0 to 1024. Default: 0."
    ).with { $0.defaultValue = .number(0) },
  ]

  private static let progressRows = [
    Row(
      kVTDecompressionPropertyKey_NumberOfFramesBeingDecoded, .integer(0...Int(Int32.max)),
      "The number of frames that were passed to the session and have not been output."
    ).with { $0.read = { NSNumber(value: $0.pipeline.framesInFlight.count) } },
    Row(
      kVTDecompressionPropertyKey_MinOutputPresentationTimeStampOfFramesBeingDecoded, .other,
      "The smallest presentation time stamp of the frames that are being decoded."
    ).with { $0.read = { time($0.pipeline.framesInFlight.min()) } },
    Row(
      kVTDecompressionPropertyKey_MaxOutputPresentationTimeStampOfFramesBeingDecoded, .other,
      "The greatest presentation time stamp of the frames that are being decoded."
    ).with { $0.read = { time($0.pipeline.framesInFlight.max()) } },
    Row(
      kVTDecompressionPropertyKey_ContentHasInterframeDependencies, .boolean,
      "Whether frames depend on other frames."
    ).with { $0.read = { NSNumber(value: $0.format.hasInterframeDependencies) } },
  ]

  private static let behaviourRows = [
    Row(
      kVTDecompressionPropertyKey_RealTime, .boolean,
      "True prefers a low delay of each frame to a high throughput. Default: true."
    ).with {
      $0.defaultValue = .boolean(true)
    },
    Row(
      kVTDecompressionPropertyKey_MaximizePowerEfficiency, .boolean,
      "True makes the decoder use one thread. Default: false."
    )
    .with {
      $0.defaultValue = .boolean(false)
    },
    Row(
      kVTDecompressionPropertyKey_ThreadCount, .integer(0...64),
      """
      The number of the decoder's threads, 0 to 64, from the next key frame on. H.264 and HEVC \
      that are decoded synchronously or in real time use one thread. Default: 0, the decoder \
      decides.
      """
    ).with { $0.defaultValue = .number(0) },
    Row(
      kVTDecompressionPropertyKey_FieldMode,
      .enumeration(
        [
          kVTDecompressionProperty_FieldMode_BothFields, kVTDecompressionProperty_FieldMode_TopFieldOnly,
          kVTDecompressionProperty_FieldMode_BottomFieldOnly, kVTDecompressionProperty_FieldMode_SingleField,
          kVTDecompressionProperty_FieldMode_DeinterlaceFields,
        ].map { $0 as String }),
      """
      Which fields of interlaced frames are output, or whether they are deinterlaced. Default: \
      both fields.
      """
    ).with { $0.defaultValue = .text(kVTDecompressionProperty_FieldMode_BothFields as String) },
    Row(
      kVTDecompressionPropertyKey_DeinterlaceMode,
      .enumeration([kVTDecompressionProperty_DeinterlaceMode_VerticalFilter as String]),
      "How two fields are deinterlaced. Default: a vertical filter."
    ).with { $0.defaultValue = .text(kVTDecompressionProperty_DeinterlaceMode_VerticalFilter as String) },
    Row(
      kVTDecompressionPropertyKey_ReducedResolutionDecode,
      .dictionary(
        required: [
          kVTDecompressionResolutionKey_Width as String, kVTDecompressionResolutionKey_Height as String,
        ],
        optional: []), "A smaller size of the output in samples: Width and Height, each 1 to 65536."
    ).with { row in
      row.check = { value in
        value.dictionary?.values.allSatisfy { $0 >= 1 && $0 <= 65536 && $0 == $0.rounded() } ?? false
      }
    },
    Row(
      kVTDecompressionPropertyKey_OnlyTheseFrames,
      .enumeration(
        [
          kVTDecompressionProperty_OnlyTheseFrames_AllFrames,
          kVTDecompressionProperty_OnlyTheseFrames_NonDroppableFrames,
          kVTDecompressionProperty_OnlyTheseFrames_IFrames,
          kVTDecompressionProperty_OnlyTheseFrames_KeyFrames,
        ].map { $0 as String }), "Which frames are decoded. Default: all."
    ).with { $0.defaultValue = .text(kVTDecompressionProperty_OnlyTheseFrames_AllFrames as String) },
    Row(
      kVTDecompressionProperty_TemporalLevelLimit, .integer(0...6),
      "The highest temporal level that is decoded, 0 to 6. No limit if not set."
    ).with { $0.isOffered = { StreamFormat.isHEVC($0.format.codec) } },
    Row(
      kVTDecompressionPropertyKey_AllowBitstreamToChangeFrameDimensions, .boolean,
      "Whether frames may have other dimensions than the format description. Default: false."
    ).with { $0.defaultValue = .boolean(false) },
    Row(
      kVTDecompressionPropertyKey_PixelTransferProperties, .other,
      "How decoded frames are converted to the requested output, as properties of a pixel transfer session."
    ).with { row in
      row.accepts = { ($0 as? NSDictionary).map { PixelTransferProperties.settings($0) != nil } ?? false }
    },
  ]

  private static let formatRows = [
    Row(
      kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByQuality, .other,
      "The pixel formats of the output in descending order of fidelity."
    ).with { $0.read = { $0.pixelFormats } },
    Row(
      kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByPerformance, .other,
      "The pixel formats of the output in descending order of speed."
    ).with { $0.read = { $0.pixelFormats } },
    Row(
      kVTDecompressionPropertyKey_PixelFormatsWithReducedResolutionSupport, .other,
      "The pixel formats of the output that are available at a reduced resolution."
    ).with { $0.read = { $0.pixelFormats } },
    Row(
      kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder, .boolean,
      "Whether the decoder is hardware."
    ).with { $0.read = { NSNumber(value: $0.decoder.isHardwareAccelerated) } },
    Row(
      kVTDecompressionPropertyKey_UsingGPURegistryID, .other,
      "The registry ID of the GPU that the decoder runs on."
    ).with {
      $0.isOffered = { $0.decoder.gpuRegistryID != nil }
      $0.read = { $0.decoder.gpuRegistryID.map { NSNumber(value: $0) } }
    },
  ]

  private static func time(_ time: CMTime?) -> AnyObject? {
    time.flatMap { CMTimeCopyAsDictionary($0, allocator: nil) }
  }

  // MARK: - Settings

  static func settings(
    _ store: PropertyStore<DecompressionState>, _ options: DecompressionOptions? = nil
  ) -> DecompressionSettings {
    var settings = DecompressionSettings()
    let ownThreads = store.isSet(kVTDecompressionPropertyKey_ThreadCount) ? nil : options?.threads
    settings.setup.threads = ownThreads ?? store[kVTDecompressionPropertyKey_ThreadCount]?.integer ?? 0
    if store[kVTDecompressionPropertyKey_MaximizePowerEfficiency]?.boolean == true {
      settings.setup.threads = 1
    }
    // Reading `RealTime` returns true where it was not set, as on macOS, but only a value that was
    // set changes how frames are decoded.
    settings.isRealTime =
      store.isSet(kVTDecompressionPropertyKey_RealTime)
      && store[kVTDecompressionPropertyKey_RealTime]?.boolean == true
    settings.setup.isLowDelay = settings.isRealTime
    settings.temporalLevelLimit = store[kVTDecompressionProperty_TemporalLevelLimit]?.integer
    switch store[kVTDecompressionPropertyKey_OnlyTheseFrames]?.text as NSString? {
    case kVTDecompressionProperty_OnlyTheseFrames_NonDroppableFrames: settings.selection = .references
    case kVTDecompressionProperty_OnlyTheseFrames_IFrames: settings.selection = .intra
    case kVTDecompressionProperty_OnlyTheseFrames_KeyFrames: settings.selection = .keyFrames
    default: settings.selection = .all
    }
    switch store[kVTDecompressionPropertyKey_FieldMode]?.text as NSString? {
    case kVTDecompressionProperty_FieldMode_TopFieldOnly: settings.image.fieldMode = .top
    case kVTDecompressionProperty_FieldMode_BottomFieldOnly: settings.image.fieldMode = .bottom
    case kVTDecompressionProperty_FieldMode_SingleField: settings.image.fieldMode = .first
    case kVTDecompressionProperty_FieldMode_DeinterlaceFields: settings.image.fieldMode = .blend
    default: settings.image.fieldMode = .both
    }
    if let size = store[kVTDecompressionPropertyKey_ReducedResolutionDecode]?.dictionary,
      let width = size[kVTDecompressionResolutionKey_Width as String],
      let height = size[kVTDecompressionResolutionKey_Height as String]
    {
      settings.image.reducedSize = (Int(clamping: width), Int(clamping: height))
    }
    settings.image.allowsOtherDimensions =
      options != nil
      || store[kVTDecompressionPropertyKey_AllowBitstreamToChangeFrameDimensions]?.boolean ?? false
    settings.image.minimumBuffers =
      store[kVTDecompressionPropertyKey_OutputPoolRequestedMinimumBufferCount]?.integer ?? 0
    if let transfer = store.object(kVTDecompressionPropertyKey_PixelTransferProperties) as? NSDictionary {
      settings.image.transfer = PixelTransferProperties.settings(transfer) ?? PixelTransferSettings()
    } else if let options {
      settings.image.transfer = options.transfer
    }
    return settings
  }
}
