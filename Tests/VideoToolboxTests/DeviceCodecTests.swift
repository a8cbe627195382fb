// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing
import VideoToolbox

/// The description of a codec on a device (sizes, GPU, how many sessions can have it, that it is
/// hardware), and what sessions make of it. Each test has a codec type of its own, as the registry
/// is the process's.
@Suite struct DeviceCodecTests {
  private func session(
    _ codec: CodecType, _ width: Int32 = 64, _ height: Int32 = 48, _ specification: [CFString: Any] = [:]
  ) -> (status: OSStatus, session: VTCompressionSession?) {
    var made: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: nil, width: width, height: height, codecType: codec.rawValue,
      encoderSpecification: specification as CFDictionary, imageBufferAttributes: nil,
      compressedDataAllocator: nil,
      outputCallback: nil, refcon: nil, compressionSessionOut: &made)
    return (status, made)
  }

  private func value(_ session: VTCompressionSession?, _ key: CFString) throws -> AnyObject? {
    var value: CFTypeRef?
    #expect(VTSessionCopyProperty(try #require(session), key: key, allocator: nil, valueOut: &value) == noErr)
    return value
  }

  private func id(_ session: VTCompressionSession?) throws -> String? {
    try value(session, kVTCompressionPropertyKey_EncoderID) as? String
  }

  private func register(_ encoders: [EncoderDescription]) { encoders.forEach(CodecRegistry.shared.register) }

  private func unregister(_ encoders: [EncoderDescription]) {
    for encoder in encoders { CodecRegistry.shared.unregisterEncoder(id: encoder.id) }
  }

  @Test("A session of another size gets an encoder that can, or none")
  func aSessionOfAnotherSizeGetsAnEncoderThatTakesItOrNone() throws {
    let codec = CodecType(rawValue: 0x746F_7330)
    var small = ToyCodec.encoder(id: "org.example.toy.small", codec: codec)
    small.sizes = PictureSizes(widths: 32...64, heights: 16...64, widthMultiple: 16, heightMultiple: 8)
    var large = ToyCodec.encoder(id: "org.example.toy.large", codec: codec)
    large.sizes = PictureSizes(widths: 64...4096, heights: 64...4096)
    register([small, large])
    defer { unregister([small, large]) }
    for (width, height, expected) in [
      (64, 48, small.id), (32, 16, small.id), (64, 64, small.id), (80, 64, large.id), (4096, 4096, large.id),
      (16, 16, nil), (40, 48, nil), (48, 44, nil), (64, 12, nil), (4098, 64, nil), (128, 48, nil),
    ] as [(Int32, Int32, String?)] {
      let (status, made) = session(codec, width, height)
      #expect(status == (expected == nil ? kVTCouldNotFindVideoEncoderErr : noErr), "\(width)x\(height)")
      if expected != nil { #expect(try id(made) == expected) }
      var listed: CFString?
      #expect(
        VTCopySupportedPropertyDictionaryForEncoder(
          width: width, height: height, codecType: codec.rawValue, encoderSpecification: nil,
          encoderIDOut: &listed,
          supportedPropertiesOut: nil) == status)
      #expect(listed as String? == expected)
    }
    // By name too.
    let named = [kVTVideoEncoderSpecification_EncoderID: small.id]
    #expect(session(codec, 80, 64, named).status == kVTCouldNotFindVideoEncoderErr)
  }

  @Test("An encoder on a GPU can be required, preferred and recognised")
  func anEncoderOnAGPUCanBeRequiredAndPreferred() throws {
    let codec = CodecType(rawValue: 0x746F_7331)
    let processor = ToyCodec.encoder(id: "org.example.toy.processor", codec: codec)
    let graphics = [UInt64(7), UInt64.max].map { gpu in
      var encoder = ToyCodec.encoder(id: "org.example.toy.gpu\(gpu)", codec: codec)
      encoder.gpuRegistryID = gpu
      encoder.isHardwareAccelerated = true
      return encoder
    }
    register([processor] + graphics)
    defer { unregister([processor] + graphics) }
    func requested(_ key: CFString, _ gpu: Any) throws -> String? {
      let (status, made) = session(codec, 64, 48, [key: gpu])
      if status != noErr {
        #expect(
          status == (gpu is NSNumber || gpu is UInt64 ? kVTCouldNotFindVideoEncoderErr : kVTParameterErr))
        return nil
      }
      return try id(made)
    }
    let (required, preferred) = (
      kVTVideoEncoderSpecification_RequiredEncoderGPURegistryID,
      kVTVideoEncoderSpecification_PreferredEncoderGPURegistryID
    )
    #expect(try id(session(codec).session) == processor.id)
    #expect(
      try requested(required, UInt64(7)) == graphics[0].id
        && requested(required, UInt64.max) == graphics[1].id)
    #expect(try requested(required, UInt64(8)) == nil && requested(required, "seven") == nil)
    #expect(
      try requested(preferred, UInt64.max) == graphics[1].id
        && requested(preferred, UInt64(8)) == processor.id)

    let made = session(codec, 64, 48, [required: UInt64.max]).session
    #expect((try value(made, kVTCompressionPropertyKey_UsingGPURegistryID) as? NSNumber)?.uint64Value == .max)
    #expect(try value(made, kVTCompressionPropertyKey_UsingHardwareAcceleratedVideoEncoder) as? Bool == true)
    var none: CFTypeRef?
    #expect(
      VTSessionCopyProperty(
        try #require(session(codec).session), key: kVTCompressionPropertyKey_UsingGPURegistryID,
        allocator: nil,
        valueOut: &none) == kVTPropertyNotSupportedErr)
    var list: CFArray?
    #expect(VTCopyVideoEncoderList(nil, &list) == noErr)
    let rows = try #require(list as? [[CFString: Any]]).filter {
      $0[kVTVideoEncoderList_CodecType] as? UInt32 == codec.rawValue
    }
    #expect(rows.map { ($0[kVTVideoEncoderList_GPURegistryID] as? NSNumber)?.uint64Value } == [nil, 7, .max])
  }

  @Test("No more sessions have an encoder than it can serve")
  func noMoreSessionsHaveAnEncoderThanItCanServe() throws {
    let codec = CodecType(rawValue: 0x746F_7332)
    var device = ToyCodec.encoder(id: "org.example.toy.device", codec: codec)
    device.instanceLimit = 2
    let other = ToyCodec.encoder(id: "org.example.toy.other", codec: codec)
    register([device])
    defer { unregister([device, other]) }
    var first = session(codec).session
    let second = session(codec).session
    #expect(try id(first) == device.id && id(second) == device.id)
    #expect(session(codec).status == kVTVideoEncoderNotAvailableNowErr)
    // Given up by the call that ends the session, or with the session.
    VTCompressionSessionInvalidate(try #require(second))
    let third = session(codec).session
    #expect(try id(third) == device.id)
    VTCompressionSessionInvalidate(try #require(second))
    #expect(session(codec).status == kVTVideoEncoderNotAvailableNowErr)
    first = nil
    #expect(session(codec).status == noErr)
    let fourth = session(codec).session
    #expect(try id(fourth) == device.id)
    // The next that fits takes over, unless the device was named.
    register([other])
    #expect(try id(session(codec).session) == other.id)
    let named = [kVTVideoEncoderSpecification_EncoderID: device.id]
    #expect(session(codec, 64, 48, named).status == kVTVideoEncoderNotAvailableNowErr)
    var list: CFArray?
    #expect(VTCopyVideoEncoderList(nil, &list) == noErr)
    let rows = try #require(list as? [[CFString: Any]])
    func limit(_ id: String) -> Int? {
      rows.first { $0[kVTVideoEncoderList_EncoderID] as? String == id }?[kVTVideoEncoderList_InstanceLimit]
        as? Int
    }
    #expect(limit(device.id) == 2 && limit(other.id) == nil)
    withExtendedLifetime((third, fourth)) {}
  }

  @Test("A decoder that is hardware can be required, refused and recognised")
  func aHardwareDecoderCanBeRequiredAndRefused() throws {
    let codec = CodecType(rawValue: 0x746F_7333)
    let processor = ToyCodec.decoder(id: "org.example.toy.decoder.processor", codec: codec)
    var device = ToyCodec.decoder(id: "org.example.toy.decoder.device", codec: codec)
    device.isHardwareAccelerated = true
    device.gpuRegistryID = 9
    let format = try CMVideoFormatDescription(
      videoCodecType: CMFormatDescription.MediaSubType(rawValue: codec.rawValue), width: 64, height: 48,
      extensions: .init(base: [
        kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: ["toyC": Data(ToyCodec.record)]
          as NSDictionary
      ]))
    func session(_ specification: [CFString: Any]) -> (OSStatus, VTDecompressionSession?) {
      var made: VTDecompressionSession?
      let status = VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: specification as CFDictionary,
        imageBufferAttributes: nil, outputCallback: nil, decompressionSessionOut: &made)
      return (status, made)
    }
    func property(_ session: VTDecompressionSession?, _ key: CFString) -> (OSStatus, NSNumber?) {
      var value: CFTypeRef?
      guard let session else { return (kVTInvalidSessionErr, nil) }
      let status = VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: &value)
      return (status, value as? NSNumber)
    }
    let (required, allowed) = (
      kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder,
      kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder
    )
    CodecRegistry.shared.register(device)
    defer {
      CodecRegistry.shared.unregisterDecoder(id: device.id)
      CodecRegistry.shared.unregisterDecoder(id: processor.id)
    }
    #expect(
      VTIsHardwareDecodeSupported(codec.rawValue) && !VTIsHardwareDecodeSupported(kCMVideoCodecType_H264))
    #expect(session([allowed: false]).0 == kVTCouldNotFindVideoDecoderErr)
    CodecRegistry.shared.register(processor)
    for (specification, usesDevice) in [
      ([:], true), ([required: true], true), ([allowed: true], true), ([allowed: false], false),
      ([kVTVideoDecoderSpecification_RequiredDecoderGPURegistryID: 9], true),
      ([kVTVideoDecoderSpecification_PreferredDecoderGPURegistryID: 8], true),
    ] as [([CFString: Any], Bool)] {
      let (status, made) = session(specification)
      #expect(status == noErr)
      let isHardware = property(made, kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder).1
      #expect(isHardware?.boolValue == usesDevice, "\(specification)")
      let gpu = property(made, kVTDecompressionPropertyKey_UsingGPURegistryID)
      #expect(
        gpu.0 == (usesDevice ? noErr : kVTPropertyNotSupportedErr)
          && gpu.1?.intValue == (usesDevice ? 9 : nil))
    }
    #expect(
      session([kVTVideoDecoderSpecification_RequiredDecoderGPURegistryID: 8]).0
        == kVTCouldNotFindVideoDecoderErr)
    #expect(session([required: "maybe"]).0 == kVTParameterErr)
    CodecRegistry.shared.unregisterDecoder(id: device.id)
    #expect(session([required: true]).0 == kVTCouldNotFindVideoDecoderErr)
    #expect(!VTIsHardwareDecodeSupported(codec.rawValue))
  }
}
