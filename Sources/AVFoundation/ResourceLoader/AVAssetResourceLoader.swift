// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

#if canImport(FoundationNetworking)
  // `URLRequest` and related types, which Foundation contains on Apple's systems.
  @_exported import FoundationNetworking
#endif

/// Loads the data of an asset through a delegate of the program, for URLs with a scheme that the
/// package does not know.
///
/// The delegate first receives a request for the length of the content and for whether byte ranges
/// of it can be requested (`contentInformationRequest`). Then it receives requests for data, one at
/// a time for each reader of the asset.
open class AVAssetResourceLoader: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private weak var currentDelegate: (any AVAssetResourceLoaderDelegate)?
  private var currentQueue: DispatchQueue?
  /// The queue on which the delegate is called if the program names none.
  private let ownQueue = DispatchQueue(label: "AVFoundation.resource-loader")

  override init() { super.init() }

  /// Sets the delegate that loads the asset. It must be set before a property of the asset is
  /// requested.
  /// - Parameters:
  ///   - delegate: The delegate, which is not retained; nil for none.
  ///   - delegateQueue: The queue on which its methods are called; nil for a queue of the loader.
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

  /// Calls `body` with the delegate on its queue, or `orElse` if there is no delegate any more.
  private func tell(
    _ body: @escaping @Sendable (any AVAssetResourceLoaderDelegate) -> Void,
    orElse: @escaping @Sendable () -> Void = {}
  ) {
    let (isThere, queue) = lock.withLock { (currentDelegate != nil, currentQueue ?? ownQueue) }
    guard isThere else { return orElse() }
    queue.async { [self] in
      // The delegate may have been released before the queue ran this block.
      if let delegate { body(delegate) } else { orElse() }
    }
  }

  // MARK: - For the asset

  /// Schemes that are never loaded through a delegate.
  private static let knownSchemes: Set = ["file", "http", "https", "data"]

  /// Whether the URL is loaded through the delegate.
  func isFor(_ url: URL) -> Bool {
    guard let scheme = url.scheme?.lowercased(), !Self.knownSchemes.contains(scheme) else { return false }
    return delegate != nil
  }

  /// Where the data of an asset is.
  enum Opening {
    case bytes(ResourceBytes)
    /// The delegate has redirected the request to another URL.
    case elsewhere(URL)
  }

  /// Requests the content information from the delegate and waits for it.
  /// - Throws: `AVError` if the delegate cannot load the URL, or if the request is cancelled.
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
    // If the delegate has not received the request, it is not notified of the cancellation.
    guard request.markAsCancelled() else { return }
    tell { if request.wasSeen { $0.resourceLoader(self, didCancel: request) } }
  }
}

/// Loads assets for a resource loader. The default implementations load nothing.
public protocol AVAssetResourceLoaderDelegate: NSObjectProtocol {
  /// Asks whether the delegate loads the requested resource, now or later. If it returns true, it
  /// must call `finishLoading()` or `finishLoading(with:)` on the request.
  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
  ) -> Bool

  /// Asks whether the delegate renews a resource. It is never called, since nothing is renewed.
  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
  ) -> Bool

  /// Tells the delegate that a request has been cancelled, so that its result is not needed.
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
