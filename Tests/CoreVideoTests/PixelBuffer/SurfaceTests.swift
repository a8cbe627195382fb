// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation
import Synchronization
import Testing

/// Memory that exists only while it is mapped.
private final class Surface: OVTPixelBufferSurface, @unchecked Sendable {
  private let bytesPerRow: Int
  private let rows: [Int]
  private let canMap: Bool
  private var memory: UnsafeMutableRawPointer?
  let log = Mutex<[String]>([])

  init(bytesPerRow: Int, rows: [Int], canMap: Bool = true) {
    self.bytesPerRow = bytesPerRow
    self.rows = rows
    self.canMap = canMap
  }

  func map(isReadOnly: Bool) -> [OVTMappedPlane]? {
    log.withLock { $0.append(isReadOnly ? "read" : "write") }
    guard canMap, memory == nil else { return nil }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytesPerRow * rows.reduce(0, +), alignment: 64)
    self.memory = memory
    var at = 0
    return rows.map { rows in
      defer { at += rows * bytesPerRow }
      return OVTMappedPlane(baseAddress: memory + at, bytesPerRow: bytesPerRow)
    }
  }

  func unmap() {
    log.withLock { $0.append("unmap") }
    memory?.deallocate()
    memory = nil
  }
}

/// Reports the distance between rows that it was configured with.
private final class WildSurface: OVTPixelBufferSurface, @unchecked Sendable {
  private let bytesPerRow: Int
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
  let isMapped = Mutex(false)
  init(bytesPerRow: Int) { self.bytesPerRow = bytesPerRow }
  deinit { memory.deallocate() }
  func map(isReadOnly: Bool) -> [OVTMappedPlane]? {
    isMapped.withLock { $0 = true }
    return [OVTMappedPlane(baseAddress: memory, bytesPerRow: bytesPerRow)]
  }
  func unmap() { isMapped.withLock { $0 = false } }
}

@Suite struct SurfaceTests {
  @Test(
    "Rows that are too short, or that no converter can say, are not a mapping",
    arguments: [Int.min, -1, 0, 1, 255, 1 << 31, 1 << 60, .max])
  func rowsBeyondReasonAreNoMapping(bytesPerRow: Int) throws {
    let surface = WildSurface(bytesPerRow: bytesPerRow)
    var made: CVPixelBuffer?
    OVTPixelBufferCreateWithSurface(nil, surface, 64, 32, kCVPixelFormatType_32BGRA, nil, &made)
    let buffer = try #require(made)
    #expect(CVPixelBufferLockBaseAddress(buffer, []) != kCVReturnSuccess)
    #expect(!surface.isMapped.withLock { $0 } && CVPixelBufferGetDataSize(buffer) == 0)
  }

  private func make(_ surface: Surface, _ format: OSType) throws -> CVPixelBuffer {
    var buffer: CVPixelBuffer?
    #expect(OVTPixelBufferCreateWithSurface(nil, surface, 64, 32, format, nil, &buffer) == kCVReturnSuccess)
    return try #require(buffer)
  }

