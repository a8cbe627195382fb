// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A structure with a string as its raw value that can be cast to `NSString`, `CFString` and
/// `NSCopying`, as Swift allows for imported string types on Apple's systems.
public protocol OVTStringNewtype: _ObjectiveCBridgeable, RawRepresentable
where RawValue == String, _ObjectiveCType == NSString {
  init(rawValue: String)
}

extension OVTStringNewtype {
  public func _bridgeToObjectiveC() -> NSString { NSString(string: rawValue) }

  public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout Self?) {
    result = Self(rawValue: source as String)
  }

  public static func _conditionallyBridgeFromObjectiveC(_ source: NSString, result: inout Self?) -> Bool {
    result = Self(rawValue: source as String)
    return true
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> Self {
    Self(rawValue: source.map { $0 as String } ?? "")
  }
}

extension AVFileType: OVTStringNewtype {}
extension AVFileTypeProfile: OVTStringNewtype {}
extension AVMediaCharacteristic: OVTStringNewtype {}
extension AVMediaType: OVTStringNewtype {}
extension AVMetadataFormat: OVTStringNewtype {}
extension AVMetadataIdentifier: OVTStringNewtype {}
extension AVMetadataKey: OVTStringNewtype {}
extension AVMetadataKeySpace: OVTStringNewtype {}
extension AVVideoCodecType: OVTStringNewtype {}
