// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetExportSession {
  /// The duration of the longest movie that fits into `fileLengthLimit`; positive infinity without
  /// a limit.
  /// - Throws: `AVError` if the asset cannot be read.
  public var estimatedMaximumDuration: CMTime {
    get async throws {
      _ = try await asset.load(.duration)
      return maxDuration
    }
  }

  /// An estimate of the movie's size in bytes.
  /// - Throws: `AVError` if the asset cannot be read.
  public var estimatedOutputFileLengthInBytes: Int64 {
    get async throws {
      _ = try await asset.load(.duration)
      return estimatedOutputFileLength
    }
  }
}
