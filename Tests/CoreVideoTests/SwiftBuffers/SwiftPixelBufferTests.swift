// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import CoreVideo
import Foundation
import Testing

/// Pixel buffers with one owner, and read-only ones.
@Suite struct SwiftPixelBufferTests {
  private static let nv12 = CVPixelFormatType(rawValue: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
  private static let bgra = CVPixelFormatType(rawValue: kCVPixelFormatType_32BGRA)

  @Test func whatIsWrittenIsRead() async throws {
    let attributes = CVPixelBufferCreationAttributes(
      pixelFormatType: Self.bgra, size: CVImageSize(width: 33, height: 7), bytesPerRowAlignment: 256)
    let mutable = try CVMutablePixelBuffer(attributes)
    #expect(mutable.size == attributes.size && mutable.pixelFormatType == Self.bgra)
    #expect(!mutable.isPlanar && mutable.planeCount == 1)
    let address = mutable.withUnsafeBuffer { buffer -> Int in
      CVPixelBufferLockBaseAddress(buffer, [])
      defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
      #expect(CVPixelBufferGetBytesPerRow(buffer) % 256 == 0)
      memset(CVPixelBufferGetBaseAddress(buffer), 0x5A, CVPixelBufferGetDataSize(buffer))
      return Int(bitPattern: CVPixelBufferGetBaseAddress(buffer))
    }
    let ready = CVReadOnlyPixelBuffer(mutable)
    // Another task may have it; it is the same memory.
    let (same, first) = await Task.detached {
      ready.withUnsafeBuffer { buffer -> (Bool, UInt8) in
        CVPixelBufferLockBaseAddress(buffer, .readOnly)
        defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
        let base = CVPixelBufferGetBaseAddress(buffer)
        return (Int(bitPattern: base) == address, base?.load(as: UInt8.self) ?? 0)
      }
    }.value
    #expect(same && first == 0x5A)
    #expect(ready.isCompatibleWith(CVPixelBufferAttributes(pixelFormatTypes: [Self.nv12, Self.bgra])))
    #expect(!ready.isCompatibleWith(CVPixelBufferAttributes(pixelFormatTypes: [Self.nv12])))
    #expect(!ready.isCompatibleWith(CVPixelBufferAttributes(size: CVImageSize(width: 34, height: 7))))
    #expect(ready.isCompatibleWith(CVPixelBufferAttributes(bytesPerRowAlignment: 256)))
    #expect(!ready.isCompatibleWith(CVPixelBufferAttributes(bytesPerRowAlignment: 1024)))
  }

  @Test func poolsReuseTheMemoryOfBuffers() throws {
    let attributes = CVPixelBufferCreationAttributes(
      pixelFormatType: Self.nv12, size: CVImageSize(width: 64, height: 32))
    let pool = try CVMutablePixelBuffer.Pool(pixelBufferAttributes: attributes)
    #expect(pool.pixelBufferAttributes == attributes)
    func address() throws -> Int {
      let buffer = try pool.makeMutablePixelBuffer()
      #expect(buffer.isPlanar && buffer.planeCount == 2 && buffer.size == attributes.size)
      return buffer.withUnsafeBuffer { pixels in
        CVPixelBufferLockBaseAddress(pixels, [])
        defer { CVPixelBufferUnlockBaseAddress(pixels, []) }
        return Int(bitPattern: CVPixelBufferGetBaseAddressOfPlane(pixels, 0))
      }
    }
    // The memory comes back, and is used again.
    #expect(try address() == address())
  }

  @Test func whatCannotBeMadeIsAnError() {
    let refused = [
      CVPixelBufferCreationAttributes(
        pixelFormatType: CVPixelFormatType(rawValue: 0x3F3F_3F3F), size: CVImageSize(width: 4, height: 4)),
      CVPixelBufferCreationAttributes(pixelFormatType: Self.bgra, size: CVImageSize(width: -4, height: 4)),
      CVPixelBufferCreationAttributes(
        pixelFormatType: Self.bgra, size: CVImageSize(width: .max, height: .max)),
    ]
    for attributes in refused {
      #expect(throws: CVError.self) { _ = try CVMutablePixelBuffer(attributes).planeCount }
      #expect(throws: CVError.self) { _ = try CVMutablePixelBuffer.Pool(pixelBufferAttributes: attributes) }
    }
  }

  @Test func attributesAreMergedToWhatAllAccept() {
    let size = CVImageSize(width: 16, height: 16)
    let first = CVPixelBufferAttributes(pixelFormatTypes: [Self.nv12, Self.bgra], bytesPerRowAlignment: 64)
    let second = CVPixelBufferAttributes(pixelFormatTypes: [Self.bgra], size: size, bytesPerRowAlignment: 128)
    let merged = CVPixelBufferAttributes(merging: [first, second, CVPixelBufferAttributes()])
    #expect(
      merged?.pixelFormatTypes == [Self.bgra] && merged?.size == size && merged?.bytesPerRowAlignment == 128)
    let creation = merged.flatMap { CVPixelBufferCreationAttributes($0) }
    #expect(creation?.pixelFormatType == Self.bgra && creation?.size == size)
    #expect(creation?.bytesPerRowAlignment == 128)
    #expect(CVPixelBufferCreationAttributes(first) == nil, "no size")
    #expect(
      CVPixelBufferAttributes(merging: [second, CVPixelBufferAttributes(pixelFormatTypes: [Self.nv12])])
        == nil)
    #expect(
      CVPixelBufferAttributes(
        merging: [second, CVPixelBufferAttributes(size: CVImageSize(width: 1, height: 1))]) == nil)
    // A row is a power of two bytes, or nothing.
    #expect(CVPixelBufferAttributes(merging: [CVPixelBufferAttributes(bytesPerRowAlignment: 12)]) == nil)
    #expect(CVPixelBufferAttributes(merging: [])?.size == nil)
  }
  @Test func planesHaveTheirGeometry() throws {
    var buffer = try CVMutablePixelBuffer(
      CVPixelBufferCreationAttributes(
        pixelFormatType: Self.nv12, size: CVImageSize(width: 35, height: 9),
        extendedPixels: CVPixelBufferPadding(left: 2, right: 2, top: 2, bottom: 2)))
    #expect(buffer.extendedPixels.left >= 2 && buffer.extendedPixels.bottom >= 2)
    #expect(buffer.planeProperties.map(\.size) == [.init(width: 35, height: 9), .init(width: 18, height: 5)])
    #expect(
      buffer.encodedSize == CGSize(CVImageSize(width: 35, height: 9)) && buffer.originPosition == .topLeft)
    let counts = buffer.accessUnsafeMutableRawPlaneBytes { planes -> [Int] in
      for (index, plane) in planes.enumerated() {
        for byte in plane.bytes.indices { plane.bytes[byte] = UInt8(truncatingIfNeeded: byte * 3 + index) }
      }
      return planes.map(\.bytes.count)
    }
    #expect(counts == buffer.planeProperties.map { $0.bytesPerRow * $0.size.height })
    let ready = CVReadOnlyPixelBuffer(buffer)
    let same = ready.accessUnsafeRawPlaneBytes { planes in
      planes.enumerated().allSatisfy { index, plane in
        plane.bytes.indices.allSatisfy { plane.bytes[$0] == UInt8(truncatingIfNeeded: $0 * 3 + index) }
      }
    }
    #expect(same)
    let made = ready.creationAttributes
    #expect(made.pixelFormatType == Self.nv12 && made.size == ready.size && made.extendedPixels?.left == 2)
  }

  @Test func rawAttributesAreReadAndWritten() {
    let raw: [String: any Sendable] = [
      kCVPixelBufferPixelFormatTypeKey as String: [kCVPixelFormatType_32BGRA, kCVPixelFormatType_32ARGB],
      kCVPixelBufferWidthKey as String: 64, kCVPixelBufferHeightKey as String: 32,
      kCVPixelBufferMetalCompatibilityKey as String: true, "Own": "text",
    ]
    let attributes = CVPixelBufferAttributes(rawAttributes: raw)
    #expect(
      attributes.pixelFormatTypes?.map(\.rawValue) == [kCVPixelFormatType_32BGRA, kCVPixelFormatType_32ARGB])
    #expect(
      attributes.size == CVImageSize(width: 64, height: 32) && attributes.compatibility == .metalTexture)
    #expect(NSDictionary(dictionary: attributes.rawAttributes) == NSDictionary(dictionary: raw))
    // Invalid attributes are kept, and no buffer can be created with them.
    let odd = CVPixelBufferAttributes(rawAttributes: [kCVPixelBufferBytesPerRowAlignmentKey as String: "many"]
    )
    #expect(odd.bytesPerRowAlignment == nil && odd.rawAttributes.count == 1)
    #expect(CVPixelBufferAttributes(merging: [odd]) == nil)
    #expect(CVError(rawValue: kCVReturnSuccess) == nil && CVError(rawValue: -6681) == .invalidSize)
    #expect(throws: CVError.invalidSize) { try CVError.check(kCVReturnInvalidSize) }
  }

  @Test func poolsKeepToTheirLimits() throws {
    let pool = try CVMutablePixelBuffer.Pool(
      pixelBufferAttributes: CVPixelBufferCreationAttributes(
        pixelFormatType: Self.bgra, size: CVImageSize(width: 8, height: 8)),
      configuration: .init(ageOutDuration: 5, minimumBufferCount: 1))
    let limit = CVMutablePixelBuffer.Pool.AllocationAttributes(allocationThreshold: 1)
    let first = CVReadOnlyPixelBuffer(try pool.makeMutablePixelBuffer(limit))
    #expect(throws: CVError.wouldExceedAllocationThreshold) {
      _ = try pool.makeMutablePixelBuffer(limit).planeCount
    }
    _ = first.size
    pool.flush()
    pool.flush(agedOutOnly: false)
  }

  /// The bytes of a plane end where it does, also where extended pixels lie around the picture, and
  /// where a row of memory holds several of the picture's.
  @Test func bytesOfPlanesEndWithThem() throws {
    func counts(_ buffer: CVPixelBuffer) -> [Int] {
      CVReadOnlyPixelBuffer(unsafeBuffer: buffer).accessUnsafeRawPlaneBytes { $0.map(\.bytes.count) }
    }
    // 512 bytes a row, the picture begins in the middle of the first one.
    let left = try makeBuffer(
      64, 4, kCVPixelFormatType_32BGRA, [kCVPixelBufferExtendedPixelsLeftKey: 64])
    #expect(CVPixelBufferGetDataSize(left) == 2048 && counts(left) == [2048 - 256])
    // Blocks of four rows.
    let code = 0x5445_5354 as OSType
    CVPixelFormatDescriptionRegisterDescriptionWithPixelFormatType(
      [kCVPixelFormatBitsPerBlock: 32, kCVPixelFormatBlockWidth: 4, kCVPixelFormatBlockHeight: 4]
        as NSDictionary,
      code)
    #expect(counts(try makeBuffer(64, 64, code, [kCVPixelBufferBytesPerRowAlignmentKey: 1])) == [1024])
    // Data written to one plane does not appear in another.
    for code in [kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, kCVPixelFormatType_420YpCbCr8Planar] {
      for key in [kCVPixelBufferExtendedPixelsLeftKey, kCVPixelBufferExtendedPixelsTopKey] {
        let buffer = try makeBuffer(64, 32, code, [key: 32])
        var picture = CVMutablePixelBuffer(unsafeBuffer: buffer)
        picture.accessUnsafeMutableRawPlaneBytes { planes in
          for (number, plane) in planes.enumerated() {
            plane.bytes.initializeMemory(as: UInt8.self, repeating: UInt8(number + 1))
          }
          for (number, plane) in planes.enumerated() {
            #expect(plane.bytes.allSatisfy { $0 == UInt8(number + 1) })
            #expect(plane.bytes.count > plane.properties.bytesPerRow * (plane.properties.size.height - 1))
          }
        }
      }
    }
    // Memory of a program's own.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 64)
    defer { memory.deallocate() }
    var wrapped: CVPixelBuffer?
    #expect(
      CVPixelBufferCreateWithBytes(
        nil, 64, 64, code, try #require(memory.baseAddress), 64, nil, nil, nil, &wrapped)
        == kCVReturnSuccess)
    #expect(counts(try #require(wrapped)) == [1024])
  }
}
