// SPDX-License-Identifier: Apache-2.0
// This file bridges `CGFloat` to `NSNumber`. Foundation on Linux bridges all other number types.
// Without this, a value such as `size.width / 2` in a dictionary would be an opaque box that does
// not cast to a number.

extension CGFloat: @retroactive _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSNumber { NSNumber(value: Double(self)) }

  public static func _forceBridgeFromObjectiveC(_ source: NSNumber, result: inout CGFloat?) {
    result = CGFloat(source.doubleValue)
  }

  /// Succeeds for numbers that a `Double` represents exactly, like the bridge of `Double`.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSNumber, result: inout CGFloat?) -> Bool {
    result = (source as? Double).map { CGFloat($0) }
    return result != nil
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSNumber?) -> CGFloat {
    CGFloat(source?.doubleValue ?? 0)
  }
}
