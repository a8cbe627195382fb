// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A place in the sequence of a track's stored samples, which can be moved in decode order and in presentation order.
///
/// A track makes cursors; see `AVAssetTrack.makeSampleCursor(presentationTimeStamp:)`. Times are those of the samples that an
/// `AVAssetReaderTrackOutput` without settings gives. The track's file is read once, as far as its cursors have been moved;
/// all cursors of a track share what has been found. Of uncompressed sound, one packet of the file is one sample.
open class AVSampleCursor: NSObject, NSCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let index: SampleIndex
  private let lock = Lock()
  private var place: Int

  init(_ index: SampleIndex, at number: Int) {
    self.index = index
    place = number
    super.init()
  }

  /// A cursor at the same sample, which is moved on its own.
  open func copy(with zone: NSZone? = nil) -> Any { AVSampleCursor(index, at: number) }

  /// The sample's number in decode order.
  var number: Int { lock.withLock { place } }

  var sample: IndexedSample { index.sample(number) ?? IndexedSample() }

  /// - Parameter body: Given the number, returns another one.
  private func move<Result>(_ body: (inout Int) -> Result) -> Result { lock.withLock { body(&place) } }

  func isOfSameTrack(as other: AVSampleCursor) -> Bool {
    other.index.file === index.file && other.index.stream.index == index.stream.index
  }

  // MARK: - Moving by samples

  /// Moves the cursor in decode order, at most to the first or last sample.
  /// - Parameter stepCount: A number of samples; negative: back.
  /// - Returns: How many samples it was moved by, with the same sign.
  @discardableResult
  open func stepInDecodeOrder(byCount stepCount: Int64) -> Int64 {
    move { place in
      let target = Int64(place).addingClamped(stepCount)
      let reached = index.clamped(Int(clamping: target))
      defer { place = reached }
      return Int64(reached - place)
    }
  }

  /// Moves the cursor in presentation order, at most to the sample that is shown first or last.
  /// - Parameter stepCount: A number of samples; negative: back.
  /// - Returns: How many samples it was moved by, with the same sign.
  @discardableResult
  open func stepInPresentationOrder(byCount stepCount: Int64) -> Int64 {
    move { place in
      var steps = Int64(0)
      while steps != stepCount,
        let next = stepCount > 0 ? index.shownAfter(place) : index.shownBefore(place)
      {
        place = next
        steps += stepCount.signum()
      }
      return steps
    }
  }

  // MARK: - Moving by time

  /// Moves the cursor in decode order: to the last sample whose decode time is not after the time that is asked for.
  ///
  /// - Parameters:
  ///   - deltaDecodeTime: The distance from the current sample's decode time; negative: back. Not a number: the cursor stays.
  ///   - outWasPinned: Set to true if the time lies before the first sample or behind the last one, where the cursor then is.
  /// - Returns: How far the cursor was moved, which is less if the time lies within a sample.
  @discardableResult
  open func step(
    byDecodeTime deltaDecodeTime: CMTime, wasPinned outWasPinned: UnsafeMutablePointer<ObjCBool>?
  ) -> CMTime {
    step(
      by: deltaDecodeTime, outWasPinned, time: \.decoded, find: { index.decoded(at: $0) },
      ends: { (0, index.last) })
  }

  /// Moves the cursor in presentation order: to the last sample whose presentation time is not after the time that is asked
  /// for.
  ///
  /// - Parameters:
  ///   - deltaPresentationTime: The distance from the current sample's presentation time; negative: back. Not a number: the
  ///     cursor stays.
  ///   - outWasPinned: Set to true if the time lies before the first sample or behind the last one, where the cursor then is.
  /// - Returns: How far the cursor was moved, which is less if the time lies within a sample.
  @discardableResult
  open func step(
    byPresentationTime deltaPresentationTime: CMTime,
    wasPinned outWasPinned: UnsafeMutablePointer<ObjCBool>?
  ) -> CMTime {
    step(
      by: deltaPresentationTime, outWasPinned, time: \.shown, find: { index.shown(at: $0) },
      ends: { (index.firstShown ?? 0, index.lastShown ?? 0) })
  }

  private func step(
    by delta: CMTime, _ wasPinned: UnsafeMutablePointer<ObjCBool>?, time: KeyPath<IndexedSample, Int64>,
    find: (Int64) -> Int?, ends: () -> (first: Int, last: Int)
  ) -> CMTime {
    move { place in
      wasPinned?.pointee = false
      guard delta.isNumeric || delta == .positiveInfinity || delta == .negativeInfinity,
        let current = index.sample(place)
      else { return .zero }
      let stream = index.stream
      let from = stream.time(current[keyPath: time])
      let wanted = stream.units(from + delta)
      var reached = find(wanted)
      if let found = reached {
        // Behind the end of the last sample, and not within it.
        if let sample = index.sample(found),
          sample[keyPath: time].addingClamped(max(1, sample.duration)) <= wanted, found == ends().last
        {
          wasPinned?.pointee = true
        }
      } else {
        wasPinned?.pointee = true
        reached = ends().first
      }
      place = reached ?? place
      return (index.sample(place).map { stream.time($0[keyPath: time]) } ?? from) - from
    }
  }

  // MARK: - Times

  /// When the sample is shown.
  open var presentationTimeStamp: CMTime { index.stream.time(sample.shown) }
  /// When the sample is decoded.
  open var decodeTimeStamp: CMTime { index.stream.time(sample.decoded) }
  /// How long the sample lasts; invalid where the file does not tell.
  open var currentSampleDuration: CMTime {
    let duration = sample.duration
    return duration > 0 ? index.stream.time(duration) : .invalid
  }

  /// Compares the places of two cursors in decode order: of one track by the samples, of two by the decode times.
  open func comparePositionInDecodeOrder(withPositionOf cursor: AVSampleCursor) -> ComparisonResult {
    let comparison =
      isOfSameTrack(as: cursor)
      ? (number as NSNumber).compare(cursor.number as NSNumber)
      : ComparisonResult(rawValue: Int(CMTimeCompare(decodeTimeStamp, cursor.decodeTimeStamp)))
    return comparison ?? .orderedSame
  }

  /// Whether samples before this cursor's in decode order are shown later than another cursor's sample, so that the pictures
  /// here are not in the order in which they are stored.
  open func maySamplesWithEarlierDecodeTimeStampsHavePresentationTimeStamps(
    laterThan cursor: AVSampleCursor
  ) -> Bool { index.isAnyShown(after: units(of: cursor), before: number) }

  /// Whether samples behind this cursor's in decode order are shown earlier than another cursor's sample.
  open func maySamplesWithLaterDecodeTimeStampsHavePresentationTimeStamps(
    earlierThan cursor: AVSampleCursor
  ) -> Bool { index.isAnyShown(before: units(of: cursor), behind: number) }

  /// A cursor's presentation time in this one's units.
  private func units(of cursor: AVSampleCursor) -> Int64 {
    index.stream.units(cursor.presentationTimeStamp)
  }

  // MARK: - The sample

  /// The format of the sample, which may change within the track.
  open func copyCurrentSampleFormatDescription() -> CMFormatDescription {
    index.formatDescription(of: sample)
  }
}
