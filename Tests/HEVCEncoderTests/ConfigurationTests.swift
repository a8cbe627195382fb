// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import HEVCEncoder

@Suite("Configurations, options and parameter sets")
struct ConfigurationTests {
  /// Whether a change of a valid configuration is refused.
  private func isRefused(_ change: (inout HEVCEncoderConfiguration) -> Void) -> Bool {
    var configuration = HEVCEncoderConfiguration(width: 64, height: 64)
    change(&configuration)
    return (try? HEVCEncoder(configuration: configuration)) == nil
  }

  @Test("Values out of range are refused")
  func refusals() {
    #expect(!isRefused { _ in })
    #expect(isRefused { $0.width = 6 })
    #expect(isRefused { $0.width = 65 })
    #expect(isRefused { $0.height = 9000 })
    #expect(isRefused { $0.frameRate = .nan })
    #expect(isRefused { $0.effort = 10 })
    #expect(isRefused { $0.maximumReferences = 16 })
    #expect(isRefused { ($0.minimumQP, $0.maximumQP) = (40, 30) })
    #expect(isRefused { $0.lowLatency.rateControl = .constantQP(52) })
    #expect(isRefused { $0.lowLatency.longTermReferences = 1 })
    #expect(isRefused { $0.lowLatency.temporalLayers = 8 })
    #expect(isRefused { $0.level = 33 })
    #expect(
      isRefused {
        ($0.width, $0.height) = (1920, 1080)
        $0.level = 30
      })
  }

  /// Whether an encoder refuses a grey picture with options.
  private static func isRefused(_ encoder: HEVCEncoder, _ options: HEVCFrameOptions) -> Bool {
    let samples = [UInt8](repeating: 128, count: 64 * 64)
    return samples.withUnsafeBufferPointer {
      guard let base = $0.baseAddress else { return true }
      let picture = SourcePicture(
        width: 64, height: 64, luma: base, lumaBytesPerRow: 64,
        chroma: .interleaved(base, bytesPerRow: 64))
      do {
        return try encoder.encode(picture, options: options).byteCount == 0
      } catch {
        return true
      }
    }
  }

  @Test("Options that do not fit are refused, and the encoder goes on")
  func options() throws {
    let encoder = try HEVCEncoder(configuration: HEVCEncoderConfiguration(width: 64, height: 64))
    var refused = [HEVCFrameOptions](repeating: HEVCFrameOptions(), count: 7)
    refused[0].qp = 52
    refused[1].temporalLayer = 1
    refused[2].longTermSlot = 0
    refused[3].isReference = false
    refused[4].budgetShare = 0
    refused[5].duration = -1
    refused[6].targetBits = 0
    for options in refused { #expect(Self.isRefused(encoder, options), "\(options)") }
    #expect(!Self.isRefused(encoder, HEVCFrameOptions()))
  }

  @Test("Parameter sets tell the size, the level and the window")
  func parameterSets() throws {
    var configuration = HEVCEncoderConfiguration(width: 1926, height: 1078)
    configuration.maximumReferences = 4
    configuration.sampleAspectRatio = (4, 3)
    configuration.fullRange = true
    let encoder = try HEVCEncoder(configuration: configuration)
    let sps = try HEVCSequenceParameterSet(nalUnit: encoder.parameterSets.sequence)
    #expect((sps.width, sps.height) == (1926, 1078))
    #expect((sps.codedWidth, sps.codedHeight) == (1928, 1080))
    #expect(sps.profileTierLevel.profile.idc == 1)
    #expect(sps.profileTierLevel.levelIDC == 120)
    #expect(sps.ordering.highest.maxDecodedPictures == 5)
    #expect(sps.ordering.highest.maxReorderPictures == 0)
    #expect(sps.vui?.appearance.signal?.isFullRange == true)
    _ = try HEVCVideoParameterSet(nalUnit: encoder.parameterSets.video)
    for set in encoder.parameterSets.pictures { _ = try HEVCPictureParameterSet(nalUnit: set) }
  }

  @Test("Only what may change in mid-stream changes")
  func changes() throws {
    var configuration = HEVCEncoderConfiguration(width: 64, height: 64)
    let encoder = try HEVCEncoder(configuration: configuration)
    configuration.width = 72
    #expect(throws: HEVCEncoderError.self) { try encoder.reconfigure(configuration) }
    #expect(encoder.configuration.width == 64)
    configuration.width = 64
    configuration.effort = 7
    try encoder.reconfigure(configuration)
    #expect(encoder.configuration.effort == 7)
  }

  @Test("A stream of the High tier takes changes within its level")
  func highTier() throws {
    var configuration = HEVCEncoderConfiguration(width: 64, height: 64)
    configuration.lowLatency.rateControl = .averageBitRate(300_000_000)
    let encoder = try HEVCEncoder(configuration: configuration)
    let sps = try HEVCSequenceParameterSet(nalUnit: encoder.parameterSets.sequence)
    #expect(sps.profileTierLevel.profile.isHighTier)
    configuration.effort = 7
    try encoder.reconfigure(configuration)
    #expect(encoder.configuration.effort == 7)
    configuration.lowLatency.rateControl = .averageBitRate(900_000_000)
    #expect(throws: HEVCEncoderError.self) { try encoder.reconfigure(configuration) }
  }

  @Test("A rate above the level of the stream is refused, unless no level allows it")
  func raisedLevel() throws {
    var configuration = HEVCEncoderConfiguration(width: 64, height: 64)
    configuration.raisesLevel = true
    configuration.lowLatency.rateControl = .averageBitRate(100_000)
    let low = try HEVCEncoder(configuration: configuration)
    configuration.lowLatency.rateControl = .averageBitRate(1_000_000_000)
    #expect(throws: HEVCEncoderError.self) { try low.reconfigure(configuration) }
    #expect(low.configuration.lowLatency.rateControl == .averageBitRate(100_000))
    let high = try HEVCEncoder(configuration: configuration)
    configuration.lowLatency.rateControl = .averageBitRate(1_500_000_000)
    try high.reconfigure(configuration)
  }

  @Test("The types of a source are kept at fine qualities, where a look-ahead can recognise them")
  func sourceTypes() {
    var c = HEVCEncoderConfiguration(width: 64, height: 64)
    c.lookAhead = HEVCEncoderConfiguration.LookAhead()
    for (rate, frames, qp, isKept) in [
      (LookAheadRate.quality(24), 40, 51.0, true), (.quality(18), 8, 51, true),
      (.quality(24.5), 40, 20, false), (.quality(20), 7, 20, false), (.constantQP(20), 40, 20, false),
      (.average(1_000_000), 40, 24, true), (.average(1_000_000), 40, 24.1, false),
      (.average(1_000_000), 7, 20, false),
    ] {
      c.lookAhead.rate = rate
      c.lookAhead.frames = frames
      let isRecognised = c.recognisesSourceTypes
      #expect((isRecognised && c.keepsSourceTypes(qp: qp)) == isKept, "\(rate), \(frames) frames, QP \(qp)")
    }
  }
}
