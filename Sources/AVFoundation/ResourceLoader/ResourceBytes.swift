// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The data of an asset that a delegate loads.
final class ResourceBytes: MediaByteSource {
  let url: URL
  let loader: AVAssetResourceLoader
  /// The length in bytes; nil if the delegate has not provided it.
  let length: Int64?
  /// Whether byte ranges can be requested.
  let hasParts: Bool

  /// The most bytes that are kept of content of unknown length without access to byte ranges.
  let limit: Int

  init(
    _ url: URL, loader: AVAssetResourceLoader, length: Int64?, hasParts: Bool, limit: Int = 1 << 30
  ) {
    self.limit = limit
    self.url = url
    self.loader = loader
    self.length = length
    self.hasParts = hasParts
  }

  func makeReader() -> any MediaByteReader { ResourceReader(self) }
}

/// Reads data through requests to the delegate, one at a time.
final class ResourceReader: MediaByteReader, @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  private let bytes: ResourceBytes?
  private let condition = NSCondition()
  private var request: AVAssetResourceLoadingRequest?
  /// The data received for the current request, from offset `start` on.
  private var received = Data()
  private var start: Int64 = 0
  private var isCancelled = false
  /// Whether the delegate provides more data than is kept.
  private var isTooLong = false

  /// The largest number of bytes that one request asks for, if byte ranges can be requested.
  private static let part = 1 << 19

  init(_ bytes: ResourceBytes) { self.bytes = bytes }

  private init(waitingFor request: AVAssetResourceLoadingRequest) {
    bytes = nil
    self.request = request
  }

  /// Returns a reader that reads nothing, and cancels a request when it is cancelled itself.
  static func waiting(for request: AVAssetResourceLoadingRequest) -> ResourceReader {
    ResourceReader(waitingFor: request)
  }

  deinit { request?.cancel() }

  var length: Int64? { bytes?.length }

  func cancel() {
    let request = condition.withLock {
      isCancelled = true
      condition.broadcast()
      return self.request
    }
    request?.cancel()
  }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    // An index in the file may contain any offset.
    guard offset >= 0, offset < min(length ?? .max, .max - Int64(Self.part)) else { return 0 }
    while true {
      switch try step(offset, buffer) {
      case .read(let count): return count
      case .ask(let new, let old):
        old?.cancel()
        if condition.withLock({ isCancelled }) { new.cancel() } else { bytes?.loader.start(new) }
      case .wait: break
      }
    }
  }

  private enum Step {
    case read(Int)
    /// A new request is to be started in place of an earlier one.
    case ask(AVAssetResourceLoadingRequest, instead: AVAssetResourceLoadingRequest?)
    case wait
  }

  /// Copies data that has been received, waits for more if the current request will provide it, or
  /// makes a new request.
  /// - Throws: `AVError` if the request failed or was cancelled, or provided too much or too little
  ///   data.
  private func step(_ offset: Int64, _ buffer: UnsafeMutableRawBufferPointer) throws -> Step {
    condition.lock()
    defer { condition.unlock() }
    guard !isCancelled else { throw AVError(.operationCancelled, reason: "The loading was cancelled.") }
    let end = start + Int64(received.count)
    if offset >= start, offset < end {
      let count = min(buffer.count, Int(end - offset))
      let from = received.startIndex + Int(offset - start)
      received.copyBytes(to: buffer, from: from..<from + count)
      return .read(count)
    }
    guard !isTooLong else {
      throw AVError(
        .outOfMemory, reason: "The resource loader's delegate gives more than is kept in memory.",
        advice: "Say contentLength, or support byte ranges.")
    }
    if let request, let wanted = request.dataRequest {
      switch request.outcome {
      case .failure(let error)?: throw error
      case .success?:
        guard request.redirect == nil else {
          throw AVError(
            .operationNotSupportedForAsset,
            reason: "The resource loader's delegate redirects a request for a part.",
            advice: "Redirect the request that asks for the content's information.")
        }
        // The request provided less data than requested. Another request may provide more; no data
        // means the end.
        if offset == end, received.isEmpty || wanted.requestsAllDataToEndOfResource {
          guard let length else { return .read(0) }
          throw AVError(
            .fileFailedToParse,
            reason: "The resource loader's delegate gave \(end) bytes of \(length), and no more.")
        }
        if offset > end, wanted.requestsAllDataToEndOfResource { return .read(0) }
      case nil:
        let last =
          wanted.requestsAllDataToEndOfResource
          ? Int64.max : wanted.requestedOffset + Int64(wanted.requestedLength)
        // The offset is within the range of the current request, so the request is awaited.
        if offset >= start, offset < last {
          condition.wait()
          return .wait
        }
      }
    }
    return ask(offset)
  }

  /// Makes a request for an offset. The caller holds the lock.
  private func ask(_ offset: Int64) -> Step {
    guard let bytes else { return .read(0) }
    let old = request
    let data: AVAssetResourceLoadingDataRequest
    if bytes.hasParts {
      let rest = bytes.length.map { $0 - offset } ?? .max
      data = AVAssetResourceLoadingDataRequest(
        offset: offset, length: Int(min(rest, Int64(Self.part))), isToEnd: false)
    } else {
      data = AVAssetResourceLoadingDataRequest(
        offset: 0, length: bytes.length.map { Int($0) } ?? Int.max, isToEnd: true,
        maximum: bytes.length == nil ? bytes.limit : nil)
    }
    let new = AVAssetResourceLoadingRequest(bytes.url, loader: bytes.loader, information: nil, data: data)
    start = data.requestedOffset
    received = Data()
    request = new
    data.onData = { [weak self, weak new] part in
      guard let self, let new else { return }
      condition.withLock {
        guard self.request === new else { return }
        self.received.append(part)
        self.condition.broadcast()
      }
    }
    let isUnbounded = !bytes.hasParts && bytes.length == nil
    data.onExcess = { [weak self, weak new] in
      guard let self, let new else { return }
      condition.withLock {
        guard self.request === new else { return }
        if isUnbounded { self.isTooLong = true }
        self.condition.broadcast()
      }
      // The delegate is asked to stop, since it might otherwise provide data forever.
      new.cancel()
    }
    new.onEnd = { [weak self] in
      guard let self else { return }
      self.condition.withLock { self.condition.broadcast() }
    }
    return .ask(new, instead: old)
  }
}
