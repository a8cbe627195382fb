// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

extension MediaStream {
  /// The format of the stream's samples as Core Media describes it.
  package func makeFormatDescription() throws -> CMFormatDescription {
    switch kind {
    case .video: try makeVideoFormatDescription()
    case .audio: try makeAudioFormatDescription()
    case .subtitle where isText: try makeTextFormatDescription()
    case .subtitle, .data: try makeOtherFormatDescription()
    }
  }

  // MARK: - Video

  private func makeVideoFormatDescription() throws -> CMFormatDescription {
    let parameters = codec.pointer.pointee
    let isHEVC = codec.codecID == AV_CODEC_ID_HEVC
    if isAnnexB, !parameterSets.isEmpty, let made = Self.description(of: parameterSets, isHEVC: isHEVC) {
      return try added(to: made)
    }

    let extensions = NSMutableDictionary()
    let extradata = codec.extradata
    let atoms = NSMutableDictionary()
    func atom(_ name: String) { atoms.setObject(extradata as NSData, forKey: name as NSString) }
    if !extradata.isEmpty {
      switch codec.codecID {
      case AV_CODEC_ID_H264 where !isAnnexB: atom("avcC")
      case AV_CODEC_ID_HEVC where !isAnnexB: atom("hvcC")
      case AV_CODEC_ID_AV1: atom("av1C")
      case AV_CODEC_ID_MPEG4:
        let descriptor = ElementaryStreamDescriptor.make(configuration: extradata, objectType: 0x20)
        atoms.setObject((Data([0, 0, 0, 0]) + descriptor) as NSData, forKey: "esds" as NSString)
      default: extensions.setObject(extradata as NSData, forKey: CodecNames.extradataKey)
      }
    }
    if codec.codecID == AV_CODEC_ID_VP9, let made = VP9Configuration(parameters) {
      atoms.setObject(made.record as NSData, forKey: "vpcC" as NSString)
    }
    if let layerConfiguration {
      atoms.setObject(layerConfiguration as NSData, forKey: "lhvC" as NSString)
    }
    if !CodecNames.isDescribedByType(codec.codecID) {
      for (key, value) in StoredCodec.extensions(parameters) { extensions[key] = value }
    }
    if atoms.count > 0 {
      extensions.setObject(atoms, forKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
    }
    addColor(to: extensions)
    extensions.setObject(formatName as NSString, forKey: kCMFormatDescriptionExtension_FormatName)
    extensions.setObject(codec.codecName as NSString, forKey: CodecNames.codecNameKey)
    addShape(to: extensions)
    if let depth = bitsPerComponent {
      extensions.setObject(NSNumber(value: depth), forKey: kCMFormatDescriptionExtension_BitsPerComponent)
    }
    switch parameters.field_order {
    case AV_FIELD_PROGRESSIVE:
      extensions.setObject(NSNumber(value: 1), forKey: kCMFormatDescriptionExtension_FieldCount)
    case AV_FIELD_TT, AV_FIELD_BB, AV_FIELD_TB, AV_FIELD_BT:
      extensions.setObject(NSNumber(value: 2), forKey: kCMFormatDescriptionExtension_FieldCount)
    default: break
    }
    if !isAnnexB { addOrder(to: extensions, record: [UInt8](extradata)) }
    return try Self.describe(
      CodecNames.videoType(parameters), width: parameters.width, height: parameters.height, extensions)
  }

  private static func describe(
    _ type: CMVideoCodecType, width: Int32, height: Int32, _ extensions: NSDictionary
  ) throws -> CMFormatDescription {
    var description: CMFormatDescription?
    let status = CMVideoFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, codecType: type, width: width, height: height, extensions: extensions,
      formatDescriptionOut: &description)
    guard status == noErr, let description else {
      throw MediaFileError(.unsupportedFormat, "the video format cannot be described (\(status))")
    }
    return description
  }

