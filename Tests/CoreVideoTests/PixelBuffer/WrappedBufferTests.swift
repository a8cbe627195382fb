// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation
import Synchronization
import Testing

/// The arguments of a release callback.
private final class Log: Sendable {
  let released = Mutex<[Int]>([])
}

@Suite struct WrappedBufferTests {
  @Test func bytesAreWrappedAndGivenBack() throws {
    let log = Log()
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 100 * 50, alignment: 1)
    defer { memory.deallocate() }
    do {
      var out: CVPixelBuffer?
      let status = CVPixelBufferCreateWithBytes(
        nil, 20, 50, kCVPixelFormatType_32BGRA, memory, 100,
        { refCon, address in
          let log = Unmanaged<Log>.fromOpaque(refCon!).takeUnretainedValue()
          log.released.withLock { $0.append(Int(bitPattern: address)) }
        }, Unmanaged.passUnretained(log).toOpaque(), nil, &out)
      #expect(status == kCVReturnSuccess)
      let buffer = try #require(out)
      #expect(CVPixelBufferGetBaseAddress(buffer) == memory)
      #expect(CVPixelBufferGetBytesPerRow(buffer) == 100)
      #expect(CVPixelBufferGetDataSize(buffer) == 5000)
      #expect(log.released.withLock { $0.isEmpty })
      out = nil
    }
    #expect(log.released.withLock { $0 } == [Int(bitPattern: memory)])
  }

  @Test func planesAreWrappedAndGivenBack() throws {
    let log = Log()
    let luma = UnsafeMutableRawPointer.allocate(byteCount: 64 * 32, alignment: 16)
    let chroma = UnsafeMutableRawPointer.allocate(byteCount: 64 * 16, alignment: 16)
    defer {
      luma.deallocate()
      chroma.deallocate()
    }
    var addresses: [UnsafeMutableRawPointer?] = [luma, chroma]
    var widths = [60, 30]
    var heights = [32, 16]
    var strides = [64, 64]
    do {
      var out: CVPixelBuffer?
      let status = CVPixelBufferCreateWithPlanarBytes(
        nil, 60, 32, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, nil, 0, 2, &addresses, &widths, &heights,
        &strides,
        { refCon, _, _, count, planes in
          let log = Unmanaged<Log>.fromOpaque(refCon!).takeUnretainedValue()
          log.released.withLock { released in
            released += (0..<count).map { Int(bitPattern: planes![$0]) }
          }
        }, Unmanaged.passUnretained(log).toOpaque(), nil, &out)
      #expect(status == kCVReturnSuccess)
      let buffer = try #require(out)
      #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 1) == chroma)
      #expect(CVPixelBufferGetBaseAddress(buffer) == nil)
      #expect(CVPixelBufferGetDataSize(buffer) == 64 * 48)
      out = nil
    }
    #expect(log.released.withLock { $0 } == [Int(bitPattern: luma), Int(bitPattern: chroma)])
  }

  @Test func wrongGeometryIsRefused() {
    var byte: UInt8 = 0
    withUnsafeMutableBytes(of: &byte) { bytes in
      let address = bytes.baseAddress!
      var out: CVPixelBuffer?
      #expect(
        CVPixelBufferCreateWithBytes(
          nil, 20, 50, kCVPixelFormatType_32BGRA, address, 79, nil, nil, nil, &out)
          == kCVReturnInvalidArgument)
      #expect(
        CVPixelBufferCreateWithBytes(
          nil, 20, 50, kCVPixelFormatType_420YpCbCr8Planar, address, 80, nil, nil, nil, &out)
          == kCVReturnInvalidArgument)
      #expect(
        CVPixelBufferCreateWithBytes(
          nil, 20, 50, kCVPixelFormatType_32BGRA, address, .max, nil, nil, nil, &out)
          == kCVReturnInvalidArgument)
      let border = [kCVPixelBufferExtendedPixelsLeftKey: 4] as CFDictionary
      #expect(
        CVPixelBufferCreateWithBytes(
          nil, 20, 50, kCVPixelFormatType_32BGRA, address, 80, nil, nil, border, &out)
          == kCVReturnInvalidPixelBufferAttributes)
      var addresses: [UnsafeMutableRawPointer?] = [address, nil]
      var (widths, heights, strides) = ([20, 10], [50, 25], [20, 20])
      #expect(
        CVPixelBufferCreateWithPlanarBytes(
          nil, 20, 50, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, nil, 0, 2, &addresses, &widths,
          &heights,
          &strides, nil, nil, nil, &out) == kCVReturnInvalidArgument)
      #expect(out == nil)
    }
  }

  /// Sizes beyond all memory are rejected, also if their sum overflows.
  @Test(arguments: [
    (0, 32, 16, Int.max, 64), (Int.max, 32, 16, 64, 64), (0, .max, 16, 64, 64), (0, 32, .max, 64, 64),
    (1 << 20, 32, 16, 1 << 31, 64), (0, 1 << 40, 16, 1 << 30, 1 << 30),
  ]) func impossibleSizesAreRefused(
    data: Int, lumaRows: Int, chromaRows: Int, lumaStride: Int, chromaStride: Int
  )
    throws
  {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 * 48, alignment: 16)
    defer { memory.deallocate() }
    var addresses: [UnsafeMutableRawPointer?] = [memory, memory + 64 * 32]
    var widths = [60, 30]
    var heights = [lumaRows, chromaRows]
    var strides = [lumaStride, chromaStride]
    var out: CVPixelBuffer?
    let status = CVPixelBufferCreateWithPlanarBytes(
      nil, 60, 32, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, nil, data, 2, &addresses, &widths,
      &heights,
      &strides, nil, nil, nil, &out)
    if data == .max {
      // A size of the whole block that says nothing of the planes.
      #expect(status == kCVReturnSuccess && out.map(CVPixelBufferGetDataSize) == .max)
    } else {
      #expect(status == kCVReturnInvalidArgument && out == nil)
    }
    #expect(
      CVPixelBufferCreateWithBytes(
        nil, 20, 2, kCVPixelFormatType_32BGRA, memory, 1 << 31, nil, nil, nil, &out)
        == kCVReturnInvalidArgument)
  }

  @Test func impossibleImagesAreRefused() throws {
    let provider = try #require(CGDataProvider(data: NSData(data: Data(count: 16))))
    func image(_ width: Int, _ height: Int, bits: Int, bytesPerRow: Int) -> CGImage? {
      CGImage(
        width: width, height: height, bitsPerComponent: 1, bitsPerPixel: bits, bytesPerRow: bytesPerRow,
        space: CGColorSpaceCreateDeviceGray(), bitmapInfo: [], provider: provider, decode: nil,
        shouldInterpolate: false, intent: .defaultIntent)
    }
    #expect(image(9, 8, bits: 1, bytesPerRow: 2) != nil && image(9, 8, bits: 1, bytesPerRow: 1) == nil)
    for (width, height) in [(.max, 1), (.max - 6, 1), (1, .max), (.max, .max)] as [(Int, Int)] {
      for bits in [1, 8, .max] { #expect(image(width, height, bits: bits, bytesPerRow: .max) == nil) }
    }
  }
}
