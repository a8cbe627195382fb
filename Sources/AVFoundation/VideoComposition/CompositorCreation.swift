// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Gives access to `init()` of a class that is known only as a value; see
/// `AVVideoComposition.makeCompositor()`. The class is open so that the compiler cannot assume that
/// it has no subclasses, and call its own initializer directly.
open class OVTCompositorCreation: NSObject {
  public required override init() { super.init() }
}

extension AVVideoComposition {
  /// Creates an object of `customVideoCompositorClass`; nil if there is none, or if the class does
  /// not inherit from `NSObject`, in which case reading fails.
  ///
  /// On Apple's systems the Objective-C runtime creates the object, and `init()` need not be
  /// `required`. Swift calls an initializer through a metatype only if it is. Every subclass has
  /// its `init()`, overridden or inherited, in the same entry of the method table as
  /// `NSObject.init()`, whether or not it is `required`; therefore the call is made as if to a
  /// class whose `init()` is required. A class without an `init()` stops the program with "Use of
  /// unimplemented initializer", as on Apple's systems.
  func makeCompositor() -> (any AVVideoCompositing)? {
    guard let type = customVideoCompositorClass as? NSObject.Type else { return nil }
    let object: NSObject = unsafeBitCast(type, to: OVTCompositorCreation.Type.self).init()
    return object as? any AVVideoCompositing
  }
}
