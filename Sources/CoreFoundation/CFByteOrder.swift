// SPDX-License-Identifier: Apache-2.0
// Functions that change the byte order of numbers, for numbers in files and streams.

/// A byte order as the functions return it: the raw value of one of the constants below.
public typealias CFByteOrder = CFIndex

/// The order of a number's bytes in memory.
public struct __CFByteOrder: RawRepresentable, Sendable, Hashable {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

public let CFByteOrderUnknown = __CFByteOrder(0)
public let CFByteOrderLittleEndian = __CFByteOrder(1)
public let CFByteOrderBigEndian = __CFByteOrder(2)

/// Returns the byte order of this machine: the raw value of `CFByteOrderLittleEndian` or of
/// `CFByteOrderBigEndian`.
public func CFByteOrderGetCurrent() -> CFByteOrder {
  CFByteOrder(
    UInt16(1).bigEndian == 1 ? CFByteOrderBigEndian.rawValue : CFByteOrderLittleEndian.rawValue)
}

// MARK: - Integers

@inlinable public func CFSwapInt16(_ arg: UInt16) -> UInt16 { arg.byteSwapped }
@inlinable public func CFSwapInt32(_ arg: UInt32) -> UInt32 { arg.byteSwapped }
@inlinable public func CFSwapInt64(_ arg: UInt64) -> UInt64 { arg.byteSwapped }

@inlinable public func CFSwapInt16BigToHost(_ arg: UInt16) -> UInt16 { UInt16(bigEndian: arg) }
@inlinable public func CFSwapInt32BigToHost(_ arg: UInt32) -> UInt32 { UInt32(bigEndian: arg) }
@inlinable public func CFSwapInt64BigToHost(_ arg: UInt64) -> UInt64 { UInt64(bigEndian: arg) }
@inlinable public func CFSwapInt16HostToBig(_ arg: UInt16) -> UInt16 { arg.bigEndian }
@inlinable public func CFSwapInt32HostToBig(_ arg: UInt32) -> UInt32 { arg.bigEndian }
@inlinable public func CFSwapInt64HostToBig(_ arg: UInt64) -> UInt64 { arg.bigEndian }

@inlinable public func CFSwapInt16LittleToHost(_ arg: UInt16) -> UInt16 { UInt16(littleEndian: arg) }
@inlinable public func CFSwapInt32LittleToHost(_ arg: UInt32) -> UInt32 { UInt32(littleEndian: arg) }
@inlinable public func CFSwapInt64LittleToHost(_ arg: UInt64) -> UInt64 { UInt64(littleEndian: arg) }
@inlinable public func CFSwapInt16HostToLittle(_ arg: UInt16) -> UInt16 { arg.littleEndian }
@inlinable public func CFSwapInt32HostToLittle(_ arg: UInt32) -> UInt32 { arg.littleEndian }
@inlinable public func CFSwapInt64HostToLittle(_ arg: UInt64) -> UInt64 { arg.littleEndian }

// MARK: - Floating-point numbers

/// The bits of a `Float` in big-endian order. They are not stored as a `Float`, because swapped
/// bits can form a signaling NaN, which copying may change.
public struct CFSwappedFloat32: Sendable, Hashable {
  public var v: UInt32
  public init() { v = 0 }
  public init(v: UInt32) { self.v = v }
}

/// The bits of a `Double` in big-endian order.
public struct CFSwappedFloat64: Sendable, Hashable {
  public var v: UInt64
  public init() { v = 0 }
  public init(v: UInt64) { self.v = v }
}

@inlinable public func CFConvertFloat32HostToSwapped(_ arg: Float32) -> CFSwappedFloat32 {
  CFSwappedFloat32(v: arg.bitPattern.bigEndian)
}
@inlinable public func CFConvertFloat32SwappedToHost(_ arg: CFSwappedFloat32) -> Float32 {
  Float32(bitPattern: UInt32(bigEndian: arg.v))
}
@inlinable public func CFConvertFloat64HostToSwapped(_ arg: Float64) -> CFSwappedFloat64 {
  CFSwappedFloat64(v: arg.bitPattern.bigEndian)
}
@inlinable public func CFConvertFloat64SwappedToHost(_ arg: CFSwappedFloat64) -> Float64 {
  Float64(bitPattern: UInt64(bigEndian: arg.v))
}
@inlinable public func CFConvertFloatHostToSwapped(_ arg: Float) -> CFSwappedFloat32 {
  CFConvertFloat32HostToSwapped(arg)
}
@inlinable public func CFConvertFloatSwappedToHost(_ arg: CFSwappedFloat32) -> Float {
  CFConvertFloat32SwappedToHost(arg)
}
@inlinable public func CFConvertDoubleHostToSwapped(_ arg: Double) -> CFSwappedFloat64 {
  CFConvertFloat64HostToSwapped(arg)
}
@inlinable public func CFConvertDoubleSwappedToHost(_ arg: CFSwappedFloat64) -> Double {
  CFConvertFloat64SwappedToHost(arg)
}
