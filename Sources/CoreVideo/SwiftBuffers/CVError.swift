// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// A `CVReturn` other than success, as an error.
public struct CVError: Error, RawRepresentable, Hashable, Sendable {
  public let rawValue: CVReturn

  /// Nil for `kCVReturnSuccess`.
  public init?(rawValue: CVReturn) {
    guard rawValue != kCVReturnSuccess else { return nil }
    self.rawValue = rawValue
  }

  private init(_ code: CVReturn) { rawValue = code }

  public static let internalError = CVError(kCVReturnError)
  public static let invalidArgument = CVError(kCVReturnInvalidArgument)
  public static let allocationFailed = CVError(kCVReturnAllocationFailed)
  public static let unsupported = CVError(kCVReturnUnsupported)
  public static let invalidPixelFormat = CVError(kCVReturnInvalidPixelFormat)
  public static let invalidSize = CVError(kCVReturnInvalidSize)
  public static let invalidPixelBufferAttributes = CVError(kCVReturnInvalidPixelBufferAttributes)
  public static let pixelBufferNotMetalCompatible = CVError(kCVReturnPixelBufferNotMetalCompatible)
  public static let wouldExceedAllocationThreshold = CVError(kCVReturnWouldExceedAllocationThreshold)
  public static let poolAllocationFailed = CVError(kCVReturnPoolAllocationFailed)
  public static let invalidPoolAttributes = CVError(kCVReturnInvalidPoolAttributes)
  public static let retry = CVError(kCVReturnRetry)

  /// Throws unless the status is `kCVReturnSuccess`.
  public static func check(_ status: CVReturn) throws(CVError) {
    if let error = CVError(rawValue: status) { throw error }
  }
}

extension CVError: LocalizedError, CustomStringConvertible {
  public var errorDescription: String? {
    switch self {
    case .invalidArgument: "An argument is not valid."
    case .allocationFailed, .poolAllocationFailed: "There is not enough memory."
    case .unsupported: "The operation is not supported."
    case .invalidPixelFormat: "The pixel format is not known."
    case .invalidSize: "No buffer can have this size."
    case .invalidPixelBufferAttributes: "No buffer can have these attributes."
    case .pixelBufferNotMetalCompatible:
      "The pixel buffer is not compatible with Metal, which is not available."
    case .wouldExceedAllocationThreshold: "The pool has given out as many buffers as it may."
    case .invalidPoolAttributes: "No pool can have these attributes."
    default: "Core Video failed."
    }
  }

  public var description: String { "CVError \(rawValue): \(errorDescription ?? "")" }
}
