// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// An element of a buffer queue: any object whose duration the callbacks of the queue can
/// determine.
public typealias CMBuffer = CFTypeRef

public typealias CMBufferGetTimeCallback = @Sendable (CMBuffer, UnsafeMutableRawPointer?) -> CMTime
public typealias CMBufferGetTimeHandler = (CMBuffer) -> CMTime
public typealias CMBufferGetBooleanCallback = @Sendable (CMBuffer, UnsafeMutableRawPointer?) -> Bool
public typealias CMBufferGetBooleanHandler = (CMBuffer) -> Bool
public typealias CMBufferCompareCallback =
  @Sendable (CMBuffer, CMBuffer, UnsafeMutableRawPointer?) -> CFComparisonResult
public typealias CMBufferCompareHandler = (CMBuffer, CMBuffer) -> CFComparisonResult
public typealias CMBufferGetSizeCallback = @Sendable (CMBuffer, UnsafeMutableRawPointer?) -> Int
public typealias CMBufferGetSizeHandler = (CMBuffer) -> Int

/// The functions by which a queue reads properties of its buffers. Their results, except that of
/// `isDataReady`, must not change while a buffer is in the queue.
public struct CMBufferCallbacks {
  /// Must be 0.
  public var version: UInt32
  /// Passed to all callbacks.
  public var refcon: UnsafeMutableRawPointer?
  /// The earliest decode time in a buffer; nil if it is unknown.
  @preconcurrency public var getDecodeTimeStamp: CMBufferGetTimeCallback?
  /// The earliest presentation time in a buffer; nil if it is unknown.
  @preconcurrency public var getPresentationTimeStamp: CMBufferGetTimeCallback?
  /// The duration of a buffer.
  @preconcurrency public var getDuration: CMBufferGetTimeCallback
  /// Whether a buffer can be used; nil if all can.
  @preconcurrency public var isDataReady: CMBufferGetBooleanCallback?
  /// The order of two buffers; nil for first in, first out.
  @preconcurrency public var compare: CMBufferCompareCallback?
  /// The notification that a buffer posts when it becomes ready.
  public var dataBecameReadyNotification: Unmanaged<CFString>?
  /// The size of a buffer in bytes; nil if it is unknown.
  @preconcurrency public var getSize: CMBufferGetSizeCallback?

  @preconcurrency public init(
    version: UInt32, refcon: UnsafeMutableRawPointer?, getDecodeTimeStamp: CMBufferGetTimeCallback?,
    getPresentationTimeStamp: CMBufferGetTimeCallback?, getDuration: @escaping CMBufferGetTimeCallback,
    isDataReady: CMBufferGetBooleanCallback?, compare: CMBufferCompareCallback?,
    dataBecameReadyNotification: Unmanaged<CFString>?, getSize: CMBufferGetSizeCallback?
  ) {
    self.version = version
    self.refcon = refcon
    self.getDecodeTimeStamp = getDecodeTimeStamp
    self.getPresentationTimeStamp = getPresentationTimeStamp
    self.getDuration = getDuration
    self.isDataReady = isDataReady
    self.compare = compare
    self.dataBecameReadyNotification = dataBecameReadyNotification
    self.getSize = getSize
  }
}

/// The closures by which a queue reads properties of its buffers; see `CMBufferCallbacks`.
public struct CMBufferHandlers {
  /// Must be 0.
  public var version: UInt
  public var getDecodeTimeStamp: CMBufferGetTimeHandler?
  public var getPresentationTimeStamp: CMBufferGetTimeHandler?
  public var getDuration: CMBufferGetTimeHandler
  public var isDataReady: CMBufferGetBooleanHandler?
  public var compare: CMBufferCompareHandler?
  public var dataBecameReadyNotification: Unmanaged<CFString>?
  public var getSize: CMBufferGetSizeHandler?

