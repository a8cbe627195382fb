// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// The client's attributes for the image buffers that a decompression session outputs.
struct OutputAttributes: @unchecked Sendable {
  // Sendable: immutable property-list values once made.
  /// The pixel formats to choose from, the preferred first; empty if any is accepted.
  var pixelFormats: [OSType] = []
  var width: Int?
  var height: Int?
  /// All other attributes, for the pools. Not changed after the initialiser.
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
    // Formats that images cannot be converted to are left out; it is an error if none remains.
    let writable = pixelFormats.filter(PixelConverter.canWrite)
    guard pixelFormats.isEmpty || !writable.isEmpty else {
      throw StatusError(kVTPixelTransferNotSupportedErr)
    }
    pixelFormats = writable
    // Resolving the other attributes finds values of a wrong type.
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

  /// The pixel formats from which a decoder chooses. Planar formats are included, because a
  /// conversion from them costs less.
  var preferredFormats: [PictureFormat] {
    guard !pixelFormats.isEmpty else { return [] }
    return pixelFormats.map { PictureFormat(rawValue: $0) } + [.i420VideoRange, .i420FullRange]
  }

  /// The pixel format of the image for a decoded picture.
  /// - Parameter decoded: The picture's pixel format.
  func format(for decoded: OSType) -> OSType {
    pixelFormats.isEmpty || pixelFormats.contains(decoded) ? decoded : pixelFormats[0]
  }

  /// Merges what the decoder and the client require of buffers to attributes of a pool; nil if the
  /// two contradict each other.
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

/// The pixel buffer pools of a session, one for each size and pixel format.
final class OutputPools: PictureAllocator, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let attributes: OutputAttributes
  private let lock = Lock()
  private var pools: [PictureRequest: CVPixelBufferPool] = [:]
  private var count = 0
  private var lastUsed: CVPixelBufferPool?

  init(_ attributes: OutputAttributes) { self.attributes = attributes }

  /// The least number of buffers that a pool keeps. A change discards the pools.
  var minimumCount: Int {
    get { lock.withLock { count } }
    set {
      lock.withLock {
        if count != newValue { pools = [:] }
        count = newValue
      }
    }
  }

  /// The pool of the last buffer that was made; nil before the first.
  var latest: CVPixelBufferPool? { lock.withLock { lastUsed } }

  /// The pool for a size and a pixel format, created on first use; nil if it cannot be created.
  func pool(_ request: PictureRequest) -> CVPixelBufferPool? {
    lock.withLock {
      if let pool = pools[request] { return pool }
      var pool: CVPixelBufferPool?
      let poolAttributes: NSDictionary = [kCVPixelBufferPoolMinimumBufferCountKey: NSNumber(value: count)]
      guard let buffers = attributes.poolAttributes(request),
        CVPixelBufferPoolCreate(nil, poolAttributes, buffers, &pool) == kCVReturnSuccess, let pool
      else { return nil }
      // The number of pools is limited, for streams that keep changing their dimensions.
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
