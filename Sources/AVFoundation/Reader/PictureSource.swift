// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import Synchronization

/// Decodes a track's pictures with a decompression session, in presentation order.
final class PictureSource: InterruptibleSource, @unchecked Sendable {
  // Sendable: used by one caller at a time, under the lock of the output that owns it, except for
  // `isInterrupted`.
  private let demuxer: Demuxer
  private let track: TrackDescription
  private let requirements: PictureRequirements
  private let description: CMFormatDescription
  private let copies: Bool
  /// Whether single pictures are read, as by an image generator: durations are not needed, and the
  /// last picture is shown without an end.
  private let areStills: Bool
  private var session: VTDecompressionSession
  private let copier: PictureCopier
  /// Crops to the clean aperture; nil if there is nothing to crop.
  private let cropper: PictureCropper?
  private var samples = PictureSamples()
  private let isInterrupted = Atomic(false)

  private var start = CMTime.negativeInfinity
  private var end = CMTime.positiveInfinity
  private var endUnits = Int64.max
  private var isDrained = false
  /// Whether the session has been given samples since it was made.
  private var isUsed = false
  private var times: PictureTimes
  private let outcomes = Outcomes()
  /// The last picture, whose duration is not known before the next one comes.
  private var held: Deinterlacer.Picture?
  private var ready: [CMSampleBuffer] = []
  private var readIndex = 0
  private var hasOutput = false
  /// Whether a picture has been decoded in any range so far.
  private var hasEverOutput = false
  /// The number of key frames that could not be decoded before the first picture.
  private var earlyLost = 0
  private var missing = MissingPictures()
  /// Whether packets are missing before the next picture.
  private var followsDataLoss = false
  /// The number of the last picture's time line; see `MediaPacket.clock`.
  private var clock = 0
  /// The error of the first sample that could not be decoded before the first picture.
  private var earlyFailure: OSStatus?
  /// The error that ends the reading; thrown after all pictures before it have been delivered.
  private var failure: (any Error)?
  private let deinterlacer: Deinterlacer?
  private let damage: DamageLog

  /// The results of the session's output handlers, which run during the calls of this source, on
  /// its thread.
  private final class Outcomes: @unchecked Sendable {
    // Sendable: only filled during decodes that `PictureSource` waits for before it reads.
    struct Outcome {
      let timing: CMSampleTimingInfo
      let isHidden: Bool
      let isKeyFrame: Bool
      /// Whether packets are missing before or after the sample.
      let followsDataLoss: Bool
      let clock: Int
      let status: OSStatus
      let image: CVImageBuffer?
      let isModifiable: Bool
    }
    var list: [Outcome] = []
  }

  init(
    _ demuxer: Demuxer, _ track: TrackDescription, _ requirements: PictureRequirements, copies: Bool,
    areStills: Bool = false, damage: DamageLog = DamageLog()
  ) throws {
    self.areStills = areStills
    self.demuxer = demuxer
    self.track = track
    self.requirements = requirements
    self.copies = copies
    self.damage = damage
    deinterlacer = requirements.fields.temporal.map { rate in
      Deinterlacer(rate: rate, threads: min(requirements.threads > 0 ? requirements.threads : 4, 4))
    }
    guard let description = track.format else {
      throw AVError(
        .decoderNotFound, reason: "There is no decoder for \(track.stream.codec.codecName).",
        advice: "Convert the movie to H.264 or HEVC first.")
    }
    self.description = description
    session = try requirements.makeSession(description, codecName: track.stream.codec.codecName)
    copier = PictureCopier()
    cropper = requirements.cropper(description)
    times = PictureTimes(frameDuration: track.minFrameDuration)
    demuxer.select([track.stream.index])
  }

  deinit { VTDecompressionSessionInvalidate(session) }

  func interrupt() { isInterrupted.store(true, ordering: .relaxed) }
  func stop() { demuxer.interrupt() }

  func seek(to range: CMTimeRange) throws {
    let stream = track.stream
    // If the range starts at zero, pictures with earlier times are included as well.
    start = range.start > .zero ? range.start : .negativeInfinity
    end = range.end
    endUnits = end.isNumeric ? stream.units(end) : Int64.max
    if end.isNumeric, stream.time(endUnits) < end { endUnits = endUnits.addingClamped(1) }
    if range.start > .zero {
      try demuxer.seek(stream: stream.index, to: stream.units(range.start))
    } else {
      try demuxer.rewind()
    }
    if isUsed {
      // A new session is made, because the old one holds pictures of another range.
      let fresh = try requirements.makeSession(description, codecName: stream.codec.codecName)
      VTDecompressionSessionInvalidate(session)
      session = fresh
      isUsed = false
    }
    isDrained = false
    isInterrupted.store(false, ordering: .relaxed)
    times = PictureTimes(frameDuration: track.minFrameDuration)
    outcomes.list = []
    ready = []
    readIndex = 0
    (failure, held) = (nil, nil)
    (hasOutput, earlyFailure, earlyLost) = (false, nil, 0)
    (missing, followsDataLoss, clock) = (MissingPictures(), false, 0)
    deinterlacer?.reset()
  }

