// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// A file's size in bytes, given as `25000000`, `700k`, `25M` or `1.5G`; the letters stand for
/// powers of 1000, as in bit rates.
struct ByteSize: ExpressibleByArgument, Sendable, Equatable {
  /// The advice for an argument that is not a size.
  static let advice = "it takes bytes, such as 700k, 25M or 1.5G"

  var bytes: Int64

  init?(argument: String) {
    // The notation is that of bit rates.
    guard let number = BitRate(argument: argument) else { return nil }
    bytes = Int64(number.bitsPerSecond)
  }
}
