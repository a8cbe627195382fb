// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A position in the sequence of a track's stored samples, which can be moved in decode order and
/// in presentation order.
///
/// Tracks create cursors; see `AVAssetTrack.makeSampleCursor(presentationTimeStamp:)`. The times
/// are those of the samples that an `AVAssetReaderTrackOutput` without settings delivers. All
/// cursors of a track share an index of the samples, for which the file is read once, as far as
/// cursors have been moved. Each packet of uncompressed audio in the file counts as one sample.
open class AVSampleCursor: NSObject, NSCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let index: SampleIndex
  private let lock = Lock()
  private var sampleNumber: Int

  init(_ index: SampleIndex, at number: Int) {
    self.index = index
    sampleNumber = number
    super.init()
  }

  /// Returns a cursor at the same sample, which can be moved independently.
  open func copy(with zone: NSZone? = nil) -> Any { AVSampleCursor(index, at: number) }

  /// The number of the sample in decode order, from 0.
  var number: Int { lock.withLock { sampleNumber } }

  var sample: IndexedSample { index.sample(number) ?? IndexedSample() }

  /// Changes the position under the lock.
  private func move<Result>(_ body: (inout Int) -> Result) -> Result { lock.withLock { body(&sampleNumber) } }

  func isOfSameTrack(as other: AVSampleCursor) -> Bool {
    other.index.file === index.file && other.index.stream.index == index.stream.index
  }

  // MARK: - Moving by samples

  /// Moves the cursor in decode order, but not beyond the first or last sample.
  /// - Parameter stepCount: The number of samples; negative to move backward.
  /// - Returns: The number of samples by which the cursor was moved, with the same sign.
  @discardableResult
  open func stepInDecodeOrder(byCount stepCount: Int64) -> Int64 {
    move { sampleNumber in
      let target = Int64(sampleNumber).addingClamped(stepCount)
      let reached = index.clamped(Int(clamping: target))
      defer { sampleNumber = reached }
      return Int64(reached - sampleNumber)
    }
  }

  /// Moves the cursor in presentation order, but not beyond the sample that is presented first or
  /// last.
  /// - Parameter stepCount: The number of samples; negative to move backward.
  /// - Returns: The number of samples by which the cursor was moved, with the same sign.
  @discardableResult
  open func stepInPresentationOrder(byCount stepCount: Int64) -> Int64 {
    move { sampleNumber in
      var steps = Int64(0)
      while steps != stepCount,
        let next = stepCount > 0 ? index.presentedAfter(sampleNumber) : index.presentedBefore(sampleNumber)
      {
        sampleNumber = next
        steps += stepCount.signum()
      }
      return steps
    }
  }

  // MARK: - Moving by time

  /// Moves the cursor in decode order to the last sample whose decode time is not after the target
  /// time.
  /// - Parameters:
  ///   - deltaDecodeTime: The difference between the target time and the decode time of the current
  ///     sample. If it is not a number, the cursor is not moved.
  ///   - outWasPinned: Receives true if the target time is before the first sample or after the end
  ///     of the last; the cursor is then at that sample.
  /// - Returns: The difference between the decode times, which is less than requested if the target
  ///   time is within a sample.
  @discardableResult
  open func step(
    byDecodeTime deltaDecodeTime: CMTime, wasPinned outWasPinned: UnsafeMutablePointer<ObjCBool>?
  ) -> CMTime {
    step(
      by: deltaDecodeTime, outWasPinned, time: \.decodeTime, find: { index.sample(decodedAt: $0) },
      ends: { (0, index.last) })
  }

  /// Moves the cursor in presentation order to the last sample whose presentation time is not after
  /// the target time.
  /// - Parameters:
  ///   - deltaPresentationTime: The difference between the target time and the presentation time of
  ///     the current sample. If it is not a number, the cursor is not moved.
  ///   - outWasPinned: Receives true if the target time is before the first sample or after the end
  ///     of the last; the cursor is then at that sample.
  /// - Returns: The difference between the presentation times, which is less than requested if the
  ///   target time is within a sample.
  @discardableResult
  open func step(
    byPresentationTime deltaPresentationTime: CMTime,
    wasPinned outWasPinned: UnsafeMutablePointer<ObjCBool>?
  ) -> CMTime {
    step(
      by: deltaPresentationTime, outWasPinned, time: \.presentationTime,
      find: { index.sample(presentedAt: $0) },
      ends: { (index.firstPresented ?? 0, index.lastPresented ?? 0) })
  }

  private func step(
    by delta: CMTime, _ wasPinned: UnsafeMutablePointer<ObjCBool>?, time: KeyPath<IndexedSample, Int64>,
    find: (Int64) -> Int?, ends: () -> (first: Int, last: Int)
  ) -> CMTime {
    move { sampleNumber in
      wasPinned?.pointee = false
      guard delta.isNumeric || delta == .positiveInfinity || delta == .negativeInfinity,
        let current = index.sample(sampleNumber)
      else { return .zero }
      let stream = index.stream
      let from = stream.time(current[keyPath: time])
      let wanted = stream.units(from + delta)
      var reached = find(wanted)
      if let found = reached {
        // The target time is after the end of the last sample, rather than within it.
        if let sample = index.sample(found),
          sample[keyPath: time].addingClamped(max(1, sample.duration)) <= wanted, found == ends().last
        {
          wasPinned?.pointee = true
        }
      } else {
        wasPinned?.pointee = true
        reached = ends().first
      }
      sampleNumber = reached ?? sampleNumber
      return (index.sample(sampleNumber).map { stream.time($0[keyPath: time]) } ?? from) - from
    }
  }

  // MARK: - Times

  /// The presentation time of the sample.
  open var presentationTimeStamp: CMTime { index.stream.time(sample.presentationTime) }
  /// The decode time of the sample.
  open var decodeTimeStamp: CMTime { index.stream.time(sample.decodeTime) }
  /// The duration of the sample; invalid if the file does not state it.
  open var currentSampleDuration: CMTime {
    let duration = sample.duration
    return duration > 0 ? index.stream.time(duration) : .invalid
  }

  /// Compares the positions of two cursors in decode order: by their samples if they belong to the
  /// same track, otherwise by their decode times.
  open func comparePositionInDecodeOrder(withPositionOf cursor: AVSampleCursor) -> ComparisonResult {
    let comparison =
      isOfSameTrack(as: cursor)
      ? (number as NSNumber).compare(cursor.number as NSNumber)
      : ComparisonResult(rawValue: Int(CMTimeCompare(decodeTimeStamp, cursor.decodeTimeStamp)))
    return comparison ?? .orderedSame
  }

  /// Whether a sample before this cursor in decode order is presented later than another cursor's
  /// sample.
  open func maySamplesWithEarlierDecodeTimeStampsHavePresentationTimeStamps(
    laterThan cursor: AVSampleCursor
  ) -> Bool { index.isAnyPresented(after: units(of: cursor), before: number) }

  /// Whether a sample after this cursor in decode order is presented earlier than another cursor's
  /// sample.
  open func maySamplesWithLaterDecodeTimeStampsHavePresentationTimeStamps(
    earlierThan cursor: AVSampleCursor
  ) -> Bool { index.isAnyPresented(before: units(of: cursor), following: number) }

  /// The presentation time of another cursor in units of this cursor's stream.
  private func units(of cursor: AVSampleCursor) -> Int64 {
    index.stream.units(cursor.presentationTimeStamp)
  }

  // MARK: - The sample

  /// Returns the format description of the sample, which may change within the track.
  open func copyCurrentSampleFormatDescription() -> CMFormatDescription {
    index.formatDescription(of: sample)
  }
}
