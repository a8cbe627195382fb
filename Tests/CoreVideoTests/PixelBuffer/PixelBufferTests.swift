// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Testing

func makeBuffer(
  _ width: Int, _ height: Int, _ format: OSType, _ attributes: [CFString: Any]? = nil
) throws -> CVPixelBuffer {
  var out: CVPixelBuffer?
  let status = CVPixelBufferCreate(
    kCFAllocatorDefault, width, height, format, attributes as CFDictionary?, &out)
  #expect(status == kCVReturnSuccess)
  return try #require(out)
}

@Suite struct PixelBufferTests {
  @Test(arguments: [Int.max, .max - 1, .max / 2, 1 << 32, (1 << 16) + 1]) func sizesWithoutMeasureAreRefused(
    size: Int
  ) {
    for (width, height) in [(size, 16), (16, size), (size, size)] {
      for key in [
        kCVPixelBufferExtendedPixelsLeftKey, kCVPixelBufferExtendedPixelsRightKey,
        kCVPixelBufferExtendedPixelsTopKey, kCVPixelBufferExtendedPixelsBottomKey, kCVPixelBufferWidthKey,
      ] {
        var buffer: CVPixelBuffer?
        #expect(
          CVPixelBufferCreate(
            nil, width, height, kCVPixelFormatType_32BGRA, [key: 1] as CFDictionary, &buffer)
            == kCVReturnInvalidSize)
        #expect(buffer == nil)
      }
    }
  }

  /// Width and height of every plane, and bytes of a sample in it, of a picture of 1281 x 721.
  static let geometry: [(OSType, [(Int, Int, Int)])] = [
    (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, [(1281, 721, 1), (641, 361, 2)]),
    (kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, [(1281, 721, 1), (641, 361, 2)]),
    (kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange, [(1281, 721, 1), (641, 721, 2)]),
    (kCVPixelFormatType_444YpCbCr8BiPlanarFullRange, [(1281, 721, 1), (1281, 721, 2)]),
    (kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, [(1281, 721, 2), (641, 361, 4)]),
    (kCVPixelFormatType_420YpCbCr10BiPlanarFullRange, [(1281, 721, 2), (641, 361, 4)]),
    (kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange, [(1281, 721, 2), (641, 721, 4)]),
    (kCVPixelFormatType_444YpCbCr10BiPlanarFullRange, [(1281, 721, 2), (1281, 721, 4)]),
    (kCVPixelFormatType_420YpCbCr8Planar, [(1281, 721, 1), (641, 361, 1), (641, 361, 1)]),
    (kCVPixelFormatType_420YpCbCr8PlanarFullRange, [(1281, 721, 1), (641, 361, 1), (641, 361, 1)]),
    (
      kCVPixelFormatType_420YpCbCr8VideoRange_8A_TriPlanar,
      [(1281, 721, 1), (641, 361, 2), (1281, 721, 1)]
    ),
    (kCVPixelFormatType_32BGRA, [(1281, 721, 4)]),
    (kCVPixelFormatType_24RGB, [(1281, 721, 3)]),
    (kCVPixelFormatType_64RGBAHalf, [(1281, 721, 8)]),
    (kCVPixelFormatType_OneComponent8, [(1281, 721, 1)]),
    (kCVPixelFormatType_OneComponent32Float, [(1281, 721, 4)]),
    // Two pixels share four bytes.
    (kCVPixelFormatType_422YpCbCr8, [(1281, 721, 2)]),
  ]

  @Test(arguments: geometry.indices) func planesHaveTheGeometryOfTheirFormat(index: Int) throws {
    let (format, planes) = Self.geometry[index]
    let buffer = try makeBuffer(1281, 721, format)
    #expect(CVPixelBufferGetWidth(buffer) == 1281 && CVPixelBufferGetHeight(buffer) == 721)
    #expect(CVPixelBufferGetPixelFormatType(buffer) == format)
    #expect(CVPixelBufferIsPlanar(buffer) == (planes.count > 1))
    #expect(CVPixelBufferGetPlaneCount(buffer) == (planes.count > 1 ? planes.count : 0))
    var next = try #require(CVPixelBufferGetBaseAddress(buffer))
    #expect(UInt(bitPattern: next) % 64 == 0)
    var size = 0
    for (plane, (width, height, bytes)) in planes.enumerated() {
      #expect(CVPixelBufferGetWidthOfPlane(buffer, plane) == width)
      #expect(CVPixelBufferGetHeightOfPlane(buffer, plane) == height)
      let stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
      let samples = format == kCVPixelFormatType_422YpCbCr8 ? width + 1 : width
      #expect(stride == (samples * bytes + 63) / 64 * 64)
      // One block, one plane after the other.
      #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, plane) == next)
      memset(next, Int32(plane), stride * height)
      next += stride * height
      size += stride * height
    }
    #expect(CVPixelBufferGetDataSize(buffer) == size)
    #expect(CVPixelBufferGetBytesPerRow(buffer) * 721 >= size)
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, planes.count) == nil)
    #expect(CVPixelBufferGetWidthOfPlane(buffer, -1) == 0)
  }

  @Test func everyFormatMakesABuffer() throws {
    let codes = try #require(CVPixelFormatDescriptionArrayCreateWithAllPixelFormatTypes(nil) as? [UInt32])
    #expect(codes.count > 75)
    for code in codes {
      for (width, height) in [(1, 1), (50, 3)] {
        let buffer = try makeBuffer(width, height, code)
        #expect(CVPixelBufferLockBaseAddress(buffer, []) == kCVReturnSuccess)
        memset(CVPixelBufferGetBaseAddress(buffer)!, 0xAA, CVPixelBufferGetDataSize(buffer))
        #expect(CVPixelBufferUnlockBaseAddress(buffer, []) == kCVReturnSuccess)
      }
    }
    // v210 pads rows to 48 pixels.
    #expect(CVPixelBufferGetBytesPerRow(try makeBuffer(50, 3, kCVPixelFormatType_422YpCbCr10)) == 256)
  }

  @Test func rowsAreAlignedAsAskedFor() throws {
    let tight = try makeBuffer(
      33, 3, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, [kCVPixelBufferBytesPerRowAlignmentKey: 1])
    #expect(CVPixelBufferGetBytesPerRowOfPlane(tight, 0) == 33)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(tight, 1) == 34)
    #expect(CVPixelBufferGetDataSize(tight) == 33 * 3 + 34 * 2)
    let wide = try makeBuffer(
      33, 3, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
      [kCVPixelBufferBytesPerRowAlignmentKey: 16, kCVPixelBufferPlaneAlignmentKey: 256])
    #expect(CVPixelBufferGetBytesPerRowOfPlane(wide, 0) == 48)
    let first = try #require(CVPixelBufferGetBaseAddressOfPlane(wide, 0))
    #expect(CVPixelBufferGetBaseAddressOfPlane(wide, 1) == first + 256)
  }

  @Test func badArgumentsAreRefused() {
    var out: CVPixelBuffer?
    let format = kCVPixelFormatType_32BGRA
    #expect(CVPixelBufferCreate(nil, 0, 10, format, nil, &out) == kCVReturnInvalidSize)
    #expect(CVPixelBufferCreate(nil, 10, -1, format, nil, &out) == kCVReturnInvalidSize)
    #expect(CVPixelBufferCreate(nil, .max, .max, format, nil, &out) == kCVReturnInvalidSize)
    #expect(CVPixelBufferCreate(nil, 10, 10, 0x1234, nil, &out) == kCVReturnInvalidPixelFormat)
    for (key, value) in [
      (kCVPixelBufferBytesPerRowAlignmentKey, 3 as Any), (kCVPixelBufferBytesPerRowAlignmentKey, "16"),
      (kCVPixelBufferExtendedPixelsLeftKey, -1), (kCVPixelBufferPixelFormatTypeKey, "BGRA"),
    ] {
      let attributes = [key: value] as [CFString: Any] as CFDictionary
      #expect(
        CVPixelBufferCreate(nil, 10, 10, format, attributes, &out) == kCVReturnInvalidPixelBufferAttributes)
    }
    #expect(out == nil)
  }

  @Test func locksAreCounted() throws {
    let buffer = try makeBuffer(16, 16, kCVPixelFormatType_32BGRA)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, []) == kCVReturnInvalidArgument)
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    CVPixelBufferLockBaseAddress(buffer, [])
    CVPixelBufferUnlockBaseAddress(buffer, [])
    #expect(CVPixelBufferUnlockBaseAddress(buffer, .readOnly) == kCVReturnSuccess)
    #expect(CVPixelBufferUnlockBaseAddress(buffer, []) == kCVReturnInvalidArgument)
    #expect(
      CVPixelBufferLockBaseAddress(buffer, CVPixelBufferLockFlags(rawValue: 8)) == kCVReturnInvalidArgument)
  }

  @Test(arguments: [
    kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_32BGRA,
    kCVPixelFormatType_420YpCbCr8Planar,
    kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange,
  ]) func extendedPixelsSurroundThePicture(format: OSType) throws {
    let buffer = try makeBuffer(
      20, 12, format,
      [
        kCVPixelBufferExtendedPixelsLeftKey: 4, kCVPixelBufferExtendedPixelsRightKey: 8,
        kCVPixelBufferExtendedPixelsTopKey: 2, kCVPixelBufferExtendedPixelsBottomKey: 6,
      ])
    var sides = (0, 0, 0, 0)
    CVPixelBufferGetExtendedPixels(buffer, &sides.0, &sides.1, &sides.2, &sides.3)
    #expect(sides == (4, 8, 2, 6))
    for plane in 0..<max(CVPixelBufferGetPlaneCount(buffer), 1) {
      let chroma = plane > 0 ? 2 : 1
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, plane))
      let stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
      let isWide = format == kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
      let isPacked = format == kCVPixelFormatType_32BGRA || format == kCVPixelFormatType_422YpCbCr8
      // Bytes of a block and blocks in a row: 2vuy's blocks are two pixels wide.
      let size =
        isPacked ? 4 : (isWide ? 2 : 1) * (plane > 0 && format != kCVPixelFormatType_420YpCbCr8Planar ? 2 : 1)
      let block = format == kCVPixelFormatType_422YpCbCr8 ? 2 : chroma
      let (columns, rows) = (20 / block, 12 / chroma)
      for y in 0..<rows {
        for x in 0..<columns * size {
          base.storeBytes(
            of: UInt8(truncatingIfNeeded: y * 31 + x + plane), toByteOffset: y * stride + x, as: UInt8.self)
        }
      }
      #expect(CVPixelBufferFillExtendedPixels(buffer) == kCVReturnSuccess)
      for y in -2 / chroma..<rows + 6 / chroma {
        for x in -4 / block..<columns + 8 / block {
          let (inX, inY) = (min(max(x, 0), columns - 1), min(max(y, 0), rows - 1))
          for byte in 0..<size {
            let expected = UInt8(truncatingIfNeeded: inY * 31 + inX * size + byte + plane)
            let found = base.load(fromByteOffset: y * stride + x * size + byte, as: UInt8.self)
            #expect(found == expected, "plane \(plane) at \(x), \(y)")
          }
        }
      }
    }
  }

  @Test func buffersTellTheirTypeAndDescription() throws {
    let buffer = try makeBuffer(64, 32, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(CFGetTypeID(buffer) == CVPixelBufferGetTypeID())
    #expect(CFCopyTypeIDDescription(CVPixelBufferGetTypeID()) as String? == "CVPixelBuffer")
    #expect((CFCopyDescription(buffer) as String?)?.contains("'420v'") == true)
    let other = try makeBuffer(64, 32, kCVPixelFormatType_32BGRA)
    #expect(CFEqual(buffer, buffer) && !CFEqual(buffer, other))
    let array = [buffer] as CFArray
    let found = CFArrayGetValueAtIndex(array, 0).map { unsafeBitCast($0, to: CVPixelBuffer.self) }
    #expect(found == buffer)
  }
}
