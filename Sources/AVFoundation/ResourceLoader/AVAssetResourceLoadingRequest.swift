// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a resource loader's delegate is to load.
open class AVAssetResourceLoadingRequest: NSObject, @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  /// For the asset's URL.
  public let request: URLRequest
  /// What is to be said of the content; nil where that is known.
  public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
  /// The bytes that are wanted.
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

  /// The delegate has finished, well or not.
  open var isFinished: Bool { condition.withLock { finished } }
  /// Nobody waits any more.
  open var isCancelled: Bool { condition.withLock { cancelled } }

  /// What a server has answered, if the delegate has it from one.
  open var response: URLResponse? {
    get { condition.withLock { storedResponse } }
    set { condition.withLock { storedResponse = newValue } }
  }

  /// Where the content is instead: a file, or a URL that needs no delegate. Set it before `finishLoading()`.
  open var redirect: URLRequest? {
    get { condition.withLock { storedRedirect } }
    set { condition.withLock { storedRedirect = newValue } }
  }

  /// All has been answered.
  open func finishLoading() { end(nil) }

  /// The request cannot be answered.
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

  /// Before the delegate gets it.
  /// - Returns: Whether it is still wanted.
  func markAsSeen() -> Bool {
    condition.withLock {
      if !cancelled { seen = true }
      return !cancelled
    }
  }

  var wasSeen: Bool { condition.withLock { seen } }

  /// - Returns: Whether it was under way.
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

  var isUnderWay: Bool { condition.withLock { !finished && !cancelled } }

  /// How it ended; nil while it has not.
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

  /// Waits for the end.
  func wait() throws {
    condition.lock()
    while !finished, !cancelled { condition.wait() }
    condition.unlock()
    try outcome?.get()
  }
}

/// What is wanted of a request that renews another one. Nothing is renewed.
open class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest, @unchecked Sendable {
  // Sendable: no state of its own.
}

/// Who has made a request.
open class AVAssetResourceLoadingRequestor: NSObject, @unchecked Sendable {
  // Sendable: without state.
  override init() { super.init() }
  /// Whether reports of expired sessions follow: no.
  open var providesExpiredSessionReports: Bool { false }
}

/// What a delegate is to say of the content, before it finishes the request.
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

  /// A uniform type identifier ("public.mpeg-4"). What the content is, its bytes say.
  open var contentType: String? {
    get { lock.withLock { values.type } }
    set { lock.withLock { values.type = newValue } }
  }
  /// The types that would do; nil: any.
  open var allowedContentTypes: [String]? { nil }
  /// Bytes; 0: not known. Movies whose index is at the end need it.
  open var contentLength: Int64 {
    get { lock.withLock { values.length } }
    set { lock.withLock { values.length = max(0, newValue) } }
  }
  /// Whether parts can be asked for. If not, all is asked for at once, and kept in memory.
  open var isByteRangeAccessSupported: Bool {
    get { lock.withLock { values.hasParts } }
    set { lock.withLock { values.hasParts = newValue } }
  }
  /// Whether no part is slow to come. Nothing depends on it here.
  open var isEntireLengthAvailableOnDemand: Bool {
    get { lock.withLock { values.isWhole } }
    set { lock.withLock { values.isWhole = newValue } }
  }
  /// Until when what was given holds. A file's bytes are asked for when they are read, and none is asked for again because
  /// of its date: there are no keys here, which alone expire.
  open var renewalDate: Date? {
    get { lock.withLock { values.renewal } }
    set { lock.withLock { values.renewal = newValue } }
  }
}

/// The bytes that a delegate is to give.
open class AVAssetResourceLoadingDataRequest: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Bytes from the beginning of the content.
  public let requestedOffset: Int64
  /// Bytes.
  public let requestedLength: Int
  /// All bytes from the offset on are wanted, whatever the length says.
  public let requestsAllDataToEndOfResource: Bool

  private let lock = Lock()
  private var offset: Int64
  weak var owner: AVAssetResourceLoadingRequest?
  /// Takes the bytes, on the delegate's thread.
  var onData: (@Sendable (Data) -> Void)?
  /// Called when a request for all brings more than there can be.
  var onExcess: (@Sendable () -> Void)?
  /// Bytes that are taken.
  private let most: Int

  /// - Parameter most: Bytes that are taken at most; nil: as many as are asked for.
  init(offset: Int64, length: Int, isToEnd: Bool, most: Int? = nil) {
    self.most = min(length, most ?? length)
    requestedOffset = offset
    requestedLength = length
    requestsAllDataToEndOfResource = isToEnd
    self.offset = offset
    super.init()
  }

  /// Where the next bytes belong.
  open var currentOffset: Int64 { lock.withLock { offset } }

  /// Gives the next bytes, as often as need be. What is more than was asked for is not used, nor what comes after the
  /// end of the request.
  open func respond(with data: Data) {
    let (wanted, isMore) = lock.withLock { () -> (Data, Bool) in
      let part = data.prefix(max(0, most - Int(offset - requestedOffset)))
      offset += Int64(part.count)
      return (part, part.count < data.count)
    }
    guard owner?.isUnderWay == true else { return }
    if !wanted.isEmpty { onData?(wanted) }
    if isMore, requestsAllDataToEndOfResource { onExcess?() }
  }
}
