// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An array of `HTTPCookie`. Cookies cannot be sent: if the array is not empty, an asset on the
/// network cannot be loaded.
public let AVURLAssetHTTPCookiesKey: String = "AVURLAssetHTTPCookiesKey"
/// A Boolean `NSNumber`: whether a cellular network may be used. Linux does not report the kind of
/// network: if the value is false, an asset on the network cannot be loaded.
public let AVURLAssetAllowsCellularAccessKey: String = "AVURLAssetAllowsCellularAccessKey"
/// A Boolean `NSNumber`: whether an expensive network may be used; see
/// `AVURLAssetAllowsCellularAccessKey`.
public let AVURLAssetAllowsExpensiveNetworkAccessKey: String = "AVURLAssetAllowsExpensiveNetworkAccessKey"
/// A Boolean `NSNumber`: whether a network in low data mode may be used; see
/// `AVURLAssetAllowsCellularAccessKey`.
public let AVURLAssetAllowsConstrainedNetworkAccessKey: String = "AVURLAssetAllowsConstrainedNetworkAccessKey"

/// Returns the error because of which an asset on the network cannot be loaded with its options;
/// nil if it can.
func networkError(_ url: URL, _ options: [String: Any]?) -> AVError? {
  guard !url.isFileURL, let options else { return nil }
  if let cookies = options[AVURLAssetHTTPCookiesKey] as? [Any], !cookies.isEmpty {
    return AVError(
      .operationNotSupportedForAsset, reason: "Cookies cannot be sent.",
      advice: "Load the file first, with URLSession, and open it from there.")
  }
  let keys = [
    AVURLAssetAllowsCellularAccessKey, AVURLAssetAllowsExpensiveNetworkAccessKey,
    AVURLAssetAllowsConstrainedNetworkAccessKey,
  ]
  guard keys.contains(where: { (options[$0] as? NSNumber)?.boolValue == false }) else { return nil }
  return AVError(
    .operationNotAllowed, reason: "It cannot be determined whether the network is one that may be used.",
    advice: "Allow every network.")
}

/// The state of a downloaded asset.
open class AVAssetCache: NSObject, @unchecked Sendable {
  // Sendable: it has no state.
  override init() { super.init() }
  /// Whether the whole asset has been downloaded: always false.
  open var isPlayableOffline: Bool { false }
}

extension AVURLAsset {
  /// The cache of a downloaded asset: always nil, since downloads are not supported.
  public var assetCache: AVAssetCache? { nil }
}
