// SPDX-License-Identifier: Apache-2.0
@_exported import CoreVideo

/// A number of items.
public typealias CMItemCount = CFIndex
/// The index of an item.
public typealias CMItemIndex = CFIndex
/// The largest number of items.
public var CMITEMCOUNT_MAX: Int { .max }

public typealias CMBaseClassVersion = UInt
public typealias CMStructVersion = UInt

/// Identifies a track within a movie. It does not change when the movie is edited.
public typealias CMPersistentTrackID = Int32
/// An identifier that no track has.
public var kCMPersistentTrackID_Invalid: CMPersistentTrackID { 0 }

public var COREMEDIA_TRUE: Int32 { 1 }
public var COREMEDIA_FALSE: Int32 { 0 }
public var COREMEDIA_USE_ALIGNED_CMBASECLASS_VERSION: Int32 { 1 }
public var COREMEDIA_CMBASECLASS_VERSION_IS_POINTER_ALIGNED: Int32 { 1 }
public var COREMEDIA_USE_DERIVED_ENUMS_FOR_CONSTANTS: Int32 { 1 }
public var COREMEDIA_DECLARE_NULLABILITY: Int32 { 1 }
public var COREMEDIA_DECLARE_NULLABILITY_BEGIN_END: Int32 { 1 }
public var COREMEDIA_DECLARE_BRIDGED_TYPES: Int32 { 1 }
public var COREMEDIA_DECLARE_RETURNS_RETAINED: Int32 { 1 }
public var COREMEDIA_DECLARE_RETURNS_RETAINED_ON_PARAMETERS: Int32 { 1 }
public var COREMEDIA_DECLARE_RETURNS_NOT_RETAINED_ON_PARAMETERS: Int32 { 1 }
public var COREMEDIA_DECLARE_RETURNS_RETAINED_BLOCK: Int32 { 1 }
public var COREMEDIA_DECLARE_RELEASES_ARGUMENT: Int32 { 1 }
