// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing
import TestSupport

/// Descriptions of time codes, timed metadata and text, and their sample descriptions in movies.
@Suite struct TimedDescriptionTests {
  private func bytes(_ buffer: CMBlockBuffer?) throws -> [UInt8] {
    let buffer = try #require(buffer)
    return Array(try buffer.dataBytes())
  }

  @Test func timeCodesAreReadAndWritten() throws {
    var made: CMFormatDescription?
    let source: NSDictionary = [
      kCMTimeCodeFormatDescriptionKey_Value: "Tape 7" as NSString,
      kCMTimeCodeFormatDescriptionKey_LangCode: 0 as NSNumber,
    ]
    let extensions: NSDictionary = [kCMTimeCodeFormatDescriptionExtension_SourceReferenceName: source]
    #expect(
      CMTimeCodeFormatDescriptionCreate(
        allocator: nil, timeCodeFormatType: kCMTimeCodeFormatType_TimeCode32,
        frameDuration: CMTime(value: 1001, timescale: 30000), frameQuanta: 30,
        flags: kCMTimeCodeFlag_DropFrame | kCMTimeCodeFlag_24HourMax, extensions: extensions,
        formatDescriptionOut: &made) == noErr)
    let description = try #require(made)
    #expect(CMFormatDescriptionGetMediaType(description) == kCMMediaType_TimeCode)
    #expect(description.mediaSubType == .timeCode32)
    #expect(description.frameDuration == CMTime(value: 1001, timescale: 30000))
    #expect(description.frameQuanta == 30 && description.timeCodeFlags == [.dropFrame, .twentyFourHourMax])
    #expect(CMTimeCodeFormatDescriptionGetTimeCodeFlags(description) == 3)

