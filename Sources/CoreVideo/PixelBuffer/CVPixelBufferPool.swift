// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch
import Synchronization

/// Creates pixel buffers of one size and pixel format, and uses the memory of released ones again.
///
/// The memory of a released buffer is kept for the maximum age (one second unless the pool's
/// attributes name another one), and longer if the pool would otherwise have fewer buffers than its
/// minimum count.
public final class CVPixelBufferPool: @unchecked Sendable, Hashable {
  // Sendable: immutable; the recycler has its own lock.
  let attributes: CFDictionary?
  let pixelBufferAttributes: CFDictionary
  let prototype: Prototype
  let recycler: PoolRecycler

  /// The properties of every buffer of the pool.
  struct Prototype: Sendable {
    var width: Int
    var height: Int
    var pixelFormat: OSType
    var layout: PixelLayout
    var extended: ExtendedPixels
  }

  init(
    attributes: CFDictionary?, pixelBufferAttributes: CFDictionary, prototype: Prototype, minimumCount: Int,
    maximumAge: Double
  ) {
    self.attributes = attributes
    self.pixelBufferAttributes = pixelBufferAttributes
    self.prototype = prototype
    recycler = PoolRecycler(minimumCount: minimumCount, maximumAge: maximumAge)
    recycler.setOwner(self)
  }

  deinit { recycler.close() }

