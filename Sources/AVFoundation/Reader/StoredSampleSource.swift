// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Reads a track's samples as they are stored, in decode order.
final class StoredSampleSource: SampleSource {
  private let demuxer: Demuxer
  private let track: TrackDescription
  /// If not nil, the samples have no data but references to this file.
  private let referenceURL: URL?
  /// In units of the track's time base; nil to include all samples from the first one, whatever its
  /// time.
  private var start: Int64?
  private var end: Int64 = .max
  private var atEnd = false
  /// Samples that are shown after the end of the range. They are only included if a sample that is
  /// shown before the end follows in decode order.
  private var late: [MediaPacket] = []
  private var ready = SampleQueue<MediaPacket>()
  /// The current format; it differs from the track's where the format changes within the track.
  private var format: CMFormatDescription?
  private let damage: DamageLog
  /// Whether any sample of the track has been delivered.
  private var hasReturnedSamples = false
  /// The number of damaged packets that have been reported.
  private var knownLoss = 0

  init(
    _ demuxer: Demuxer, _ track: TrackDescription, referencesTo url: URL? = nil,
    damage: DamageLog = DamageLog()
  ) {
    self.damage = damage
    demuxer.dropsDamagedAudio = damage.isTolerated
    self.demuxer = demuxer
    self.track = track
    referenceURL = url
    demuxer.select([track.stream.index])
  }

  func stop() { demuxer.interrupt() }

  func seek(to range: CMTimeRange) throws {
    let stream = track.stream
    start = range.start > .zero ? stream.units(range.start) : nil
    end = stream.units(range.end)
    if range.end.isNumeric, stream.time(end) < range.end { end = end.addingClamped(1) }
    atEnd = false
    late = []
    ready = SampleQueue()
    format = track.format
    if let start {
      try demuxer.seek(stream: stream.index, to: start)
    } else if stream.isChapterText {
      // libavformat skips the first samples of chapter text when it probes for streams.
      try demuxer.seek(stream: stream.index, to: 0)
    } else {
      try demuxer.rewind()
    }
  }

  func next() throws -> CMSampleBuffer? {
    while true {
      if let packet = ready.popFirst() {
        hasReturnedSamples = true
        return try sample(of: packet)
      }
      if atEnd { return nil }
      let next: MediaPacket?
      do { next = try demuxer.next() } catch {
        guard hasReturnedSamples, damage.tolerates(error), !demuxer.isInterrupted else { throw error }
        damage.setFailure(AVError.reading(error))
        next = nil
      }
      try damage.addLostAudio(demuxer.lostAudio - knownLoss, in: track.stream.codec.codecName)
      knownLoss = demuxer.lostAudio
      guard let packet = next else {
        atEnd = true
        continue
      }
      let presentationTime = packet.pts ?? packet.dts ?? 0
      if (packet.dts ?? presentationTime) >= end {
        // All samples that follow are decoded, and therefore shown, after the end.
        atEnd = true
      } else if presentationTime >= end {
        late.append(packet)
      } else if let start, track.stream.kind == .audio, packet.duration > 0,
        presentationTime.addingClamped(packet.duration) <= start
      {
        continue
      } else {
        for earlier in late { ready.append(earlier) }
        ready.append(packet)
        late = []
      }
    }
  }

  private func sample(of packet: MediaPacket) throws -> CMSampleBuffer {
    if let changed = track.stream.makeFormatDescription(of: packet) { format = track.replaced(changed) }
    if let referenceURL { return try reference(to: packet, in: referenceURL) }
    return try packet.makeSampleBuffer(of: track.stream, description: format)
  }

  private func reference(to packet: MediaPacket, in url: URL) throws -> CMSampleBuffer {
    let stream = track.stream
    var timing = CMSampleTimingInfo(
      duration: stream.time(packet.duration), presentationTimeStamp: stream.time(packet.pts ?? packet.dts),
      decodeTimeStamp: stream.time(packet.dts))
    var size = packet.bytes.count
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: nil, formatDescription: format, sampleCount: 1,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size,
      sampleBufferOut: &made)
    guard status == noErr, let made else {
      throw AVError(.outOfMemory, reason: "A sample buffer cannot be made (\(status)).")
    }
    CMSetAttachment(
      made, key: kCMSampleBufferAttachmentKey_SampleReferenceURL, value: url as NSURL,
      attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    CMSetAttachment(
      made, key: kCMSampleBufferAttachmentKey_SampleReferenceByteOffset,
      value: NSNumber(value: packet.filePosition), attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    return made
  }
}