  public init(
    version: UInt, getDecodeTimeStamp: CMBufferGetTimeHandler?,
    getPresentationTimeStamp: CMBufferGetTimeHandler?, getDuration: @escaping CMBufferGetTimeHandler,
    isDataReady: CMBufferGetBooleanHandler?, compare: CMBufferCompareHandler?,
    dataBecameReadyNotification: Unmanaged<CFString>?, getSize: CMBufferGetSizeHandler?
  ) {
    self.version = version
    self.getDecodeTimeStamp = getDecodeTimeStamp
    self.getPresentationTimeStamp = getPresentationTimeStamp
    self.getDuration = getDuration
    self.isDataReady = isDataReady
    self.compare = compare
    self.dataBecameReadyNotification = dataBecameReadyNotification
    self.getSize = getSize
  }
}

extension CMBufferQueue.Handlers {
  init(_ callbacks: CMBufferCallbacks) {
    let refcon = callbacks.refcon
    getDecodeTimeStamp = callbacks.getDecodeTimeStamp.map { callback in { callback($0, refcon) } }
    getPresentationTimeStamp = callbacks.getPresentationTimeStamp.map { callback in { callback($0, refcon) } }
    getDuration = { callbacks.getDuration($0, refcon) }
    isDataReady = callbacks.isDataReady.map { callback in { callback($0, refcon) } }
    compare = callbacks.compare.map { callback in { callback($0, $1, refcon) } }
    dataBecameReadyNotification = callbacks.dataBecameReadyNotification.map {
      $0.takeUnretainedValue() as String
    }
    getSize = callbacks.getSize.map { callback in { callback($0, refcon) } }
  }

  init(_ handlers: CMBufferHandlers) {
    getDecodeTimeStamp = handlers.getDecodeTimeStamp
    getPresentationTimeStamp = handlers.getPresentationTimeStamp
    getDuration = handlers.getDuration
    isDataReady = handlers.isDataReady
    compare = handlers.compare
    dataBecameReadyNotification = handlers.dataBecameReadyNotification.map {
      $0.takeUnretainedValue() as String
    }
    getSize = handlers.getSize
  }
}

// MARK: - Callbacks for sample buffers

private func callbacksForSampleBuffers(sorted: Bool) -> UnsafePointer<CMBufferCallbacks> {
  let compare: CMBufferCompareCallback = { first, second, _ in
    guard let first = first as? CMSampleBuffer, let second = second as? CMSampleBuffer else {
      return .compareEqualTo
    }
    let order = CMTimeCompare(first.outputPresentationTimeStamp, second.outputPresentationTimeStamp)
    return order < 0 ? .compareLessThan : order > 0 ? .compareGreaterThan : .compareEqualTo
  }
  let callbacks = UnsafeMutablePointer<CMBufferCallbacks>.allocate(capacity: 1)
  callbacks.initialize(
    to: CMBufferCallbacks(
      version: 0, refcon: nil,
      getDecodeTimeStamp: { buffer, _ in (buffer as? CMSampleBuffer)?.outputDecodeTimeStamp ?? .invalid },
      getPresentationTimeStamp: { buffer, _ in
        (buffer as? CMSampleBuffer)?.outputPresentationTimeStamp ?? .invalid
      },
      getDuration: { buffer, _ in (buffer as? CMSampleBuffer)?.outputDuration ?? .invalid },
      isDataReady: { buffer, _ in (buffer as? CMSampleBuffer).map(CMSampleBufferDataIsReady) ?? false },
      compare: sorted ? compare : nil,
      dataBecameReadyNotification: .passUnretained(kCMSampleBufferNotification_DataBecameReady),
      getSize: { buffer, _ in (buffer as? CMSampleBuffer)?.totalSampleSize ?? 0 }))
  return UnsafePointer(callbacks)
}

nonisolated(unsafe) private let unsortedCallbacks = callbacksForSampleBuffers(sorted: false)
nonisolated(unsafe) private let sortedCallbacks = callbacksForSampleBuffers(sorted: true)

/// Callbacks for sample buffers in a queue that is first in, first out.
@discardableResult
public func CMBufferQueueGetCallbacksForUnsortedSampleBuffers() -> UnsafePointer<CMBufferCallbacks> {
  unsortedCallbacks
}

