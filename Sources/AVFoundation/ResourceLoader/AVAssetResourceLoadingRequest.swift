// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A request to a resource loader's delegate.
open class AVAssetResourceLoadingRequest: NSObject, @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  /// The URL request for the asset's URL.
  public let request: URLRequest
  /// The content information to be provided; nil if it is known already.
  public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
  /// The requested data.
  public let dataRequest: AVAssetResourceLoadingDataRequest?
  public let requestor = AVAssetResourceLoadingRequestor()

  private weak var loader: AVAssetResourceLoader?
  private let condition = NSCondition()
  private var finished = false
  private var cancelled = false
  private var seen = false
  private var failure: (any Error)?
  private var storedResponse: URLResponse?
  private var storedRedirect: URLRequest?
  /// Called when the request ends, on the thread that ended it.
  var onEnd: (@Sendable () -> Void)?

  init(
    _ url: URL, loader: AVAssetResourceLoader,
    information: AVAssetResourceLoadingContentInformationRequest?, data: AVAssetResourceLoadingDataRequest
  ) {
    request = URLRequest(url: url)
    self.loader = loader
    contentInformationRequest = information
    dataRequest = data
    super.init()
    data.owner = self
  }

  /// Whether the delegate has finished the request, with or without success.
  open var isFinished: Bool { condition.withLock { finished } }
  /// Whether the request has been cancelled.
  open var isCancelled: Bool { condition.withLock { cancelled } }

  /// The response of a server, if the delegate loads the content from one.
  open var response: URLResponse? {
    get { condition.withLock { storedResponse } }
    set { condition.withLock { storedResponse = newValue } }
  }

  /// A request for the URL that has the content instead: a file, or a URL that needs no delegate.
  /// It must be set before `finishLoading()`.
  open var redirect: URLRequest? {
    get { condition.withLock { storedRedirect } }
    set { condition.withLock { storedRedirect = newValue } }
  }

  /// Ends the request after all requested data has been provided.
  open func finishLoading() { end(nil) }

  /// Ends the request with an error.
  open func finishLoading(with error: (any Error)?) { end(error ?? URLError(.unknown)) }

  private func end(_ error: (any Error)?) {
    let ended = condition.withLock { () -> Bool in
      guard !finished, !cancelled else { return false }
      finished = true
      failure = error
      condition.broadcast()
      return true
    }
    if ended { onEnd?() }
  }

  // MARK: - For the loader

  /// Marks the request as received by the delegate, unless it has been cancelled.
  /// - Returns: False if it has been cancelled.
  func markAsSeen() -> Bool {
    condition.withLock {
      if !cancelled { seen = true }
      return !cancelled
    }
  }

  var wasSeen: Bool { condition.withLock { seen } }

  /// Marks the request as cancelled, unless it has ended.
  /// - Returns: Whether it had not ended.
  func markAsCancelled() -> Bool {
    let isNew = condition.withLock { () -> Bool in
      guard !finished, !cancelled else { return false }
      cancelled = true
      condition.broadcast()
      return true
    }
    if isNew { onEnd?() }
    return isNew
  }

  func cancel() { loader?.cancel(self) }

  var isInProgress: Bool { condition.withLock { !finished && !cancelled } }

  /// The result of the request; nil while it has not ended.
  var outcome: Result<Void, AVError>? {
    condition.withLock {
      if cancelled { return .failure(AVError(.operationCancelled, reason: "The loading was cancelled.")) }
      guard finished else { return nil }
      guard let failure else { return .success(()) }
      return .failure(
        AVError(
          .unknown, reason: "The resource loader's delegate could not load the asset.", underlying: failure))
    }
  }

  /// Waits until the request ends.
  /// - Throws: `AVError` if it was cancelled or the delegate reported an error.
  func wait() throws {
    condition.lock()
    while !finished, !cancelled { condition.wait() }
    condition.unlock()
    try outcome?.get()
  }
}

/// A request to renew an earlier request. None is ever made.
open class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest, @unchecked Sendable {
  // Sendable: no state of its own.
}

