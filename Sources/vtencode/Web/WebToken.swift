// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NIOHTTP1

/// The secret in the page's address. The checks of names and `Origin` protect against other pages
/// in a browser; the secret protects against other users and programs of the machine, and of the
/// network if the page is open to it.
struct WebToken: ExpressibleByArgument, Equatable, Sendable {
  static let lengths = 16...128
  /// The advice for an argument that is not a secret.
  static let advice =
    "it takes \(lengths.lowerBound) to \(lengths.upperBound) letters (a to z, A to Z), digits, - and _; omit it for a "
    + "random one"
  let text: String

  /// A random secret of 128 bits.
  init() {
    var random = SystemRandomNumberGenerator()
    text = (0..<16).map { _ in
      let byte = UInt8.random(in: 0...255, using: &random)
      return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  /// - Parameter argument: letters, digits, `-` and `_`, which need no escaping in an address (RFC
  ///   3986, 2.3).
  init?(argument: String) {
    let isAllowed = argument.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isAllowed, Self.lengths.contains(argument.utf8.count) else { return nil }
    text = argument
  }

  /// The query of the page's address.
  var query: String { "?token=\(text)" }

  /// Whether a request's target contains the secret. The time of the comparison does not depend on
  /// where they differ.
  func isIn(_ target: String) -> Bool {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return false }
    let given = parts[1].split(separator: "&").filter { $0.hasPrefix("token=") }
    guard given.count == 1 else { return false }
    let (right, tried) = (Array(text.utf8), Array(given[0].utf8.dropFirst("token=".utf8.count)))
    var difference = right.count ^ tried.count
    for index in right.indices { difference |= Int(right[index] ^ (index < tried.count ? tried[index] : 0)) }
    return difference == 0
  }

  /// The path of a request's target, without the query.
  static func path(_ target: String) -> Substring {
    target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
  }
}
