// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What `split` was told, so that every segment and the join do the same, on whichever machine.
struct PlanSettings: Codable, Sendable {
  /// Its identifier; another one would give other bits.
  var encoder: String
  var codec: String
  /// As a person sees the picture; none: the movie's own.
  var width: Int?
  var height: Int?
  var scaling: String
  /// `frame`, `field` or `none`.
  var deinterlace: String
  var pixelFormat: String?
  var preset: String?
  var profile: String?
  var keyframeInterval: Int?
  var keyframeDuration: Double?
  var lookAheadFrames: Int?
  var spatialAdaptiveQP: String?
  var savePower: Bool
  /// From 0 (fastest) to 9 (best); older plans do not say.
  var effort: Int?
  /// Bits a second of the whole movie's pictures; none where a quality is.
  var bitRate: Int?
  var quality: Double?
  /// The buffer that all segments share; older plans have none. It fills at the rate itself, or at the highest.
  var constantRate: Bool?
  /// Bits a second.
  var maximumRate: Int?
  /// Seconds.
  var bufferDuration: Double?
  /// The stream says what the buffer is.
  var bufferTiming: Bool?
  /// At most, over each segment.
  var passes: Int
  /// Of the encoder: as many on every machine, or the bits would differ.
  var threads: Int
  /// Of a stream that has no times.
  var frameRate: Double?
  /// Of the whole movie, where not all are encoded.
  var frameLimit: Int?
  var audio: String
  var audioBitRate: Int?
  var faststart: Bool
  /// False leaves subtitles out; older plans do not say.
  var subtitles: Bool?
  /// The pictures are turned as the movie is shown, for an output that cannot say it; older plans do not say.
  var upright: Bool?

  /// - Parameters:
  ///   - plan: what came of the options.
  ///   - encoder: the encoder's identifier.
  ///   - isUpright: the pictures are turned.
  init(_ options: EncodingOptions, plan: EncodingPlan, encoder: String, passes: Int, isUpright: Bool) {
    self.encoder = encoder
    codec = options.codec.rawValue
    width = options.dimensions?.width
    height = options.dimensions?.height
    scaling = options.scaling.rawValue
    deinterlace = options.noDeinterlace ? "none" : options.deinterlace.rawValue
    pixelFormat = options.pixelFormat?.rawValue
    preset = options.preset?.rawValue
    profile = options.profile?.rawValue
    keyframeInterval = options.keyframeInterval
    keyframeDuration = options.keyframeDuration
    lookAheadFrames = options.lookAheadFrames
    spatialAdaptiveQP = options.spatialAdaptiveQP?.rawValue
    savePower = options.savePower
    effort = options.effort.value
    if plan.quality == nil { bitRate = plan.bitRate }
    quality = plan.quality
    constantRate = options.cbr ? true : nil
    maximumRate = plan.maximumRate
    bufferDuration = plan.bufferSeconds
    bufferTiming = options.bufferTiming ? true : nil
    self.passes = passes
    threads = options.threads ?? 1
    frameRate = options.framesPerSecond
    frameLimit = options.frames
    audio = plan.audio.rawValue
    audioBitRate = options.audioBitrate?.bitsPerSecond
    faststart = !options.faststart.noFaststart
    subtitles = options.noSubtitles ? false : nil
    upright = isUpright ? true : nil
  }

  /// Whether the encoder gives the same bits with any number of threads.
  var threadsAreFree: Bool { ListedEncoder.named(encoder)?.isIndependentOfThreadCount ?? false }

  /// The same as options of the command line.
  /// - Parameter threads: nil takes the plan's.
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
      throw Failure("the plan's settings make no sense to this vtencode; make the plan again")
    }
  }
}
