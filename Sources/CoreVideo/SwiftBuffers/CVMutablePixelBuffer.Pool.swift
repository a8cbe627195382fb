// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

extension CVMutablePixelBuffer {
  /// Hands out buffers of one kind, and takes their memory back.
  public final class Pool: Sendable {
    private let pool: CVPixelBufferPool
    public let pixelBufferAttributes: CVPixelBufferCreationAttributes

    /// How the pool keeps memory.
    public struct Configuration: Sendable {
      /// Seconds that memory is kept after a buffer came back; 0 keeps none.
      public var ageOutDuration: TimeInterval
      /// So many buffers are kept however long they are not used.
      public var minimumBufferCount: Int

      public init(ageOutDuration: TimeInterval = 1, minimumBufferCount: Int = 0) {
        self.ageOutDuration = ageOutDuration
        self.minimumBufferCount = minimumBufferCount
      }
    }

    /// How one buffer is made.
    public struct AllocationAttributes: Sendable {
      /// No new memory is taken if the pool has this many buffers already; nil: as many as are wanted.
      public var allocationThreshold: Int?

      public init(allocationThreshold: Int? = nil) { self.allocationThreshold = allocationThreshold }
    }

    /// - Throws: `CVError`.
    public init(
      pixelBufferAttributes attributes: CVPixelBufferCreationAttributes,
      configuration: Configuration = Configuration()
    ) throws {
      // Core Video's own key takes 0 for ever.
      let age = configuration.ageOutDuration
      let poolAttributes: [CFString: Any] = [
        kCVPixelBufferPoolMaximumBufferAgeKey: NSNumber(value: age == 0 ? .leastNonzeroMagnitude : age),
        kCVPixelBufferPoolMinimumBufferCountKey: NSNumber(value: configuration.minimumBufferCount),
      ]
      var made: CVPixelBufferPool?
      try CVError.check(
        CVPixelBufferPoolCreate(
          kCFAllocatorDefault, poolAttributes as CFDictionary, attributes.dictionary, &made))
      guard let made else { throw CVError.internalError }
      pool = made
      pixelBufferAttributes = attributes
    }

    /// Takes a pool over.
    public init(unsafePool: sending CVPixelBufferPool) {
      pool = unsafePool
      let prototype = unsafePool.prototype
      var attributes = CVPixelBufferAttributes(
        dictionary: CVPixelBufferPoolGetPixelBufferAttributes(unsafePool) ?? [:])
      attributes.pixelFormatType = CVPixelFormatType(rawValue: prototype.pixelFormat)
      attributes.size = CVImageSize(width: prototype.width, height: prototype.height)
      pixelBufferAttributes =
        CVPixelBufferCreationAttributes(attributes)
        ?? CVPixelBufferCreationAttributes(
          pixelFormatType: CVPixelFormatType(rawValue: prototype.pixelFormat),
          size: CVImageSize(width: prototype.width, height: prototype.height))
    }

    /// - Throws: `CVError`, `wouldExceedAllocationThreshold` among them.
    public func makeMutablePixelBuffer(
      _ attributes: AllocationAttributes = AllocationAttributes()
    ) throws -> CVMutablePixelBuffer {
      var made: CVPixelBuffer?
      let threshold: CFDictionary? = attributes.allocationThreshold.map {
        [kCVPixelBufferPoolAllocationThresholdKey: NSNumber(value: $0)] as [CFString: Any] as CFDictionary
      }
      try CVError.check(
        CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(kCFAllocatorDefault, pool, threshold, &made))
      guard let made else { throw CVError.internalError }
      return CVMutablePixelBuffer(unsafeBuffer: made)
    }

    /// Frees memory that is not in use: what is too old, or all.
    public func flush(agedOutOnly: Bool = true) {
      CVPixelBufferPoolFlush(pool, agedOutOnly ? [] : .excessBuffers)
    }
  }
}
