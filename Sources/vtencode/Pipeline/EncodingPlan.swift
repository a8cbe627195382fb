// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// All settings of a run, derived from the options and the movie before it starts.
struct EncodingPlan: Sendable {
  /// The subcommand's purpose, which decides the mode and the defaults.
  enum Purpose: String, Sendable {
    case conferencing
    case streaming
    case transcoding
  }

  var purpose: Purpose
  var codec: Codec
  /// The size of the encoded picture, and how the source's pictures are scaled to it.
  var fit: PictureFit
  var width: Int { fit.width }
  var height: Int { fit.height }
  var frameRate: Double
  /// The bit rate that the session is asked for, in bits a second.
  var bitRate: Int
  /// The largest size of the file in bytes, from which the bit rate was derived; nil if there is
  /// none.
  var targetBytes: Int64?
  /// The quality that replaces the bit rate, 0 to 1.
  var quality: Double?
  /// The highest average bit rate of a movie whose quality the user did not choose, in bits a
  /// second; nil for no limit.
  var ceiling: Int?
  /// The size of the decoder's buffer that keeps to the ceiling, in seconds of it; nil where the
  /// movie is encoded again if it exceeds the ceiling.
  var ceilingBuffer: Double?
  /// The bit rate that a quality took, in bits a second, where the ceiling has replaced it.
  var rateOfQuality: Double?
  /// Whether a single picture is encoded. It has no duration of its own and so no meaningful bit
  /// rate; it is encoded by quality.
  let isStill: Bool
  /// The highest bit rate of a stream over a window of some seconds, in bits a second.
  let highestBitRate: Double
  var pixelFormat: PixelFormatChoice
  var preset: Preset?
  var profile: ProfileChoice?
  var keyframeInterval: Int?
  var keyframeDuration: Double?
  var lookAheadFrames: Int?
  /// The look-ahead, in frames, of an encoder that looks ahead by default if neither the user nor a
  /// preset sets it.
  var defaultLookAhead: Int?
  var spatialAdaptiveQP: SpatialAdaptiveQP?
  var isConstantBitRate: Bool
  /// The bit rate at which a decoder's buffer fills, in bits a second, and the buffer's size in
  /// seconds of that rate, or of the constant bit rate.
  var maximumRate: Int?
  var bufferSeconds: Double?
  /// Whether the stream conforms to a decoder's buffer, which all segments of a movie then share.
  var keepsToBuffer: Bool { isConstantBitRate || maximumRate != nil }
  /// Whether the stream describes its decoder's buffer (HRD parameters and SEI messages).
  var writesBufferTiming: Bool
  var savesPower: Bool
  var threads: Int?
  /// The largest number of passes over the whole movie.
  var passes = 1
  /// Whether a second pass is made only if the first one missed the rate or its quality is uneven.
  var makesPassesOnDemand = false
  /// Whether the result of one pass is better than an error if there is no room for several.
  var passesAreOptional = false
  /// Whether a clip that missed its rate may be encoded again.
  var mayEncodeAgain = true
  /// The file of a multi-pass storage with the results of a first pass; nil if there is none.
  var statistics: String?
  /// The deviation from the bit rate, as a fraction of it, above which a third or later pass is
  /// made.
  var passTolerance = 0.005
  /// The encoder's effort from 0 (fastest) to 9 (best); nil leaves it to the preset.
  var effort: Int?
  /// Whether an encoder without the property for the effort may ignore it.
  var isEffortHint = false
  var frameLimit: Int?
  /// The part of the movie to encode; nil is all of it.
  var range: CMTimeRange?
  /// Whether other segments of the movie are joined before the range, and after it.
  var hasFramesBefore = false
  var hasFramesAfter = false
  /// The identifier of the only encoder to use; nil uses the usual one.
  var encoderID: String?
  var isPaced: Bool
  var audio: AudioChoice
  /// The bit rate of encoded audio, in bits a second.
  var audioBitRate: Int?
  var keepsSubtitles = true
  /// Whether the run has no end of its own, so that the output is whole when a signal ends it.
  var endsOnRequest = false
  /// The times of a movie that begins again when it has come to its end.
  var repetition = MovieRepetition()
  var keepsChapters = true
  /// The interval of the key frames with which segments begin; nil where there are no segments.
  var segmentInterval: CMTime?
  var isFastStart: Bool
  /// How interlaced pictures are deinterlaced; nil leaves them as they are.
  var deinterlacing: Deinterlacing?
  /// Whether tones are mapped to BT.709, because the source has a high dynamic range and the
  /// encoded picture 8 bits.
  var mapsTones: Bool
  var progress: ProgressStyle
  var isVerbose: Bool
  /// Messages for the user before the run starts, about parts of the source that are changed or
  /// left out.
  var notices: [String] = []
  /// The settings of the low-latency mode; nil in the others.
  var conferencing: ConferencingPlan?

