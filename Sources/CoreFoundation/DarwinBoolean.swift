// SPDX-License-Identifier: Apache-2.0
/// The type `Boolean` of Apple's C headers, to which functions write through a pointer.
@frozen
public struct DarwinBoolean: ExpressibleByBooleanLiteral, CustomStringConvertible, Equatable, Sendable {
  @usableFromInline var value: UInt8

  @inlinable
  public init(_ value: Bool) { self.value = value ? 1 : 0 }
  @inlinable
  public init(booleanLiteral value: Bool) { self.init(value) }
  @inlinable
  public var boolValue: Bool { value != 0 }
  public var description: String { boolValue.description }
}
