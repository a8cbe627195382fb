// SPDX-License-Identifier: Apache-2.0
import FuzzDriver
import HEVCEncoder

/// How the samples of pictures are stored.
struct HEVCLayout {
  /// Whether samples have 10 bits, and whether these are in the upper bits of sixteen.
  var isDeep: Bool
  var isUpper: Bool
  /// Whether Cb and Cr are two planes.
  var isPlanar: Bool
  /// The bytes between rows.
  var padding: Int
}

/// Changes of a picture.
enum HEVCPictureChange {
  /// Sets all samples to one colour, of 8 bits.
  case fill(luma: Int, cb: Int, cr: Int)
  /// Adds multiples of the position to all samples, which wrap around.
  case slope(x: Int, y: Int)
  /// Adds noise below a limit, with 10 bits.
  case noise(seed: Int, limit: Int)
  /// Moves the picture; what leaves it at one side comes in at the other.
  case move(x: Int, y: Int)
  /// Multiplies all samples by a factor in units of 1/64, and adds an offset of 8 bits.
  case fade(factor: Int, offset: Int)
  /// Sets a rectangle to two colours in stripes.
  case stripes(x: Int, y: Int, width: Int, height: Int, period: Int, luma: Int)
  /// Draws letters of random strokes in cells of 8x12 samples, from a row on.
  case print(seed: Int, row: Int)

  /// Reads a change from the fuzzer's input.
  init(_ input: inout FuzzInput) {
    func number() -> Int { Int(input.byte()) }
    func signed() -> Int { Int(Int8(bitPattern: input.byte())) }
    switch input.byte() % 7 {
    case 0: self = .fill(luma: number(), cb: number(), cr: number())
    case 1: self = .slope(x: signed(), y: signed())
    case 2: self = .noise(seed: number(), limit: 1 << (number() % 11))
    case 3: self = .move(x: signed(), y: signed())
    case 4: self = .fade(factor: number(), offset: signed())
    case 5:
      self = .stripes(
        x: number(), y: number(), width: number(), height: number(), period: number() % 16 + 1, luma: number()
      )
    default: self = .print(seed: number(), row: number())
    }
  }
}

/// A picture that changes from frame to frame, with 10 bits per sample.
struct HEVCCanvas {
  private let width: Int
  private let height: Int
  private let layout: HEVCLayout
  private var planes: [[Int]]

  init(_ configuration: HEVCEncoderConfiguration, _ layout: HEVCLayout) {
    (width, height) = (configuration.width, configuration.height)
    self.layout = layout
    planes = [width * height, width / 2 * (height / 2), width / 2 * (height / 2)].map {
      [Int](repeating: 512, count: $0)
    }
  }

  mutating func apply(_ change: HEVCPictureChange) {
    switch change {
    case .fill(let luma, let cb, let cr):
      for (n, value) in [luma, cb, cr].enumerated() { map(n) { _, _, _ in value << 2 } }
    case .slope(let dx, let dy):
      for n in 0..<3 { map(n) { x, y, old in (old + x * dx + y * dy) & 1023 } }
    case .noise(let seed, let limit):
      var state = UInt32(truncatingIfNeeded: seed &* 0x9E37_79B9 | 1)
      for n in 0..<3 {
        map(n) { _, _, old in
          state ^= state << 13
          state ^= state >> 17
          state ^= state << 5
          return old + Int(state >> 8) % limit - limit / 2
        }
      }
    case .move(let dx, let dy):
      for n in 0..<3 {
        let (old, (width, height)) = (planes[n], size(n))
        let (dx, dy) = n == 0 ? (dx, dy) : (dx / 2, dy / 2)
        func wrapped(_ value: Int, _ size: Int) -> Int { (value % size + size) % size }
        map(n) { x, y, _ in old[wrapped(y + dy, height) * width + wrapped(x + dx, width)] }
      }
    case .fade(let factor, let offset):
      for n in 0..<3 { map(n) { _, _, old in old * factor / 64 + offset * 4 } }
    case .stripes(let left, let top, let width, let height, let period, let luma):
      map(0) { x, y, old in
        guard x >= left, y >= top, x < left + width, y < top + height else { return old }
        return (x + y) / period & 1 == 0 ? luma << 2 : 1023 - luma << 2
      }
    case .print(let seed, let row):
      map(0) { x, y, _ in
        let cell = UInt32(truncatingIfNeeded: x / 8 &+ (y + row) / 12 &* 31 &+ seed) &* 0x9E37_79B1
        guard x % 8 < 6, (y + row) % 12 < 10, cell >> 30 > 0 else { return 940 }
        return cell >> UInt32(x % 8 / 2 + (y + row) % 12 / 2 * 3) & 1 == 1 ? 80 : 940
      }
    }
  }

