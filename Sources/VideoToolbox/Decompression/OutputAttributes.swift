// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// What the client wants of the buffers that a decompression session gives out.
struct OutputAttributes: @unchecked Sendable {
  // Sendable: immutable property-list values once made.
  /// Empty if every format will do.
  var pixelFormats: [OSType] = []
  var width: Int?
  var height: Int?
  /// Everything else, for the pools. Never written to.
  private var others: NSDictionary = [:]

  init(_ attributes: CFDictionary?) throws(StatusError) {
    let others = NSMutableDictionary()
    for (key, value) in attributes ?? [:] {
      guard let key = key as? String else { throw StatusError(kVTParameterErr) }
      switch key as NSString {
      case kCVPixelBufferPixelFormatTypeKey: pixelFormats = try Self.formats(value)
      case kCVPixelBufferWidthKey: width = try Self.side(value)
      case kCVPixelBufferHeightKey: height = try Self.side(value)
      default: others[key] = value
      }
    }
    self.others = others
    // Of several the client gets one that can be had; it is an error if there is none.
    let writable = pixelFormats.filter(PixelConverter.canWrite)
    guard pixelFormats.isEmpty || !writable.isEmpty else {
      throw StatusError(kVTPixelTransferNotSupportedErr)
    }
    pixelFormats = writable
    // A pool finds out what is wrong with the rest.
    var resolved: CFDictionary?
    guard
      CVPixelBufferCreateResolvedAttributesDictionary(nil, [others] as NSArray, &resolved) == kCVReturnSuccess
    else { throw StatusError(kVTParameterErr) }
  }

  private static func formats(_ value: Any) throws(StatusError) -> [OSType] {
    let list = (value as? NSNumber).map { [$0] } ?? (value as? [NSNumber])
    guard let list, !list.isEmpty else { throw StatusError(kVTParameterErr) }
    return list.map(\.uint32Value)
  }

  private static func side(_ value: Any) throws(StatusError) -> Int {
    guard let number = value as? NSNumber, number.intValue > 0, number.intValue <= 1 << 16 else {
      throw StatusError(kVTParameterErr)
    }
    return number.intValue
  }

  /// What a decoder may choose from. Where a conversion follows anyway, planar pictures spare it work.
  var preferredFormats: [PictureFormat] {
    guard !pixelFormats.isEmpty else { return [] }
    return pixelFormats.map { PictureFormat(rawValue: $0) } + [.i420VideoRange, .i420FullRange]
  }

  /// The format to give out for pictures of a format.
  func format(for decoded: OSType) -> OSType {
    pixelFormats.isEmpty || pixelFormats.contains(decoded) ? decoded : pixelFormats[0]
  }

  /// Attributes for a pool of buffers that both sides can use.
  func poolAttributes(_ request: PictureRequest) -> NSDictionary? {
    var resolved: CFDictionary?
    guard
      CVPixelBufferCreateResolvedAttributesDictionary(
        nil, [request.pixelBufferAttributes, others] as NSArray, &resolved)
        == kCVReturnSuccess
    else { return nil }
    return resolved
  }
}

/// The pools of a session, one for each kind of buffer.
final class OutputPools: PictureAllocator, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let attributes: OutputAttributes
  private let lock = Lock()
  private var pools: [PictureRequest: CVPixelBufferPool] = [:]
  private var count = 0
  private var lastUsed: CVPixelBufferPool?

  init(_ attributes: OutputAttributes) { self.attributes = attributes }

  /// The least number of buffers that a pool keeps.
  var minimumCount: Int {
    get { lock.withLock { count } }
    set {
      lock.withLock {
        if count != newValue { pools = [:] }
        count = newValue
      }
    }
  }

  /// The pool that the last buffer came from.
  var latest: CVPixelBufferPool? { lock.withLock { lastUsed } }

  func pool(_ request: PictureRequest) -> CVPixelBufferPool? {
    lock.withLock {
      if let pool = pools[request] { return pool }
      var pool: CVPixelBufferPool?
      let poolAttributes: NSDictionary = [kCVPixelBufferPoolMinimumBufferCountKey: NSNumber(value: count)]
      guard let buffers = attributes.poolAttributes(request),
        CVPixelBufferPoolCreate(nil, poolAttributes, buffers, &pool) == kCVReturnSuccess, let pool
      else { return nil }
      // A stream that keeps changing its dimensions must not fill the memory with pools.
      if pools.count >= 4 { pools = [:] }
      pools[request] = pool
      return pool
    }
  }

  func makePixelBuffer(_ request: PictureRequest) -> CVPixelBuffer? {
    guard let pool = pool(request) else { return nil }
    lock.withLock { lastUsed = pool }
    var buffer: CVPixelBuffer?
    return CVPixelBufferPoolCreatePixelBuffer(nil, pool, &buffer) == kCVReturnSuccess ? buffer : nil
  }
}
