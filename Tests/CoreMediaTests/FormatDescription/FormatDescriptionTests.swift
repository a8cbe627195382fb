// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

@Suite struct FormatDescriptionTests {
  @Test func equalityFollowsTheExtensions() throws {
    func make(_ extensions: CMFormatDescription.Extensions?) throws -> CMFormatDescription {
      try CMFormatDescription(videoCodecType: .h264, width: 640, height: 480, extensions: extensions)
    }
    let plain = try make(nil)
    let atoms = { (x: UInt8) in
      CMFormatDescription.Extensions.Value(["one": Data([1]), "two": Data([x])] as NSDictionary)
    }
    let first = try make([.formatName: .string("a"), .sampleDescriptionExtensionAtoms: atoms(1)])
    let same = try make([.formatName: .string("a"), .sampleDescriptionExtensionAtoms: atoms(1)])
    let otherName = try make([.formatName: .string("b"), .sampleDescriptionExtensionAtoms: atoms(1)])
    let otherAtom = try make([.formatName: .string("a"), .sampleDescriptionExtensionAtoms: atoms(2)])
    #expect(first == same && first.hashValue == same.hashValue && first != plain && first != otherName)
    #expect(CMFormatDescriptionEqual(first, otherFormatDescription: same))
    #expect(!CMFormatDescriptionEqual(first, otherFormatDescription: nil))
    #expect(!CMFormatDescriptionEqual(nil, otherFormatDescription: nil))
    #expect(first.equalTo(otherName, extensionKeysToIgnore: [.formatName]))
    #expect(!first.equalTo(otherAtom, extensionKeysToIgnore: [.formatName]))
    #expect(first.equalTo(otherAtom, sampleDescriptionExtensionAtomKeysToIgnore: ["two"]))
    #expect(
      CMFormatDescriptionEqualIgnoringExtensionKeys(
        first, otherFormatDescription: otherName,
        extensionKeysToIgnore: [kCMFormatDescriptionExtension_FormatName] as CFArray,
        sampleDescriptionExtensionAtomKeysToIgnore: nil))
    #expect(
      CMFormatDescriptionEqualIgnoringExtensionKeys(
        first, otherFormatDescription: otherAtom, extensionKeysToIgnore: nil,
        sampleDescriptionExtensionAtomKeysToIgnore: "two" as CFString))
    #expect(try plain != CMFormatDescription(videoCodecType: .h264, width: 640, height: 481))
    #expect(try plain != CMFormatDescription(videoCodecType: .hevc, width: 640, height: 480))
    #expect(CFEqual(first, same) && !CFEqual(first, plain))
  }

  @Test func typesAndExtensionsComeBack() throws {
    var made: CMFormatDescription?
    let mutable = NSMutableDictionary()
    mutable[kCMFormatDescriptionExtension_FormatName] = "x" as CFString
    #expect(
      CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: kCMVideoCodecType_HEVC, width: 100, height: 50, extensions: mutable,
        formatDescriptionOut: &made) == 0)
    let description = try #require(made)
    mutable[kCMFormatDescriptionExtension_FormatName] = "changed" as CFString
    #expect(
      CMFormatDescriptionGetExtension(description, extensionKey: kCMFormatDescriptionExtension_FormatName)
        as? String == "x")
    #expect(CMFormatDescriptionGetMediaType(description) == kCMMediaType_Video)
    #expect(CMFormatDescriptionGetMediaSubType(description) == kCMVideoCodecType_HEVC)
    #expect(description.mediaSubType == .hevc && "\(description.mediaSubType)" == "hvc1")
    #expect(CMFormatDescription.MediaSubType(string: "avc1") == .h264)
    #expect(CMFormatDescription.MediaType(string: "vide") == .video)
    #expect(CMFormatDescription.MediaType.video.rawValue == 0x7669_6465)
    #expect(description.extensions[.formatName]?.propertyListRepresentation as? String == "x")
    #expect(description.extensions[kCMFormatDescriptionExtension_FormatName] as? String == "x")
    #expect(description.parameterSets.isEmpty && description.nalUnitHeaderLength == nil)
    #expect(CFGetTypeID(description) == CMFormatDescriptionGetTypeID())
    #expect(
      CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: 0, width: -1, height: 1, extensions: nil, formatDescriptionOut: &made)
        == kCMFormatDescriptionError_InvalidParameter)
    #expect(throws: NSError.self) { try CMFormatDescription(videoCodecType: .h264, width: .max, height: 1) }
    var extensions = CMFormatDescription.Extensions(base: [
      kCMFormatDescriptionExtension_Depth: 24 as CFNumber
    ])
    #expect(extensions[.depth]?.propertyListRepresentation as? Int == 24 && extensions.count == 1)
    extensions[.fieldDetail] = .fieldDetail(.spatialFirstLineLate)
    #expect(extensions[kCMFormatDescriptionExtension_FieldDetail] as? String == "SpatialFirstLineLate")
    extensions[.depth] = nil
    #expect(extensions.map(\.key) == [.fieldDetail])
  }

  @Test func theGeometryFollowsApertureAndAspect() throws {
    let description = try CMFormatDescription(
      videoCodecType: .h264, width: 720, height: 576,
      extensions: [
        .pixelAspectRatio: .pixelAspectRatio(horizontalSpacing: 16, verticalSpacing: 11),
        .cleanAperture: .cleanAperture(width: 700, height: 560, horizontalOffet: 2, verticalOffset: -4),
      ])
    #expect(
      description.presentationDimensions(usePixelAspectRatio: false, useCleanAperture: false)
        == CGSize(width: 720, height: 576))
    #expect(description.presentationDimensions(usePixelAspectRatio: false) == CGSize(width: 700, height: 560))
    #expect(abs(description.presentationDimensions().width - 700 * 16 / 11.0) < 1e-9)
    #expect(
      description.cleanAperture(originIsAtTopLeft: true) == CGRect(x: 12, y: 4, width: 700, height: 560))
    #expect(
      description.cleanAperture(originIsAtTopLeft: false) == CGRect(x: 12, y: 12, width: 700, height: 560))
    let rational = try CMFormatDescription(
      videoCodecType: .h264, width: 10, height: 10,
      extensions: [
        .cleanAperture: .cleanAperture(
          width: (17, 2), height: (9, 1), horizontalOffet: (1, 4), verticalOffset: (0, 1))
      ])
    #expect(rational.cleanAperture(originIsAtTopLeft: true) == CGRect(x: 1, y: 0.5, width: 8.5, height: 9))
    let plain = try CMFormatDescription(videoCodecType: .h264, width: 10, height: 8)
    #expect(plain.cleanAperture(originIsAtTopLeft: false) == CGRect(x: 0, y: 0, width: 10, height: 8))
  }

  @Test func descriptionsAreMadeFromImageBuffers() throws {
    let picture = try makePixels(64, 48, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    let plain = try CMFormatDescription(imageBuffer: picture)
    #expect(plain.mediaSubType.rawValue == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(
      plain.dimensions.width == 64 && plain.dimensions.height == 48 && plain.matchesImageBuffer(picture))
    let key = kCMFormatDescriptionExtension_ColorPrimaries
    CVBufferSetAttachment(picture, key, kCMFormatDescriptionColorPrimaries_ITU_R_709_2, .shouldPropagate)
    #expect(!plain.matchesImageBuffer(picture))
    let coloured = try CMFormatDescription(imageBuffer: picture)
    #expect(coloured.matchesImageBuffer(picture))
    #expect(coloured.extensions[.colorPrimaries]?.propertyListRepresentation as? String == "ITU_R_709_2")
    CVBufferSetAttachment(picture, key, kCMFormatDescriptionColorPrimaries_EBU_3213, .shouldPropagate)
    #expect(!coloured.matchesImageBuffer(picture))
    CVBufferRemoveAttachment(picture, key)
    #expect(!coloured.matchesImageBuffer(picture) && plain.matchesImageBuffer(picture))
    // An attachment that a format description has no place for.
    CVBufferSetAttachment(picture, "own" as CFString, 1 as CFNumber, .shouldPropagate)
    #expect(plain.matchesImageBuffer(picture))
    #expect(CMFormatDescription.extensionKeysCommonWithImageBuffers.contains(.colorPrimaries))
    let taller = try makePixels(64, 50, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(!plain.matchesImageBuffer(taller))
  }

  @Test func formatsOfAudioAreReportedToC() throws {
    var basic = AudioStreamBasicDescription(
      mSampleRate: 48_000, mFormatID: kAudioFormatLinearPCM, mFormatFlags: kAudioFormatFlagIsFloat,
      mBytesPerPacket: 4, mFramesPerPacket: 1, mBytesPerFrame: 4, mChannelsPerFrame: 1, mBitsPerChannel: 32,
      mReserved: 0)
    for (channels, tag) in [
      (1, kAudioChannelLayoutTag_Mono), (2, kAudioChannelLayoutTag_Stereo),
      (5, kAudioChannelLayoutTag_Unknown | 5),
    ] {
      basic.mChannelsPerFrame = UInt32(channels)
      let description = try CMFormatDescription(audioStreamBasicDescription: basic)
      var size = 0
      let list = try #require(CMAudioFormatDescriptionGetFormatList(description, sizeOut: &size))
      #expect(size == MemoryLayout<AudioFormatListItem>.size)
      let compatible = try #require(CMAudioFormatDescriptionGetMostCompatibleFormat(description))
      let richest = try #require(CMAudioFormatDescriptionGetRichestDecodableFormat(description))
      for item in [list.pointee, compatible.pointee, richest.pointee] {
        #expect(item.mASBD == basic && item.mChannelLayoutTag == tag)
      }
      #expect(description.mostCompatibleFormat?.mChannelLayoutTag == tag)
    }
    let video = try CMFormatDescription(videoCodecType: .h264, width: 16, height: 16)
    #expect(CMAudioFormatDescriptionGetMostCompatibleFormat(video) == nil)
  }
}