  /// The `--quality` of a single picture if the user gives none. It is higher than a movie's,
  /// because a picture is looked at for longer.
  static let qualityOfStills = 0.7

  /// The look-ahead of `streaming` in frames: two seconds, at most 20 frames. A player's buffer
  /// delays a stream for about as long anyway, and key frames are coded better if the frames that
  /// refer to them are known.
  private static func streamingLookAhead(_ frameRate: Double) -> Int {
    min(max(Int((frameRate * 2).rounded()), 1), 20)
  }

  init(_ options: EncodingOptions, source: MovieSource, purpose: Purpose, isPaced: Bool) throws {
    self.purpose = purpose
    self.isPaced = isPaced
    codec = options.codec
    fit = PictureFit(source: source.shape, requested: options.dimensions, scaling: options.picture.scaling)
    try fit.check(against: options, source: source)
    if source.isSinglePicture, source.part != nil {
      throw Failure(
        "'\(source.name)' is one picture, without a duration, so it has no part; omit --start, --end and --duration",
        status: 64)
    }
    frameRate = source.frameRate
    quality = options.quality
    isStill =
      (source.isSinglePicture || options.picture.frames == 1) && purpose != .conferencing && !options.rate.cbr
      && !options.rate.bufferTiming
    if isStill, quality == nil { quality = Self.qualityOfStills }
    bitRate =
      options.bitrate?.bitsPerSecond
      ?? BitRate.suggested(fit: fit, source: source, codec: codec).bitsPerSecond
    maximumRate = options.rate.maxRate?.bitsPerSecond
    bufferSeconds = options.rate.buffer
    if let maximumRate {
      guard purpose != .conferencing else {
        throw Failure(
          "--max-rate is for streams with a decoder's buffer, which a call does not have; omit it",
          status: 64)
      }
      // A suggested rate is lowered to the highest rate, whether the user gave it or not:
      // `EncodingOptions` has refused a larger `--bitrate`.
      bitRate = min(bitRate, maximumRate)
    }
    highestBitRate = Double(bitRate) * 1.5
    let format = try Self.pixelFormat(options, source: source, purpose: purpose)
    pixelFormat = format.choice
    mapsTones = source.isHighDynamicRange && pixelFormat != .video10Bit
    deinterlacing = options.picture.noDeinterlace ? nil : options.picture.deinterlace
    preset = options.encoding.preset
    profile = options.encoding.profile
    keyframeInterval = options.encoding.keyframeInterval
    keyframeDuration = options.encoding.keyframeDuration
    // A viewer who joins a stream waits for the next key frame, so it comes every two seconds.
    if purpose == .streaming, keyframeInterval == nil, keyframeDuration == nil { keyframeDuration = 2 }
    lookAheadFrames = options.encoding.lookAheadFrames
    if purpose == .streaming { defaultLookAhead = Self.streamingLookAhead(frameRate) }
    spatialAdaptiveQP = options.encoding.spatialAdaptiveQP
    isConstantBitRate = options.rate.cbr
    writesBufferTiming = options.rate.bufferTiming
    savesPower = options.encoding.savePower
    threads = options.encoding.threads
    effort = options.encoding.effort.value
    encoderID = options.encoding.encoder
    frameLimit = options.picture.frames
    audio = options.audio.noAudio ? .none : options.audio.audio
    audioBitRate = options.audio.audioBitrate?.bitsPerSecond
    keepsSubtitles = !options.audio.noSubtitles
    isFastStart = !options.faststart.noFaststart
    progress = options.progressOption.progress
    isVerbose = options.reports.verbose
    notices = Self.notices(fit: fit, mapsTones: mapsTones, source: source)
    addNotices(options, source: source, losesDepth: format.losesDepth)
    try checkBufferTiming()
  }

