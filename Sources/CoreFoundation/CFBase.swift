// SPDX-License-Identifier: Apache-2.0
// This file defines Core Foundation's names for Foundation's classes.
//
// A CF type that has an equivalent class in Foundation is that class, so that `as CFString`, `as
// CFDictionary` and the like are ordinary bridging casts, as toll-free bridging makes them on
// Apple's systems.

@_exported import Foundation

// MARK: - Scalars

public typealias CFIndex = Int
public typealias CFTypeID = UInt
public typealias CFOptionFlags = UInt
public typealias CFHashCode = UInt
public typealias OSStatus = Int32
public typealias OSType = UInt32
public typealias FourCharCode = UInt32
public typealias UniChar = UInt16
public typealias SInt16 = Int16
public typealias SInt32 = Int32
public typealias SInt64 = Int64

/// The status of a successful call.
public let noErr: OSStatus = 0
/// The status of a successful call of the Security framework.
public let errSecSuccess: OSStatus = 0
/// The Mac OS error code for a wrong argument. (`kVTParameterErr` is Video Toolbox's own code.)
public let paramErr: Int = -50

/// The index that a search returns if it finds nothing.
public let kCFNotFound: CFIndex = -1

// MARK: - Objects

public typealias CFTypeRef = AnyObject
public typealias CFPropertyList = AnyObject
public typealias CFString = NSString
public typealias CFMutableString = NSMutableString
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFArray = NSArray
public typealias CFMutableArray = NSMutableArray
public typealias CFSet = NSSet
public typealias CFMutableSet = NSMutableSet
public typealias CFData = NSData
public typealias CFMutableData = NSMutableData
public typealias CFDate = NSDate
public typealias CFURL = NSURL
public typealias CFUUID = NSUUID
public typealias CFError = NSError
public typealias CFNull = NSNull
public typealias CFErrorDomain = NSString

/// The only instance of `CFNull`.
public let kCFNull: CFNull! = NSNull()

/// The boolean object for true.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)

/// The boolean object for false.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

// MARK: - Ranges and comparison

/// A range of items.
public struct CFRange: Sendable, Hashable {
  public var location: CFIndex
  public var length: CFIndex

  public init() {
    location = 0
    length = 0
  }

  public init(location: CFIndex, length: CFIndex) {
    self.location = location
    self.length = length
  }
}

/// Returns the range of `len` items from index `loc`.
@discardableResult
public func CFRangeMake(_ loc: CFIndex, _ len: CFIndex) -> CFRange {
  CFRange(location: loc, length: len)
}

/// The result of a comparison of two values.
public enum CFComparisonResult: CFIndex, Sendable {
  case compareLessThan = -1
  case compareEqualTo = 0
  case compareGreaterThan = 1
}
