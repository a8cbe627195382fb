// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Stands in for the encryption of segments in builds with `OVT_WITHOUT_LIVE=1`, which do without
/// OpenSSL.
enum SegmentCipher {
  /// - Throws: a `Failure` that says which build can encrypt.
  static func encrypt(_ chunks: [Data], key: SegmentKey, number: Int) throws -> Data {
    throw Failure(
      "this vtencode was built without encryption (OVT_WITHOUT_LIVE=1), as 'make demo' does; 'make build' builds "
        + "one that has --hls-key", status: 64)
  }
}
