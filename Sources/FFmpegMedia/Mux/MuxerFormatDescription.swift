// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

extension MuxerTrack {
  /// Makes a track for samples of a format.
  /// - Parameters:
  ///   - description: The format.
  ///   - timeScale: Time units per second.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if the format cannot be written.
  package init(_ description: CMFormatDescription, timeScale: Int32) throws {
    switch CMFormatDescriptionGetMediaType(description) {
    case kCMMediaType_Video:
      self.init(kind: .video, codecID: CodecNames.videoCodec(description), timeScale: timeScale)
      try fillVideo(description)
    case kCMMediaType_Audio:
      self.init(kind: .audio, codecID: CodecNames.audioCodec(description), timeScale: timeScale)
      try fillAudio(description)
    case kCMMediaType_Text, kCMMediaType_Subtitle:
      let isText = CMFormatDescriptionGetMediaType(description) == kCMMediaType_Text
      self.init(kind: isText ? .text : .subtitle, codecID: AV_CODEC_ID_MOV_TEXT, timeScale: timeScale)
      try fillText(description)
    case kCMMediaType_Metadata:
      self.init(kind: .metadata, codecID: AV_CODEC_ID_BIN_DATA, timeScale: timeScale)
      try fillMetadata(description)
    default:
      throw MediaFileError(
        .unsupportedFormat, "only video, audio, text and timed metadata can be written")
    }
    guard codecID != AV_CODEC_ID_NONE else {
      throw MediaFileError(.unsupportedFormat, "the format \(description) cannot be written")
    }
  }

  /// The name of the atom with a video codec's configuration record.
  private static func recordName(_ codecID: AVCodecID) -> String {
    switch codecID {
    case AV_CODEC_ID_H264: "avcC"
    case AV_CODEC_ID_HEVC: "hvcC"
    case AV_CODEC_ID_AV1: "av1C"
    case AV_CODEC_ID_VP8, AV_CODEC_ID_VP9: "vpcC"
    default: "esds"
    }
  }

