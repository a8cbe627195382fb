// SPDX-License-Identifier: Apache-2.0
import Foundation

enum Texture {
  static func sample(x: Int, y: Int, frame: Int, scene: Int, noise: UInt32) -> UInt8 {
    let u = Double(x + frame * 2 + scene * 57) / 23
    let v = Double(y - frame + scene * 91) / 17
    let texture = 128 + 60 * sin(u) * cos(v) + 30 * sin(u * 5.1 + v * 3.3)
    return UInt8(max(0, min(255, texture + Double(noise))))
  }
}
