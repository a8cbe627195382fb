// SPDX-License-Identifier: Apache-2.0
// The names of Core Foundation over Foundation's own classes.
//
// Every CF type that has a Foundation twin is that twin, so that `as CFString`, `as CFDictionary`
// and the like are ordinary bridging casts, exactly as toll-free bridging makes them elsewhere.

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

/// The status of a call that succeeded.
public let noErr: OSStatus = 0
/// Success, as functions of the Security framework say it.
public let errSecSuccess: OSStatus = 0
/// An argument is wrong, in the numbers of the classic system (`kVTParameterErr` is Video Toolbox's own).
public let paramErr: Int = -50

/// The index that means "not there".
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

/// The one instance of `CFNull`.
public let kCFNull: CFNull! = NSNull()

/// The boolean that is true.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)

/// The boolean that is false.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

// MARK: - Ranges and comparison

/// A range of items: the first one's index and how many there are.
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

/// A range of `len` items from index `loc`.
@discardableResult
public func CFRangeMake(_ loc: CFIndex, _ len: CFIndex) -> CFRange {
  CFRange(location: loc, length: len)
}

/// The order of two values.
public enum CFComparisonResult: CFIndex, Sendable {
  case compareLessThan = -1
  case compareEqualTo = 0
  case compareGreaterThan = 1
}
