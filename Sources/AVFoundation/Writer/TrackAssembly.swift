// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// One track of the movie that is being written: its format, its time scale, and the waiting
/// samples. Used under the assembly's lock.
final class TrackAssembly: @unchecked Sendable {
  // Sendable: only used under the lock of its `MovieAssembly`.
  let mediaType: AVMediaType
  /// The time scale that the program has set, in units per second; 0 if it is to suit the samples.
  let preferredTimeScale: CMTimeScale
  /// Sets those properties of the muxer's track that come from the input.
  let configure: (inout MuxerTrack) -> Void
  private(set) var format: CMFormatDescription?
  private var latestFormat: CMFormatDescription?
  private(set) var timeScale: CMTimeScale = 0
  private(set) var queue = SampleQueue<PendingSample>()
  /// The size of the waiting samples in bytes.
  private(set) var waitingSize = 0
  var isFinished = false
  /// The track's number in the file; nil before the header is written, and for a track without
  /// samples.
  var number: Int?
  /// The samples in the current segment.
  var segment = SegmentContents()
  /// How much of the other tracks may wait for this one before they go on without it.
  var timeout = TrackAssembly.defaultTimeout
  static let defaultTimeout = CMTime(value: 10, timescale: 1)
  /// Returns the format that samples will have, if it is known before they are appended.
  var describe: (() -> CMFormatDescription?)?
  /// Whether the file can have a sample description for each format of a track.
  var holdsSeveralFormats = false
  /// Added to the decode and presentation times when they are written.
  var timeOffset = CMTime.zero

  /// Properties of the track in the file: metadata, group of alternatives, size in the header, and
  /// the inputs whose tracks it refers to.
  var items: [MovieMetadataItem] = []
  var alternateGroup: UInt16?
  var naturalSize: (width: Int, height: Int)?
  var associations: [(type: String, input: AVAssetWriterInput.WeakInput)] = []
  /// Whether the last sample waits for the end of the session, which can make it last longer.
  var keepsLast = false
  /// The time at which the last picture ends, on the movie's time line; nil if its own duration
  /// says so.
  var extendedEnd: CMTime?
  /// Whether all samples are written before those of the other tracks.
  var goesFirst = false
  /// The duration of a chunk; zero if tracks can alternate at each sample.
  var chunkDuration = CMTime.zero

  private var lastDecode: CMTime?
  private var lastDuration: CMTime?
  /// Whether the time scale was chosen here and does not represent all times exactly.
  private var roundsTimes = false
  private var lastUnits: Int64?

  init(
    mediaType: AVMediaType, preferredTimeScale: CMTimeScale, configure: @escaping (inout MuxerTrack) -> Void
  ) {
    self.mediaType = mediaType
    self.preferredTimeScale = preferredTimeScale
    self.configure = configure
  }

  /// Sets the format of a track that has no samples yet.
  /// - Returns: False if the format is not known.
  func describeAhead() -> Bool {
    if format != nil { return true }
    guard let known = describe?() else { return false }
    format = known
    latestFormat = known
    let audio = known.audioStreamBasicDescription
    let rate = audio?.mSampleRate ?? 0
    let packet = rate >= 1 ? Double(audio?.mFramesPerPacket ?? 0) / rate : 0
    timeScale =
      preferredTimeScale > 0
      ? preciseScale(preferredTimeScale, packet) : rate >= 1 ? CMTimeScale(clamping: rate) : 90_000
    return true
  }

  /// The scale, or the smallest multiple of it in which each sample lasts about one unit or more.
  /// - Parameters:
  ///   - scale: Units per second.
  ///   - seconds: The duration of a sample; 0 if it is unknown.
  private func preciseScale(_ scale: CMTimeScale, _ seconds: Double) -> CMTimeScale {
    guard seconds > 0, seconds.isFinite else { return scale }
    let factor = (0.9 / (Double(scale) * seconds)).rounded(.up)
    guard factor > 1, Double(scale) * factor <= Double(Self.finestScale) else { return scale }
    return scale * CMTimeScale(factor)
  }

  /// Whether the first waiting sample can be written. A sample without a duration lasts until the
  /// next one, and a text also ends where the next one begins.
  var isReady: Bool {
    guard let sample = queue.first else { return false }
    if queue.count > 1 { return true }
    return !keepsLast && (isFinished || sample.hasDuration && !mediaType.isText)
  }

  /// Whether no sample can be written before the end of the session.
  var isExhausted: Bool { isFinished && !isReady }

  /// The difference of decode times between the last and the first waiting sample.
  var waitingSpan: CMTime {
    guard let head = queue.first, let tail = queue.last else { return .zero }
    return tail.decode - head.decode
  }

  /// Removes and returns the first waiting sample.
  func popFirst() -> PendingSample? {
    guard let sample = queue.popFirst() else { return nil }
    waitingSize -= sample.size
    return sample
  }

  /// Removes the waiting samples.
  func clear() {
    queue = SampleQueue()
    waitingSize = 0
  }

