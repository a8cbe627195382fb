// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

#if canImport(FoundationNetworking)
  // `URLRequest` and its kind, which Foundation itself has on Apple's systems.
  @_exported import FoundationNetworking
#endif

/// Asks the program for the bytes of an asset whose URL has a scheme of the program's own.
///
/// The delegate first gets a request for the content's length and whether parts of it can be had
/// (`contentInformationRequest`), then requests for parts, one at a time for each reader of the asset.
open class AVAssetResourceLoader: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private weak var currentDelegate: (any AVAssetResourceLoaderDelegate)?
  private var currentQueue: DispatchQueue?
  /// Where the delegate is called if the program names no queue.
  private let ownQueue = DispatchQueue(label: "AVFoundation.resource-loader")

  override init() { super.init() }

  /// Sets who loads the asset. It is not retained. Set it before a property of the asset is asked for.
  ///
  /// Of the parameters:
  ///
  /// - `delegateQueue`: Where the delegate's methods are called.
  open func setDelegate(
    _ delegate: (any AVAssetResourceLoaderDelegate)?, queue delegateQueue: DispatchQueue?
  ) {
    lock.withLock {
      currentDelegate = delegate
      currentQueue = delegate == nil ? nil : delegateQueue
    }
  }

  open var delegate: (any AVAssetResourceLoaderDelegate)? { lock.withLock { currentDelegate } }
  open var delegateQueue: DispatchQueue? { lock.withLock { currentQueue } }

  /// Calls the delegate on its queue, or something else if there is none any more.
  private func tell(
    _ body: @escaping @Sendable (any AVAssetResourceLoaderDelegate) -> Void,
    orElse: @escaping @Sendable () -> Void = {}
  ) {
    let (isThere, queue) = lock.withLock { (currentDelegate != nil, currentQueue ?? ownQueue) }
    guard isThere else { return orElse() }
    queue.async { [self] in
      // It may have gone before its queue came to this.
      if let delegate { body(delegate) } else { orElse() }
    }
  }

  // MARK: - For the asset

  /// Schemes that are never the program's.
  private static let knownSchemes: Set = ["file", "http", "https", "data"]

  /// Whether the program loads this URL.
  func isFor(_ url: URL) -> Bool {
    guard let scheme = url.scheme?.lowercased(), !Self.knownSchemes.contains(scheme) else { return false }
    return delegate != nil
  }

  /// Where an asset's bytes are.
  enum Opening {
    case bytes(ResourceBytes)
    /// The delegate has sent us elsewhere.
    case elsewhere(URL)
  }

  /// Asks for the content's information, and waits for it.
  func open(_ url: URL, _ interruption: MediaInterruption) throws -> Opening {
    let information = AVAssetResourceLoadingContentInformationRequest()
    let request = AVAssetResourceLoadingRequest(
      url, loader: self, information: information,
      data: AVAssetResourceLoadingDataRequest(offset: 0, length: 2, isToEnd: false))
    let reader = ResourceReader.waiting(for: request)
    interruption.attach(reader)
    start(request)
    try request.wait()
    if let other = request.redirect?.url { return .elsewhere(other) }
    return .bytes(
      ResourceBytes(
        url, loader: self, length: information.contentLength > 0 ? information.contentLength : nil,
        hasParts: information.isByteRangeAccessSupported))
  }

  func start(_ request: AVAssetResourceLoadingRequest) {
    tell { delegate in
      guard request.markAsSeen() else { return }
      if !delegate.resourceLoader(self, shouldWaitForLoadingOfRequestedResource: request) {
        request.finishLoading(with: URLError(.unsupportedURL))
      }
    } orElse: {
      request.finishLoading(with: URLError(.unsupportedURL))
    }
  }

  func cancel(_ request: AVAssetResourceLoadingRequest) {
    // What the delegate has never seen it cannot have begun.
    guard request.markAsCancelled() else { return }
    tell { if request.wasSeen { $0.resourceLoader(self, didCancel: request) } }
  }
}

/// Loads assets for a resource loader. Every method has a default: nothing is loaded.
public protocol AVAssetResourceLoaderDelegate: NSObjectProtocol {
  /// Whether the delegate loads what is asked for, now or later: then it is to call
  /// `finishLoading()` or `finishLoading(with:)` on the request.
  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
  ) -> Bool

  /// Whether the delegate renews what it has given. Nothing asks for a renewal: it is never called.
  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
  ) -> Bool

  /// Nobody waits for the request any more.
  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest)
}

extension AVAssetResourceLoaderDelegate {
  public func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
  ) -> Bool { false }

  public func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
  ) -> Bool { false }

  public func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
  ) {}
}