  /// Adds pixel aspect ratio, clean aperture, stereo and reordering of the container to a
  /// description that was made of parameter sets.
  private func added(to made: CMFormatDescription) throws -> CMFormatDescription {
    let extensions = NSMutableDictionary()
    addShape(to: extensions)
    let atoms =
      CMFormatDescriptionGetExtension(
        made, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as? NSDictionary
    addOrder(to: extensions, record: (atoms?["avcC" as NSString] as? Data).map { [UInt8]($0) } ?? [])
    guard extensions.count > 0 else { return made }
    let all = NSMutableDictionary(
      dictionary: CMFormatDescriptionGetExtensions(made) as? [AnyHashable: Any] ?? [:])
    all.addEntries(from: extensions as? [AnyHashable: Any] ?? [:])
    let size = CMVideoFormatDescriptionGetDimensions(made)
    return try Self.describe(
      CMFormatDescriptionGetMediaSubType(made), width: size.width, height: size.height, all)
  }

  /// Adds the pixel aspect ratio, the clean aperture and the spatial properties. Those of the
  /// container override the stream's (ISO/IEC 14496-12, 12.1.4): where only the stream has an
  /// aspect ratio other than 1 : 1, the container's 1 : 1 is written out.
  private func addShape(to extensions: NSMutableDictionary) {
    let declared = codec.pointer.pointee.sample_aspect_ratio
    let aspect = sampleAspectRatio
    let isOddInStream = declared.num > 0 && declared.den > 0 && declared.num != declared.den
    if aspect.num > 0, aspect.den > 0, aspect.num != aspect.den || isOddInStream {
      let spacings: [CFString: NSNumber] = [
        kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: NSNumber(value: aspect.num),
        kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: NSNumber(value: aspect.den),
      ]
      extensions.setObject(spacings as NSDictionary, forKey: kCMFormatDescriptionExtension_PixelAspectRatio)
    }
    if let cleanAperture {
      extensions.setObject(
        cleanAperture.dictionary, forKey: kCMFormatDescriptionExtension_CleanAperture)
    }
    spatial?.add(to: extensions)
  }

  /// Adds the reorder depth if the presentation times show a larger one than the H.264 parameter
  /// sets.
  private func addOrder(to extensions: NSMutableDictionary, record: [UInt8]) {
    guard codec.codecID == AV_CODEC_ID_H264,
      ReorderDepth(h264: record, known: 0).frames < min(reorderDepth, 16)
    else { return }
    extensions.setObject(NSNumber(value: reorderDepth), forKey: CodecNames.reorderDepthKey)
  }

  /// Makes the format description that is valid from a sample on, if the sample comes with a new
  /// configuration record (`avcC`, `hvcC`); nil if it does not.
  package func makeFormatDescription(of packet: MediaPacket) -> CMFormatDescription? {
    var size = 0
    guard kind == .video, !isAnnexB, packet.pointer.pointee.side_data_elems > 0,
      let side = av_packet_get_side_data(packet.pointer, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0,
      codec.codecID == AV_CODEC_ID_H264 || codec.codecID == AV_CODEC_ID_HEVC
    else { return nil }
    let isHEVC = codec.codecID == AV_CODEC_ID_HEVC
    let atoms: [String: Data] = [isHEVC ? "hvcC" : "avcC": Data(bytes: side, count: size)]
    var raw: CMFormatDescription?
    CMVideoFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, codecType: isHEVC ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264,
      width: codec.pointer.pointee.width, height: codec.pointer.pointee.height,
      extensions: [kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: atoms] as NSDictionary,
      formatDescriptionOut: &raw)
    guard let raw else { return nil }
    var sets: [Data] = []
    var pointer: UnsafePointer<UInt8>?
    var length = 0
    var lengthSize: Int32 = 4
    while (isHEVC
      ? CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
        raw, parameterSetIndex: sets.count, parameterSetPointerOut: &pointer, parameterSetSizeOut: &length,
        parameterSetCountOut: nil, nalUnitHeaderLengthOut: &lengthSize)
      : CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
        raw, parameterSetIndex: sets.count, parameterSetPointerOut: &pointer, parameterSetSizeOut: &length,
        parameterSetCountOut: nil, nalUnitHeaderLengthOut: &lengthSize)) == noErr, let set = pointer
    {
      sets.append(Data(bytes: set, count: length))
    }
    return sets.isEmpty ? nil : Self.description(of: sets, isHEVC: isHEVC, lengthSize: lengthSize)
  }

  private static func description(
    of sets: [Data], isHEVC: Bool, lengthSize: Int32 = 4
  ) -> CMFormatDescription? {
    let arrays = sets.map { [UInt8]($0) }
    // One buffer holds all parameter sets, so that the pointers stay valid during the call.
    return arrays.flatMap { $0 }.withUnsafeBufferPointer { bytes -> CMFormatDescription? in
      guard let base = bytes.baseAddress else { return nil }
      var pointers: [UnsafePointer<UInt8>] = []
      var offset = 0
      for array in arrays {
        pointers.append(base + offset)
        offset += array.count
      }
      let sizes = arrays.map(\.count)
      var made: CMFormatDescription?
      let status =
        isHEVC
        ? CMVideoFormatDescriptionCreateFromHEVCParameterSets(
          allocator: kCFAllocatorDefault, parameterSetCount: pointers.count, parameterSetPointers: pointers,
          parameterSetSizes: sizes, nalUnitHeaderLength: lengthSize, extensions: nil,
          formatDescriptionOut: &made)
        : CMVideoFormatDescriptionCreateFromH264ParameterSets(
          allocator: kCFAllocatorDefault, parameterSetCount: pointers.count, parameterSetPointers: pointers,
          parameterSetSizes: sizes, nalUnitHeaderLength: lengthSize, formatDescriptionOut: &made)
      return status == noErr ? made : nil
    }
  }

  /// Bits of a component of the decoded pictures; nil if the pixel format is not known.
  package var bitsPerComponent: Int? {
    let format = AVPixelFormat(rawValue: codec.pointer.pointee.format)
    guard let formatDescriptor = av_pix_fmt_desc_get(format), formatDescriptor.pointee.nb_components > 0
    else { return nil }
    let depth = Int(formatDescriptor.pointee.comp.0.depth)
    return depth > 0 ? depth : nil
  }

  private var formatName: String {
    switch codec.codecID {
    case AV_CODEC_ID_H264: return "H.264"
    case AV_CODEC_ID_HEVC: return "HEVC"
    default:
      let descriptor = avcodec_descriptor_get(codec.codecID)
      return descriptor?.pointee.long_name.map { String(cString: $0) } ?? codec.codecName
    }
  }

  private func addColor(to extensions: NSMutableDictionary) {
    let parameters = codec.pointer.pointee
    if let name = MediaColor.name(parameters.color_primaries) {
      extensions.setObject(name, forKey: kCMFormatDescriptionExtension_ColorPrimaries)
    }
    if let name = MediaColor.name(parameters.color_trc) {
      extensions.setObject(name, forKey: kCMFormatDescriptionExtension_TransferFunction)
    }
    if let name = MediaColor.name(parameters.color_space) {
      extensions.setObject(name, forKey: kCMFormatDescriptionExtension_YCbCrMatrix)
    }
    if parameters.color_range == AVCOL_RANGE_JPEG {
      extensions.setObject(NSNumber(value: true), forKey: kCMFormatDescriptionExtension_FullRangeVideo)
    }
    if let masteringDisplay {
      extensions.setObject(
        masteringDisplay as NSData, forKey: kCMFormatDescriptionExtension_MasteringDisplayColorVolume)
    }
    if let contentLightLevel {
      extensions.setObject(
        contentLightLevel as NSData, forKey: kCMFormatDescriptionExtension_ContentLightLevelInfo)
    }
  }

  // MARK: - Audio

  /// The audio format. `mFramesPerPacket` and `mBytesPerFrame` are 0 where they are not constant.
  package var audioLayout: AudioStreamBasicDescription {
    let parameters = codec.pointer.pointee
    let channels = UInt32(max(1, parameters.ch_layout.nb_channels))
    var basic = AudioStreamBasicDescription()
    basic.mSampleRate = Float64(parameters.sample_rate)
    basic.mFormatID = CodecNames.audioType(parameters)
    basic.mChannelsPerFrame = channels
    if let pcm = PCMFormat(parameters.codec_id) {
      basic.mFormatFlags = pcm.flags
      basic.mBitsPerChannel = pcm.bits
      // An implausible number of channels would overflow the size of a frame.
      basic.mBytesPerFrame = channels <= 4096 ? pcm.bits / 8 * channels : 0
      basic.mBytesPerPacket = basic.mBytesPerFrame
      basic.mFramesPerPacket = 1
    } else {
      basic.mFramesPerPacket = UInt32(max(0, parameters.frame_size))
      if basic.mFramesPerPacket == 0, parameters.codec_id == AV_CODEC_ID_AAC { basic.mFramesPerPacket = 1024 }
    }
    return basic
  }

  private func makeAudioFormatDescription() throws -> CMFormatDescription {
    var basic = audioLayout
    let channels = codec.pointer.pointee.ch_layout.nb_channels
    var cookie = codec.extradata
    if codec.codecID == AV_CODEC_ID_AAC, !cookie.isEmpty {
      cookie = ElementaryStreamDescriptor.make(
        configuration: cookie, objectType: 0x40, bitRate: UInt32(clamping: bitRate))
    }
    var layout = AudioChannelLayout()
    layout.mChannelLayoutTag = channels == 1 ? kAudioChannelLayoutTag_Mono : kAudioChannelLayoutTag_Stereo
    let layoutSize = channels == 1 || channels == 2 ? MemoryLayout<AudioChannelLayout>.size : 0
    let extensions: [CFString: Any] = [CodecNames.codecNameKey: codec.codecName as NSString]
    var description: CMFormatDescription?
    let status = cookie.withUnsafeBytes { cookie in
      CMAudioFormatDescriptionCreate(
        allocator: kCFAllocatorDefault, asbd: &basic, layoutSize: layoutSize, layout: &layout,
        magicCookieSize: cookie.count, magicCookie: cookie.baseAddress,
        extensions: extensions as NSDictionary,
        formatDescriptionOut: &description)
    }
    guard status == noErr, let description else {
      throw MediaFileError(.unsupportedFormat, "the audio format cannot be described (\(status))")
    }
    return description
  }

  // MARK: - Text

  /// Makes the description of a text stream. All text is converted to 3GPP timed text.
  private func makeTextFormatDescription() throws -> CMFormatDescription {
    let content = isTimedText ? codec.extradata : try TimedTextConverter(self).sampleDescription
    var made: CMFormatDescription?
    let entry = TimedText.entry(content)
    CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData(
      allocator: kCFAllocatorDefault, bigEndianTextDescriptionData: entry, size: entry.count, flavor: nil,
      mediaType: kCMMediaType_Subtitle, formatDescriptionOut: &made)
    // If the display properties in the sample entry are damaged, a plain description still gives
    // access to the text.
    return try made ?? CMFormatDescription(mediaType: .subtitle, mediaSubType: .mobile3GPP)
  }

  // MARK: - Other media

  private func makeOtherFormatDescription() throws -> CMFormatDescription {
    if let metadataDescription {
      let made = metadataDescription.withUnsafeBytes { bytes -> CMFormatDescription? in
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return nil }
        var made: CMFormatDescription?
        CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData(
          allocator: kCFAllocatorDefault, bigEndianMetadataDescriptionData: base, size: bytes.count,
          flavor: nil, formatDescriptionOut: &made)
        return made
      }
      if let made { return made }
    }
    let tag = codec.pointer.pointee.codec_tag
    let type =
      kind == .subtitle
      ? kCMMediaType_Subtitle
      : isChapterText
        ? kCMMediaType_Text : codec.codecTag == "tmcd" ? kCMMediaType_TimeCode : kCMMediaType_Metadata
    var description: CMFormatDescription?
    let status = CMFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, mediaType: type,
      mediaSubType: (tag != 0 ? tag : codec.codecID.rawValue).byteSwapped, extensions: nil,
      formatDescriptionOut: &description)
    guard status == noErr, let description else {
      throw MediaFileError(.unsupportedFormat, "the stream's format cannot be described (\(status))")
    }
    return description
  }
}