  public static func == (a: CVPixelBufferPool, b: CVPixelBufferPool) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension CVPixelBufferPool: CFRuntimeObject {
  package static let cfTypeID = CFRuntimeRegister("CVPixelBufferPool")
}

// Keys of a pool's attributes.

/// The number of buffers that the pool keeps regardless of age, a number.
public nonisolated(unsafe) let kCVPixelBufferPoolMinimumBufferCountKey: CFString = "MinimumBufferCount"
/// The time in seconds for which an unused buffer is kept, a number; 0 keeps it forever.
public nonisolated(unsafe) let kCVPixelBufferPoolMaximumBufferAgeKey: CFString = "MaximumBufferAge"

/// In the auxiliary attributes of a single creation: the number of buffers of the pool at which no
/// new one is created, a number.
public nonisolated(unsafe) let kCVPixelBufferPoolAllocationThresholdKey: CFString =
  "BufferPoolAllocationThreshold"

/// Posted by a pool when a buffer is released after a creation has failed because of
/// `kCVPixelBufferPoolAllocationThresholdKey`.
public nonisolated(unsafe) let kCVPixelBufferPoolFreeBufferNotification: CFString =
  "BufferPoolFreeBufferNotification"

/// Which of the unused buffers are freed.
public struct CVPixelBufferPoolFlushFlags: OptionSet, Sendable {
  public let rawValue: CVOptionFlags
  public init(rawValue: CVOptionFlags) { self.rawValue = rawValue }
  /// All of them, whatever their age.
  public static let excessBuffers = CVPixelBufferPoolFlushFlags(rawValue: 1)
}

/// The type identifier of pools.
@discardableResult
public func CVPixelBufferPoolGetTypeID() -> CFTypeID { CVPixelBufferPool.cfTypeID }

/// Creates a pool of buffers with the given attributes, which must have a width, a height and a
/// pixel format (the first known one, if it is a list).
///
/// - Returns: `kCVReturnInvalidPoolAttributes`, `kCVReturnInvalidPixelBufferAttributes`,
///   `kCVReturnInvalidPixelFormat` or `kCVReturnInvalidSize`; the pool is nil then.
@discardableResult
public func CVPixelBufferPoolCreate(
  _ allocator: CFAllocator?, _ poolAttributes: CFDictionary?, _ pixelBufferAttributes: CFDictionary?,
  _ poolOut: UnsafeMutablePointer<CVPixelBufferPool?>
) -> CVReturn {
  poolOut.pointee = nil
  var minimumCount = 0
  var maximumAge = 1.0
  if let value = poolAttributes?[kCVPixelBufferPoolMinimumBufferCountKey] {
    guard let number = value as? NSNumber, number.intValue >= 0 else { return kCVReturnInvalidPoolAttributes }
    minimumCount = number.intValue
  }
  if let value = poolAttributes?[kCVPixelBufferPoolMaximumBufferAgeKey] {
    guard let number = value as? NSNumber, number.doubleValue >= 0 else {
      return kCVReturnInvalidPoolAttributes
    }
    maximumAge = number.doubleValue
  }
  let wanted: PixelBufferAttributes
  do { wanted = try PixelBufferAttributes(pixelBufferAttributes) } catch { return error.code }
  guard let width = wanted.width, let height = wanted.height, let formats = wanted.pixelFormats,
    !formats.isEmpty
  else { return kCVReturnInvalidPixelBufferAttributes }
  guard let format = formats.lazy.compactMap(PixelFormat.find).first else {
    return kCVReturnInvalidPixelFormat
  }
  guard let layout = try? wanted.layout(format, width: width, height: height) else {
    return kCVReturnInvalidSize
  }
  poolOut.pointee = CVPixelBufferPool(
    attributes: (poolAttributes?.copy() as? NSDictionary),
    pixelBufferAttributes: creationAttributes(pixelBufferAttributes, width, height, format.code),
    prototype: .init(
      width: width, height: height, pixelFormat: format.code, layout: layout, extended: wanted.extended),
    minimumCount: minimumCount, maximumAge: maximumAge)
  return kCVReturnSuccess
}

/// The attributes that the pool was made with.
@discardableResult
public func CVPixelBufferPoolGetAttributes(_ pool: CVPixelBufferPool) -> CFDictionary? { pool.attributes }

/// The attributes of the pool's buffers.
@discardableResult
public func CVPixelBufferPoolGetPixelBufferAttributes(_ pool: CVPixelBufferPool) -> CFDictionary? {
  pool.pixelBufferAttributes
}

/// Creates a buffer of the pool. It has no attachments except those of the pool's attributes; the
/// values of its pixels are undefined.
/// - Returns: `kCVReturnAllocationFailed` if there is no memory; the buffer is nil then.
@discardableResult
public func CVPixelBufferPoolCreatePixelBuffer(
  _ allocator: CFAllocator?, _ pixelBufferPool: CVPixelBufferPool,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(allocator, pixelBufferPool, nil, pixelBufferOut)
}

/// Creates a buffer of the pool, unless the pool has too many.
///
/// The parameters that need an explanation:
///
/// - `auxAttributes`: may hold `kCVPixelBufferPoolAllocationThresholdKey`.
/// - Returns: `kCVReturnWouldExceedAllocationThreshold` if no buffer is unused and the pool has as
///   many as the threshold; `kCVReturnInvalidPixelBufferAttributes`; `kCVReturnAllocationFailed`.
@discardableResult
public func CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
  _ allocator: CFAllocator?, _ pixelBufferPool: CVPixelBufferPool, _ auxAttributes: CFDictionary?,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  pixelBufferOut.pointee = nil
  var threshold: Int?
  if let value = auxAttributes?[kCVPixelBufferPoolAllocationThresholdKey] {
    guard let number = value as? NSNumber, number.intValue >= 0 else {
      return kCVReturnInvalidPixelBufferAttributes
    }
    threshold = number.intValue
  }
  let (prototype, recycler) = (pixelBufferPool.prototype, pixelBufferPool.recycler)
  let storage: PixelStorage
  switch recycler.take(threshold: threshold) {
  case .used(let memory): storage = memory
  case .tooMany: return kCVReturnWouldExceedAllocationThreshold
  case .none:
    guard let memory = PixelStorage(layout: prototype.layout) else {
      recycler.discarded()
      return kCVReturnAllocationFailed
    }
    storage = memory
  }
  let buffer = CVBuffer(
    storage: storage, pixelFormatType: prototype.pixelFormat, width: prototype.width,
    height: prototype.height,
    extendedPixels: prototype.extended, creationAttributes: pixelBufferPool.pixelBufferAttributes,
    recycler: recycler)
  buffer.attachInitial(pixelBufferPool.pixelBufferAttributes)
  pixelBufferOut.pointee = buffer
  return kCVReturnSuccess
}

/// Frees the unused buffers that are too old, or with `excessBuffers` all unused ones.
public func CVPixelBufferPoolFlush(_ pool: CVPixelBufferPool, _ options: CVPixelBufferPoolFlushFlags) {
  pool.recycler.flush(all: options.contains(.excessBuffers))
}