/// The originator of a loading request.
open class AVAssetResourceLoadingRequestor: NSObject, @unchecked Sendable {
  // Sendable: without state.
  override init() { super.init() }
  /// Whether the originator reports expired sessions: always false.
  open var providesExpiredSessionReports: Bool { false }
}

/// The information about the content that the delegate provides before it finishes the request.
open class AVAssetResourceLoadingContentInformationRequest: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var values = Values()

  private struct Values {
    var type: String?
    var length: Int64 = 0
    var hasParts = false
    var isWhole = false
    var renewal: Date?
  }

  override init() { super.init() }

  /// A uniform type identifier, such as "public.mpeg-4". It is not used: the format is recognised
  /// from the data.
  open var contentType: String? {
    get { lock.withLock { values.type } }
    set { lock.withLock { values.type = newValue } }
  }
  /// The acceptable types; always nil, for any type.
  open var allowedContentTypes: [String]? { nil }
  /// The length in bytes; 0 if it is not known. Movies whose index is at the end of the file need
  /// it.
  open var contentLength: Int64 {
    get { lock.withLock { values.length } }
    set { lock.withLock { values.length = max(0, newValue) } }
  }
  /// Whether byte ranges can be requested. If not, all data is requested at once and kept in
  /// memory.
  open var isByteRangeAccessSupported: Bool {
    get { lock.withLock { values.hasParts } }
    set { lock.withLock { values.hasParts = newValue } }
  }
  /// Whether all data is available without delay. It has no effect.
  open var isEntireLengthAvailableOnDemand: Bool {
    get { lock.withLock { values.isWhole } }
    set { lock.withLock { values.isWhole = newValue } }
  }
  /// The date until which the provided data is valid. It has no effect: data is requested when it
  /// is read, and is not requested again when the date has passed, since only content keys expire,
  /// which are not supported.
  open var renewalDate: Date? {
    get { lock.withLock { values.renewal } }
    set { lock.withLock { values.renewal = newValue } }
  }
}

/// The data that a delegate provides.
open class AVAssetResourceLoadingDataRequest: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The offset in bytes from the beginning of the content.
  public let requestedOffset: Int64
  /// The length in bytes.
  public let requestedLength: Int
  /// Whether all data from the offset to the end of the content is requested, whatever
  /// `requestedLength` is.
  public let requestsAllDataToEndOfResource: Bool

  private let lock = Lock()
  private var offset: Int64
  weak var owner: AVAssetResourceLoadingRequest?
  /// Receives the data, on the delegate's thread.
  var onData: (@Sendable (Data) -> Void)?
  /// Called when a request for all data receives more than `maximum` bytes.
  var onExcess: (@Sendable () -> Void)?
  /// The most bytes that are accepted.
  private let maximum: Int

  /// Creates a data request.
  /// - Parameters:
  ///   - offset: The offset in bytes.
  ///   - length: The length in bytes.
  ///   - isToEnd: Whether all data to the end of the content is requested.
  ///   - maximum: The most bytes that are accepted; nil for `length`.
  init(offset: Int64, length: Int, isToEnd: Bool, maximum: Int? = nil) {
    self.maximum = min(length, maximum ?? length)
    requestedOffset = offset
    requestedLength = length
    requestsAllDataToEndOfResource = isToEnd
    self.offset = offset
    super.init()
  }

  /// The offset of the next data to be provided.
  open var currentOffset: Int64 { lock.withLock { offset } }

  /// Provides the next data, and may be called several times. Data beyond the requested length, or
  /// after the end of the request, is ignored.
  open func respond(with data: Data) {
    let (wanted, isMore) = lock.withLock { () -> (Data, Bool) in
      let part = data.prefix(max(0, maximum - Int(offset - requestedOffset)))
      offset += Int64(part.count)
      return (part, part.count < data.count)
    }
    guard owner?.isInProgress == true else { return }
    if !wanted.isEmpty { onData?(wanted) }
    if isMore, requestsAllDataToEndOfResource { onExcess?() }
  }
}