  /// The format of the pictures that the encoder gets.
  /// - Returns: The format, and whether noise filtering reduces the bit depth of the movie.
  /// - Throws: a `Failure` if the options need 10 bits and something else prevents them.
  private static func pixelFormat(
    _ options: EncodingOptions, source: MovieSource, purpose: Purpose
  ) throws -> (choice: PixelFormatChoice, losesDepth: Bool) {
    // Cameras deliver 420v, so the measurement of a call includes its conversion.
    let defaultFormat: PixelFormatChoice =
      options.encoding.profile == .high444
      ? .video444v : purpose == .conferencing ? .video420v : .planar420
    let makesMain10 =
      try options.codec == .hvc1
      && ListedEncoder.all().contains {
        $0.makesMain10 && $0.id == options.encoding.encoder ?? $0.id
      }
    if options.encoding.profile == .main10, !makesMain10 {
      throw Failure(
        "--profile main10 needs an HEVC encoder with 10 bits: build with the trait HEVC or X265, name another "
          + "with --encoder, or omit it", status: 64)
    }
    let hasDepth =
      source.isDeep && makesMain10 && purpose != .conferencing && options.encoding.profile != .main
    let filtersNoise = source.noiseStrength != nil
    let keepsDepth = hasDepth && !filtersNoise
    let choice =
      options.picture.pixelFormat
      ?? (options.encoding.profile == .main10 || keepsDepth ? .video10Bit : defaultFormat)
    if filtersNoise, choice == .video10Bit {
      let name = options.picture.pixelFormat == nil ? "--profile main10" : "--pixel-format x420"
      throw Failure("--denoise filters pictures of 8 bits; omit it or \(name)", status: 64)
    }
    return (choice, hasDepth && filtersNoise)
  }

  /// Adds the notices that depend on the options.
  /// - Parameter losesDepth: whether noise filtering reduces the bit depth of the movie.
  private mutating func addNotices(_ options: EncodingOptions, source: MovieSource, losesDepth: Bool) {
    if losesDepth {
      notices.append("the movie has more than 8 bits; --denoise filters 8, so it is encoded with 8")
    }
    if source.isInterlaced, let deinterlacing {
      notices.append(
        deinterlacing == .frame
          ? "the movie is interlaced; the two fields of a frame become one picture. --deinterlace field "
            + "makes a picture of each field, --no-deinterlace leaves them interlaced"
          : "the movie is interlaced; each field becomes a picture")
    }
    if isStill, options.bitrate != nil {
      notices.append(
        "one picture has no bit rate, so --bitrate has no effect; it is encoded with a quality of "
          + "\(TextFormat.fixed(Self.qualityOfStills, 2)). --quality sets another one")
    }
  }

  /// Puts key frames where segments begin.
  mutating func setSegments(_ segments: SegmentPlan) {
    segmentInterval = segments.length
    guard keyframeInterval == nil, keyframeDuration == nil || purpose == .streaming && keyframeDuration == 2
    else { return }
    // The encoder's own key frames come no sooner, so that a segment has one.
    keyframeDuration = segments.length.seconds + 0.5
  }