  func next() throws -> CMSampleBuffer? {
    while readIndex >= ready.count {
      ready.removeAll(keepingCapacity: true)
      readIndex = 0
      // An interrupted demuxer returns no packets, which does not mean that the file has ended.
      if isInterrupted.load(ordering: .relaxed) || demuxer.isInterrupted { return nil }
      if isDrained {
        if let failure, hasEverOutput, damage.tolerates(failure) {
          damage.setFailure(AVError.reading(failure))
        } else if let failure {
          throw failure
        }
        return nil
      }
      try advance()
    }
    defer { readIndex += 1 }
    return ready[readIndex]
  }

  /// Gives the session one sample or, at the end, makes it put out the pictures that it holds.
  private func advance() throws {
    // If the file cannot be read any further, the pictures that the session holds are still valid.
    let packet: MediaPacket?
    do { packet = try demuxer.next() } catch {
      packet = nil
      failure = error
    }
    let isPastEnd = packet.map { ($0.dts ?? $0.pts ?? 0) >= endUnits } ?? true
    if let packet, !isPastEnd {
      // An empty sample extends the duration of the previous picture.
      if !packet.bytes.isEmpty { try decode(packet) }
    } else {
      isDrained = true
      if isUsed { VTDecompressionSessionFinishDelayedFrames(session) }
    }
    let list = outcomes.list
    outcomes.list.removeAll(keepingCapacity: true)
    let hasFailed = failure != nil
    for outcome in list where hasFailed || failure == nil { try collect(outcome) }
    guard isDrained else { return }
    damage.addLost(missing.finish())
    if let deinterlacer {
      for picture in try filtering({ try deinterlacer.finish() }) { try show(picture) }
    }
    try finish(isCut: packet != nil)
    if !hasOutput, failure == nil, let earlyFailure, !(hasEverOutput && damage.isTolerated) {
      throw noPictureDecodedError(earlyFailure)
    }
  }