  @Test("The memory of a buffer on a surface exists while it is locked, and is mapped once")
  func theMemoryOfABufferOnASurfaceIsThereWhileItIsLocked() throws {
    let surface = Surface(bytesPerRow: 80, rows: [32, 16])
    let buffer = try make(surface, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(OVTPixelBufferGetSurface(buffer) === surface)
    #expect(CVPixelBufferGetWidth(buffer) == 64 && CVPixelBufferGetHeight(buffer) == 32)
    #expect(CVPixelBufferGetPlaneCount(buffer) == 2 && CVPixelBufferGetHeightOfPlane(buffer, 1) == 16)
    func expectNothing() {
      #expect(CVPixelBufferGetBaseAddress(buffer) == nil)
      #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 0) == nil)
      #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 1) == nil)
      #expect(CVPixelBufferGetBytesPerRowOfPlane(buffer, 0) == 0 && CVPixelBufferGetDataSize(buffer) == 0)
    }
    expectNothing()
    #expect(CVPixelBufferLockBaseAddress(buffer, []) == kCVReturnSuccess)
    #expect(CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnSuccess)
    let luma = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, 0))
    #expect(CVPixelBufferGetBaseAddress(buffer) == luma)
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 1) == luma + 80 * 32)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(buffer, 1) == 80)
    #expect(CVPixelBufferGetDataSize(buffer) == 80 * 48)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferGetBaseAddress(buffer) == luma)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, []) == kCVReturnSuccess)
    expectNothing()
    #expect(CVPixelBufferUnlockBaseAddress(buffer, []) == kCVReturnInvalidArgument)
    #expect(surface.log.withLock { $0 } == ["write", "unmap"])
  }

  @Test("What cannot be mapped, or not so, is not locked")
  func whatCannotBeMappedIsNotLocked() throws {
    let dark = Surface(bytesPerRow: 256, rows: [32], canMap: false)
    let buffer = try make(dark, kCVPixelFormatType_32BGRA)
    #expect(CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnError)
    #expect(CVPixelBufferGetBaseAddress(buffer) == nil)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, .readOnly) == kCVReturnInvalidArgument)

    let surface = Surface(bytesPerRow: 256, rows: [32])
    let other = try make(surface, kCVPixelFormatType_32BGRA)
    #expect(CVPixelBufferLockBaseAddress(other, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferLockBaseAddress(other, []) == kCVReturnError)
    #expect(CVPixelBufferGetBaseAddress(other) != nil)
    #expect(CVPixelBufferUnlockBaseAddress(other, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferLockBaseAddress(other, []) == kCVReturnSuccess)
    #expect(CVPixelBufferUnlockBaseAddress(other, []) == kCVReturnSuccess)
    #expect(surface.log.withLock { $0 } == ["read", "unmap", "write", "unmap"])

    // Too few planes for the format.
    let wrong = Surface(bytesPerRow: 80, rows: [48])
    let planar = try make(wrong, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(CVPixelBufferLockBaseAddress(planar, .readOnly) == kCVReturnError)
    #expect(wrong.log.withLock { $0 } == ["read", "unmap"])
  }

  @Test("Each plane's rows are as long as its pixels, at least")
  func eachPlanesRowsAreAsLongAsItsPixels() throws {
    var made: CVPixelBuffer?
    for (bytesPerRow, status) in [(63, kCVReturnError), (64, kCVReturnSuccess)] {
      let surface = Surface(bytesPerRow: bytesPerRow, rows: [2, 1])
      OVTPixelBufferCreateWithSurface(
        nil, surface, 63, 2, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
      // 63 are enough for luma, but not for 32 pairs.
      #expect(CVPixelBufferLockBaseAddress(try #require(made), []) == status)
    }
    // Without the padding that the format asks for: 48 pixels in 128 bytes.
    let packed = Surface(bytesPerRow: 16, rows: [2])
    OVTPixelBufferCreateWithSurface(nil, packed, 6, 2, kCVPixelFormatType_422YpCbCr10, nil, &made)
    #expect(CVPixelBufferLockBaseAddress(try #require(made), []) == kCVReturnSuccess)
  }

  @Test func surfacesOfBadGeometryAreRefused() {
    let surface = Surface(bytesPerRow: 80, rows: [32])
    var buffer: CVPixelBuffer?
    #expect(
      OVTPixelBufferCreateWithSurface(nil, surface, 0, 32, kCVPixelFormatType_32BGRA, nil, &buffer)
        == kCVReturnInvalidSize)
    #expect(
      OVTPixelBufferCreateWithSurface(nil, surface, 8, 8, 0x3F3F_3F3F, nil, &buffer)
        == kCVReturnInvalidPixelFormat)
    #expect(buffer == nil)
    CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_32BGRA, nil, &buffer)
    #expect(buffer.map { OVTPixelBufferGetSurface($0) == nil } == true)
  }

  @Test("A buffer that goes while it is locked unmaps its surface")
  func aBufferThatGoesWhileItIsLockedUnmapsItsSurface() throws {
    let surface = Surface(bytesPerRow: 256, rows: [32])
    do {
      let buffer = try make(surface, kCVPixelFormatType_32BGRA)
      #expect(CVPixelBufferLockBaseAddress(buffer, []) == kCVReturnSuccess)
    }
    #expect(surface.log.withLock { $0 } == ["write", "unmap"])
  }
}
