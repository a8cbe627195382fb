// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetReaderOutput {
  /// The types of elements that a provider can give.
  public protocol SupportedPayload: Sendable {}

  /// Gives the samples of an output one after the other to asynchronous code, without blocking a
  /// thread of Swift's cooperative pool.
  public final class Provider<Payload: SupportedPayload>: @unchecked Sendable {
    // Sendable: immutable; the output has its own lock.
    private let output: AVAssetReaderOutput
    private let reader: AVAssetReader
    private let make: @Sendable (CMSampleBuffer) throws -> Payload
    private let queue = DispatchQueue(label: "AVFoundation.provider")

    init(
      _ output: AVAssetReaderOutput, of reader: AVAssetReader,
      make: @escaping @Sendable (CMSampleBuffer) throws -> Payload
    ) {
      self.output = output
      self.reader = reader
      self.make = make
    }

    /// Waits for the next sample.
    /// - Returns: The sample; nil at the end.
    /// - Throws: `AVError` if the reading has failed, was cancelled or has not begun.
    public func next() async throws -> Payload? {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [self] in
          if let sample = output.copyNextSampleBuffer() {
            return continuation.resume(with: Result { try make(sample) })
          }
          switch reader.status {
          case .failed:
            continuation.resume(throwing: reader.error ?? AVError(.unknown, reason: "Reading failed."))
          case .cancelled:
            continuation.resume(throwing: AVError(.operationCancelled, reason: "Reading was cancelled."))
          case .unknown:
            continuation.resume(
              throwing: AVError(.operationNotAllowed, reason: "The reader has not been started."))
          default: continuation.resume(returning: nil)
          }
        }
      }
    }
  }
}

extension CMReadySampleBuffer: AVAssetReaderOutput.SupportedPayload {}
extension AVTimedMetadataGroup: AVAssetReaderOutput.SupportedPayload {}

extension AVAssetReader {
  /// Adds an output, and returns a provider of its samples. If the output cannot be added,
  /// `start()` fails.
  public func outputProvider(
    for output: AVAssetReaderOutput
  ) -> sending AVAssetReaderOutput.Provider<CMReadySampleBuffer<CMSampleBuffer.DynamicContent>> {
    add(output)
    return AVAssetReaderOutput.Provider(output, of: self) { CMReadySampleBuffer(unsafeBuffer: $0) }
  }

  /// Adds an output of a timed metadata track, and returns a provider of its groups. If the output
  /// cannot be added, `start()` fails. The provider throws `AVError(.fileFailedToParse)` for a
  /// sample that is not a list of metadata boxes.
  public func outputMetadataProvider(
    for output: AVAssetReaderTrackOutput
  ) -> sending AVAssetReaderOutput.Provider<AVTimedMetadataGroup> {
    add(output)
    return AVAssetReaderOutput.Provider(output, of: self) { sample in
      if let group = AVTimedMetadataGroup(sampleBuffer: sample) { return group }
      throw AVError(.fileFailedToParse, reason: "A sample is not timed metadata in boxes, or is damaged.")
    }
  }

  /// Starts the reading.
  /// - Throws: `AVError`, the one that `error` holds if `startReading()` returns false.
  public func start() throws {
    guard startReading() else { throw error ?? AVError(.unknown, reason: "Reading cannot begin.") }
  }
}

extension AVAssetReaderOutput {
  /// Makes a provider read other time ranges of its track.
  public final class RandomAccessController: @unchecked Sendable {
    // Sendable: immutable; the output has its own lock.
    private let output: AVAssetReaderOutput

    init(_ output: AVAssetReaderOutput) { self.output = output }

    /// Reads these time ranges next, after the provider has reached the end.
    /// - Parameter timeRanges: Ranges in ascending order, which do not overlap.
    public func resetForReading(timeRanges: [CMTimeRange]) {
      output.reset(forReadingTimeRanges: timeRanges.map { NSValue(timeRange: $0) })
    }

    /// States that no further reset follows, so that the reader can complete.
    public func markConfigurationAsFinal() { output.markConfigurationAsFinal() }
  }
}

extension AVAssetReader {
  /// Adds an output that can be reset, and returns a provider of its samples and the object that
  /// resets it. If the output cannot be added, `start()` fails.
  public func outputProviderWithRandomAccess(
    for output: AVAssetReaderOutput
  )
    -> sending (
      AVAssetReaderOutput.Provider<CMReadySampleBuffer<CMSampleBuffer.DynamicContent>>,
      AVAssetReaderOutput.RandomAccessController
    )
  {
    output.supportsRandomAccess = true
    return (outputProvider(for: output), AVAssetReaderOutput.RandomAccessController(output))
  }
}
