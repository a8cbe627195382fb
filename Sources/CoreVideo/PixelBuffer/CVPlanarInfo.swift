// SPDX-License-Identifier: Apache-2.0
/// The position of a component of a planar picture. The numbers are big-endian in memory.
public struct CVPlanarComponentInfo: Sendable, Hashable {
  /// The offset in bytes from the buffer's base address to the component.
  public var offset: Int32
  /// The distance of two rows in bytes.
  public var rowBytes: UInt32

  public init() { self.init(offset: 0, rowBytes: 0) }

  public init(offset: Int32, rowBytes: UInt32) {
    self.offset = offset
    self.rowBytes = rowBytes
  }
}

/// The components of a planar picture, at the start of a block that is passed to
/// `CVPixelBufferCreateWithPlanarBytes`.
public struct CVPlanarPixelBufferInfo: Sendable, Hashable {
  public var componentInfo: CVPlanarComponentInfo

  public init() { self.init(componentInfo: CVPlanarComponentInfo()) }
  public init(componentInfo: CVPlanarComponentInfo) { self.componentInfo = componentInfo }
}

public struct CVPlanarPixelBufferInfo_YCbCrPlanar: Sendable, Hashable {
  public var componentInfoY: CVPlanarComponentInfo
  public var componentInfoCb: CVPlanarComponentInfo
  public var componentInfoCr: CVPlanarComponentInfo

  public init() {
    self.init(componentInfoY: .init(), componentInfoCb: .init(), componentInfoCr: .init())
  }

  public init(
    componentInfoY: CVPlanarComponentInfo, componentInfoCb: CVPlanarComponentInfo,
    componentInfoCr: CVPlanarComponentInfo
  ) {
    self.componentInfoY = componentInfoY
    self.componentInfoCb = componentInfoCb
    self.componentInfoCr = componentInfoCr
  }
}

public struct CVPlanarPixelBufferInfo_YCbCrBiPlanar: Sendable, Hashable {
  public var componentInfoY: CVPlanarComponentInfo
  public var componentInfoCbCr: CVPlanarComponentInfo

  public init() { self.init(componentInfoY: .init(), componentInfoCbCr: .init()) }

  public init(componentInfoY: CVPlanarComponentInfo, componentInfoCbCr: CVPlanarComponentInfo) {
    self.componentInfoY = componentInfoY
    self.componentInfoCbCr = componentInfoCbCr
  }
}
