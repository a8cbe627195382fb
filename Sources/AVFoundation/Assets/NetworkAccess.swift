// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An array of `HTTPCookie`. Nothing here sends cookies: an asset at an HTTP URL that is to have some cannot be loaded.
public let AVURLAssetHTTPCookiesKey: String = "AVURLAssetHTTPCookiesKey"
/// A Boolean `NSNumber`: whether a mobile network may be used. Linux does not tell which one is in use: with false, an
/// asset on the network cannot be loaded.
public let AVURLAssetAllowsCellularAccessKey: String = "AVURLAssetAllowsCellularAccessKey"
/// A Boolean `NSNumber`: whether a network that costs may be used. See `AVURLAssetAllowsCellularAccessKey`.
public let AVURLAssetAllowsExpensiveNetworkAccessKey: String = "AVURLAssetAllowsExpensiveNetworkAccessKey"
/// A Boolean `NSNumber`: whether a network in low data mode may be used. See `AVURLAssetAllowsCellularAccessKey`.
public let AVURLAssetAllowsConstrainedNetworkAccessKey: String = "AVURLAssetAllowsConstrainedNetworkAccessKey"

/// Why an asset on the network must not be loaded with some options, if it must not.
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
    .operationNotAllowed, reason: "It cannot be told whether the network is one that may be used.",
    advice: "Allow every network.")
}

/// What a downloaded asset can do without a network.
open class AVAssetCache: NSObject, @unchecked Sendable {
  // Sendable: without state.
  override init() { super.init() }
  /// Whether the whole asset is there.
  open var isPlayableOffline: Bool { false }
}

extension AVURLAsset {
  /// The store of an asset that is downloaded for later: nil, as for every asset that is not.
  public var assetCache: AVAssetCache? { nil }
}
