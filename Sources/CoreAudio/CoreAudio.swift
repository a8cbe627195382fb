// SPDX-License-Identifier: Apache-2.0
// Core Audio's types and its host time. The hardware's objects (`AudioObjectID` and what is asked
// of them) are not here.
@_exported import CoreAudioTypes

/// The host time now.
public func AudioGetCurrentHostTime() -> UInt64 { mach_absolute_time() }

/// Units of host time in a second.
public func AudioGetHostClockFrequency() -> Float64 { 1e9 }

/// The smallest step of the host time, in its units.
public func AudioGetHostClockMinimumTimeDelta() -> UInt32 { 1 }

/// Nanoseconds of so many units of host time, which are nanoseconds here.
public func AudioConvertHostTimeToNanos(_ inHostTime: UInt64) -> UInt64 { inHostTime }

/// Units of host time of so many nanoseconds.
public func AudioConvertNanosToHostTime(_ inNanos: UInt64) -> UInt64 { inNanos }
