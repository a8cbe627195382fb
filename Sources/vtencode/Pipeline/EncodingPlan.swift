// SPDX-License-Identifier: Apache-2.0
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
  /// The encoded picture, and how the source's becomes it.
  var fit: PictureFit
  var width: Int { fit.width }
  var height: Int { fit.height }
  var frameRate: Double
  /// Bits a second to ask the session for.
  var bitRate: Int
  /// In place of a bit rate, 0 to 1.
  var quality: Double?
  /// A single picture is encoded. It is shown as long as one likes, so that bits in a second say nothing of it: it gets a
  /// quality.
  let isStill: Bool
  /// Bits a second that a stream may carry, over some seconds.
  let highestBitRate: Double
  var pixelFormat: PixelFormat
  var preset: Preset?
  var profile: Profile?
  var keyframeInterval: Int?
  var keyframeDuration: Double?
  var lookAheadFrames: Int?
  /// What an encoder that looks ahead by default does where neither the user nor a preset says.
  var usualLookAhead: Int?
  var spatialAdaptiveQP: SpatialAdaptiveQP?
  var isConstantBitRate: Bool
  /// Bits a second at which a decoder's buffer fills, and the seconds of them, or of a constant rate, that it holds.
  var maximumRate: Int?
  var bufferSeconds: Double?
  /// All segments of a movie are one stream for a decoder's buffer.
  var keepsToBuffer: Bool { isConstantBitRate || maximumRate != nil }
  /// The stream says what its decoder's buffer is.
  var writesBufferTiming: Bool
  var savesPower: Bool
  var threads: Int?
  /// At most, over the whole movie.
  var passes = 1
  /// A second pass is made only where the first has missed the rate, or is uneven.
  var makesPassesOnDemand = false
  /// A clip that has missed its rate may be encoded again.
  var mayEncodeAgain = true
  /// What a first pass has learnt already: the file of a multi-pass storage.
  var statistics: String?
  /// A miss of the rate that a third pass or a later one is spent on, as a share of it.
  var passTolerance = 0.005
  /// From 0 (fastest) to 9 (best); nil leaves it to the preset.
  var effort: Int?
  /// An encoder that has no such choice encodes as it can.
  var isEffortHint = false
  var frameLimit: Int?
  /// The part of the movie to encode; nil is all of it.
  var range: CMTimeRange?
  /// Whether other segments of the movie are joined before and after that.
  var hasFramesBefore = false
  var hasFramesAfter = false
  /// The encoder to take, and no other.
  var encoderID: String?
  var isPaced: Bool
  var audio: SoundChoice
  /// Bits a second of sound that is encoded.
  var audioBitRate: Int?
  var keepsSubtitles = true
  var keepsChapters = true
  var isFastStart: Bool
  /// Nil leaves interlaced pictures as they are.
  var deinterlacing: Deinterlacing?
  /// The source has a high dynamic range and the encoded picture 8 bits: its tones are mapped to BT.709.
  var mapsTones: Bool
  var progress: ProgressStyle
  var isVerbose: Bool
  /// What a person should know before it starts: what of the source is changed or left out.
  var notices: [String] = []
  /// What only the low-latency mode has.
  var conferencing: ConferencingPlan?

  /// The `--quality` of a single picture where the user names none: one that is looked at for longer than a movie's.
  static let qualityOfStills = 0.7

  /// Frames: a second or two. Viewers of a stream wait as long for its player's buffer, and key frames are shared out over
  /// what is seen of the next ones.
  private static func streamingLookAhead(_ frameRate: Double) -> Int {
    min(max(Int((frameRate * 2).rounded()), 1), 20)
  }

  init(_ options: EncodingOptions, source: MovieSource, purpose: Purpose, isPaced: Bool) throws {
    self.purpose = purpose
    self.isPaced = isPaced
    codec = options.codec
    fit = PictureFit(source: source.shape, wish: options.dimensions, scaling: options.scaling)
    // What another encoder takes is its own matter.
    if options.encoder == nil,
      let refusal = Dimensions(width: fit.width, height: fit.height).refusal(of: codec)
    {
      throw Failure(
        "'\(source.name)' has pictures of \(source.width)x\(source.height), to be encoded as \(fit.width)x\(fit.height): "
          + "\(refusal); give a size with --dimensions")
    }
    frameRate = source.frameRate
    quality = options.quality
    isStill =
      (source.isSinglePicture || options.frames == 1) && purpose != .conferencing && !options.cbr
      && !options.bufferTiming
    if isStill, quality == nil { quality = Self.qualityOfStills }
    bitRate =
      options.bitrate?.bitsPerSecond
      ?? BitRate.suggested(fit: fit, source: source, codec: codec).bitsPerSecond
    maximumRate = options.maxRate?.bitsPerSecond
    bufferSeconds = options.buffer
    if let maximumRate {
      guard purpose != .conferencing else {
        throw Failure(
          "--max-rate is for a stream that waits in a buffer, and a call does not; leave it out", status: 64)
      }
      // A rate that was not asked for gives way.
      bitRate = min(bitRate, maximumRate)
    }
    highestBitRate = Double(bitRate) * 1.5
    // Cameras give 420v, so a call is measured with that.
    let usual = purpose == .conferencing ? PixelFormat.video420v : .planar420
    let keepsDepth = source.isDeep && codec == .hvc1 && purpose != .conferencing && options.profile != .main
    pixelFormat =
      options.pixelFormat ?? (options.profile == .main10 || keepsDepth ? .video10Bit : usual)
    mapsTones = source.isHighDynamicRange && pixelFormat != .video10Bit
    deinterlacing = options.noDeinterlace ? nil : options.deinterlace
    preset = options.preset
    profile = options.profile
    keyframeInterval = options.keyframeInterval
    keyframeDuration = options.keyframeDuration
    // Whoever joins a stream waits for the next key frame.
    if purpose == .streaming, keyframeInterval == nil, keyframeDuration == nil { keyframeDuration = 2 }
    lookAheadFrames = options.lookAheadFrames
    if purpose == .streaming { usualLookAhead = Self.streamingLookAhead(frameRate) }
    spatialAdaptiveQP = options.spatialAdaptiveQP
    isConstantBitRate = options.cbr
    writesBufferTiming = options.bufferTiming
    savesPower = options.savePower
    threads = options.threads
    effort = options.effort.value
    encoderID = options.encoder
    frameLimit = options.frames
    audio = options.noAudio ? .none : options.audio
    audioBitRate = options.audioBitrate?.bitsPerSecond
    keepsSubtitles = !options.noSubtitles
    isFastStart = !options.faststart.noFaststart
    progress = options.telling.progress
    isVerbose = options.verbose
    notices = Self.notices(fit: fit, mapsTones: mapsTones, source: source)
    if source.isInterlaced, let deinterlacing {
      notices.append(
        deinterlacing == .frame
          ? "the movie is interlaced; its fields become whole pictures. --deinterlace field keeps each moment, "
            + "--no-deinterlace its lines"
          : "the movie is interlaced; each field becomes a picture")
    }
    if isStill, options.bitrate != nil {
      notices.append(
        "one picture has no bit rate, so --bitrate says nothing of it; it is coded for a quality of "
          + "\(Wording.fixed(Self.qualityOfStills, 2)). --quality sets another one")
    }
    try checkBufferTiming()
  }

  /// What is only known with the output.
  /// - Returns: That the rate of the sound changes nothing, where all of it is copied.
  mutating func noteSound(of source: MovieSource, in kind: Destination.Kind) -> String? {
    guard audioBitRate != nil, audio == .auto, case .movie(let type) = kind, !source.sounds.isEmpty,
      source.sounds.allSatisfy({ $0.isPlayable(in: type) })
    else { return nil }
    let notice = "the sound is copied as it is, so --audio-bitrate changes nothing; --audio aac encodes it"
    notices.append(notice)
    return notice
  }

  private func checkBufferTiming() throws {
    if writesBufferTiming, purpose == .conferencing || !(keepsToBuffer || purpose == .streaming) {
      throw Failure(
        "--buffer-timing describes a buffer, which \(purpose.rawValue) has "
          + (purpose == .conferencing
            ? "not; leave it out" : "with --cbr or --max-rate alone; add one, or use vtencode streaming"),
        status: 64)
    }
    if writesBufferTiming, quality != nil, maximumRate == nil {
      throw Failure(
        "--buffer-timing describes a buffer, which --quality has none of; give --bitrate or --max-rate",
        status: 64)
    }
  }

  private static func notices(fit: PictureFit, mapsTones: Bool, source: MovieSource) -> [String] {
    var notices: [String] = []
    if let notice = fit.notice { notices.append(notice) }
    if let turn = source.turn {
      notices.append("the movie is shown \(turn.text), which a stream cannot say; so its pictures are")
    }
    if mapsTones {
      notices.append(
        "the movie has a high dynamic range; its tones are mapped to BT.709 after BT.2390. "
          + "--codec hevc keeps them as they are")
    }
    if !source.others.isEmpty {
      notices.append("left out, for they cannot be written here: \(source.others.joined(separator: ", "))")
    }
    return notices
  }

  /// Where a run of so many frames ends at the latest; infinity where all are encoded.
  func latestEnd(of source: MovieSource) -> CMTime {
    guard let frameLimit, source.frameRate > 0 else { return .positiveInfinity }
    // Frames may come at other times than the rate says.
    return CMTime(nearest: Double(frameLimit) / source.frameRate * 1.5 + 5, preferredTimescale: 1000)
  }

  /// Seconds that will be encoded, as far as the movie says how long it is.
  func expectedDuration(of source: MovieSource) -> Double? {
    guard let frames = source.expectedFrames else { return nil }
    return Double(min(frames, frameLimit ?? .max)) / source.frameRate
  }
}
