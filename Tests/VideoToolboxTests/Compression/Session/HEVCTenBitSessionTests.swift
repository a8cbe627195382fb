// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

#if HEVC
  /// Sessions with the package's own HEVC encoder and 10 bits per sample.
  @Suite(.serialized) struct HEVCTenBitSessionTests {
    static let width = 192
    static let height = 128
    /// The specifications of the usual and of the low-latency encoder.
    static var encoders: [[CFString: Any]] {
      [
        [kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.hevc"],
        [
          kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.hevc.lowlatency",
          kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true,
        ],
      ]
    }

    /// Luma of a picture: a gradient in steps of one of 1024 values, which moves.
    static func luma(_ x: Int, _ y: Int, _ n: Int) -> Int { 256 + (x + 2 * y + 3 * n) % 512 }

    /// A picture in a format of two planes with 10 bits, or with 8 bits.
    static func picture(_ n: Int, _ format: OSType) throws -> CVPixelBuffer {
      var made: CVPixelBuffer?
      CVPixelBufferCreate(nil, width, height, format, nil, &made)
      let buffer = try #require(made)
      CVPixelBufferLockBaseAddress(buffer, [])
      defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
      let isDeep = format != kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
      for plane in 0..<2 {
        let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, plane))
        let row = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
        for y in 0..<height >> plane {
          for x in 0..<width {
            let value = plane == 0 ? luma(x, y, n) : 480 + (x & ~1) / 4
            if isDeep {
              // The lower six bits are of no account.
              base.storeBytes(
                of: UInt16(value << 6 | (x + y) & 63), toByteOffset: y * row + 2 * x, as: UInt16.self)
            } else {
              base.storeBytes(of: UInt8(value >> 2), toByteOffset: y * row + x, as: UInt8.self)
            }
          }
        }
      }
      return buffer
    }

    static func encode(
      _ format: OSType, count: Int, _ encoder: [CFString: Any], _ properties: [CFString: Any], qp: Int? = nil
    ) throws -> [CMSampleBuffer] {
      let session = try makeSession(
        kCMVideoCodecType_HEVC, width: width, height: height, specification: encoder,
        properties: [kVTCompressionPropertyKey_ExpectedFrameRate: 30].merging(properties) { $1 })
      defer { VTCompressionSessionInvalidate(session) }
      let collector = Collector()
      for n in 0..<count {
        let options = qp.map { [kVTEncodeFrameOptionKey_BaseFrameQP: $0] as CFDictionary }
        try check(
          VTCompressionSessionEncodeFrame(
            session, imageBuffer: picture(n, format),
            presentationTimeStamp: CMTime(value: CMTimeValue(n), timescale: 30),
            duration: CMTime(value: 1, timescale: 30), frameProperties: options, infoFlagsOut: nil
          ) { status, flags, sample in collector.add(status, flags, sample) }, "frame \(n)")
      }
      try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
      for entry in collector.all { try check(entry.status, "result") }
      return collector.samples
    }

    /// The PSNR of luma of the pictures as ffmpeg shows them, against the source, in dB.
    static func psnr(_ samples: [CMSampleBuffer]) throws -> Double {
      let decoded = try StreamProbe.decode(annexB(samples), hevc: true, pixelFormat: "yuv420p10le")
      let pictures = decoded.count / (width * height * 3)
      #expect(pictures == samples.count)
      var sum = 0
      for n in 0..<pictures {
        for y in 0..<height {
          for x in 0..<width {
            let at = n * width * height * 3 + 2 * (y * width + x)
            let difference = Int(decoded[at]) + Int(decoded[at + 1]) << 8 - luma(x, y, n)
            sum += difference * difference
          }
        }
      }
      return 10 * log10(1023 * 1023 * Double(pictures * width * height) / Double(max(sum, 1)))
    }

    @Test(
      "Buffers of 10 bits make Main 10 streams, finer than 8 bits can be", arguments: [0, 1],
      [
        kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr10BiPlanarFullRange,
      ])
    func gradient(encoder: Int, format: OSType) throws {
      let samples = try Self.encode(format, count: 8, Self.encoders[encoder], [:], qp: 1)
      let probe = try StreamProbe(annexB(samples), hevc: true)
      #expect(probe.errors.isEmpty, "\(probe.errors)")
      #expect(probe.text("profile") == "Main 10" && probe.text("pix_fmt") == "yuv420p10le")
      let isFull = format == kCVPixelFormatType_420YpCbCr10BiPlanarFullRange
      #expect((probe.text("color_range") == "pc") == isFull)
      // Samples rounded to 8 bits are off by 0, 1, 2 and 1 of 1024: 58.4 dB.
      let psnr = try Self.psnr(samples)
      #expect(psnr > 59, "\(psnr)")
      // general_profile_idc, and the bit depths, in HEVCDecoderConfigurationRecord.
      let description = try #require(samples.first.flatMap { CMSampleBufferGetFormatDescription($0) })
      let atoms =
        CMFormatDescriptionGetExtension(
          description, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
        as? [String: Any]
      let record = try #require((atoms?["hvcC"] as? NSData).map { [UInt8]($0 as Data) })
      #expect(record[1] & 31 == 2 && record[17] & 7 == 2 && record[18] & 7 == 2)
    }

    @Test("The depth of buffers and of the profile may differ", arguments: [0, 1])
    func conversions(encoder: Int) throws {
      let main10 = try Self.encode(
        kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, count: 6, Self.encoders[encoder],
        [kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_HEVC_Main10_AutoLevel], qp: 1)
      let wide = try StreamProbe(annexB(main10), hevc: true)
      #expect(wide.errors.isEmpty && wide.text("pix_fmt") == "yuv420p10le")
      // Cut to 8 bits: off by 0, 1, 2 and 3, 54.7 dB.
      let psnr = try Self.psnr(main10)
      #expect(psnr > 53 && psnr < 56, "\(psnr)")
      let main = try Self.encode(
        kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, count: 6, Self.encoders[encoder],
        [kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_HEVC_Main_AutoLevel], qp: 1)
      let narrow = try StreamProbe(annexB(main), hevc: true)
      #expect(narrow.errors.isEmpty && narrow.text("profile") == "Main")
      #expect(narrow.text("pix_fmt") == "yuv420p")
    }

    /// 24 bytes: x and y of green, blue, red and white in units of 0.00002, and the luminances in
    /// units of 0.0001 cd/m2; and 4 bytes.
    private static let display: [UInt8] = [
      13250, 34500, 7500, 3000, 34000, 16000, 15635, 16450, 152, 38528, 0, 50,
    ].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    private static let light: [UInt8] = [1000, 400].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }

    private static func metadata(
      _ encoder: [CFString: Any], _ more: [CFString: Any]
    ) throws -> (probe: StreamProbe, isKey: [Bool], hasMessages: [Bool]) {
      var properties: [CFString: Any] = [
        kVTCompressionPropertyKey_ColorPrimaries: kCVImageBufferColorPrimaries_ITU_R_2020,
        kVTCompressionPropertyKey_TransferFunction: kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ,
        kVTCompressionPropertyKey_YCbCrMatrix: kCVImageBufferYCbCrMatrix_ITU_R_2020,
        kVTCompressionPropertyKey_MasteringDisplayColorVolume: Data(display) as NSData,
        kVTCompressionPropertyKey_ContentLightLevelInfo: Data(light) as NSData,
        kVTCompressionPropertyKey_MaxKeyFrameInterval: 4,
      ]
      properties.merge(more) { $1 }
      let samples = try encode(
        kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, count: 8, encoder, properties)
      let hasMessages = samples.map { $0.nalUnits.contains { $0[0] >> 1 & 63 == 39 } }
      return (try StreamProbe(annexB(samples), hevc: true), samples.map(\.isSync), hasMessages)
    }

    @Test("HDR10: colours in the parameter sets, messages in key frames", arguments: [0, 1])
    func metadataOfTheDynamicRange(encoder: Int) throws {
      let (probe, isKey, hasMessages) = try Self.metadata(Self.encoders[encoder], [:])
      #expect(probe.errors.isEmpty, "\(probe.errors)")
      #expect(probe.text("color_primaries") == "bt2020" && probe.text("color_transfer") == "smpte2084")
      #expect(probe.text("color_space") == "bt2020nc")
      #expect(hasMessages == isKey && isKey.count { $0 } == 2)
      let sides = probe.frames.first?["side_data_list"] as? [[String: Any]] ?? []
      let display = try #require(
        sides.first { $0["side_data_type"] as? String == "Mastering display metadata" })
      #expect(display["green_x"] as? String == "13250/50000" && display["red_y"] as? String == "16000/50000")
      #expect(display["max_luminance"] as? String == "10000000/10000")
      #expect(display["min_luminance"] as? String == "50/10000")
      let light = try #require(
        sides.first { $0["side_data_type"] as? String == "Content light level metadata" })
      #expect(light["max_content"] as? Int == 1000 && light["max_average"] as? Int == 400)
    }

    @Test("HLG, and no messages where none are wanted", arguments: [0, 1])
    func insertionMode(encoder: Int) throws {
      let (probe, _, hasMessages) = try Self.metadata(
        Self.encoders[encoder],
        [
          kVTCompressionPropertyKey_HDRMetadataInsertionMode: kVTHDRMetadataInsertionMode_None,
          kVTCompressionPropertyKey_TransferFunction: kCVImageBufferTransferFunction_ITU_R_2100_HLG,
        ])
      #expect(probe.errors.isEmpty && probe.text("color_transfer") == "arib-std-b67")
      #expect(hasMessages.allSatisfy { !$0 })
    }

    @Test("Metadata of another length is refused", arguments: [0, 1])
    func lengths(encoder: Int) throws {
      let session = try makeSession(
        kCMVideoCodecType_HEVC, width: Self.width, height: Self.height, specification: Self.encoders[encoder])
      defer { VTCompressionSessionInvalidate(session) }
      for (key, count) in [
        (kVTCompressionPropertyKey_MasteringDisplayColorVolume, 23),
        (kVTCompressionPropertyKey_ContentLightLevelInfo, 5),
      ] {
        let status = VTSessionSetProperty(session, key: key, value: Data(count: count) as NSData)
        #expect(status == kVTParameterErr)
      }
    }

    @Test("Two passes with 10 bits keep the rate")
    func passes() throws {
      let session = try makeSession(
        kCMVideoCodecType_HEVC, width: Self.width, height: Self.height, specification: Self.encoders[0],
        properties: [
          kVTCompressionPropertyKey_AverageBitRate: 15_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
        ])
      defer { VTCompressionSessionInvalidate(session) }
      var made: VTMultiPassStorage?
      try check(
        VTMultiPassStorageCreate(
          allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, multiPassStorageOut: &made),
        "storage")
      let storage = try #require(made)
      try check(
        VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MultiPassStorage, value: storage), "set")
      var last: [CMSampleBuffer] = []
      for isFinal in [false, true] {
        try check(VTCompressionSessionBeginPass(session, flags: isFinal ? .beginFinalPass : [], nil), "begin")
        let collector = Collector()
        for n in 0..<90 {
          try check(
            VTCompressionSessionEncodeFrame(
              session, imageBuffer: Self.picture(n, kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange),
              presentationTimeStamp: CMTime(value: CMTimeValue(n), timescale: 30),
              duration: CMTime(value: 1, timescale: 30), frameProperties: nil, infoFlagsOut: nil
            ) { status, flags, sample in collector.add(status, flags, sample) }, "frame \(n)")
        }
        var more = DarwinBoolean(false)
        try check(
          VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
        try check(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &more, nil), "end")
        last = collector.samples
      }
      #expect(last.count == 90)
      // Three seconds at 15 kb/s. The pictures have no use for more than five times as much.
      let bits = last.reduce(0) { $0 + 8 * CMSampleBufferGetTotalSampleSize($1) }
      #expect((36_000...54_000).contains(bits), "\(bits)")
      let probe = try StreamProbe(annexB(last), hevc: true)
      #expect(probe.errors.isEmpty && probe.text("pix_fmt") == "yuv420p10le")
      #expect(try Self.psnr(last) > 40)
    }
  }
#endif
