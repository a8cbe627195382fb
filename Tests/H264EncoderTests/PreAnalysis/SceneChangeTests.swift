// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// The pictures that pre-analysis takes for the first picture of another scene.
@Suite struct SceneChangeTests {
  /// Large smooth shapes, others for each number; the columns to the left that are `plain` are so
  /// in all pictures.
  private static func picture(_ number: Int, plain: Int = 0) -> PlanarFrame {
    let (w, h) = (192, 128)
    func corner(_ x: Int, _ y: Int) -> Int {
      var v = UInt64(x + 7 * y + 100 * number + 1) &* 0x9E37_79B9_7F4A_7C15
      v ^= v >> 31
      return Int((v &* 0x94D0_49BB_1331_11EB) >> 56)
    }
    var frame = PlanarFrame(
      width: w, height: h, y: [UInt8](repeating: 128, count: w * h),
      u: [UInt8](repeating: 128, count: w * h / 4), v: [UInt8](repeating: 128, count: w * h / 4))
    for y in 0..<h {
      for x in plain..<w {
        let (cx, cy, fx, fy) = (x >> 5, y >> 5, x & 31, y & 31)
        let a = corner(cx, cy) * (32 - fx) + corner(cx + 1, cy) * fx
        let b = corner(cx, cy + 1) * (32 - fx) + corner(cx + 1, cy + 1) * fx
        frame.y[y * w + x] = UInt8((a * (32 - fy) + b * fy) / 1024)
      }
    }
    return frame
  }

  /// The result of pre-analysis for each picture.
  private static func sceneChanges(in pictures: [PlanarFrame]) -> [Bool] {
    let geometry = PictureGeometry(width: 192, height: 128)
    var memory = EncoderMemory()
    let kernels = memory.allocate(OVTVideoKernels())
    _ = ovt_video_kernels_init(kernels, ovt_cpu_detect())
    let analysis = PreAnalysis(geometry, kernels: UnsafePointer(kernels), memory: &memory)
    let said = pictures.map { picture in
      picture.withSource(planar: true, padding: 0) { analysis.analyse($0) }
      return analysis.isSceneChange
    }
    extendLifetime(memory)
    return said
  }

  @Test("A new picture after quiet ones is a cut, and so is the next")
  func aNewPictureAfterQuietOnesIsACut() {
    let said = Self.sceneChanges(in: [0, 0, 0, 1, 1, 1, 2, 3].map { Self.picture($0) })
    #expect(said == [false, false, false, true, false, false, true, true])
  }

  @Test("A new picture among ones that are mostly new is none: a camera shakes")
  func aNewPictureOfAShakingCameraIsNoCut() {
    // Half of each is plain, so that they are not cuts themselves; what there is to code is new.
    let shaking = (0..<4).map { Self.picture($0, plain: 96) }
    let said = Self.sceneChanges(in: shaking + [Self.picture(4)])
    #expect(said == [false, false, false, false, false])
    // With rest between.
    let calm = Self.sceneChanges(
      in: shaking + [3, 3].map { Self.picture($0, plain: 96) } + [Self.picture(4)])
    #expect(calm == [false, false, false, false, false, false, true])
  }
}
