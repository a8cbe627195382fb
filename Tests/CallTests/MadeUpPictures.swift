// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import VideoToolbox

@testable import vtencode

/// Small made-up pictures: a ground that moves, a box that moves against it, noise.
enum MadeUpPictures {
  static func make(width: Int = 160, height: Int = 128, count: Int = 60, frameRate: Double = 30)
    -> LoopedPictures
  {
    LoopedPictures((0..<count).map { picture(width, height, $0) }, frameRate: frameRate)
  }

  private static func picture(_ width: Int, _ height: Int, _ n: Int) -> CVPixelBuffer {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(
      kCFAllocatorDefault, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
    guard let buffer = made else { fatalError("no memory for a picture of \(width)x\(height)") }
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    var state = UInt32(n) &* 77 &+ 5
    for plane in 0..<2 {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, plane) else { continue }
      let stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
      let rows = CVPixelBufferGetHeightOfPlane(buffer, plane)
      for y in 0..<rows {
        let row = (base + y * stride).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width {
          let (u, v) = (x + 2 * n, y + n)
          var value = plane == 0 ? (u * u / 32 + v * 3 + (u ^ v)) & 127 + 40 : 100 + (u / 8 + v / 4) & 31
          if plane == 0, (x + 3 * n) % width < 24, (y + n) % rows < 20 { value = 180 + x & 15 }
          state = state &* 1_664_525 &+ 1_013_904_223
          row[x] = UInt8(clamping: value + Int(state >> 30))
        }
      }
    }
    return buffer
  }
}

extension CallPlan {
  /// A call of a few seconds with a small picture.
  static func small(
    _ recovery: RecoveryMode, bandwidth: Double = 400_000, frames: Int = 120,
    _ change: (inout CallPlan) -> Void = { _ in }
  ) -> CallPlan {
    var plan = CallPlan(
      width: 160, height: 128, frameRate: 30, link: .init(bandwidth: .init(constant: bandwidth)))
    plan.recovery = recovery
    plan.frameLimit = frames
    change(&plan)
    plan.chooseReferenceCount()
    return plan
  }

  func run() throws -> CallRecord {
    try CallSimulation(self, pictures: MadeUpPictures.shared).run()
  }
}

extension MadeUpPictures {
  static let shared = make()
}
