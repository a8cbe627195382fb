// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The values of a session's properties, as they are collected for an encoder's configuration.
/// `resolved(for:)` computes the fields that depend on several properties.
struct CompressionDraft {
  /// The fields of the configuration that depend on one property only.
  var configuration: VideoEncoderConfiguration
  /// Whether the client has set the profile; otherwise it follows from the pixel format.
  var hasProfile = false
  /// Bits per second; 0 if not set. This rate and the next two exclude each other.
  var averageBitRate = 0
  var constantBitRate: Int?
  var variableBitRate: Int?
  /// The quality to aim at without a bit rate, from 0 to 1.
  var quality = 0.5
  var masteringDisplay: [UInt8]?
  var contentLightLevel: [UInt8]?
  /// Whether static HDR metadata goes into the stream.
  var insertsHDR = true
  /// The number of frames that will come; 0 if unknown.
  var sourceFrameCount = 0
  /// Code points of ITU-T H.273; nil for those of the first source buffer.
  var colorPrimaries: UInt8?
  var transferFunction: UInt8?
  var matrix: UInt8?
  /// The clean aperture, for the format description; nil for none.
  var cleanAperture: [String: Double]?
  /// How source pictures are converted; nil for scaling and format conversion alone.
  var pixelTransfer: PixelTransferSettings?
  var multiPassStorage: VTMultiPassStorage?
  var allowsPartialPasses = false
  var makesPassesOnDemand = false
  var lowLatency = LowLatencyRequest()
  /// The `CompressionSettings.generation` of the values.
  var generation = 0

  init(codec: CodecType, width: Int, height: Int, format: PictureFormat) {
    configuration = VideoEncoderConfiguration(
      codec: codec, width: width, height: height, format: format,
      profile: codec == .hevc ? .hevcMain : codec == .h264 ? .h264High : .unspecified)
    configuration.timescale = Self.timescale
    configuration.allowsOpenGOP = codec == .hevc
  }

  /// The number of ticks per second of the encoder's time stamps, which serve rate control alone.
  /// The session keeps the exact times for the sample buffers.
  static let timescale: Int32 = 1_000_000

  /// Whether a time is a number that fits the encoder's time stamps: up to some 2000 years from
  /// zero.
  static func isInRange(_ time: CMTime) -> Bool {
    time.isNumeric && time.timescale > 0 && abs(time.seconds) < 0x1p56 / Double(timescale)
  }

  /// Makes the configuration, with the fields that depend on several properties.
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
      // There is a rate limit and no average rate: aim at 80 % of the strictest limit.
      c.rate.mode = .average(max(Int(clamping: lowest * 0.8), 1000))
    } else {
      c.rate.mode = .quality(quality)
    }
    // A duration by a guess of the frame rate would be worse than none.
    if c.expectedDuration == nil, sourceFrameCount > 0, let frameRate = c.frameRate {
      c.expectedDuration = Double(sourceFrameCount) / frameRate
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
