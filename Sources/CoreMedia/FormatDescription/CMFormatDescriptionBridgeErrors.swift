// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A parameter is wrong or missing, or parameter sets cannot be read.
public let kCMFormatDescriptionBridgeError_InvalidParameter: OSStatus = -12712
/// Memory ran out.
public let kCMFormatDescriptionBridgeError_AllocationFailed: OSStatus = -12713
/// The sample description cannot be read.
public let kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription: OSStatus = -12714
/// The format description is not usable.
public let kCMFormatDescriptionBridgeError_InvalidFormatDescription: OSStatus = -12715
/// The format description is of another kind of media, or cannot be written in this flavor.
public let kCMFormatDescriptionBridgeError_IncompatibleFormatDescription: OSStatus = -12716
/// The flavor is unknown.
public let kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor: OSStatus = -12717
/// The slice is not usable.
public let kCMFormatDescriptionBridgeError_InvalidSlice: OSStatus = -12719
