// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapterSupport
import Testing
import X265Codec

/// The adapters over libx265, through the protocol alone.
@Suite(.serialized, .enabled(if: !X265Codec.encoders.isEmpty)) struct X265CodecTests {
  private func description(_ id: String = X265Codec.encoderID) throws -> EncoderDescription {
    try #require(X265Codec.encoders.first { $0.id == id })
  }

  private func configuration(_ format: PictureFormat = .nv12VideoRange) -> VideoEncoderConfiguration {
    var c = VideoEncoderConfiguration(
      codec: .hevc, width: 128, height: 96, format: format,
      profile: format == .p010VideoRange ? .hevcMain10 : .hevcMain)
    c.frameRate = 30
    c.rate.mode = .quality(0.5)
    c.threads = 1
    return c
  }

  @Test("The features are named one by one; one frame in, one out has fewer")
  func features() throws {
    let general = try description()
    let lowLatency = try description(X265Codec.lowLatencyEncoderID)
    let never: Set<EncoderFeature> = [
      .temporalLayers, .longTermReferences, .referenceInvalidation, .intraRefresh, .layerPrefix, .entropyMode,
      .sliceBytes,
    ]
    #expect(general.features.isDisjoint(with: never))
    #expect(lowLatency.features.isStrictSubset(of: general.features))
    #expect(lowLatency.isLowLatency && !general.isLowLatency)
    #expect(general.features.isSuperset(of: [.multiPass, .lookAhead, .frameReordering, .hdrMetadata]))
  }

  @Test(
    "Every picture has one outcome, in decode order",
    arguments: [PictureFormat.nv12VideoRange, .i420VideoRange, .p010VideoRange])
  func order(_ format: PictureFormat) throws {
    let run = try AdapterRun(description(), configuration(format))
    try run.encode(12)
    try run.flush()
    #expect(Set(run.frames.map(\.presentationTime)) == Set((0..<12).map { Int64($0) * 3000 }))
    #expect(run.frames.count == 12)
    #expect(run.frames.allSatisfy { $0.isWhole && $0.nalUnits?.isEmpty == false })
    guard case .parameterSets(let sets) = try #require(run.frames.first?.header) else {
      Issue.record("no parameter sets")
      return
    }
    #expect(sets.all.map { $0[0] >> 1 } == [32, 33, 34])
    #expect(run.frames[0].properties.isKeyFrame && run.frames.dropFirst().allSatisfy { $0.header == nil })
    let depth = run.encoder.reorderingDepth
    for (n, frame) in run.frames.enumerated() {
      let before = run.frames[..<n].count { $0.presentationTime > frame.presentationTime }
      #expect(before <= depth, "frame \(n)")
    }
  }

  @Test("The low-latency encoder gives each frame at once, key frames when asked")
  func immediate() throws {
    let run = try AdapterRun(description(X265Codec.lowLatencyEncoderID), configuration())
    #expect(run.encoder.reorderingDepth == 0)
    for n in 1...5 {
      var request = FrameRequest()
      request.forcesKeyFrame = n == 3
      try run.encode(request)
      #expect(run.frames.count == n)
    }
    #expect(run.frames.map(\.properties.isKeyFrame) == [true, false, true, false, false])
  }

  @Test("A new rate begins a new stream inside, another size one outside")
  func reconfiguration() throws {
    var c = configuration()
    c.maxFrameDelay = 0
    c.allowsReordering = false
    let run = try AdapterRun(description(), c)
    try run.encode(2)
    c.rate.mode = .quality(0.3)
    #expect(try run.encoder.reconfigure(c) == .applied)
    try run.encode()
    #expect(run.frames.map(\.properties.isKeyFrame) == [true, false, true])
    c.height = 64
    #expect(try run.encoder.reconfigure(c) == .needsNewStream)
  }

  @Test("Unsupported configurations are rejected with the documented error")
  func refusals() throws {
    let description = try description()
    var c = configuration()
    c.profile = .h264High
    // Often, since libx265 is not asked before it has made its parameters.
    for _ in 0..<50 {
      #expect { _ = try description.makeEncoder(c) } throws: {
        if case CodecError.unsupported = $0 { true } else { false }
      }
    }
    let run = try AdapterRun(description, configuration())
    var request = FrameRequest()
    request.acknowledgedTokens = [1]
    #expect { try run.encode(request) } throws: {
      if case CodecError.unsupported = $0 { true } else { false }
    }
    #expect { try run.encode(width: 64) } throws: {
      if case CodecError.invalidConfiguration = $0 { true } else { false }
    }
    try run.encode()
    try run.flush()
    #expect(run.frames.count == 1)
  }
}