/// Callbacks for sample buffers in a queue that is sorted by output presentation time.
@discardableResult
public func CMBufferQueueGetCallbacksForSampleBuffersSortedByOutputPTS() -> UnsafePointer<CMBufferCallbacks> {
  sortedCallbacks
}

extension CMBufferQueue {
  /// The closures by which a queue reads properties of its buffers. Their results, except that of
  /// `isDataReady`, must not change while a buffer is in the queue.
  public struct Handlers {
    /// The earliest decode time in a buffer; nil if it is unknown.
    public let getDecodeTimeStamp: CMBufferGetTimeHandler?
    /// The earliest presentation time in a buffer; nil if it is unknown.
    public let getPresentationTimeStamp: CMBufferGetTimeHandler?
    /// The duration of a buffer.
    public let getDuration: CMBufferGetTimeHandler
    /// Whether a buffer can be used; nil if all can.
    public let isDataReady: CMBufferGetBooleanHandler?
    /// The order of two buffers; nil for first in, first out.
    public let compare: CMBufferCompareHandler?
    /// The notification that a buffer posts when it becomes ready.
    public let dataBecameReadyNotification: String?
    /// The size of a buffer in bytes; nil if it is unknown.
    public let getSize: CMBufferGetSizeHandler?

    /// Collects the handlers that are set.
    public struct Builder {
      fileprivate var decodeTime: CMBufferGetTimeHandler?
      fileprivate var presentationTime: CMBufferGetTimeHandler?
      fileprivate var duration: CMBufferGetTimeHandler?
      fileprivate var readiness: CMBufferGetBooleanHandler?
      fileprivate var order: CMBufferCompareHandler?
      fileprivate var size: CMBufferGetSizeHandler?

      /// The notification that a buffer posts when it becomes ready.
      public var dataBecameReadyNotification: String?

      public mutating func getDecodeTimeStamp(_ body: @escaping CMBufferGetTimeHandler) { decodeTime = body }
      public mutating func getPresentationTimeStamp(_ body: @escaping CMBufferGetTimeHandler) {
        presentationTime = body
      }
      public mutating func getDuration(_ body: @escaping CMBufferGetTimeHandler) { duration = body }
      public mutating func isDataReady(_ body: @escaping CMBufferGetBooleanHandler) { readiness = body }
      public mutating func compare(_ body: @escaping CMBufferCompareHandler) { order = body }
      public mutating func getSize(_ body: @escaping CMBufferGetSizeHandler) { size = body }
    }

    /// Creates handlers.
    /// - Parameter body: Sets the handlers, at least `getDuration`.
    public init(withHandlers body: (inout Builder) -> Void) {
      var builder = Builder()
      body(&builder)
      self.init(builder)
    }

    /// Returns a copy of these handlers with changes.
    /// - Parameter body: Sets the handlers to change.
    public func withHandlers(_ body: (inout Builder) -> Void) -> Handlers {
      var builder = Builder(
        decodeTime: getDecodeTimeStamp, presentationTime: getPresentationTimeStamp, duration: getDuration,
        readiness: isDataReady, order: compare, size: getSize,
        dataBecameReadyNotification: dataBecameReadyNotification)
      body(&builder)
      return Handlers(builder)
    }

    private init(_ builder: Builder) {
      guard let duration = builder.duration else {
        preconditionFailure("A buffer queue's handlers must include getDuration")
      }
      getDecodeTimeStamp = builder.decodeTime
      getPresentationTimeStamp = builder.presentationTime
      getDuration = duration
      isDataReady = builder.readiness
      compare = builder.order
      dataBecameReadyNotification = builder.dataBecameReadyNotification
      getSize = builder.size
    }

    /// Handlers of a queue of sample buffers, first in, first out.
    public nonisolated(unsafe) static let unsortedSampleBuffers = Handlers(unsortedCallbacks.pointee)
    /// Handlers of a queue of sample buffers in the order of their output presentation times.
    public nonisolated(unsafe) static let outputPTSSortedSampleBuffers = Handlers(sortedCallbacks.pointee)
  }
}
