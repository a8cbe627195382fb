// Numbers in another order of their bytes, as they come in files and streams.

/// The order of the bytes of numbers in memory.
public struct CFByteOrder: RawRepresentable, Sendable, Hashable {
  public let rawValue: CFIndex
  public init(rawValue: CFIndex) { self.rawValue = rawValue }
  public init(_ rawValue: CFIndex) { self.rawValue = rawValue }
}

public let CFByteOrderUnknown = CFByteOrder(0)
public let CFByteOrderLittleEndian = CFByteOrder(1)
public let CFByteOrderBigEndian = CFByteOrder(2)

/// The order on this machine, as a `CFByteOrder`'s value.
public func CFByteOrderGetCurrent() -> CFIndex {
  UInt16(1).bigEndian == 1 ? CFByteOrderBigEndian.rawValue : CFByteOrderLittleEndian.rawValue
}

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
