// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Gives the samples of a reader. This is the base class of the outputs, such as
/// `AVAssetReaderTrackOutput`.
open class AVAssetReaderOutput: NSObject, @unchecked Sendable {
  // Sendable: `stateLock` and `readLock` guard what changes.
  private let stateLock = Lock()
  /// Held while a sample is read, so that one thread at a time reads.
  private let readLock = Lock()
  private weak var owner: AVAssetReader?
  private var source: (any SampleSource)?
  private var ranges: [CMTimeRange] = []
  private var atEnd = false
  private var copies = true
  private var randomAccess = false
  private var isFinal = false

  override init() { super.init() }

  open var mediaType: AVMediaType { .video }

  /// The damage that the sample sources report.
  let damage = DamageLog()

  /// Whether the program may modify the samples. If false, pictures are not copied where that can
  /// be avoided; the decoder may still refer to them, so that the program must not write to them.
  /// Setting it has an effect only before the reading begins.
  open var alwaysCopiesSampleData: Bool {
    get { stateLock.withLock { copies } }
    set { stateLock.withLock { if source == nil { copies = newValue } } }
  }

  /// Whether `reset(forReadingTimeRanges:)` may be called. Setting it has an effect only before the
  /// reading begins.
  open var supportsRandomAccess: Bool {
    get { stateLock.withLock { randomAccess } }
    set { stateLock.withLock { if source == nil { randomAccess = newValue } } }
  }

  /// Waits for the next sample and returns it; nil at the end, after a failure, or when the reader
  /// was cancelled.
  @discardableResult
  open func copyNextSampleBuffer() -> CMSampleBuffer? {
    readLock.withLock {
      guard let reader, reader.isReading, let source = stateLock.withLock({ atEnd ? nil : source }) else {
        return nil
      }
      do {
        if let sample = try source.next() { return reader.isReading ? sample : nil }
        if try advance(source) { return try nextOfRange(source) }
      } catch {
        reader.fail(AVError.reading(error))
        return nil
      }
      finish(reader)
      return nil
    }
  }

  private func nextOfRange(_ source: any SampleSource) throws -> CMSampleBuffer? {
    repeat {
      if let sample = try source.next() { return sample }
    } while try advance(source)
    if let reader { finish(reader) }
    return nil
  }

  /// Continues with the next of several time ranges.
  /// - Returns: False if there is none.
  private func advance(_ source: any SampleSource) throws -> Bool {
    let next = stateLock.withLock { ranges.isEmpty ? nil : ranges.removeFirst() }
    guard let next else { return false }
    try source.seek(to: next)
    return true
  }

  private func finish(_ reader: AVAssetReader) {
    let ended = stateLock.withLock {
      atEnd = true
      return !randomAccess || isFinal
    }
    if ended { reader.outputEnded() }
  }

  /// Reads other time ranges, after the end has been reached. The reader fails if
  /// `supportsRandomAccess` is false, or if the ranges are not in ascending order or overlap.
  /// - Parameter timeRanges: `NSValue`s of `CMTimeRange` in ascending order, which do not overlap.
  open func reset(forReadingTimeRanges timeRanges: [NSValue]) {
    readLock.withLock {
      guard let reader, reader.isReading else { return }
      let new = timeRanges.map(\.timeRangeValue)
      let state = stateLock.withLock { (randomAccess, isFinal, source) }
      let inOrder = zip(new, new.dropFirst()).allSatisfy { $0.end <= $1.start }
      guard state.0, !state.1, let source = state.2, inOrder,
        new.allSatisfy({ $0.isValid && $0.start.isNumeric })
      else {
        reader.fail(
          AVError(
            .operationNotAllowed, reason: "The output cannot be reset for these time ranges.",
            advice: "Set supportsRandomAccess before reading, and give valid ranges in order."))
        return
      }
      stateLock.withLock {
        ranges = Array(new.dropFirst())
        atEnd = new.isEmpty
      }
      guard let first = new.first else { return }
      do { try source.seek(to: first) } catch { reader.fail(AVError.reading(error)) }
    }
  }

  /// States that no further reset follows, so that the reader can complete.
  open func markConfigurationAsFinal() {
    let ended = stateLock.withLock {
      isFinal = true
      return atEnd
    }
    if ended { reader?.outputEnded() }
  }

  // MARK: - For the reader

  var reader: AVAssetReader? { stateLock.withLock { owner } }
  var settingsError: AVError? { nil }
  func attach(to reader: AVAssetReader) { stateLock.withLock { owner = reader } }
  func belongs(to asset: AVAsset) -> Bool { false }
  func makeSource(asset: AVAsset, copies: Bool) throws -> any SampleSource {
    throw AVError(.operationNotAllowed, reason: "This kind of output reads nothing.")
  }

  /// Makes the source end its reading. May be called from any thread, even while another one waits
  /// for a sample.
  func stop() { stateLock.withLock { source }?.stop() }

  var hasEnded: Bool { stateLock.withLock { atEnd && (!randomAccess || isFinal) } }

  func start(asset: AVAsset, range: CMTimeRange) throws {
    if let settingsError { throw settingsError }
    let made = try makeSource(asset: asset, copies: alwaysCopiesSampleData)
    try made.seek(to: range)
    stateLock.withLock {
      source = made
      atEnd = false
    }
  }
}

/// The source of an output's samples. It is used by one thread at a time, except for `stop()`.
protocol SampleSource: AnyObject {
  /// The next sample of the range; nil at its end.
  func next() throws -> CMSampleBuffer?
  /// Sets the range that the following calls of `next()` read.
  func seek(to range: CMTimeRange) throws
  /// Ends the reading, whether it is in the background or in a call of `next()` that waits, in this
  /// source and in those that it reads from. May be called from any thread.
  func stop()
}

/// Lets another thread interrupt the file that a source is opening or reading.
final class SourceInterruption: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var current: MediaInterruption?
  private var isPaused = false
  private var isStopped = false

  var isInterrupted: Bool { lock.withLock { isPaused || isStopped } }

  /// Returns an interruption for the file that is opened next. It is in effect already if the
  /// reading is paused or stopped.
  func begin() -> MediaInterruption {
    let new = MediaInterruption()
    let isFinished = lock.withLock {
      current = new
      return isPaused || isStopped
    }
    if isFinished { new.interrupt() }
    return new
  }

  /// Interrupts the reading until `resume()`.
  func pause() {
    lock.withLock {
      isPaused = true
      return current
    }?.interrupt()
  }

  func resume() { lock.withLock { isPaused = false } }

  /// Ends the reading permanently.
  func stop() {
    lock.withLock {
      isStopped = true
      return current
    }?.interrupt()
  }
}