  private mutating func fillVideo(_ description: CMFormatDescription) throws {
    let dimensions = CMVideoFormatDescriptionGetDimensions(description)
    width = dimensions.width
    height = dimensions.height
    if codecID == AV_CODEC_ID_H264 || codecID == AV_CODEC_ID_HEVC {
      codecTag = CMFormatDescriptionGetMediaSubType(description)
    }
    func value(_ key: CFString) -> Any? { CMFormatDescriptionGetExtension(description, extensionKey: key) }
    if let atoms = value(kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as? NSDictionary {
      // Only the atoms of this codec count; others do not describe these samples.
      func atom(_ name: String) -> Data? {
        let atom = atoms.object(forKey: name as NSString)
        return atom as? Data ?? (atom as? [Data])?.first
      }
      let name = Self.recordName(codecID)
      if let data = atom(name) {
        extradata = name == "esds" ? ElementaryStreamDescriptor.configuration(in: data) : data
      }
      if codecID == AV_CODEC_ID_HEVC { layerConfiguration = atom("lhvC") }
      guard layerConfiguration?.count ?? 0 <= MovieSampleDescription.maxLayers - 8 else {
        throw MediaFileError(.unsupportedFormat, "the configuration of further layers (lhvC) is too large")
      }
    }
    if extradata.isEmpty, let data = value(CodecNames.extradataKey) as? Data { extradata = data }
    if let aspect = value(kCMFormatDescriptionExtension_PixelAspectRatio) as? NSDictionary,
      let horizontal = aspect.object(forKey: kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing)
        as? NSNumber,
      let vertical = aspect.object(forKey: kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing)
        as? NSNumber,
      horizontal.int32Value > 0, vertical.int32Value > 0
    {
      sampleAspectRatio = AVRational(num: horizontal.int32Value, den: vertical.int32Value)
    }
    cleanAperture = (value(kCMFormatDescriptionExtension_CleanAperture) as? NSDictionary).flatMap {
      CleanAperture($0)
    }.flatMap { $0.isPart(ofWidth: width, height: height) ? $0 : nil }
    let spatial = SpatialVideo(value)
    self.spatial = spatial.isEmpty ? nil : spatial
    if let name = value(kCMFormatDescriptionExtension_ColorPrimaries) as? CFString {
      colorPrimaries = MediaColor.primaries(name)
    }
    if let name = value(kCMFormatDescriptionExtension_TransferFunction) as? CFString {
      colorTransfer = MediaColor.transfer(name)
    }
    if let name = value(kCMFormatDescriptionExtension_YCbCrMatrix) as? CFString {
      colorMatrix = MediaColor.matrix(name)
    }
    masteringDisplay = value(kCMFormatDescriptionExtension_MasteringDisplayColorVolume) as? Data
    contentLightLevel = value(kCMFormatDescriptionExtension_ContentLightLevelInfo) as? Data
    isFullRange = (value(kCMFormatDescriptionExtension_FullRangeVideo) as? NSNumber)?.boolValue
    bitsPerSample = (value(kCMFormatDescriptionExtension_Depth) as? NSNumber)?.int32Value ?? 0
  }

  private mutating func fillText(_ description: CMFormatDescription) throws {
    var block: CMBlockBuffer?
    CMTextFormatDescriptionCopyAsBigEndianTextDescriptionBlockBuffer(
      allocator: kCFAllocatorDefault, textFormatDescription: description, flavor: nil, blockBufferOut: &block)
    guard let entry = try block?.dataBytes(), entry.count >= TimedText.entryHeader else {
      throw MediaFileError(.unsupportedFormat, "text is written as 3GPP timed text ('tx3g') only")
    }
    codecTag = kCMTextFormatType_3GText
    let hasStyle =
      CMFormatDescriptionGetExtension(
        description, extensionKey: kCMTextFormatDescriptionExtension_DefaultStyle) != nil
    extradata = hasStyle ? Data(entry.dropFirst(TimedText.entryHeader)) : TimedText.defaultStyle
  }

  /// libavformat writes only one type of timed metadata, GoPro's ('gpmd'). Its sample entry is
  /// replaced when the header is written.
  private mutating func fillMetadata(_ description: CMFormatDescription) throws {
    var block: CMBlockBuffer?
    CMMetadataFormatDescriptionCopyAsBigEndianMetadataDescriptionBlockBuffer(
      allocator: kCFAllocatorDefault, metadataFormatDescription: description, flavor: nil,
      blockBufferOut: &block)
    guard CMFormatDescriptionGetMediaSubType(description) == kCMMetadataFormatType_Boxed,
      let entry = try block?.dataBytes(), entry.count < 1 << 20
    else {
      throw MediaFileError(.unsupportedFormat, "timed metadata is written in boxes ('mebx') only")
    }
    codecTag = 0x6770_6D64  // 'gpmd'
    sampleDescription = [UInt8](entry)
  }

  private mutating func fillAudio(_ description: CMFormatDescription) throws {
    guard let basic = description.audioStreamBasicDescription, basic.mSampleRate >= 1,
      basic.mSampleRate < Double(Int32.max), basic.mChannelsPerFrame > 0, basic.mChannelsPerFrame <= 64
    else { throw MediaFileError(.unsupportedFormat, "the audio has no valid sample rate or channels") }
    sampleRate = Int32(basic.mSampleRate)
    channels = Int32(basic.mChannelsPerFrame)
    framesPerPacket = Int32(clamping: basic.mFramesPerPacket)
    bytesPerFrame = Int32(clamping: basic.mBytesPerFrame)
    bitsPerSample = Int32(clamping: basic.mBitsPerChannel)
    let cookie = description.magicCookie ?? Data()
    extradata = codecID == AV_CODEC_ID_AAC ? ElementaryStreamDescriptor.configuration(in: cookie) : cookie
  }
}