  /// Adds the notice about the audio that is known only when the output's file type is.
  /// - Returns: the notice that `--audio-bitrate` has no effect because all audio is copied; nil
  ///   otherwise.
  mutating func addAudioNotice(of source: MovieSource, in destination: Destination) -> String? {
    guard audioBitRate != nil, audio == .auto, destination.holdsAudio, !source.audioTracks.isEmpty,
      source.audioTracks.allSatisfy({ $0.format.map { destination.plays($0) } ?? false })
    else { return nil }
    let notice = "the audio is copied as it is, so --audio-bitrate changes nothing; --audio aac encodes it"
    notices.append(notice)
    return notice
  }

  /// Adds the notice about subtitles that an output does not hold.
  mutating func addSubtitleNotice(of source: MovieSource, in destination: Destination) {
    guard keepsSubtitles, !source.subtitles.isEmpty,
      let other = destination.all.first(where: { $0.holdsAudio && !$0.holdsText })
    else { return }
    notices.append(
      "\(other.name) cannot contain subtitles, so they are left out; .mov, .mp4, .mkv and .m3u8 keep them, and "
        + "--burn-subtitles draws them")
  }

  private func checkBufferTiming() throws {
    if writesBufferTiming, purpose == .conferencing || !(keepsToBuffer || purpose == .streaming) {
      throw Failure(
        "--buffer-timing describes a decoder's buffer, which \(purpose.rawValue) "
          + (purpose == .conferencing
            ? "does not have; omit it"
            : "has only with --cbr or --max-rate; add one, or use vtencode streaming"),
        status: 64)
    }
    if writesBufferTiming, quality != nil, maximumRate == nil {
      throw Failure(
        "--buffer-timing describes a decoder's buffer, which --quality alone does not have; give --bitrate "
          + "or --max-rate",
        status: 64)
    }
  }

  private static func notices(fit: PictureFit, mapsTones: Bool, source: MovieSource) -> [String] {
    var notices: [String] = []
    if let notice = fit.notice { notices.append(notice) }
    if let turn = source.turn, !source.isRotatedOnRequest {
      notices.append(
        "the movie is shown \(turn.text), which a stream cannot store, so its pictures are "
          + "encoded as shown")
    }
    if mapsTones {
      notices.append(
        "the movie has a high dynamic range; its tones are mapped to BT.709 after BT.2390. "
          + "--codec hevc keeps them as they are")
    }
    if source.video?.hasMediaCharacteristic(.containsAlphaChannel) == true {
      notices.append("the movie has an alpha channel, which is left out: the encoded pictures are opaque")
    }
    if !source.others.isEmpty {
      notices.append("left out because they cannot be written: \(source.others.joined(separator: ", "))")
    }
    return notices
  }

  /// The time by which a run of `frameLimit` frames has ended; infinity where all frames are
  /// encoded.
  func latestEnd(of source: MovieSource) -> CMTime {
    guard let frameLimit, source.frameRate > 0 else { return .positiveInfinity }
    // The actual frame times may be later than the frame rate says, so there is a margin.
    return (source.part?.start ?? .zero)
      + CMTime(nearest: Double(frameLimit) / source.frameRate * 1.5 + 5, preferredTimescale: 1000)
  }

  /// The duration that will be encoded, in seconds; nil if the movie does not say how long it is.
  func expectedDuration(of source: MovieSource) -> Double? {
    guard let frames = source.expectedFrames else { return nil }
    return Double(min(frames, frameLimit ?? .max)) / source.frameRate
  }
}

extension PictureFit {
  /// Checks that the encoder can have the size.
  /// - Throws: a `Failure` that suggests `--dimensions`.
  fileprivate func check(against options: EncodingOptions, source: MovieSource) throws {
    // Only the default encoders' limits are known here; an encoder that the user names reports its
    // own.
    if options.encoding.encoder == nil,
      let reason = Dimensions(width: width, height: height).sizeError(of: options.codec)
    {
      throw Failure(
        "'\(source.name)' has pictures of \(source.width)x\(source.height), to be encoded as \(width)x\(height): "
          + "\(reason); give a size with --dimensions")
    }
  }
}
