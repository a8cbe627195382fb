// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

extension CVMutablePixelBuffer {
  /// Creates buffers of one size and pixel format, and uses the memory of released ones again.
  public final class Pool: Sendable {
    private let pool: CVPixelBufferPool
    public let pixelBufferAttributes: CVPixelBufferCreationAttributes

    /// How long the pool keeps unused memory.
    public struct Configuration: Sendable {
      /// The time in seconds for which the memory of a released buffer is kept; 0 keeps none.
      public var ageOutDuration: TimeInterval
      /// The number of buffers whose memory is kept regardless of age.
      public var minimumBufferCount: Int

      public init(ageOutDuration: TimeInterval = 1, minimumBufferCount: Int = 0) {
        self.ageOutDuration = ageOutDuration
        self.minimumBufferCount = minimumBufferCount
      }
    }

    /// Attributes of the creation of one buffer.
    public struct AllocationAttributes: Sendable {
      /// The number of buffers of the pool at which no new memory is allocated; nil for no limit.
      public var allocationThreshold: Int?

      public init(allocationThreshold: Int? = nil) { self.allocationThreshold = allocationThreshold }
    }

    /// Creates a pool.
    /// - Throws: `CVError`.
    public init(
      pixelBufferAttributes attributes: CVPixelBufferCreationAttributes,
      configuration: Configuration = Configuration()
    ) throws {
      // For Core Video's key, 0 means that memory is kept forever.
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

    /// Takes ownership of a pool.
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

    /// Creates a buffer.
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

    /// Frees unused memory.
    /// - Parameter agedOutOnly: Whether to free only memory that is older than the configuration
    ///   allows.
    public func flush(agedOutOnly: Bool = true) {
      CVPixelBufferPoolFlush(pool, agedOutOnly ? [] : .excessBuffers)
    }
  }
}
