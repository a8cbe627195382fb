import AVFoundation
import Foundation

/// Everything that a run does, worked out from the options and the movie before it starts.
struct EncodingPlan: Sendable {
  /// What distinguishes the subcommands.
  enum Purpose: String, Sendable {
    case conferencing
    case streaming
    case transcoding
  }

  var purpose: Purpose
  var codec: Codec
  var width: Int
  var height: Int
  var frameRate: Double
  /// Bits a second to ask the session for.
  var bitRate: Int
  /// Bits a second that a stream may carry, over some seconds.
  let highestBitRate: Double
  var pixelFormat: PixelFormat
  var preset: Preset?
  var profile: Profile?
  var keyframeInterval: Int?
  var keyframeDuration: Double?
  var lookAheadFrames: Int?
  var spatialAdaptiveQP: SpatialAdaptiveQP?
  var isConstantBitRate: Bool
  var savesPower: Bool
  var threads: Int?
  var frameLimit: Int?
  var isPaced: Bool
  var keepsSound: Bool
  var isVerbose: Bool
  /// What only the low-latency mode has.
  var conferencing: ConferencingPlan?

  init(_ options: EncodingOptions, source: MovieSource, purpose: Purpose, isPaced: Bool) throws {
    self.purpose = purpose
    self.isPaced = isPaced
    codec = options.codec
    // 4:2:0 pictures have even sides.
    width = options.dimensions?.width ?? source.width & ~1
    height = options.dimensions?.height ?? source.height & ~1
    guard Dimensions.encodable.contains(width), Dimensions.encodable.contains(height) else {
      throw Failure(
        "'\(source.name)' has pictures of \(source.width) by \(source.height), which the encoder cannot take; "
          + "give a size with --dimensions")
    }
    frameRate = source.frameRate
    bitRate =
      options.bitrate?.bitsPerSecond
      ?? BitRate.suggested(width: width, height: height, frameRate: frameRate, codec: codec).bitsPerSecond
    highestBitRate = Double(bitRate) * 1.5
    // Cameras give 420v, so a call is measured with that.
    let usual = purpose == .conferencing ? PixelFormat.video420v : .planar420
    pixelFormat = options.pixelFormat ?? (options.profile == .main10 ? .video10Bit : usual)
    preset = options.preset
    profile = options.profile
    keyframeInterval = options.keyframeInterval
    keyframeDuration = options.keyframeDuration
    // Whoever joins a stream waits for the next key frame.
    if purpose == .streaming, keyframeInterval == nil, keyframeDuration == nil { keyframeDuration = 2 }
    lookAheadFrames = options.lookAheadFrames
    spatialAdaptiveQP = options.spatialAdaptiveQP
    isConstantBitRate = options.cbr
    savesPower = options.savePower
    threads = options.threads
    frameLimit = options.frames
    keepsSound = !options.noAudio
    isVerbose = options.verbose
  }

  /// Seconds that will be encoded, as far as the movie says how long it is.
  func expectedDuration(of source: MovieSource) -> Double? {
    guard let frames = source.expectedFrames else { return nil }
    return Double(min(frames, frameLimit ?? .max)) / source.frameRate
  }
}
