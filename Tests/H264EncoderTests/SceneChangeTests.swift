// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Testing

@testable import H264Encoder

/// What the look takes for the first picture of another scene.
@Suite struct SceneChangeTests {
  /// A place of the wide picture of `CameraMotionTests`, whose left `kept` columns are those of another place.
  private static func picture(_ left: Int, kept: Int) -> PlanarFrame {
    var frame = CameraMotionTests.view(left, 2000)
    let still = CameraMotionTests.view(0, 0)
    for y in 0..<frame.height {
      for x in 0..<kept { frame.y[y * frame.width + x] = still.y[y * frame.width + x] }
    }
    return frame
  }

  /// What the look says of each picture.
  private static func look(at pictures: [PlanarFrame]) -> [Bool] {
    let geometry = PictureGeometry(width: 192, height: 128)
    var memory = EncoderMemory()
    let kernels = memory.allocate(OVTKernels())
    _ = ovt_kernels_init(kernels, ovt_cpu_detect())
    let look = PictureLook(geometry, kernels: UnsafePointer(kernels), memory: &memory)
    let said = pictures.map { picture in
      picture.withSource(planar: true, padding: 0) { look.look(at: $0) }
      return look.isSceneChange
    }
    extendLifetime(memory)
    return said
  }

  @Test("A new picture after quiet ones is a cut, those after it are none")
  func cuts() {
    let places = [0, 0, 0, 3000, 3000, 3000]
    let said = Self.look(at: places.map { Self.picture($0, kept: 0) })
    #expect(said == [false, false, false, true, false, false])
  }

  @Test("A new picture among ones that are mostly new is none: a camera shakes")
  func shaking() {
    // A third stays, so that those before are no cuts.
    let shaking = [0, 3000, 6000, 9000].map { Self.picture($0, kept: 64) }
    let said = Self.look(at: shaking + [Self.picture(12000, kept: 0), Self.picture(15000, kept: 0)])
    #expect(said == [false, false, false, false, false, false])
    // With rest between.
    let calm = Self.look(
      at: shaking + [9000, 9000].map { Self.picture($0, kept: 64) } + [Self.picture(12000, kept: 0)])
    #expect(calm == [false, false, false, false, false, false, true])
  }
}
