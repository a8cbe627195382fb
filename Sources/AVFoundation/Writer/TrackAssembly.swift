// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// One track of the movie that is being written: its format, its time scale, and the samples that wait. Used under
/// the assembly's lock.
final class TrackAssembly: @unchecked Sendable {
  // Sendable: touched under the lock of its `MovieAssembly` alone.
  let mediaType: AVMediaType
  /// Units per second that the program asked for; 0: as the samples have it.
  let preferredTimeScale: CMTimeScale
  let configure: (inout MuxerTrack) -> Void
  private(set) var format: CMFormatDescription?
  private var latestFormat: CMFormatDescription?
  private(set) var timeScale: CMTimeScale = 0
  private(set) var queue = SampleQueue<PendingSample>()
  /// Bytes that wait.
  private(set) var waitingSize = 0
  var isFinished = false
  /// The track's number in the file; nil as long as there is no file, or when the track has no samples.
  var number: Int?
  /// What is in the current segment.
  var segment = SegmentTally()
  /// How much of the other tracks may wait for this one.
  var patience = TrackAssembly.usualPatience
  static let usualPatience = CMTime(value: 10, timescale: 1)
  /// The format that the samples will have, where it is known before they come.
  var describe: (() -> CMFormatDescription?)?
  /// The file can have a sample description for each format of a track.
  var holdsSeveralFormats = false
  /// Added to the times in the file.
  var timeOffset = CMTime.zero

  /// For the file: metadata, the group of alternatives, the size in the header, other inputs' tracks.
  var items: [MovieMetadataItem] = []
  var alternateGroup: UInt16?
  var naturalSize: (width: Int, height: Int)?
  var associations: [(type: String, input: AVAssetWriterInput.WeakInput)] = []
  /// All samples lie before those of other tracks.
  var goesFirst = false
  /// How much lies together; zero: a sample.
  var chunkDuration = CMTime.zero

  private var lastDecode: CMTime?
  private var lastDuration: CMTime?
  /// The time scale was chosen here, and does not hold all times exactly.
  private var roundsTimes = false
  private var lastUnits: Int64?

  init(
    mediaType: AVMediaType, preferredTimeScale: CMTimeScale, configure: @escaping (inout MuxerTrack) -> Void
  ) {
    self.mediaType = mediaType
    self.preferredTimeScale = preferredTimeScale
    self.configure = configure
  }

  /// Gets a track without samples its format; false if nobody knows it.
  func describeAhead() -> Bool {
    if format != nil { return true }
    guard let known = describe?() else { return false }
    format = known
    latestFormat = known
    let sound = known.audioStreamBasicDescription
    let rate = sound?.mSampleRate ?? 0
    let packet = rate >= 1 ? Double(sound?.mFramesPerPacket ?? 0) / rate : 0
    timeScale =
      preferredTimeScale > 0
      ? fineEnough(preferredTimeScale, packet) : rate >= 1 ? CMTimeScale(clamping: rate) : 90_000
    return true
  }

  /// The scale, or a multiple of it in which each sample has a unit of its own.
  private func fineEnough(_ scale: CMTimeScale, _ seconds: Double) -> CMTimeScale {
    guard seconds > 0, seconds.isFinite else { return scale }
    let factor = (0.9 / (Double(scale) * seconds)).rounded(.up)
    guard factor > 1, Double(scale) * factor <= Double(Self.finestScale) else { return scale }
    return scale * CMTimeScale(factor)
  }

  /// How much waits.
  var waitingSpan: CMTime {
    guard let head = queue.first, let tail = queue.last else { return .zero }
    return tail.decode - head.decode
  }

  /// The next sample for the file.
  func popFirst() -> PendingSample? {
    guard let sample = queue.popFirst() else { return nil }
    waitingSize -= sample.size
    return sample
  }

  /// Forgets what waits.
  func clear() {
    queue = SampleQueue()
    waitingSize = 0
  }

  /// Takes samples of one buffer.
  func take(_ samples: [PendingSample], _ description: CMFormatDescription?) throws {
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

  /// Nobody can decode `avc1` or `hvc1` whose description has no parameter sets.
  private func check(_ description: CMFormatDescription) throws {
    let type = CMFormatDescriptionGetMediaSubType(description)
    guard [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC].contains(type),
      Self.parameterSet(description, 0, type) == nil
    else { return }
    throw AVError(
      .invalidSourceMedia,
      reason: "The samples' format description has no parameter sets.",
      advice: "Make it with CMVideoFormatDescriptionCreateFromH264ParameterSets or its HEVC sister.")
  }

  /// A time scale that holds the first sample's times exactly, and is not too coarse for those to come. Of times in units
  /// that a file has no room for (nanoseconds: 32 bits are two seconds of them) a fine one that is near.
  private func chooseTimeScale(_ sample: PendingSample, _ description: CMFormatDescription) -> CMTimeScale {
    if preferredTimeScale > 0 {
      return fineEnough(preferredTimeScale, sample.hasDuration ? sample.duration.seconds : 0)
    }
    // Nobody reads faster, and a chapter of hours has to be counted.
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
      let fine = scale / greatestCommonDivisor(scale, Self.fineScale) * Self.fineScale
      if fine <= Self.finestScale { scale = fine }
      while scale < Self.fineScale { scale *= 10 }
      // Some units for each sample.
      let duration = sample.hasDuration && sample.duration > .zero ? sample.duration.seconds : 1
      while Double(scale) * duration < 8, scale * 10 <= Self.finestScale { scale *= 10 }
    }
    // Multiples keep what is exact exact.
    while scale < 600 { scale *= scale <= 60 ? 10 : 2 }
    return CMTimeScale(scale)
  }

  /// Units per second, the most that are chosen: 32 bits are 214 s of them.
  private static let finestScale: Int64 = 10_000_000
  /// Units per second where times have to be rounded.
  private static let fineScale: Int64 = 90_000

  private func greatestCommonDivisor(_ a: Int64, _ b: Int64) -> Int64 {
    var (x, y) = (a, b)
    while y != 0 { (x, y) = (y, x % y) }
    return max(1, x)
  }

  /// Whether samples of another format may be in the track: with other parameters of the same codec.
  private func canFollow(_ description: CMFormatDescription) -> Bool {
    let type = CMFormatDescriptionGetMediaSubType(description)
    return type == format.map(CMFormatDescriptionGetMediaSubType)
      && [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC, kAudioFormatMPEG4AAC].contains(type)
  }

  /// The parameter sets of a description as NAL units for a sample, where the index is written before all formats are
  /// known: such a track keeps the description it began with.
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

  /// The track for the muxer.
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

  /// The sample's facts as the muxer wants them.
  func muxerSample(_ sample: PendingSample, next: PendingSample?) -> Muxer.Sample {
    var duration = sample.duration
    if !sample.hasDuration {
      if let next { duration = next.decode - sample.decode } else { duration = lastDuration ?? .zero }
    }
    if mediaType.isText, let next { duration = min(duration, next.decode - sample.decode) }
    lastDuration = duration
    var decode = units(sample.decode + timeOffset)
    // What is less than a unit apart stays in order, also where the program has chosen a coarse scale.
    if let lastUnits, decode <= lastUnits {
      let next = lastUnits.addingClamped(1)
      // In a scale of the program's, no further than jitter moves them: else the muxer says that their times do not follow
      // each other.
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

/// What a segment holds of a track.
struct SegmentTally {
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
