// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapterSupport
import Testing
import X264Codec

/// The adapter over libx264, through the protocol alone.
@Suite(.enabled(if: X264Codec.encoder != nil)) struct X264CodecTests {
  private func description() throws -> EncoderDescription { try #require(X264Codec.encoder) }

  private func configuration(_ profile: CodecProfile = .h264High) -> VideoEncoderConfiguration {
    var c = VideoEncoderConfiguration(
      codec: .h264, width: 96, height: 64, format: .nv12VideoRange, profile: profile)
    c.frameRate = 30
    c.rate.mode = .average(200_000)
    return c
  }

  @Test("The features are named one by one: nothing of the low-latency mode is among them")
  func features() throws {
    let features = try description().features
    #expect(features.isSuperset(of: [.multiPass, .lookAhead, .frameReordering, .openGOP, .entropyMode]))
    #expect(
      features.isDisjoint(with: [
        .temporalLayers, .longTermReferences, .referenceInvalidation, .intraRefresh, .layerPrefix,
      ]))
  }

  @Test("Every picture has one outcome, in decode order, with the header before all")
  func order() throws {
    let run = try AdapterRun(description(), configuration())
    try run.encode(20)
    try run.flush()
    #expect(Set(run.frames.map(\.presentationTime)) == Set((0..<20).map { Int64($0) * 3000 }))
    #expect(run.frames.count == 20)
    #expect(run.frames.allSatisfy { $0.isWhole && $0.nalUnits?.isEmpty == false })
    let first = try #require(run.frames.first)
    #expect(first.properties.isKeyFrame && first.presentationTime == 0)
    guard case .parameterSets(let sets) = first.header else {
      Issue.record("no parameter sets")
      return
    }
    #expect(sets.sps.allSatisfy { $0[0] & 31 == 7 } && sets.pps.allSatisfy { $0[0] & 31 == 8 })
    #expect(run.frames.dropFirst().allSatisfy { $0.header == nil })
    // With B frames, what is shown later comes first; by no more than the depth that was reported.
    let depth = run.encoder.reorderingDepth
    #expect(depth > 0)
    for (n, frame) in run.frames.enumerated() {
      let before = run.frames[..<n].count { $0.presentationTime > frame.presentationTime }
      #expect(before <= depth, "frame \(n)")
    }
    #expect(run.frames.contains { !$0.properties.isReference })
  }

  @Test("Asked for no delay and no reordering, each frame comes at once")
  func immediate() throws {
    var c = configuration()
    c.maxFrameDelay = 0
    c.allowsReordering = false
    let run = try AdapterRun(description(), c)
    #expect(run.encoder.reorderingDepth == 0)
    for n in 1...8 {
      var request = FrameRequest()
      request.forcesKeyFrame = n == 5
      request.baseQP = n == 6 ? 40 : nil
      try run.encode(request)
      #expect(run.frames.count == n)
    }
    #expect(
      run.frames.map(\.properties.isKeyFrame) == [true, false, false, false, true, false, false, false])
    #expect(run.frames.map(\.presentationTime) == (0..<8).map { Int64($0) * 3000 })
  }

  @Test("A new rate is taken in mid-stream, a new size is not; after a flush a key frame follows")
  func reconfiguration() throws {
    var c = configuration()
    let run = try AdapterRun(description(), c)
    try run.encode(6)
    c.rate.mode = .average(400_000)
    #expect(try run.encoder.reconfigure(c) == .applied)
    var other = c
    other.width = 128
    #expect(try run.encoder.reconfigure(other) == .needsNewStream)
    other = c
    other.profile = .h264Main
    #expect(try run.encoder.reconfigure(other) == .needsNewStream)
    try run.encode(4)
    try run.flush()
    let held = run.frames.count
    #expect(held == 10)
    try run.encode()
    try run.flush()
    #expect(run.frames.count == 11 && run.frames[10].properties.isKeyFrame)
    #expect(run.frames[10].header != nil)
  }

  @Test("What it cannot do is refused with the right error, and the encoder continues")
  func refusals() throws {
    let description = try description()
    for (change, isUnsupported) in [
      ({ $0.profile = .hevcMain }, true), ({ $0.profile = .unspecified }, true),
      ({ $0.width = 16386 }, false),
      ({ $0.level = 77 }, false),
      (
        {
          $0.level = 10; $0.width = 1920; $0.height = 1080
        }, false
      ),
      (
        {
          $0.profile = .h264Baseline; $0.entropyMode = .cabac
        }, false
      ), ({ $0.referenceFrameCount = 17 }, false),
    ] as [((inout VideoEncoderConfiguration) -> Void, Bool)] {
      var c = configuration()
      change(&c)
      do {
        _ = try description.makeEncoder(c)
        Issue.record("\(c) was taken")
      } catch {
        switch error {
        case .unsupported: #expect(isUnsupported)
        case .invalidConfiguration: #expect(!isUnsupported)
        default: Issue.record("\(error)")
        }
      }
    }
    let run = try AdapterRun(description, configuration())
    try run.encode()
    var request = FrameRequest()
    request.forcesLongTermRefresh = true
    #expect { try run.encode(request) } throws: {
      if case CodecError.unsupported = $0 { true } else { false }
    }
    #expect { try run.encode(width: 64) } throws: {
      if case CodecError.invalidConfiguration = $0 { true } else { false }
    }
    try run.encode()
    try run.flush()
    #expect(run.frames.count == 2)
  }

  @Test(
    "The stream is what the configuration says",
    arguments: [CodecProfile.h264ConstrainedBaseline, .h264Main, .h264ConstrainedHigh])
  func profiles(_ profile: CodecProfile) throws {
    let run = try AdapterRun(description(), configuration(profile))
    try run.encode(3)
    try run.flush()
    guard case .parameterSets(let sets) = try #require(run.frames.first?.header) else {
      Issue.record("no parameter sets")
      return
    }
    let number = try #require(sets.sps.first)[1]
    #expect(number == (profile == .h264ConstrainedBaseline ? 66 : profile == .h264Main ? 77 : 100))
    if profile != .h264Main { #expect(run.encoder.reorderingDepth == 0) }
  }
}
