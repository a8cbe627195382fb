// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// The motion that most of a picture has in common, from vectors that are made up.
@Suite struct CameraMotionTests {
  private static let (width, height) = (24, 16)

  private static func find(
    _ vector: (Int, Int) -> SIMD2<Float>, hasMoved: (Int, Int) -> Bool = { _, _ in true }
  ) -> CameraMotion {
    var vectors: [CameraMotion.Vector] = []
    var evidence: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let v = vector(x, y)
        vectors.append(SIMD2(Int16(v.x.rounded()), Int16(v.y.rounded())))
        evidence.append(hasMoved(x, y) ? CameraMotion.Evidence.moved : CameraMotion.Evidence.none)
      }
    }
    var histogram = [Int32](repeating: 0, count: CameraMotion.histogramCount)
    return vectors.withUnsafeBufferPointer { vectors in
      evidence.withUnsafeBufferPointer { evidence in
        histogram.withUnsafeMutableBufferPointer { histogram in
          guard let v = vectors.baseAddress, let e = evidence.baseAddress, let h = histogram.baseAddress
          else {
            return CameraMotion()
          }
          return CameraMotion(vectors: v, evidence: e, width: width, height: height, histogram: h)
        }
      }
    }
  }

  /// Random numbers that are the same each time.
  private struct Random {
    var state: UInt64 = 99
    mutating func next(_ n: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % n
    }
  }

  @Test(
    "A pan, a zoom and a roll are found to within two samples, objects of their own motion notwithstanding")
  func aPanAZoomAndARollAreFound() {
    var random = Random()
    for (pan, zoom, roll) in [
      (SIMD2<Float>(9, -3), Float(0), Float(0)), (SIMD2(-14, 0), 0.3, 0), (SIMD2(6, 6), -0.1, 0.25),
    ] {
      func truth(_ x: Int, _ y: Int) -> SIMD2<Float> {
        let (dx, dy) = (Float(x - width / 2), Float(y - height / 2))
        return pan + SIMD2(zoom * dx - roll * dy, roll * dx + zoom * dy)
      }
      let (width, height) = (Self.width, Self.height)
      let found = Self.find { x, y in
        // A fifth is something else's.
        x < 5 && y > 4 ? SIMD2(Float(random.next(40) - 20), Float(random.next(40) - 20)) : truth(x, y)
      }
      #expect(found.isKnown)
      for y in 0..<height {
        for x in 0..<width {
          let v = found.vector(x, y)
          let d = SIMD2<Float>(Float(v.x), Float(v.y)) - truth(x, y) * 8
          #expect(abs(d.x) <= 8 && abs(d.y) <= 8, "\(x), \(y): \(v), \(truth(x, y) * 8)")
        }
      }
    }
  }

  @Test("A fixed camera, a slow one, chance and a few cars are none")
  func aFixedOrSlowCameraHasNoMotion() {
    var random = Random()
    #expect(!Self.find { _, _ in .zero }.isKnown)
    #expect(!Self.find { _, _ in SIMD2(1, 0) }.isKnown)
    #expect(
      !Self.find { _, _ in SIMD2(Float(random.next(60) - 30), Float(random.next(60) - 30)) }.isKnown)
    #expect(!Self.find({ _, _ in SIMD2(12, 0) }, hasMoved: { x, y in x < 8 && y < 10 }).isKnown)
    #expect(Self.find { _, _ in SIMD2(12, 0) }.isKnown)
  }

  /// A wide picture of smooth detail, seen through a window that jumps.
  private static func view(_ left: Int, _ top: Int) -> PlanarFrame {
    let (w, h) = (192, 128)
    var frame = PlanarFrame(
      width: w, height: h, y: [UInt8](repeating: 0, count: w * h),
      u: [UInt8](repeating: 128, count: w * h / 4), v: [UInt8](repeating: 128, count: w * h / 4))
    func noise(_ x: Int, _ y: Int) -> Int {
      var v = UInt64(x + 4096) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(y + 4096) &* 0xC2B2_AE3D_27D4_EB4F
      v ^= v >> 31
      v = v &* 0x94D0_49BB_1331_11EB
      return Int(v >> 56)
    }
    for y in 0..<h {
      for x in 0..<w {
        // Corners eight samples apart, and straight lines between them.
        let (px, py) = (x + left, y + top)
        let (cx, cy) = (px >> 3, py >> 3)
        let (fx, fy) = (px & 7, py & 7)
        let a = noise(cx, cy) * (8 - fx) + noise(cx + 1, cy) * fx
        let b = noise(cx, cy + 1) * (8 - fx) + noise(cx + 1, cy + 1) * fx
        frame.y[y * w + x] = UInt8((a * (8 - fy) + b * fy) / 64)
      }
    }
    return frame
  }

  @Test("The analysis sees the camera move, by how much, and not where a new scene begins")
  func theLookSeesTheCameraMove() {
    let geometry = PictureGeometry(width: 192, height: 128)
    var memory = EncoderMemory()
    let kernels = memory.allocate(OVTVideoKernels())
    _ = ovt_video_kernels_init(kernels, ovt_cpu_detect())
    let analysis = PreAnalysis(geometry, kernels: UnsafePointer(kernels), memory: &memory)
    func see(_ left: Int, _ top: Int) -> CameraMotion {
      Self.view(left, top).withSource(planar: true, padding: 0) { analysis.analyse($0) }
      return analysis.camera
    }
    #expect(!see(400, 300).isKnown)
    let moved = see(412, 292)
    #expect(moved.isKnown)
    #expect(moved.vector(6, 4) == SIMD2(48, -32))
    #expect(moved.seen(5 * 12 + 6) == SIMD2(48, -32))
    #expect(!see(412, 292).isKnown)
    #expect(!see(3000, 2000).isKnown)
    extendLifetime(memory)
  }
}
