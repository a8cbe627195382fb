// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetReaderOutput {
  /// What a provider can give.
  public protocol SupportedPayload: Sendable {}

  /// Gives the samples of an output one after the other, without blocking a thread of Swift's.
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

    /// The next sample; nil at the end.
    /// - Throws: `AVError` when the reading has failed, was cancelled or has not begun.
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
  /// Adds an output, and gives its samples. With one that cannot be added `start()` fails.
  public func outputProvider(
    for output: AVAssetReaderOutput
  ) -> sending AVAssetReaderOutput.Provider<CMReadySampleBuffer<CMSampleBuffer.DynamicContent>> {
    add(output)
    return AVAssetReaderOutput.Provider(output, of: self) { CMReadySampleBuffer(unsafeBuffer: $0) }
  }

  /// Adds an output of timed metadata, and gives its groups. With one that cannot be added `start()` fails; a sample that is no
  /// timed metadata in boxes is an error.
  public func outputMetadataProvider(
    for output: AVAssetReaderTrackOutput
  ) -> sending AVAssetReaderOutput.Provider<AVTimedMetadataGroup> {
    add(output)
    return AVAssetReaderOutput.Provider(output, of: self) { sample in
      if let group = AVTimedMetadataGroup(sampleBuffer: sample) { return group }
      throw AVError(.fileFailedToParse, reason: "A sample is no timed metadata in boxes, or is damaged.")
    }
  }

  /// Begins to read.
  /// - Throws: `AVError`, as `error` has it after `startReading()`.
  public func start() throws {
    guard startReading() else { throw error ?? AVError(.unknown, reason: "Reading cannot begin.") }
  }
}

extension AVAssetReaderOutput {
  /// Has a provider read other parts of its track.
  public final class RandomAccessController: @unchecked Sendable {
    // Sendable: immutable; the output has its own lock.
    private let output: AVAssetReaderOutput

    init(_ output: AVAssetReaderOutput) { self.output = output }

    /// After the end: reads these parts, which must be in order and apart.
    public func resetForReading(timeRanges: [CMTimeRange]) {
      output.reset(forReadingTimeRanges: timeRanges.map { NSValue(timeRange: $0) })
    }

    /// No reset will follow: the reader may complete.
    public func markConfigurationAsFinal() { output.markConfigurationAsFinal() }
  }
}

extension AVAssetReader {
  /// Adds an output that may be reset, and gives its samples. With one that cannot be added `start()` fails.
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