  private func noPictureDecodedError(_ status: OSStatus) -> AVError {
    let codec = track.stream.codec
    let pictures = codec.pixelFormatName.map { ", pixel format \($0)," } ?? ""
    return AVError(
      .decodeFailed,
      reason: "No picture of the codec \(codec.codecName)\(pictures) can be decoded (\(status)).",
      advice: "Convert the movie to H.264 or HEVC first.",
      underlying: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
  }

  private func decode(_ packet: MediaPacket) throws {
    let stream = track.stream
    let sample = try packet.makeSampleBuffer(of: stream, description: description)
    let timing = CMSampleTimingInfo(
      duration: packet.duration > 0 ? stream.time(packet.duration) : .invalid,
      presentationTimeStamp: stream.time(packet.pts ?? packet.dts), decodeTimeStamp: .invalid)
    let (isHidden, isKeyFrame) = (packet.isDiscarded, packet.isKeyFrame)
    let (followsDataLoss, clock) = (packet.followsDataLoss, packet.clock)
    if !isHidden { times.expect(timing.presentationTimeStamp) }
    isUsed = true
    let outcomes = outcomes
    let status = VTDecompressionSessionDecodeFrame(
      session, sampleBuffer: sample, flags: ._EnableTemporalProcessing, infoFlagsOut: nil
    ) { status, flags, image, _, _ in
      outcomes.list.append(
        Outcomes.Outcome(
          timing: timing, isHidden: isHidden, isKeyFrame: isKeyFrame, followsDataLoss: followsDataLoss,
          clock: clock,
          status: status, image: image,
          isModifiable: flags.contains(.imageBufferModifiable)))
    }
    if status != noErr { self.followsDataLoss = self.followsDataLoss || followsDataLoss }
    guard status == noErr || isHidden else {
      return handleLostPicture(timing.presentationTimeStamp, status, isKeyFrame)
    }
  }

  private func collect(_ outcome: Outcomes.Outcome) throws {
    followsDataLoss = followsDataLoss || outcome.followsDataLoss
    if outcome.isHidden { return }
    var timing = outcome.timing
    guard outcome.status == noErr, let image = outcome.image else {
      times.forget(timing.presentationTimeStamp)
      // Before the first picture there may be pictures whose references precede the start.
      if outcome.status != noErr {
        handleLostPicture(timing.presentationTimeStamp, outcome.status, outcome.isKeyFrame)
      }
      return
    }
    if !hasOutput, start == .negativeInfinity { damage.addLost(earlyLost) }
    (hasOutput, hasEverOutput) = (true, true)
    let presentationTime = times.nextTime(timing.presentationTimeStamp)
    timing.presentationTimeStamp = presentationTime
    if outcome.clock != clock {
      // The distance between the times of two joined streams is unknown, so it is not a gap.
      damage.addLost(missing.finish())
      (clock, followsDataLoss) = (outcome.clock, false)
    }
    damage.addLost(missing.add(presentationTime, followsDataLoss: followsDataLoss))
    followsDataLoss = false
    if presentationTime >= end { return try endHeldPicture(presentationTime) }
    if DecodedPictureAttachments.isDamaged(image) { damage.addConcealed() }
    let picture = Deinterlacer.Picture(
      buffer: image, time: presentationTime, duration: timing.duration,
      isCopy: outcome.isModifiable || !copies)
    guard let deinterlacer else { return try show(picture) }
    for whole in try filtering({ try deinterlacer.add(picture) }) { try show(whole) }
  }

  /// Takes the next picture in presentation order, at whose time the previous one ends. The
  /// duration in a sample is not used, because for reordered or irregular pictures it is the time
  /// between decodes.
  private func show(_ picture: Deinterlacer.Picture) throws {
    if areStills, picture.time >= start {
      if picture.time > start { try appendHeld() }
      held = nil
      return try append(picture)
    }
    if !areStills { try endHeldPicture(picture.time) }
    held = picture
  }

  private func endHeldPicture(_ time: CMTime) throws {
    if let picture = held, time > picture.time {
      held?.duration = time - picture.time
    }
    try appendHeld()
  }

  private func appendHeld() throws {
    guard let picture = held else { return }
    held = nil
    try append(picture)
  }

  /// Ends the last picture of the range.
  /// - Parameter isCut: Whether further pictures follow after the range.
  private func finish(isCut: Bool) throws {
    guard let picture = held, !areStills else { return try appendHeld() }
    let own = picture.duration.isNumeric ? picture.duration : .zero
    if failure == nil, isCut, end.isNumeric {
      // The pictures that follow are shown after the range.
      held?.duration = max(own, end - picture.time)
    } else if failure == nil, demuxer.isMovie, track.stream.isTableComplete {
      let rest = track.timeRange.end - picture.time
      // Edit lists use the movie's time scale, which may be coarse, so a difference of up to 2 ms
      // is ignored.
      let isOther = CMTimeAbsoluteValue(rest - own) > CMTime(value: 2, timescale: 1000)
      if rest > .zero, isOther { held?.duration = rest }
    }
    try appendHeld()
  }

  private func append(_ picture: Deinterlacer.Picture) throws {
    let until = picture.duration.isNumeric ? picture.time + picture.duration : picture.time
    if picture.time < start, until <= start, !areStills { return }
    // This can be the second field of a picture during which the range ends.
    if picture.time >= end { return }
    let timing = CMSampleTimingInfo(
      duration: picture.duration, presentationTimeStamp: picture.time, decodeTimeStamp: .invalid)
    let buffer =
      try cropper.map { try $0.crop(picture.buffer) }
      ?? (picture.isCopy ? picture.buffer : copier.copy(picture.buffer))
    ready.append(try samples.make(buffer, timing))
  }

  private func filtering(_ work: () throws -> [Deinterlacer.Picture]) throws -> [Deinterlacer.Picture] {
    do { return try work() } catch let error as MediaFileError {
      throw AVError(
        .decodeFailed, reason: "The pictures cannot be deinterlaced: \(error.detail).",
        advice: "Read them as they are, with both fields.", underlying: error)
    }
  }

  /// Handles a sample that produced no picture: counts it as lost, or ends the reading with an
  /// error.
  private func handleLostPicture(_ time: CMTime, _ status: OSStatus, _ isKeyFrame: Bool) {
    times.forget(time)
    // Before the first picture there may be pictures whose references precede the start, which are
    // not damaged. A key frame has no references.
    guard hasOutput else {
      earlyFailure = earlyFailure ?? status
      if isKeyFrame { earlyLost += 1 }
      return
    }
    guard damage.isTolerated else {
      // The pictures that were decoded before are valid and are delivered first.
      (failure, isDrained) = (failure ?? damaged(time, status), true)
      return
    }
    missing.addLost(time)
    damage.addLost()
  }

  private func damaged(_ time: CMTime, _ status: OSStatus) -> AVError {
    AVError(
      .decodeFailed, reason: "The frame at \(time.seconds) s is damaged (\(status)).",
      info: [AVErrorPresentationTimeStampKey: NSValue(time: time)])
  }
}
