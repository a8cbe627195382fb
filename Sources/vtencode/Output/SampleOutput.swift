// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// An output that takes one sample at a time, and blocks while it has no room.
protocol SampleOutput: Output {
  /// Writes a sample. It is called in decode order for the samples of a track, and from one thread
  /// for each track.
  func append(_ sample: CMSampleBuffer, to track: OutputTrack.ID) throws
  /// Records that a track has no more samples. It is called from the track's thread.
  func end(_ track: OutputTrack.ID) throws
}

extension SampleOutput {
  func end(_ track: OutputTrack.ID) throws {}

  func append(
    to track: OutputTrack.ID, from next: @escaping @Sendable () throws -> CMSampleBuffer?,
    whenFull: @escaping @Sendable (Bool) -> Void
  ) async throws {
    try await onThread("output") { [self] in
      while let sample = try next() { try append(sample, to: track) }
      try end(track)
    }
  }
}
