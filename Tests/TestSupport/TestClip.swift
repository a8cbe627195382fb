// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Synchronization

/// Generated pictures: a textured background that moves, a box that moves against it, and noise if
/// requested. It is in this module because this one is optimised in the builds of tests: making the
/// pictures took a fifth of the time of VideoToolboxTests.
public struct TestClip: Sendable {
  public var width: Int
  public var height: Int
  public var framesPerSecond: Int32
  /// Amplitude of noise that is new in each frame, so that no prediction removes it.
  public var noise: Int
  /// Frames from cut to cut; 0 is none.
  public var cutEvery: Int
  public var format: OSType

  public init(
    width: Int = 320, height: Int = 240, framesPerSecond: Int32 = 30, noise: Int = 0, cutEvery: Int = 0,
    format: OSType = kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
  ) {
    (self.width, self.height, self.framesPerSecond) = (width, height, framesPerSecond)
    (self.noise, self.cutEvery, self.format) = (noise, cutEvery, format)
  }

  public func time(_ index: Int) -> CMTime {
    CMTime(value: CMTimeValue(index), timescale: framesPerSecond)
  }
  public var frameDuration: CMTime { CMTime(value: 1, timescale: framesPerSecond) }

  /// The texture, wider and higher than the picture so that it can be moved by pointing into it.
  private static let textureSize = 2048
  private static let texture: [UInt8] = {
    var state: UInt32 = 12345
    let n = textureSize
    let coarse = 64
    let cells = n / 16
    var grid = [UInt8](repeating: 0, count: cells * cells)
    for i in grid.indices {
      state = state &* 1_664_525 &+ 1_013_904_223
      grid[i] = UInt8(state >> 24)
    }
    var result = [UInt8](repeating: 0, count: n * n)
    result.withUnsafeMutableBufferPointer { out in
      for y in 0..<n {
        for x in 0..<n {
          state = state &* 1_664_525 &+ 1_013_904_223
          let cell = Int(grid[(y / 16) * cells + x / 16])
          let wave = (x / coarse + y / coarse) % 2 == 0 ? 30 : 0
          out[y * n + x] = UInt8(40 + cell / 3 + wave + Int(state >> 28))
        }
      }
    }
    return result
  }()

  private static let noiseBytes: [UInt8] = {
    var state: UInt32 = 99
    return (0..<(1 << 20)).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
  }()

  private struct Key: Hashable {
    let size: [Int]
    let format: OSType
    let index: Int
  }
  private static let kept = Mutex<[Key: CVPixelBuffer]>([:])

  /// A picture that must not be changed. Pictures with noise are kept, because the tests of rate
  /// control use the same ones again and again.
  public func buffer(_ index: Int) -> CVPixelBuffer {
    guard noise > 0 else { return make(index) }
    let key = Key(size: [width, height, noise, cutEvery], format: format, index: index)
    if let known = Self.kept.withLock({ $0[key] }) { return known }
    let made = make(index)
    Self.kept.withLock { $0[key] = made }
    return made
  }

  private func make(_ index: Int) -> CVPixelBuffer {
    var made: CVPixelBuffer?
    _ = CVPixelBufferCreate(kCFAllocatorDefault, width, height, format, nil, &made)
    let buffer = made!
    fill(buffer, index)
    return buffer
  }

  /// Draws the picture with a number into a buffer of the clip's size and format.
  public func fill(_ buffer: CVPixelBuffer, _ index: Int) {
    _ = CVPixelBufferLockBaseAddress(buffer, [])
    defer { _ = CVPixelBufferUnlockBaseAddress(buffer, []) }
    let scene = cutEvery > 0 ? index / cutEvery : 0
    let offset = (x: (index * 3 + scene * 531) % 700, y: (index + scene * 377) % 700)
    let n = Self.textureSize
    Self.texture.withUnsafeBufferPointer { texture in
      Self.noiseBytes.withUnsafeBufferPointer { noiseBytes in
        let isDeep =
          format == kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
          || format == kCVPixelFormatType_420YpCbCr10BiPlanarFullRange
        let box = (x: (index * 5) % max(width - 64, 1), y: (index * 2) % max(height - 64, 1))
        func luma(_ x: Int, _ y: Int) -> Int {
          var value = Int(texture[(y + offset.y) * n + x + offset.x])
          if x >= box.x, x < box.x + 48, y >= box.y, y < box.y + 48 { value = 220 - (x - box.x) }
          if noise > 0 {
            let r = Int(noiseBytes[(index * 7919 + y * width + x) & 0xFFFFF])
            value += (r - 128) * noise / 128
          }
          return min(max(value, 16), 235)
        }
        if !CVPixelBufferIsPlanar(buffer) {
          let base = CVPixelBufferGetBaseAddress(buffer)!.assumingMemoryBound(to: UInt8.self)
          let stride = CVPixelBufferGetBytesPerRow(buffer)
          for y in 0..<height {
            for x in 0..<width {
              let v = UInt8(luma(x, y))
              for c in 0..<4 { base[y * stride + 4 * x + c] = c == 3 ? 255 : v }
            }
          }
          return
        }
        for plane in 0..<CVPixelBufferGetPlaneCount(buffer) {
          let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane)!
          let stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
          let w = CVPixelBufferGetWidthOfPlane(buffer, plane)
          let h = CVPixelBufferGetHeightOfPlane(buffer, plane)
          let samples = plane > 0 && CVPixelBufferGetPlaneCount(buffer) == 2 ? 2 * w : w
          for y in 0..<h {
            let row = base + y * stride
            for x in 0..<samples {
              let value = plane == 0 ? luma(x, y) : 110 + (x / 8 + y / 4 + scene * 13) % 40
              if isDeep {
                row.storeBytes(of: UInt16(value) << 8, toByteOffset: 2 * x, as: UInt16.self)
              } else {
                row.storeBytes(of: UInt8(value), toByteOffset: x, as: UInt8.self)
              }
            }
          }
        }
      }
    }
  }
}
