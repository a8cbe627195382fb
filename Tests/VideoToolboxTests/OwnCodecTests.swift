// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation
import Synchronization
import TestSupport
import Testing
import VideoToolbox

/// A program's own codec, through the public sessions.
@Suite(.serialized) struct OwnCodecTests {
  init() {
    CodecRegistry.shared.register(ToyCodec.encoder())
    CodecRegistry.shared.register(ToyCodec.decoder)
  }

  private func planes(_ buffer: CVPixelBuffer) -> [UInt8] {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    var result: [UInt8] = []
    for plane in 0..<2 {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { continue }
      for row in 0..<CVPixelBufferGetHeightOfPlane(buffer, plane) {
        let start = base + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
        result += UnsafeRawBufferPointer(start: start, count: CVPixelBufferGetWidth(buffer))
      }
    }
    return result
  }

  @Test func aRegisteredEncoderIsListed() throws {
    var list: CFArray?
    #expect(VTCopyVideoEncoderList(nil, &list) == noErr)
    let encoders = try #require(list as? [[CFString: Any]])
    let row = try #require(
      encoders.first { $0[kVTVideoEncoderList_EncoderID] as? String == ToyCodec.encoderID })
    #expect(row[kVTVideoEncoderList_CodecType] as? UInt32 == ToyCodec.type.rawValue)
    #expect(row[kVTVideoEncoderList_SupportsFrameReordering] as? Bool == false)
    #expect(row[kOVTVideoEncoderList_LooksAheadByDefault] as? Bool == false)
    #expect(row[kOVTVideoEncoderList_IsIndependentOfThreadCount] as? Bool == false)
  }

  @Test("What the toy does not promise, its session does not offer")
  func whatTheEncoderDoesNotPromiseIsNotOffered() throws {
    let session = try makeSession(ToyCodec.type.rawValue, width: 64, height: 48)
    defer { VTCompressionSessionInvalidate(session) }
    func set(_ key: CFString, _ value: CFTypeRef) -> OSStatus {
      VTSessionSetProperty(session, key: key, value: value)
    }
    #expect(set(kVTCompressionPropertyKey_MaxAllowedFrameQP, 40 as CFNumber) == noErr)
    #expect(set(kVTCompressionPropertyKey_EnableLTR, true as CFBoolean) == kVTPropertyNotSupportedErr)
    #expect(set(kVTCompressionPropertyKey_AllowOpenGOP, true as CFBoolean) == kVTPropertyNotSupportedErr)
  }

  @Test(
    "An encoder of a program's own is given as many samples as the format has, whatever wrapped memory says"
  )
  func anEncoderSeesOnlyTheSamplesOfTheFormat() throws {
    // Chroma of half the width and all rows.
    let format = kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange
    var description = ToyCodec.encoder(id: "org.example.toy.422", codec: CodecType(rawValue: 0x746F_7932))
    description.inputFormats = [PictureFormat(rawValue: format)]
    CodecRegistry.shared.register(description)
    defer { CodecRegistry.shared.unregisterEncoder(id: "org.example.toy.422") }
    for (format, codec, rows) in [
      (format, description.codec, 48), (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, ToyCodec.type, 24),
    ] {
      let clip = TestClip(width: 64, height: 48, format: format)
      for (widths, heights) in [
        ([64, 32], [48, rows]), ([64, 64], [48, 96]), ([.max, .max], [99, 1 << 50]),
      ] {
        let session = try makeSession(codec.rawValue, width: 64, height: 48)
        defer { VTCompressionSessionInvalidate(session) }
        let collector = Collector()
        try check(
          VTCompressionSessionEncodeFrame(
            session, imageBuffer: wrapped(clip.buffer(0), widths: widths, heights: heights),
            presentationTimeStamp: .zero, duration: .invalid, frameProperties: nil, infoFlagsOut: nil
          ) { status, flags, sample in collector.add(status, flags, sample) }, "frame")
        try check(
          VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
        let isSame = collector.samples.map(\.bytes) == [planes(clip.buffer(0)).map { ~$0 }]
        #expect(isSame, "\(rows) \(widths) \(heights)")
      }
    }
  }

  @Test("Pictures go through the toy and back, from other sizes and formats too")
  func picturesGoThroughTheToyAndBack() throws {
    let clip = TestClip(width: 64, height: 48)
    let session = try makeSession(ToyCodec.type.rawValue, width: 64, height: 48)
    let samples = try encode(session, clip, count: 5)
    VTCompressionSessionInvalidate(session)
    #expect(samples.count == 5)
    let format = try #require(samples.first?.formatDescription)
    #expect(CMFormatDescriptionGetMediaSubType(format) == ToyCodec.type.rawValue)
    let size = CMVideoFormatDescriptionGetDimensions(format)
    #expect(size.width == 64 && size.height == 48)
    let atoms =
      CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as? NSDictionary
    #expect(atoms?["toyC"] as? Data == Data(ToyCodec.record))
    for (n, sample) in samples.enumerated() {
      #expect(sample.bytes == planes(clip.buffer(n)).map { ~$0 })
      #expect(sample.presentationTimeStamp == clip.time(n))
    }

    var made: VTDecompressionSession?
    #expect(
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: nil,
        imageBufferAttributes: [
          kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
        ] as CFDictionary, outputCallback: nil, decompressionSessionOut: &made) == noErr)
    let decoder = try #require(made)
    for (n, sample) in samples.enumerated() {
      let shown = Mutex<[UInt8]>([])
      let status = VTDecompressionSessionDecodeFrame(
        decoder, sampleBuffer: sample, flags: [], infoFlagsOut: nil
      ) { status, _, image, _, _ in
        #expect(status == noErr)
        if let image { shown.withLock { $0 = planes(image) } }
      }
      #expect(status == noErr)
      #expect(shown.withLock { $0 } == planes(clip.buffer(n)))
    }
    VTDecompressionSessionInvalidate(decoder)

    let converting = try makeSession(ToyCodec.type.rawValue, width: 32, height: 24)
    var other = clip
    other.format = kCVPixelFormatType_32BGRA
    #expect(try encode(converting, other, count: 2).allSatisfy { $0.bytes.count == 32 * 24 * 3 / 2 })
    VTCompressionSessionInvalidate(converting)
  }

  @Test("A decoder's failure is the decoder's, an encoder's the encoder's")
  func failuresOfDecodersAndEncodersAreTheirOwn() throws {
    let clip = TestClip(width: 64, height: 48)
    let session = try makeSession(
      ToyCodec.type.rawValue, width: 64, height: 48,
      properties: [kVTCompressionPropertyKey_MaxAllowedFrameQP: 51])
    let collector = Collector()
    #expect(
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: clip.buffer(0), presentationTimeStamp: clip.time(0), duration: .invalid,
        frameProperties: nil, infoFlagsOut: nil
      ) { collector.add($0, $1, $2) } == noErr)
    #expect(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr)
    #expect(collector.all.map(\.status) == [kVTVideoEncoderMalfunctionErr])
    VTCompressionSessionInvalidate(session)

    // An output frame stays output: no frame is reported twice.
    let late = try makeSession(
      ToyCodec.type.rawValue, width: 64, height: 48,
      properties: [kVTCompressionPropertyKey_MaxAllowedFrameQP: 50])
    #expect(try encode(late, clip, count: 3).count == 3)
    #expect(try property(late, kVTCompressionPropertyKey_NumberOfPendingFrames) as? Int == 0)
    VTCompressionSessionInvalidate(late)

    let whole = try makeSession(ToyCodec.type.rawValue, width: 64, height: 48)
    let sample = try #require(try encode(whole, clip, count: 1).first)
    VTCompressionSessionInvalidate(whole)
    let format = try #require(sample.formatDescription)
    var made: VTDecompressionSession?
    #expect(
      VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
        outputCallback: nil, decompressionSessionOut: &made) == noErr)
    let decoder = try #require(made)
    var block: CMBlockBuffer?
    CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: nil, blockLength: 10, blockAllocator: nil, customBlockSource: nil,
      offsetToData: 0, dataLength: 10, flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &block)
    var short: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: 1, sampleTimingEntryCount: 0,
      sampleTimingArray: nil, sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &short)
    let seen = Mutex<[OSStatus]>([])
    _ = VTDecompressionSessionDecodeFrame(
      decoder, sampleBuffer: try #require(short), flags: [], infoFlagsOut: nil
    ) { status, _, _, _, _ in seen.withLock { $0.append(status) } }
    #expect(seen.withLock { $0 } == [kVTVideoDecoderMalfunctionErr])
    VTDecompressionSessionInvalidate(decoder)
  }

  @Test("A surface goes to an encoder that takes it where it is, and to others through memory")
  func aSurfaceGoesToAnEncoderThatTakesItWhereItIs() throws {
    let surface = ToySurface(width: 64, height: 48)
    let buffer = try #require(surface.makeBuffer())
    let expected = surface.bytes.map { ~$0 }
    func encodeOne(_ session: VTCompressionSession, _ buffer: CVPixelBuffer) throws -> Collector.Entry {
      let collector = Collector()
      try check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: buffer, presentationTimeStamp: .zero, duration: .invalid,
          frameProperties: nil, infoFlagsOut: nil
        ) { collector.add($0, $1, $2) }, "encode")
      try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
      VTCompressionSessionInvalidate(session)
      return try #require(collector.all.first)
    }
    ToyCodec.taken.withLock { $0 = (0, 0) }
    let direct = try encodeOne(makeSession(ToyCodec.type.rawValue, width: 64, height: 48), buffer)
    #expect(direct.sample?.bytes == expected)
    #expect(ToyCodec.taken.withLock { $0.surfaces == 1 && $0.planes == 0 })
    #expect(surface.maps.withLock { $0.begun == 0 })

    // Scaled, it is mapped; so it is for an encoder of the package.
    let scaled = try encodeOne(makeSession(ToyCodec.type.rawValue, width: 32, height: 24), buffer)
    #expect(scaled.sample?.bytes.count == 32 * 24 * 3 / 2)
    let h264 = try encodeOne(makeSession(kCMVideoCodecType_H264, width: 64, height: 48), buffer)
    #expect(h264.status == noErr && h264.sample != nil)
    #expect(surface.maps.withLock { $0.begun == 2 && $0.ended == 2 })

    // A surface that cannot be mapped is an error of the frame, for whoever needs memory.
    let dark = ToySurface(width: 64, height: 48, canMap: false)
    let hidden = try #require(dark.makeBuffer())
    let seen = try encodeOne(makeSession(ToyCodec.type.rawValue, width: 64, height: 48), hidden)
    #expect(seen.status == noErr)
    let failed = try encodeOne(makeSession(kCMVideoCodecType_H264, width: 64, height: 48), hidden)
    #expect(failed.status == kVTPixelTransferNotSupportedErr && failed.sample == nil)
  }

  @Test("A registered encoder is preferred to a built-in one, until it is taken out")
  func aRegisteredEncoderIsPreferredToABuiltInOne() throws {
    let id = "org.example.toy.h264"
    func used() throws -> String? {
      var value: CFString?
      #expect(
        VTCopySupportedPropertyDictionaryForEncoder(
          width: 640, height: 360, codecType: 0x746F_7932, encoderSpecification: nil, encoderIDOut: &value,
          supportedPropertiesOut: nil) == (value == nil ? kVTCouldNotFindVideoEncoderErr : noErr))
      return value as String?
    }
    let other = CodecType(rawValue: 0x746F_7932)
    #expect(try used() == nil)
    CodecRegistry.shared.register(ToyCodec.encoder(id: id, codec: other))
    CodecRegistry.shared.register(ToyCodec.encoder(id: id + ".second", codec: other))
    #expect(try used() == id)
    CodecRegistry.shared.unregisterEncoder(id: id)
    #expect(try used() == id + ".second")
    CodecRegistry.shared.unregisterEncoder(id: id + ".second")
    #expect(try used() == nil)
  }
}
