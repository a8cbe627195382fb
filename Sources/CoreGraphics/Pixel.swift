// SPDX-License-Identifier: Apache-2.0
extension CGColor {
  /// The color as premultiplied components of 8 bits.
  var pixel: Pixel {
    func byte(_ value: CGFloat) -> UInt8 { UInt8(max(0, min(255, (value * alpha * 255).rounded()))) }
    let values = components ?? []
    let full = values.count == 4 ? Array(values.prefix(3)) : [CGFloat](repeating: values.first ?? 0, count: 3)
    return Pixel(
      r: byte(full[0]), g: byte(full[1]), b: byte(full[2]),
      a: UInt8(max(0, min(255, (alpha * 255).rounded()))))
  }
}

/// A color with premultiplied alpha.
struct Pixel: Equatable {
  var r: UInt8 = 0
  var g: UInt8 = 0
  var b: UInt8 = 0
  var a: UInt8 = 0

  /// Returns this color blended over another color.
  func over(_ below: Pixel) -> Pixel {
    if a == 255 { return self }
    let rest = 255 - UInt32(a)
    func mix(_ above: UInt8, _ below: UInt8) -> UInt8 {
      UInt8(min(255, UInt32(above) + (UInt32(below) * rest + 127) / 255))
    }
    return Pixel(r: mix(r, below.r), g: mix(g, below.g), b: mix(b, below.b), a: mix(a, below.a))
  }
}
