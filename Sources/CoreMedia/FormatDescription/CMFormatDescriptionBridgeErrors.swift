// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A parameter is invalid or missing, or parameter sets are malformed.
public let kCMFormatDescriptionBridgeError_InvalidParameter: OSStatus = -12712
/// There is not enough memory.
public let kCMFormatDescriptionBridgeError_AllocationFailed: OSStatus = -12713
/// The sample description is malformed.
public let kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription: OSStatus = -12714
/// The format description is invalid.
public let kCMFormatDescriptionBridgeError_InvalidFormatDescription: OSStatus = -12715
/// The format description is of another media type, or cannot be written in this flavor.
public let kCMFormatDescriptionBridgeError_IncompatibleFormatDescription: OSStatus = -12716
/// The flavor is not known.
public let kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor: OSStatus = -12717
/// The slice is invalid.
public let kCMFormatDescriptionBridgeError_InvalidSlice: OSStatus = -12719