  private func size(_ plane: Int) -> (width: Int, height: Int) {
    plane == 0 ? (width, height) : (width / 2, height / 2)
  }

  private mutating func map(_ plane: Int, _ change: (_ x: Int, _ y: Int, _ old: Int) -> Int) {
    let (width, height) = size(plane)
    for y in 0..<height {
      for x in 0..<width {
        let at = y * width + x
        planes[plane][at] = min(max(change(x, y, planes[plane][at]), 0), 1023)
      }
    }
  }

  // MARK: - Sources

  /// Calls `body` with the picture. Its memory ends with the last sample.
  func withSource(_ body: (HEVCSource) -> Bool) -> Bool {
    let chroma =
      layout.isPlanar ? planes[1...].map { memory($0, columns: width / 2, rows: height / 2) } : [pairs()]
    let luma = memory(planes[0], columns: width, rows: height)
    defer { for plane in chroma + [luma] { plane.address.deallocate() } }
    let planar = (chroma[0], chroma[chroma.count - 1])
    if layout.isDeep {
      return body(
        .tenBits(
          TenBitPicture(
            width: width, height: height, alignment: layout.isUpper ? .upper : .lower, luma: luma.address,
            lumaBytesPerRow: luma.stride,
            chroma: layout.isPlanar
              ? .planar(
                cb: planar.0.address, cbBytesPerRow: planar.0.stride, cr: planar.1.address,
                crBytesPerRow: planar.1.stride)
              : .interleaved(planar.0.address, bytesPerRow: planar.0.stride))))
    }
    func bytes(_ plane: Plane) -> UnsafePointer<UInt8> {
      UnsafePointer(plane.address.assumingMemoryBound(to: UInt8.self))
    }
    return body(
      .eightBits(
        SourcePicture(
          width: width, height: height, luma: bytes(luma), lumaBytesPerRow: luma.stride,
          chroma: layout.isPlanar
            ? .planar(
              cb: bytes(planar.0), cbBytesPerRow: planar.0.stride, cr: bytes(planar.1),
              crBytesPerRow: planar.1.stride)
            : .interleaved(bytes(planar.0), bytesPerRow: planar.0.stride))))
  }

  private typealias Plane = (address: UnsafeMutableRawPointer, stride: Int)

  private func memory(_ samples: [Int], columns: Int, rows: Int) -> Plane {
    let size = layout.isDeep ? 2 : 1
    let stride = columns * size + layout.padding
    let address = UnsafeMutableRawPointer.allocate(
      byteCount: stride * (rows - 1) + columns * size, alignment: 1)
    for y in 0..<rows {
      for x in 0..<columns {
        let (value, at) = (samples[y * columns + x], y * stride + x * size)
        if layout.isDeep {
          let value = UInt16(value) << (layout.isUpper ? 6 : 0)
          address.storeBytes(of: value.littleEndian, toByteOffset: at, as: UInt16.self)
        } else {
          address.storeBytes(of: UInt8(value >> 2), toByteOffset: at, as: UInt8.self)
        }
      }
    }
    return (address, stride)
  }

  private func pairs() -> Plane {
    let mixed = planes[1].indices.flatMap { [planes[1][$0], planes[2][$0]] }
    return memory(mixed, columns: width / 2 * 2, rows: height / 2)
  }
}