  /// Appends the samples of one buffer.
  /// - Throws: `AVError` if a decode time does not follow the previous one or is later than the
  ///   presentation time, or if the track cannot hold the format.
  func append(_ samples: [PendingSample], _ description: CMFormatDescription?) throws {
    let samples = mediaType.isSparse ? samples.compactMap(\.fromStart) : samples
    guard var first = samples.first else { return }
    guard let description = description ?? format else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample buffer has no format description.",
        advice: "Give compressed samples the format description of their stream.")
    }
    if latestFormat !== description { try check(description) }
    if format == nil {
      format = description
      latestFormat = description
      timeScale = chooseTimeScale(first, description)
    } else if let latest = latestFormat, latest !== description {
      if !CMFormatDescriptionEqual(latest, otherFormatDescription: description) {
        if holdsSeveralFormats, canFollow(description) {
          first.format = description
        } else {
          first.prefix = try parameterSets(of: description)
        }
      }
      latestFormat = description
    }
    for (index, sample) in samples.enumerated() {
      if let lastDecode, sample.decode <= lastDecode {
        throw AVError(
          .invalidSourceMedia,
          reason: "A sample's decode time (\(sample.decode.seconds) s) does not follow the one before.",
          advice: "Append samples in decode order, each with a later decode time stamp.",
          info: [AVErrorPresentationTimeStampKey: NSValue(time: sample.presentation)])
      }
      guard sample.presentation >= sample.decode else {
        throw AVError(
          .invalidSourceMedia,
          reason: "A sample would be shown (\(sample.presentation.seconds) s) before it is decoded.",
          advice: "Give samples decode time stamps that are not later than their presentation.",
          info: [AVErrorPresentationTimeStampKey: NSValue(time: sample.presentation)])
      }
      lastDecode = sample.decode
      waitingSize += sample.size
      queue.append(index == 0 ? first : sample)
    }
  }

  /// Rejects a description of H.264 or HEVC without parameter sets: samples of type `avc1` or
  /// `hvc1` cannot be decoded without them.
  private func check(_ description: CMFormatDescription) throws {
    let type = CMFormatDescriptionGetMediaSubType(description)
    guard [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC].contains(type),
      Self.parameterSet(description, 0, type) == nil
    else { return }
    throw AVError(
      .invalidSourceMedia,
      reason: "The samples' format description has no parameter sets.",
      advice:
        "Make it with CMVideoFormatDescriptionCreateFromH264ParameterSets or CMVideoFormatDescriptionCreateFromHEVCParameterSets."
    )
  }

  /// A time scale in which the times of the first sample are exact, and which is fine enough for
  /// later samples. If the exact scale exceeds `finestScale`, a fine scale in which times are
  /// rounded; nanoseconds, for example, do not fit, since 32 bits hold only 2 or 4 seconds of them.
  private func chooseTimeScale(_ sample: PendingSample, _ description: CMFormatDescription) -> CMTimeScale {
    if preferredTimeScale > 0 {
      return preciseScale(preferredTimeScale, sample.hasDuration ? sample.duration.seconds : 0)
    }
    // Text and metadata do not need a finer scale. A coarse one keeps chapters of several hours
    // within 32-bit durations.
    if mediaType.isSparse {
      let scale = sample.presentation.timescale
      return (600...10_000).contains(scale) ? scale : 1000
    }
    if mediaType == .audio, let rate = description.audioStreamBasicDescription?.mSampleRate, rate >= 1 {
      return CMTimeScale(clamping: rate)
    }
    var scale: Int64 = 1
    for time in [sample.presentation, sample.decode, sample.duration]
    where time.isNumeric && time.timescale > 0 {
      let joint = scale / greatestCommonDivisor(scale, Int64(time.timescale)) * Int64(time.timescale)
      if joint <= Self.finestScale { scale = joint } else { roundsTimes = true }
    }
    if roundsTimes {
      let fine = scale / greatestCommonDivisor(scale, Self.minPreciseScale) * Self.minPreciseScale
      if fine <= Self.finestScale { scale = fine }
      while scale < Self.minPreciseScale { scale *= 10 }
      // Use at least 8 units for each sample.
      let duration = sample.hasDuration && sample.duration > .zero ? sample.duration.seconds : 1
      while Double(scale) * duration < 8, scale * 10 <= Self.finestScale { scale *= 10 }
    }
    // Times that are exact in a scale are exact in its multiples.
    while scale < 600 { scale *= scale <= 60 ? 10 : 2 }
    return CMTimeScale(scale)
  }

  /// The largest time scale that is chosen, in units per second. A 32-bit signed number of these
  /// units is 214 s.
  private static let finestScale: Int64 = 10_000_000
  /// The smallest time scale for times that have to be rounded, in units per second.
  private static let minPreciseScale: Int64 = 90_000

  private func greatestCommonDivisor(_ a: Int64, _ b: Int64) -> Int64 {
    var (x, y) = (a, b)
    while y != 0 { (x, y) = (y, x % y) }
    return max(1, x)
  }

  /// Whether samples of another format can follow in the track: they have the same codec with other
  /// parameters.
  private func canFollow(_ description: CMFormatDescription) -> Bool {
    let type = CMFormatDescriptionGetMediaSubType(description)
    return type == format.map(CMFormatDescriptionGetMediaSubType)
      && [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC, kAudioFormatMPEG4AAC].contains(type)
  }

  /// The parameter sets of a description as NAL units with 4-byte lengths, to be written before a
  /// sample. Used where the sample descriptions are written before all formats are known, so that
  /// the track keeps its first description.
  /// - Throws: `AVError(.formatUnsupported)` if the codec or the length of NAL unit lengths has
  ///   changed.
  private func parameterSets(of description: CMFormatDescription) throws -> Data {
    let type = CMFormatDescriptionGetMediaSubType(description)
    guard let format, type == CMFormatDescriptionGetMediaSubType(format),
      type == kCMVideoCodecType_H264 || type == kCMVideoCodecType_HEVC
    else {
      throw AVError(
        .formatUnsupported, reason: "The format has changed, and the track cannot hold both.",
        advice: "Write the samples of another format into another track or movie.")
    }
    var data = Data()
    var index = 0
    while let set = Self.parameterSet(description, index, type) {
      guard set.lengthSize == 4 else {
        throw AVError(
          .formatUnsupported, reason: "The length of NAL unit lengths has changed within a track.")
      }
      data.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: set.bytes.count >> (24 - 8 * $0)) })
      data.append(set.bytes)
      index += 1
    }
    return data
  }

  private static func parameterSet(
    _ description: CMFormatDescription, _ index: Int, _ type: FourCharCode
  ) -> (bytes: Data, lengthSize: Int32)? {
    var pointer: UnsafePointer<UInt8>?
    var size = 0
    var count = 0
    var length: Int32 = 0
    let status =
      type == kCMVideoCodecType_HEVC
      ? CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
        description, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
        parameterSetCountOut: &count, nalUnitHeaderLengthOut: &length)
      : CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
        description, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
        parameterSetCountOut: &count, nalUnitHeaderLengthOut: &length)
    guard status == noErr, let pointer, index < count else { return nil }
    return (Data(bytes: pointer, count: size), length)
  }

  /// The description of the track for the muxer.
  /// - Parameter other: A format other than the track's first one.
  func makeMuxerTrack(_ other: CMFormatDescription? = nil) throws -> MuxerTrack {
    guard let format = other ?? format else {
      throw AVError(.noDataCaptured, reason: "The track has no format.")
    }
    var track = try MuxerTrack(format, timeScale: timeScale)
    configure(&track)
    track.items = items
    track.alternateGroup = alternateGroup
    track.naturalSize = naturalSize
    for association in associations {
      guard let number = association.input.input?.track?.number else { continue }
      track.references[association.type, default: []].append(number)
    }
    return track
  }

  func units(_ time: CMTime) -> Int64 { time.units(timeScale, .default) }

  /// The times and flags of a sample for the muxer.
  /// - Parameters:
  ///   - sample: The sample.
  ///   - next: The sample after it in the track, which determines the duration of a sample without
  ///     one; nil if there is none.
  func muxerSample(_ sample: PendingSample, next: PendingSample?) -> Muxer.Sample {
    var duration = sample.duration
    if !sample.hasDuration {
      if let next { duration = next.decode - sample.decode } else { duration = lastDuration ?? .zero }
    }
    if mediaType.isText, let next { duration = min(duration, next.decode - sample.decode) }
    if let extendedEnd, next == nil {
      let longest = CMTime(value: CMTimeValue(Int32.max), timescale: timeScale)
      duration = min(max(duration, extendedEnd - sample.presentation), longest)
    }
    lastDuration = duration
    var decode = units(sample.decode + timeOffset)
    // Decode times that are less than a unit apart are moved so that they keep their order, even in
    // a coarse time scale that the program has chosen.
    if let lastUnits, decode <= lastUnits {
      let next = lastUnits.addingClamped(1)
      // In the program's time scale times are moved by at most 2 units, as jitter requires. Beyond
      // that the muxer reports that the times are not ascending.
      if roundsTimes || preferredTimeScale > 0 && next.subtractingClamped(decode) <= 2 { decode = next }
    }
    lastUnits = decode
    var muxed = Muxer.Sample(
      track: number ?? 0, pts: max(decode, units(sample.presentation + timeOffset)), dts: decode,
      duration: units(duration),
      isSync: sample.isSync)
    muxed.isDisposable = sample.isDisposable
    return muxed
  }
}

/// The samples of a track in the current segment: their time span and the first sample.
struct SegmentContents {
  var first: CMTime?
  var end: CMTime?
  var firstSample: (time: CMTime, size: Int, isSync: Bool)?

  mutating func add(_ sample: PendingSample, duration: CMTime) {
    first = first.map { min($0, sample.presentation) } ?? sample.presentation
    let until = sample.presentation + duration
    end = end.map { max($0, until) } ?? until
    if firstSample == nil { firstSample = (sample.presentation, sample.size, sample.isSync) }
  }
}
