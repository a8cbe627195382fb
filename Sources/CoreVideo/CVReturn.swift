// SPDX-License-Identifier: Apache-2.0
@_exported import CoreFoundation

/// The result of a Core Video call: `kCVReturnSuccess` or one of the errors below.
public typealias CVReturn = Int32

public let kCVReturnSuccess: CVReturn = 0
public let kCVReturnFirst: CVReturn = -6660
public let kCVReturnError: CVReturn = kCVReturnFirst
public let kCVReturnInvalidArgument: CVReturn = -6661
public let kCVReturnAllocationFailed: CVReturn = -6662
public let kCVReturnUnsupported: CVReturn = -6663
public let kCVReturnInvalidDisplay: CVReturn = -6670
public let kCVReturnDisplayLinkAlreadyRunning: CVReturn = -6671
public let kCVReturnDisplayLinkNotRunning: CVReturn = -6672
public let kCVReturnDisplayLinkCallbacksNotSet: CVReturn = -6673
/// The pixel format is not known.
public let kCVReturnInvalidPixelFormat: CVReturn = -6680
/// The width or the height is zero, negative or too large.
public let kCVReturnInvalidSize: CVReturn = -6681
/// An attribute has a value of the wrong type or outside its range, or contradicts another.
public let kCVReturnInvalidPixelBufferAttributes: CVReturn = -6682
public let kCVReturnPixelBufferNotOpenGLCompatible: CVReturn = -6683
public let kCVReturnPixelBufferNotMetalCompatible: CVReturn = -6684
/// The pool has created as many buffers as the allocation threshold of the call allows.
public let kCVReturnWouldExceedAllocationThreshold: CVReturn = -6689
public let kCVReturnPoolAllocationFailed: CVReturn = -6690
public let kCVReturnInvalidPoolAttributes: CVReturn = -6691
public let kCVReturnRetry: CVReturn = -6692
public let kCVReturnLast: CVReturn = -6699
