// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// An output that takes one sample at a time, and waits where it has no room.
protocol SampleOutput: Output {
  /// Takes a sample; called for the samples of a track in decode order, for several tracks from several threads.
  func append(_ sample: CMSampleBuffer, to track: OutputTrack.ID) throws
}

extension SampleOutput {
  func append(
    to track: OutputTrack.ID, from next: @escaping @Sendable () throws -> CMSampleBuffer?,
    whenFull: @escaping @Sendable (Bool) -> Void
  ) async throws {
    try await onThread("output") { [self] in
      while let sample = try next() { try append(sample, to: track) }
    }
  }
}