    // The layout that the QuickTime File Format gives.
    var block: CMBlockBuffer?
    #expect(
      CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
        allocator: nil, timeCodeFormatDescription: description, flavor: nil, blockBufferOut: &block) == noErr)
    let written = try bytes(block)
    let name = Array("Tape 7".utf8)
    let head: [UInt8] = [0, 0, 0, 52] + Array("tmcd".utf8) + [0, 0, 0, 0, 0, 0, 0, 1]
    let body: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0x75, 0x30, 0, 0, 0x03, 0xE9, 30, 0]
    let atom: [UInt8] = [0, 0, 0, 18] + Array("name".utf8) + [0, 6, 0, 0] + name
    #expect(written == head + body + atom)

    var again: CMFormatDescription?
    #expect(
      CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData(
        allocator: nil, bigEndianTimeCodeDescriptionData: written, size: written.count, flavor: nil,
        formatDescriptionOut: &again) == noErr)
    #expect(again == description)
    // All that is cut off is refused, without a trap.
    for length in 0..<written.count {
      let status = CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData(
        allocator: nil, bigEndianTimeCodeDescriptionData: written, size: length, flavor: nil,
        formatDescriptionOut: &again)
      #expect(status == kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription && again == nil)
    }

    let swift = try CMFormatDescription(
      timeCodeFormatType: .timeCode32, frameDuration: CMTime(value: 1, timescale: 25), frameQuanta: 25,
      flags: [])
    #expect(swift != description)
    #expect(throws: CMFormatDescription.Error.invalidParameter) {
      try CMFormatDescription(
        timeCodeFormatType: .timeCode32, frameDuration: .zero, frameQuanta: 25, flags: [])
    }
    let video = try CMFormatDescription(videoCodecType: .h264, width: 16, height: 16)
    #expect(!video.frameDuration.isValid && video.frameQuanta == 0 && video.timeCodeFlags == [])
    #expect(
      CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
        allocator: nil, timeCodeFormatDescription: video, flavor: nil, blockBufferOut: &block)
        == kCMFormatDescriptionBridgeError_IncompatibleFormatDescription)
  }

  private func specification(_ identifier: String, _ type: CFString) -> [CFString: Any] {
    [
      kCMMetadataFormatDescriptionMetadataSpecificationKey_Identifier: identifier,
      kCMMetadataFormatDescriptionMetadataSpecificationKey_DataType: type,
    ]
  }

  private func metadata(_ specifications: [[CFString: Any]]) throws -> CMFormatDescription {
    var made: CMFormatDescription?
    let status = CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
      allocator: kCFAllocatorDefault, metadataType: kCMMetadataFormatType_Boxed,
      metadataSpecifications: specifications as CFArray, formatDescriptionOut: &made)
    try #require(status == noErr)
    return try #require(made)
  }

  @Test func metadataKeysAreReadAndWritten() throws {
    let time = "mdta/com.apple.quicktime.still-image-time"
    let location = kCMMetadataIdentifier_QuickTimeMetadataLocation_ISO6709 as String
    let first = try metadata([
      specification(time, kCMMetadataBaseDataType_SInt8),
      specification(location, kCMMetadataDataType_QuickTimeMetadataLocation_ISO6709),
    ])
    #expect(first.mediaType == .metadata && first.mediaSubType == .boxed)
    #expect(first.identifiers == [time, location])
    #expect(CMMetadataFormatDescriptionGetIdentifiers(first) as? [String] == [time, location])
    let key = try #require(first.keyWithLocalID(1))
    #expect((key[kCMMetadataFormatDescriptionKey_Namespace] as? NSNumber)?.uint32Value == 0x6D64_7461)
    #expect(key[kCMMetadataFormatDescriptionKey_DataType] as? Data == Data([0, 0, 0, 65]))
    #expect(
      key[kCMMetadataFormatDescriptionKey_Value] as? Data
        == Data("com.apple.quicktime.still-image-time".utf8))
    let second = try #require(CMMetadataFormatDescriptionGetKeyWithLocalID(first, localKeyID: 2))
    #expect((second[kCMMetadataFormatDescriptionKey_DataTypeNamespace] as? NSNumber)?.intValue == 1)
    #expect(first.keyWithLocalID(3) == nil)

    // Round trip, and every shorter piece.
    var block: CMBlockBuffer?
    #expect(
      CMMetadataFormatDescriptionCopyAsBigEndianMetadataDescriptionBlockBuffer(
        allocator: nil, metadataFormatDescription: first, flavor: nil, blockBufferOut: &block) == noErr)
    let written = try bytes(block)
    #expect(Array(written[4..<8]) == Array("mebx".utf8) && Array(written[20..<24]) == Array("keys".utf8))
    #expect(Array(written[28..<32]) == [0, 0, 0, 1], "the first key's box is named by its local identifier")
    var again: CMFormatDescription?
    #expect(
      CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData(
        allocator: nil, bigEndianMetadataDescriptionData: written, size: written.count, flavor: nil,
        formatDescriptionOut: &again) == noErr)
    #expect(again == first)
    for length in 0..<written.count {
      let status = CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData(
        allocator: nil, bigEndianMetadataDescriptionData: written, size: length, flavor: nil,
        formatDescriptionOut: &again)
      #expect(status == kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription)
    }

    // Merged: common entries are contained once.
    let other = try metadata([
      specification(time, kCMMetadataBaseDataType_SInt8),
      specification("mdta/com.example.speed", kCMMetadataBaseDataType_Float32),
    ])
    var merged: CMFormatDescription?
    #expect(
      CMMetadataFormatDescriptionCreateByMergingMetadataFormatDescriptions(
        allocator: nil, sourceDescription: first, otherSourceDescription: other,
        formatDescriptionOut: &merged) == noErr)
    #expect(merged?.identifiers == [time, location, "mdta/com.example.speed"])
    var extended: CMFormatDescription?
    #expect(
      CMMetadataFormatDescriptionCreateWithMetadataFormatDescriptionAndMetadataSpecifications(
        allocator: nil, sourceDescription: first,
        metadataSpecifications: [specification("mdta/x", kCMMetadataBaseDataType_UTF8)] as CFArray,
        formatDescriptionOut: &extended) == noErr)
    #expect(extended?.identifiers == [time, location, "mdta/x"])
    // By keys, as a file has them.
    var keyed: CMFormatDescription?
    let keys = [
      [
        kCMMetadataFormatDescriptionKey_LocalID: 9 as NSNumber,
        kCMMetadataFormatDescriptionKey_Namespace: 0x6D64_7461 as NSNumber,
        kCMMetadataFormatDescriptionKey_Value: Data("k".utf8) as NSData,
      ] as NSDictionary
    ]
    #expect(
      CMMetadataFormatDescriptionCreateWithKeys(
        allocator: nil, metadataType: kCMMetadataFormatType_Boxed, keys: keys as CFArray,
        formatDescriptionOut: &keyed) == noErr)
    #expect(keyed?.identifiers == ["mdta/k"] && keyed?.keyWithLocalID(9) != nil)
    #expect(
      CMMetadataFormatDescriptionCreateWithKeys(
        allocator: nil, metadataType: kCMMetadataFormatType_Boxed, keys: (keys + keys) as CFArray,
        formatDescriptionOut: &keyed) == kCMFormatDescriptionError_InvalidParameter)
    #expect(
      CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
        allocator: nil, metadataType: kCMMetadataFormatType_Boxed,
        metadataSpecifications: [specification("mdta/x", "org.example.unknown")] as CFArray,
        formatDescriptionOut: &keyed) == kCMFormatDescriptionError_InvalidParameter)
  }

  @Test func metadataIdentifiersKeepKeysAndTypes() throws {
    func identifier(_ key: CFTypeRef, _ space: CFString) -> String? {
      var made: CFString?
      guard
        CMMetadataCreateIdentifierForKeyAndKeySpace(
          allocator: nil, key: key, keySpace: space, identifierOut: &made) == noErr
      else { return nil }
      return made as String?
    }
    #expect(
      identifier("com.apple.quicktime.title" as CFString, kCMMetadataKeySpace_QuickTimeMetadata)
        == "mdta/com.apple.quicktime.title")
    #expect(identifier(0xA96E_616D as NSNumber, kCMMetadataKeySpace_iTunes) == "itsk/%A9nam")
    #expect(identifier(-1 as NSNumber, kCMMetadataKeySpace_iTunes) == nil)
    var key: CFTypeRef?
    #expect(
      CMMetadataCreateKeyFromIdentifier(
        allocator: nil, identifier: "mdta/a%20b" as CFString, keyOut: &key) == noErr)
    #expect(key as? String == "a b")
    var data: CFData?
    #expect(
      CMMetadataCreateKeyFromIdentifierAsCFData(
        allocator: nil, identifier: "itsk/%A9nam" as CFString, keyOut: &data) == noErr)
    #expect(data.map { Data(referencing: $0) } == Data([0xA9, 0x6E, 0x61, 0x6D]))
    var space: CFString?
    #expect(
      CMMetadataCreateKeySpaceFromIdentifier(
        allocator: nil, identifier: "nothing" as CFString, keySpaceOut: &space)
        == kCMMetadataIdentifierError_BadIdentifier)

    let mine = "org.example.speed" as CFString
    #expect(!CMMetadataDataTypeRegistryDataTypeIsRegistered(mine))
    #expect(
      CMMetadataDataTypeRegistryRegisterDataType(
        mine, description: "km/h", conformingDataTypes: [kCMMetadataBaseDataType_Float32] as CFArray) == noErr
    )
    #expect(CMMetadataDataTypeRegistryDataTypeIsRegistered(mine))
    #expect(CMMetadataDataTypeRegistryGetDataTypeDescription(mine) as String == "km/h")
    #expect(
      CMMetadataDataTypeRegistryDataTypeConformsToDataType(
        mine, conformsToDataType: kCMMetadataBaseDataType_Float32))
    #expect(
      CMMetadataDataTypeRegistryGetBaseDataTypeForConformingDataType(mine) == kCMMetadataBaseDataType_Float32)
    #expect(
      CMMetadataDataTypeRegistryRegisterDataType(
        mine, description: "", conformingDataTypes: [kCMMetadataBaseDataType_UTF8] as CFArray)
        == kCMMetadataDataTypeRegistryError_DataTypeAlreadyRegistered)
    #expect(
      CMMetadataDataTypeRegistryRegisterDataType(
        "org.example.none", description: "", conformingDataTypes: [] as CFArray)
        == kCMMetadataDataTypeRegistryError_RequiresConformingBaseType)
    #expect(
      CMMetadataDataTypeRegistryRegisterDataType(
        "org.example.two", description: "",
        conformingDataTypes: [kCMMetadataBaseDataType_UTF8, kCMMetadataBaseDataType_PNG] as CFArray)
        == kCMMetadataDataTypeRegistryError_MultipleConformingBaseTypes)
    #expect(CMMetadataDataTypeRegistryGetBaseDataTypes()?.count == 25)
  }

  /// Each type is looked at once, however many ways lead to it.
  @Test(.timeLimit(.minutes(HangLimit.minutes))) func dataTypesOfManyAncestorsAreLookedAtOnce() {
    func name(_ kind: String, _ depth: Int) -> String { "test.ancestors.\(kind)\(depth)" }
    func register(_ type: String, _ parents: [String]) -> OSStatus {
      CMMetadataDataTypeRegistryRegisterDataType(
        type as CFString, description: "" as CFString, conformingDataTypes: parents as CFArray)
    }
    let base = kCMMetadataBaseDataType_UTF8 as String
    let depth = 200
    for level in 0..<depth {
      let parents = level == 0 ? [base] : [name("a", level - 1), name("b", level - 1)]
      #expect(register(name("a", level), parents) == noErr)
      #expect(register(name("b", level), parents.reversed()) == noErr)
    }
    let last = name("a", depth - 1) as CFString
    #expect(CMMetadataDataTypeRegistryGetBaseDataTypeForConformingDataType(last) as String == base)
    func conforms(to other: String) -> Bool {
      CMMetadataDataTypeRegistryDataTypeConformsToDataType(last, conformsToDataType: other as CFString)
    }
    #expect(conforms(to: base) && conforms(to: name("b", 0)) && conforms(to: last as String))
    #expect(!conforms(to: name("b", depth - 1)) && !conforms(to: kCMMetadataBaseDataType_JSON as String))
  }

  @Test func textDescriptionsAreReadAndWritten() throws {
    // A sample description of 3GPP text, written out by the specification.
    let head: [UInt8] = [0, 0, 0, 64] + Array("tx3g".utf8) + [0, 0, 0, 0, 0, 0, 0, 1]
    let body: [UInt8] = [
      0x40, 0, 0, 0x20, 1, 0xFF, 1, 2, 3, 4, 0, 10, 0, 20, 0, 110, 1, 64, 0, 0, 0, 0, 0, 1, 3, 18, 255, 0, 51,
      255,
    ]
    let fonts: [UInt8] = [0, 0, 0, 18] + Array("ftab".utf8) + [0, 1, 0, 1, 5] + Array("Serif".utf8)
    let bytes = head + body + fonts
    var made: CMFormatDescription?
    #expect(
      CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData(
        allocator: nil, bigEndianTextDescriptionData: bytes, size: bytes.count, flavor: nil,
        mediaType: kCMMediaType_Subtitle, formatDescriptionOut: &made) == noErr)
    let description = try #require(made)
    #expect(description.mediaType == .subtitle && description.mediaSubType == .mobile3GPP)
    #expect(
      try description.displayFlags()
        == kCMTextDisplayFlag_forcedSubtitlesPresent | kCMTextDisplayFlag_scrollIn)
    #expect(try description.justification() == (1, -1))
    #expect(
      try description.defaultTextBox(originIsAtTopLeft: true, heightOfTextTrack: 200)
        == CGRect(x: 20, y: 10, width: 300, height: 100))
    #expect(
      try description.defaultTextBox(originIsAtTopLeft: false, heightOfTextTrack: 200).origin.y == 90)
    let style = try description.defaultStyle()
    #expect(style.bold && style.italic && !style.underline && style.fontSize == 18)
    #expect(style.colorComponents == [1, 0, 0.2, 1] && style.localFontID == 1)
    #expect(try description.fontName(localFontID: 1) == "Serif")
    #expect(throws: CMFormatDescription.Error.valueNotAvailable) {
      try description.fontName(localFontID: 2)
    }
    var horizontal: CMTextJustificationValue = 0
    #expect(
      CMTextFormatDescriptionGetJustification(description, horizontalOut: &horizontal, verticalOut: nil)
        == noErr)
    #expect(horizontal == kCMTextJustification_centered)
    var block: CMBlockBuffer?
    #expect(
      CMTextFormatDescriptionCopyAsBigEndianTextDescriptionBlockBuffer(
        allocator: nil, textFormatDescription: description, flavor: nil, blockBufferOut: &block) == noErr)
    #expect(try self.bytes(block) == bytes)
    for length in 0..<bytes.count {
      let status = CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData(
        allocator: nil, bigEndianTextDescriptionData: bytes, size: length, flavor: nil,
        mediaType: kCMMediaType_Text, formatDescriptionOut: &made)
      #expect(status == kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription)
    }
    let plain = try CMFormatDescription(mediaType: .text, mediaSubType: .qt)
    #expect(throws: CMFormatDescription.Error.valueNotAvailable) { try plain.justification() }
    let video = try CMFormatDescription(videoCodecType: .h264, width: 16, height: 16)
    #expect(throws: CMFormatDescription.Error.invalidParameter) { try video.displayFlags() }
  }

  @Test func theHeadOfAQueueIsCopied() throws {
    let queue = try CMBufferQueue(capacity: 0, handlers: .unsortedSampleBuffers)
    #expect(CMBufferQueueCopyHead(queue) == nil)
    let sample = try CMSampleBuffer(
      dataBuffer: nil, formatDescription: nil, numSamples: 0, sampleTimings: [], sampleSizes: [])
    try queue.enqueue(sample)
    #expect(CMBufferQueueCopyHead(queue) === sample && CMBufferQueueGetBufferCount(queue) == 1)
  }
}
