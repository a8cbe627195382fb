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
    Row(kVTDecompressionPropertyKey_PixelBufferPool, .other, "The pool that output buffers come from.").with {
      $0.read = { state in state.pipeline.facts { output, _ in output.pool } }
    },
    Row(
      kVTDecompressionPropertyKey_PixelBufferPoolIsShared, .boolean,
      "Whether frames are decoded straight into the pool's buffers."
    ).with { $0.read = { state in NSNumber(value: state.pipeline.facts { output, _ in output.isDirect }) } },
    Row(
      kVTDecompressionPropertyKey_OutputPoolRequestedMinimumBufferCount, .integer(0...1024),
      "The least number of buffers that the pool keeps."
    ).with { $0.defaultValue = .number(0) },
  ]

  private static let progressRows = [
    Row(
      kVTDecompressionPropertyKey_NumberOfFramesBeingDecoded, .integer(0...Int(Int32.max)),
      "Frames that were handed over and not yet given back."
    ).with { $0.read = { NSNumber(value: $0.pipeline.framesUnderWay.count) } },
    Row(
      kVTDecompressionPropertyKey_MinOutputPresentationTimeStampOfFramesBeingDecoded, .other,
      "The least of their time stamps."
    ).with { $0.read = { time($0.pipeline.framesUnderWay.min()) } },
    Row(
      kVTDecompressionPropertyKey_MaxOutputPresentationTimeStampOfFramesBeingDecoded, .other,
      "The greatest of their time stamps."
    ).with { $0.read = { time($0.pipeline.framesUnderWay.max()) } },
    Row(
      kVTDecompressionPropertyKey_ContentHasInterframeDependencies, .boolean,
      "Whether frames depend on others."
    ).with { $0.read = { NSNumber(value: $0.format.hasInterframeDependencies) } },
  ]

  private static let behaviourRows = [
    Row(kVTDecompressionPropertyKey_RealTime, .boolean, "Whether a frame counts more than throughput.").with {
      $0.defaultValue = .boolean(true)
    },
    Row(kVTDecompressionPropertyKey_MaximizePowerEfficiency, .boolean, "Whether one thread is to decode.")
      .with {
        $0.defaultValue = .boolean(false)
      },
    Row(
      kVTDecompressionPropertyKey_ThreadCount, .integer(0...64),
      "Threads for the decoder; 0 leaves the choice to it. Holds from the next key frame on. H.264 and HEVC that are decoded "
        + "at once, or in real time, have one."
    ).with { $0.defaultValue = .number(0) },
    Row(
      kVTDecompressionPropertyKey_FieldMode,
      .enumeration(
        [
          kVTDecompressionProperty_FieldMode_BothFields, kVTDecompressionProperty_FieldMode_TopFieldOnly,
          kVTDecompressionProperty_FieldMode_BottomFieldOnly, kVTDecompressionProperty_FieldMode_SingleField,
          kVTDecompressionProperty_FieldMode_DeinterlaceFields,
        ].map { $0 as String }), "What to do with interlaced frames."
    ).with { $0.defaultValue = .text(kVTDecompressionProperty_FieldMode_BothFields as String) },
    Row(
      kVTDecompressionPropertyKey_DeinterlaceMode,
      .enumeration([kVTDecompressionProperty_DeinterlaceMode_VerticalFilter as String]),
      "How two fields are made into a frame."
    ).with { $0.defaultValue = .text(kVTDecompressionProperty_DeinterlaceMode_VerticalFilter as String) },
    Row(
      kVTDecompressionPropertyKey_ReducedResolutionDecode,
      .dictionary(
        required: [
          kVTDecompressionResolutionKey_Width as String, kVTDecompressionResolutionKey_Height as String,
        ],
        optional: []), "A smaller size for the output."
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
        ].map { $0 as String }), "Which frames to decode."
    ).with { $0.defaultValue = .text(kVTDecompressionProperty_OnlyTheseFrames_AllFrames as String) },
    Row(
      kVTDecompressionProperty_TemporalLevelLimit, .integer(0...6), "The highest temporal level to decode."
    ).with { $0.isOffered = { StreamFormat.isHEVC($0.format.codec) } },
    Row(
      kVTDecompressionPropertyKey_AllowBitstreamToChangeFrameDimensions, .boolean,
      "Whether frames may have other dimensions than the format description says."
    ).with { $0.defaultValue = .boolean(false) },
    Row(
      kVTDecompressionPropertyKey_PixelTransferProperties, .other,
      "Properties for the conversion of decoded frames to what the client asked for."
    ).with { row in
      row.accepts = { ($0 as? NSDictionary).map { PixelTransferProperties.settings($0) != nil } ?? false }
    },
  ]

  private static let formatRows = [
    Row(
      kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByQuality, .other,
      "Pixel formats for the output, the most faithful first."
    ).with { $0.read = { $0.pixelFormats } },
    Row(
      kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByPerformance, .other,
      "Pixel formats for the output, the fastest first."
    ).with { $0.read = { $0.pixelFormats } },
    Row(
      kVTDecompressionPropertyKey_PixelFormatsWithReducedResolutionSupport, .other,
      "Pixel formats for the output at a reduced resolution."
    ).with { $0.read = { $0.pixelFormats } },
    Row(
      kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder, .boolean, "Whether hardware decodes."
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
