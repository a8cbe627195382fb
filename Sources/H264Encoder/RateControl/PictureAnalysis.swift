import CH264Kernels

/// What the rate control knows of a picture before it is coded: how much detail it has, and how much of it
/// is new.
struct PictureAnalysis {
  private let geometry: PictureGeometry
  private let kernels: UnsafePointer<OVTKernels>
  /// Sum of the luma samples of each macroblock, of this picture and of the last one.
  private var sums: UnsafeMutablePointer<Int32>
  private var previousSums: UnsafeMutablePointer<Int32>
  /// Macroblocks by twice the base-2 logarithm of their luma variance.
  private let histogram: UnsafeMutablePointer<Int32>
  private static let bins = 32
  /// QP offsets by adaptive quantisation.
  let qpOffsets: UnsafeMutablePointer<Int8>
  /// log2 of the variance, in 1/16.
  private let activity: UnsafeMutablePointer<Int16>

  private(set) var hasPrevious = false
  private(set) var isSceneChange = false
  /// Next to nothing differs from the last picture.
  private(set) var isStill = false

  init(_ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>, memory: inout EncoderMemory) {
    self.geometry = geometry
    self.kernels = kernels
    let count = geometry.macroblockCount
    sums = memory.allocate(Int32.self, count: count)
    previousSums = memory.allocate(Int32.self, count: count)
    histogram = memory.allocate(Int32.self, count: PictureAnalysis.bins)
    qpOffsets = memory.allocate(Int8.self, count: count)
    activity = memory.allocate(Int16.self, count: count)
  }

  /// Reads the picture's luma.
  mutating func analyse(_ source: SourcePicture, adaptiveStrength: Double) {
    swap(&sums, &previousSums)
    for i in 0..<PictureAnalysis.bins { histogram[i] = 0 }
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    var total = 0
    for y in 0..<h {
      // A macroblock that the picture's border cuts is taken from whole samples next to it.
      let top = min(y &* 16, max(source.height &- 16, 0))
      for x in 0..<w {
        let left = min(x &* 16, max(source.width &- 16, 0))
        let pixels = source.luma + (top &* source.lumaBytesPerRow &+ left)
        if x & 3 == 0 { ovt_prefetch(pixels + 128, source.lumaBytesPerRow, 16) }
        let packed = kernels.pointee.variance16x16(pixels, source.lumaBytesPerRow)
        let sum = Int(packed & 0xFFFF_FFFF)
        let squares = Int(packed >> 32)
        let m = y &* w &+ x
        sums[m] = Int32(truncatingIfNeeded: sum)
        let energy = max(squares &- (sum &* sum) >> 8, 0)  // 256 times the variance
        let log16 = PictureAnalysis.log2Sixteenths(energy &+ 1) &- 128
        activity[m] = Int16(truncatingIfNeeded: log16)
        total &+= log16
        histogram[min(max(log16 >> 3, 0), PictureAnalysis.bins &- 1)] &+= 1
      }
    }
    if adaptiveStrength > 0 {
      // A macroblock with more detail than the mean hides more error. 1 / 16 of a doubling of the
      // variance is about strength / 16 of a QP step.
      let mean = Double(total) / Double(w * h)
      for m in 0..<(w * h) {
        let offset = (Double(activity[m]) - mean) / 16 * adaptiveStrength
        qpOffsets[m] = Int8(max(-8, min(8, offset.rounded())))
      }
    }
    compareWithPrevious()
    hasPrevious = true
  }

  /// 16 * log2(x), x above 0, within 1.
  @inline(__always) private static func log2Sixteenths(_ x: Int) -> Int {
    let whole = Int.bitWidth &- 1 &- x.leadingZeroBitCount
    let fraction = whole >= 4 ? (x >> (whole &- 4)) & 15 : (x << (4 &- whole)) & 15
    return whole &* 16 &+ fraction
  }

  /// Finds a still picture, and a new scene: macroblock means differ from the last picture's about as much as from
  /// their neighbours', and not by one step of brightness alone (a flash).
  private mutating func compareWithPrevious() {
    isSceneChange = false
    isStill = false
    guard hasPrevious else { return }
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    var shift = 0
    for m in 0..<(w &* h) { shift &+= Int(sums[m]) &- Int(previousSums[m]) }
    let meanShift = shift / (w &* h)
    var temporal = 0
    var spatial = 0
    var difference = 0
    for y in 0..<h {
      for x in 0..<w {
        let m = y &* w &+ x
        let change = Int(sums[m]) &- Int(previousSums[m])
        difference &+= abs(change)
        temporal &+= abs(change &- meanShift)
        let left = Int(sums[x > 0 ? m &- 1 : m &+ (w > 1 ? 1 : 0)])
        let up = Int(sums[y > 0 ? m &- w : m &+ (h > 1 ? w : 0)])
        spatial &+= (abs(Int(sums[m]) &- left) &+ abs(Int(sums[m]) &- up)) / 2
      }
    }
    // 256 samples: a mean difference of 6 at least.
    isSceneChange = temporal > spatial && temporal > w &* h &* 256 &* 6
    // A mean difference of 1/16: noise of a camera at the most.
    isStill = difference <= w &* h &* 16
  }

  /// Bits that the picture takes as an intra picture at a QP. The form is that of a Gaussian source
  /// (bits grow with the logarithm of variance over step size squared); the constants were fitted on
  /// natural video, animation and screens, for which it is right within a quarter.
  func intraBits(qp: Double) -> Double {
    let step = 0.625 * exp2Approx(qp / 6)
    var bits = 0.0
    for bin in 0..<PictureAnalysis.bins where histogram[bin] > 0 {
      let variance = exp2Approx((Double(bin) + 0.5) / 2)
      let log = log2Approx(1 + 100 * variance / (step * step))
      bits += Double(histogram[bin]) * (8.5 + 3.57 * log * log * (1 + 0.02 * log))
    }
    return bits
  }

  /// The QP at which the picture takes these bits as an intra picture.
  func intraQP(bits: Double) -> Double {
    var low = 0.0
    var high = 51.0
    for _ in 0..<10 {
      let middle = (low + high) / 2
      if intraBits(qp: middle) > bits { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }
}
