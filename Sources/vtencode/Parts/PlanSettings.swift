// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The settings given to `split`, so that all segments and the join use the same ones on every
/// machine.
struct PlanSettings: Codable, Sendable {
  /// The encoder's identifier; another encoder would give another stream.
  var encoder: String
  var codec: String
  /// The size as displayed; nil for the movie's own.
  var width: Int?
  var height: Int?
  var scaling: String
  /// `frame`, `field`, or `none` for pictures that stay interlaced.
  var deinterlace: String
  var pixelFormat: String?
  var preset: String?
  var profile: String?
  var keyframeInterval: Int?
  var keyframeDuration: Double?
  var lookAheadFrames: Int?
  var spatialAdaptiveQP: String?
  var savePower: Bool
  /// The effort from 0 (fastest) to 9 (best); nil in older plans.
  var effort: Int?
  /// The bit rate of the whole movie's pictures, in bits a second; nil for a constant quality.
  var bitRate: Int?
  var quality: Double?
  /// Whether the bit rate is constant; nil means false. All segments share one decoder's buffer,
  /// which fills at the bit rate or at `maximumRate`.
  var constantRate: Bool?
  /// The highest bit rate, in bits a second.
  var maximumRate: Int?
  /// The size of the buffer in seconds.
  var bufferDuration: Double?
  /// Whether the stream describes the buffer.
  var bufferTiming: Bool?
  /// The largest number of passes over each segment.
  var passes: Int
  /// The number of the encoder's threads, the same on every machine because the stream may depend
  /// on it.
  var threads: Int
  /// The frame rate of a stream that has no time stamps.
  var frameRate: Double?
  /// The number of frames to encode of the whole movie; nil for all.
  var frameLimit: Int?
  var audio: String
  var audioBitRate: Int?
  var faststart: Bool
  /// False leaves subtitles out; nil means true.
  var subtitles: Bool?
  /// Whether the pictures are rotated upright, for an output without a transform; nil means false.
  var upright: Bool?

  /// - Parameters:
  ///   - options: the options given to `split`.
  ///   - plan: the encoding plan that was derived from them.
  ///   - encoder: the encoder's identifier.
  ///   - passes: the largest number of passes over each segment.
  ///   - isUpright: whether the pictures are rotated upright.
  init(_ options: EncodingOptions, plan: EncodingPlan, encoder: String, passes: Int, isUpright: Bool) {
    self.encoder = encoder
    codec = options.codec.rawValue
    width = options.dimensions?.width
    height = options.dimensions?.height
    scaling = options.picture.scaling.rawValue
    deinterlace = options.picture.noDeinterlace ? "none" : options.picture.deinterlace.rawValue
    pixelFormat = options.picture.pixelFormat?.rawValue
    preset = options.encoding.preset?.rawValue
    profile = options.encoding.profile?.rawValue
    keyframeInterval = options.encoding.keyframeInterval
    keyframeDuration = options.encoding.keyframeDuration
    lookAheadFrames = options.encoding.lookAheadFrames
    spatialAdaptiveQP = options.encoding.spatialAdaptiveQP?.rawValue
    savePower = options.encoding.savePower
    effort = options.encoding.effort.value
    if plan.quality == nil { bitRate = plan.bitRate }
    quality = plan.quality
    constantRate = options.rate.cbr ? true : nil
    maximumRate = plan.maximumRate
    bufferDuration = plan.bufferSeconds
    bufferTiming = options.rate.bufferTiming ? true : nil
    self.passes = passes
    threads = options.encoding.threads ?? 1
    frameRate = options.picture.framesPerSecond
    frameLimit = options.picture.frames
    audio = plan.audio.rawValue
    audioBitRate = options.audio.audioBitrate?.bitsPerSecond
    faststart = !options.faststart.noFaststart
    subtitles = options.audio.noSubtitles ? false : nil
    upright = isUpright ? true : nil
  }

  /// Whether the encoder's stream is the same for any number of threads.
  var threadsAreFree: Bool { ListedEncoder.named(encoder)?.isIndependentOfThreadCount ?? false }

  /// The settings as options of the command line.
  /// - Parameters:
  ///   - movie: the movie's path.
  ///   - threads: the number of the encoder's threads; nil takes the plan's.
  /// - Throws: a `Failure` if the settings are not valid options.
  func options(movie: String, threads: Int? = nil) throws -> EncodingOptions {
    var arguments = [
      "--codec", codec, "--scaling", scaling, "--threads", "\(threads ?? self.threads)", "--audio", audio,
    ]
    func add(_ name: String, _ value: (some CustomStringConvertible)?) {
      if let value { arguments += [name, value.description] }
    }
    func flag(_ name: String, _ isOn: Bool) { if isOn { arguments.append(name) } }
    if let width, let height { add("--dimensions", "\(width)x\(height)") }
    if deinterlace == "none" { flag("--no-deinterlace", true) } else { add("--deinterlace", deinterlace) }
    add("--pixel-format", pixelFormat)
    add("--preset", preset)
    add("--profile", profile)
    add("--keyframe-interval", keyframeInterval)
    add("--keyframe-duration", keyframeDuration)
    add("--look-ahead-frames", lookAheadFrames)
    add("--spatial-adaptive-qp", spatialAdaptiveQP)
    flag("--save-power", savePower)
    add("--effort", effort)
    add("--bitrate", bitRate)
    add("--quality", quality)
    flag("--cbr", constantRate == true)
    add("--max-rate", maximumRate)
    add("--buffer", bufferDuration)
    flag("--buffer-timing", bufferTiming == true)
    add("--frame-rate", frameRate)
    add("--audio-bitrate", audioBitRate)
    flag("--no-faststart", !faststart)
    flag("--no-subtitles", subtitles == false)
    do {
      return try EncodingOptions.parse(arguments + ["--", movie])
    } catch {
      throw Failure("the plan's settings are not valid for this vtencode; make the plan again")
    }
  }
}
