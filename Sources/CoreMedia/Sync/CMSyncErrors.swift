// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Error codes of clocks, timebases and conversions between them.

public var kCMClockError_MissingRequiredParameter: OSStatus { -12745 }
public var kCMClockError_InvalidParameter: OSStatus { -12746 }
public var kCMClockError_AllocationFailed: OSStatus { -12747 }
public var kCMClockError_UnsupportedOperation: OSStatus { -12756 }

public var kCMTimebaseError_MissingRequiredParameter: OSStatus { -12748 }
public var kCMTimebaseError_InvalidParameter: OSStatus { -12749 }
public var kCMTimebaseError_AllocationFailed: OSStatus { -12750 }
/// A run-loop timer must repeat with an interval of at least `CMTimebase.veryLongTimeInterval`.
public var kCMTimebaseError_TimerIntervalTooShort: OSStatus { -12751 }
public var kCMTimebaseError_ReadOnly: OSStatus { -12757 }

public var kCMSyncError_MissingRequiredParameter: OSStatus { -12752 }
public var kCMSyncError_InvalidParameter: OSStatus { -12753 }
public var kCMSyncError_AllocationFailed: OSStatus { -12754 }
public var kCMSyncError_RateMustBeNonZero: OSStatus { -12755 }

extension CMClock {
  /// The errors that clocks throw, in `NSOSStatusErrorDomain`.
  public struct Error {
    public static let missingRequiredParameter = osStatusError(kCMClockError_MissingRequiredParameter)
    public static let invalidParameter = osStatusError(kCMClockError_InvalidParameter)
    public static let allocationFailed = osStatusError(kCMClockError_AllocationFailed)
    public static let unsupportedOperation = osStatusError(kCMClockError_UnsupportedOperation)
  }
}

extension CMTimebase {
  /// The errors that timebases throw, in `NSOSStatusErrorDomain`.
  public struct Error {
    public static let missingRequiredParameter = osStatusError(kCMTimebaseError_MissingRequiredParameter)
    public static let invalidParameter = osStatusError(kCMTimebaseError_InvalidParameter)
    public static let allocationFailed = osStatusError(kCMTimebaseError_AllocationFailed)
    public static let timerIntervalTooShort = osStatusError(kCMTimebaseError_TimerIntervalTooShort)
    public static let readOnly = osStatusError(kCMTimebaseError_ReadOnly)
  }
}

/// A namespace for conversions between clocks and timebases.
public struct CMSync {
  /// The errors that members of `CMSyncProtocol` throw, in `NSOSStatusErrorDomain`.
  public struct Error {
    public static let missingRequiredParameter = osStatusError(kCMSyncError_MissingRequiredParameter)
    public static let invalidParameter = osStatusError(kCMSyncError_InvalidParameter)
    public static let allocationFailed = osStatusError(kCMSyncError_AllocationFailed)
    public static let rateMustBeNonZero = osStatusError(kCMSyncError_RateMustBeNonZero)
  }
}
