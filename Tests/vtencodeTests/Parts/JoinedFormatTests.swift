// SPDX-License-Identifier: Apache-2.0
#if HEVC
  import CoreMedia
  import Synchronization
  import Testing
  import VideoToolbox

  @testable import vtencode

  /// The one sample description of segments of HEVC whose levels and tiers differ.
  @Suite struct JoinedFormatTests {
    /// The format of a stream with a bit rate, which decides on its level and tier.
    private static func format(rate: Int) throws -> CMFormatDescription {
      var made: VTCompressionSession?
      let status = VTCompressionSessionCreate(
        allocator: nil, width: 320, height: 192, codecType: kCMVideoCodecType_HEVC,
        encoderSpecification: [
          kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.hevc"
        ] as CFDictionary, imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil,
        refcon: nil, compressionSessionOut: &made)
      let session = try #require(made, "status \(status)")
      try #require(
        VTSessionSetProperty(
          session, key: kVTCompressionPropertyKey_AverageBitRate, value: rate as CFNumber) == noErr)
      var buffer: CVPixelBuffer?
      _ = CVPixelBufferCreate(
        nil, 320, 192, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer)
      let found = Mutex<CMFormatDescription?>(nil)
      let picture = try #require(buffer)
      let encoded = VTCompressionSessionEncodeFrame(
        session, imageBuffer: picture, presentationTimeStamp: .zero,
        duration: CMTime(value: 1, timescale: 30), frameProperties: nil, infoFlagsOut: nil
      ) { _, _, sample in found.withLock { $0 = sample?.formatDescription } }
      try #require(encoded == noErr)
      try #require(
        VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr)
      return try #require(found.withLock { $0 })
    }

    private static func sets(_ format: CMFormatDescription) -> [[UInt8]] {
      format.parameterSets.map { Array($0) }
    }

    @Test("All segments get the highest level and tier, in the record and in the parameter sets")
    func allSegmentsGetTheHighestLevelAndTier() throws {
      // Levels 2 or so, 5, and a level of the High tier.
      let found = try [100_000, 25_000_000, 300_000_000].map(Self.format)
      let records = found.compactMap(ConfigurationRecord.init)
      try #require(records.count == 3)
      #expect(Set(records.map(\.level)).count == 3)
      #expect(records.map(\.isHighTier) == [false, false, true])
      let all = SegmentFormats([found[0], found[2], found[1]])
      for n in 0..<3 {
        // Nothing but level and tier differs, so that they are those of the third stream.
        #expect(Self.sets(all[n]) == Self.sets(found[2]))
        let record = try #require(ConfigurationRecord(all[n]))
        #expect(record.level == records.map(\.level).max() && record.isHighTier)
        #expect(all[n] === all[0])
      }
      // Without the High tier there is none.
      let main = SegmentFormats([found[1], found[0]])
      #expect(Self.sets(main[1]) == Self.sets(found[1]) && main[1] === main[0])
    }

    @Test("A record that is cut off stays as it is")
    func aRecordThatIsCutOffStaysAsItIs() throws {
      let format = try Self.format(rate: 100_000)
      let record = try #require(ConfigurationRecord(format))
      let atoms = kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms
      for count in [23, 26, 40, record.bytes.count - 1] {
        var cut: CMFormatDescription?
        let bytes = Data(record.bytes.prefix(count))
        _ = CMVideoFormatDescriptionCreate(
          allocator: nil, codecType: kCMVideoCodecType_HEVC, width: 320, height: 192,
          extensions: [atoms: ["hvcC": bytes]] as CFDictionary, formatDescriptionOut: &cut)
        let made = try #require(cut)
        let damaged = try #require(ConfigurationRecord(made))
        // Only the whole record can be raised; 23 bytes announce parameter sets that are missing.
        #expect(damaged.raised(level: 255, isHighTier: true) == nil, "\(count) bytes")
      }
      #expect(record.raised(level: 255, isHighTier: true)?.level == 255)
    }
  }
#endif
