// SPDX-License-Identifier: Apache-2.0
/// A point in whole samples.
public struct VTInt32Point: Sendable, Hashable {
  public var x: Int32
  public var y: Int32
  public init() {
    x = 0
    y = 0
  }
  public init(x: Int32, y: Int32) {
    self.x = x
    self.y = y
  }
}

/// A size in whole samples.
public struct VTInt32Size: Sendable, Hashable {
  public var width: Int32
  public var height: Int32
  public init() {
    width = 0
    height = 0
  }
  public init(width: Int32, height: Int32) {
    self.width = width
    self.height = height
  }
}
