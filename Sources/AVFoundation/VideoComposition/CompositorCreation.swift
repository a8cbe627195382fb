// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The way to `init()` of a class that is known by value: see `AVVideoComposition.makeCompositor()`. It is open, so that the
/// compiler never takes it for the only class of its kind and calls its own initializer.
open class OVTCompositorCreation: NSObject {
  public required override init() { super.init() }
}

extension AVVideoComposition {
  /// An object of `customVideoCompositorClass`; nil without one, and for a class that does not inherit from `NSObject`,
  /// with which reading fails.
  ///
  /// On Apple's systems the Objective-C runtime makes it, and no class need say that its `init()` is `required`. Swift
  /// calls an initializer of a class that is known by value only if it is. Each class finds its `init()`, which it
  /// overrides or inherits, at one and the same place of its method table, that of `NSObject.init()`, required or not; so
  /// the call is made as if to a class in which it is. A class without an `init()` stops the program there with "Use of
  /// unimplemented initializer", as on Apple's systems.
  func makeCompositor() -> (any AVVideoCompositing)? {
    guard let type = customVideoCompositorClass as? NSObject.Type else { return nil }
    let object: NSObject = unsafeBitCast(type, to: OVTCompositorCreation.Type.self).init()
    return object as? any AVVideoCompositing
  }
}
