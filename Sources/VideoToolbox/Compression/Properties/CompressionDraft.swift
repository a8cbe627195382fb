// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// An encoder configuration in the making: what the properties say, before the codec's terms are final.
struct CompressionDraft {
  var configuration: VideoEncoderConfiguration
  /// The profile was chosen, rather than left to the pixel format.
  var hasProfile = false
  var averageBitRate = 0
  var constantBitRate: Int?
  var variableBitRate: Int?
  var quality = 0.5
  var masteringDisplay: [UInt8]?
  var contentLightLevel: [UInt8]?
  var insertsHDR = true
  var sourceFrameCount = 0
  var colorPrimaries: UInt8?
  var transferFunction: UInt8?
  var matrix: UInt8?
  /// For the format description.
  var cleanAperture: [String: Double]?
  /// How source pictures become the session's; nil for a plain conversion.
  var pixelTransfer: PixelTransferSettings?
  var multiPassStorage: VTMultiPassStorage?
  var allowsPartialPasses = false
  var makesPassesOnDemand = false
  var lowLatency = LowLatency()
  /// Which change of the properties it comes from.
  var generation = 0

  init(codec: CodecType, width: Int, height: Int, format: PictureFormat) {
    configuration = VideoEncoderConfiguration(
      codec: codec, width: width, height: height, format: format,
      profile: codec == .hevc ? .hevcMain : codec == .h264 ? .h264High : .unspecified)
    configuration.timescale = Self.timescale
    configuration.allowsOpenGOP = codec == .hevc
  }

  /// Ticks in a second for the codec. Exact times stay with the session; this is for rate control.
  static let timescale: Int32 = 1_000_000

  /// Whether a time is a number that the codecs can reckon with: some 2000 years to either side of zero.
  static func isInRange(_ time: CMTime) -> Bool {
    time.isNumeric && time.timescale > 0 && abs(time.seconds) < 0x1p56 / Double(timescale)
  }

  /// The configuration with all that depends on several properties.
  func resolved(for encoder: EncoderDescription) -> VideoEncoderConfiguration {
    var c = configuration
    c.lowLatency = encoder.isLowLatency ? lowLatency : nil
    if let constantBitRate {
      c.rate.mode = .constant(constantBitRate)
    } else if let variableBitRate {
      c.rate.mode = .variable(variableBitRate)
    } else if averageBitRate > 0 {
      c.rate.mode = .average(averageBitRate)
    } else if let lowest = c.rate.limits.map({ Double($0.bytes) * 8 / $0.seconds }).min() {
      // A limit without an average: aim at a safe distance below it.
      c.rate.mode = .average(max(Int(clamping: lowest * 0.8), 1000))
    } else {
      c.rate.mode = .quality(quality)
    }
    if c.expectedDuration == nil, sourceFrameCount > 0 {
      c.expectedDuration = Double(sourceFrameCount) / (c.frameRate ?? 30)
    }
    if insertsHDR {
      c.hdr.masteringDisplay = masteringDisplay
      c.hdr.contentLightLevel = contentLightLevel
    }
    if !hasProfile, c.codec == .hevc {
      c.profile = c.format == .p010VideoRange || c.format == .p010FullRange ? .hevcMain10 : .hevcMain
    }
    return c
  }
}
