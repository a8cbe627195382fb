// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Pictures whose matrix Core Video cannot name, and pictures with more than eight bits and alpha,
/// keep their content.
@Suite struct ForeignMatrixTests {
  /// dB over all samples.
  private static func psnr(_ one: [UInt16], _ other: [UInt16], peak: Double) -> Double {
    guard one.count == other.count, !one.isEmpty else { return 0 }
    let sum = zip(one, other).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
    return sum == 0 ? 100 : 10 * log10(peak * peak * Double(one.count) / sum)
  }

  private static func words(_ data: Data) -> [UInt16] {
    let bytes = [UInt8](data)
    return stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
  }

  /// Code points of H.273, by zimg's names; what comes out has the matrix that goes with the
  /// primaries.
  @Test(arguments: [
    ("fcc", "709", "709", "tv", 6, "470bg"), ("ycgco", "709", "709", "tv", 1, "709"),
    ("ycgco", "709", "709", "pc", 1, "709"), ("ycgco", "2020", "2020_10", "tv", 9, "2020_ncl"),
    ("ictcp", "2020", "smpte2084", "tv", 9, "2020_ncl"),
  ])
  func matricesWithoutANameAreConverted(
    _ matrix: String, _ primaries: String, _ transfer: String, _ range: String, _ code: Int32,
    _ target: String
  ) throws {
    let scratch = Scratch()
    let path = scratch.file("a.mkv")
    let x264 = [
      "2020_cl": "bt2020c", "chroma-derived-c": "chroma-derived-c", "ictcp": "ICtCp", "ycgco": "YCgCo",
    ]
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=5", "-frames:v", "2",
      "-vf",
      "format=gbrp16,zscale=matrixin=gbr:primariesin=\(primaries):transferin=\(transfer):rangein=pc:"
        + "matrix=\(matrix):primaries=\(primaries):transfer=\(transfer):range=\(range),format=yuv444p10",
      "-c:v", "libx264", "-qp", "0", "-x264-params",
      "colormatrix=\(x264[matrix] ?? matrix)"
        + ":colorprim=\(primaries == "2020" ? "bt2020" : "bt709")"
        + ":transfer=\(transfer == "709" ? "bt709" : transfer == "2020_10" ? "bt2020-10" : transfer)"
        + ":range=\(range)", path,
    ])
    let format =
      range == "pc"
      ? kCVPixelFormatType_444YpCbCr10BiPlanarFullRange : kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange
    let samples = try ReaderTests.read(
      AVURLAsset(url: scratch.url("a.mkv")), settings: [kCVPixelBufferPixelFormatTypeKey as String: format])
    let image = try #require(samples.first?.imageBuffer)
    let name = CVBufferCopyAttachment(image, kCVImageBufferYCbCrMatrixKey, nil) as? CFString
    #expect(CVYCbCrMatrixGetIntegerCodePointForString(name) == code)
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-i", path, "-frames:v", "1", "-vf",
      "zscale=matrixin=\(matrix):primariesin=\(primaries):transferin=\(transfer):rangein=\(range):matrix=\(target):"
        + "primaries=\(primaries):transfer=\(transfer):range=\(range),format=yuv444p10", "-f", "rawvideo",
      scratch.file("raw"),
    ])
    let wanted = Self.words(try Data(contentsOf: scratch.url("raw")))
    let found = try Self.planes(image)
    #expect(found.count == wanted.count)
    let quality = Self.psnr(found, wanted, peak: 1023)
    #expect(quality > 40, "\(matrix): \(quality) dB")
    // Unchanged samples are something else.
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-i", path, "-frames:v", "1", "-f", "rawvideo", scratch.file("same"),
    ])
    let same = Self.words(try Data(contentsOf: scratch.url("same")))
    #expect(Self.psnr(same, wanted, peak: 1023) < quality - 3)
  }

  /// Where zimg takes another curve than H.273 says: samples that are computed here by its
  /// equations 59 to 77.
  @Test(arguments: [
    ("ICtCp", "bt2020", "arib-std-b67"), ("bt2020c", "bt2020", "bt2020-10"),
    ("chroma-derived-c", "bt709", "bt709"),
  ])
  func nonLinearMatricesAreConvertedByTheStandard(_ matrix: String, _ primaries: String, _ transfer: String)
    throws
  {
    let scratch = Scratch()
    let (kr, kb) = primaries == "bt709" ? (0.2126, 0.0722) : (0.2627, 0.0593)
    func code(_ value: Double, _ black: Double, _ range: Double) -> UInt16 {
      UInt16(min(max((4 * (black + range * value)).rounded(), 0), 1023))
    }
    var (stored, wanted): ([[UInt16]], [[UInt16]]) = ([[], [], []], [[], [], []])
    for place in 0..<64 * 64 {
      let patch = place / 8
      let (r, g, b) = (
        Double(patch % 8) / 8 + 0.05, Double(patch / 8 % 8) / 8 + 0.05, Double(patch / 64) / 8 + 0.05
      )
      let luma = kr * r + (1 - kr - kb) * g + kb * b
      wanted[0].append(code(luma, 16, 219))
      wanted[1].append(code((b - luma) / (2 - 2 * kb), 128, 224))
      wanted[2].append(code((r - luma) / (2 - 2 * kr), 128, 224))
      let values = matrix == "ICtCp" ? Self.intensity(r, g, b) : Self.constantLuminance(r, g, b, kr, kb)
      stored[0].append(code(values.0, 16, 219))
      stored[1].append(code(values.1, 128, 224))
      stored[2].append(code(values.2, 128, 224))
    }
    let bytes = stored.flatMap { $0 }.withUnsafeBytes { Data($0) }
    try bytes.write(to: scratch.url("raw"))
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv444p10le", "-s", "64x64", "-i",
      scratch.file("raw"), "-c:v", "libx264", "-qp", "0", "-x264-params",
      "colormatrix=\(matrix):colorprim=\(primaries):transfer=\(transfer):range=tv", scratch.file("a.mkv"),
    ])
    let format = kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange
    let samples = try ReaderTests.read(
      AVURLAsset(url: scratch.url("a.mkv")), settings: [kCVPixelBufferPixelFormatTypeKey as String: format])
    let found = try Self.planes(try #require(samples.first?.imageBuffer))
    let quality = Self.psnr(found, wanted.flatMap { $0 }, peak: 1023)
    #expect(quality > 50, "\(matrix): \(quality) dB")
  }

  private static func intensity(_ r: Double, _ g: Double, _ b: Double) -> (Double, Double, Double) {
    func light(_ v: Double) -> Double {
      v <= 0.5 ? v * v / 3 : (exp((v - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }
    func signal(_ l: Double) -> Double {
      l <= 1.0 / 12 ? (3 * l).squareRoot() : 0.17883277 * log(12 * l - 0.28466892) + 0.55991073
    }
    let (x, y, z) = (light(r), light(g), light(b))
    let long = signal((1688 * x + 2146 * y + 262 * z) / 4096)
    let middle = signal((683 * x + 2951 * y + 462 * z) / 4096)
    let short = signal((99 * x + 309 * y + 3688 * z) / 4096)
    return (
      (long + middle) / 2, (3625 * long - 7465 * middle + 3840 * short) / 4096,
      (9500 * long - 9212 * middle - 288 * short) / 4096
    )
  }

  private static func constantLuminance(
    _ r: Double, _ g: Double, _ b: Double, _ kr: Double, _ kb: Double
  ) -> (Double, Double, Double) {
    func light(_ v: Double) -> Double { v < 0.0812429 ? v / 4.5 : pow((v + 0.0992968) / 1.0992968, 1 / 0.45) }
    func signal(_ l: Double) -> Double { l < 0.0180540 ? 4.5 * l : 1.0992968 * pow(l, 0.45) - 0.0992968 }
    let luma = signal(kr * light(r) + (1 - kr - kb) * light(g) + kb * light(b))
    let (blue, red) = (b - luma, r - luma)
    return (
      luma, blue / (2 * (blue <= 0 ? signal(1 - kb) : 1 - signal(kb))),
      red / (2 * (red <= 0 ? signal(1 - kr) : 1 - signal(kr)))
    )
  }

  /// Luma, Cb and Cr, ten bits each, of a bi-planar buffer of 4:4:4 or 4:2:0.
  private static func planes(_ image: CVPixelBuffer) throws -> [UInt16] {
    CVPixelBufferLockBaseAddress(image, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(image, .readOnly) }
    var planes: [[UInt16]] = [[], [], []]
    for plane in 0..<2 {
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(image, plane))
      let stride = CVPixelBufferGetBytesPerRowOfPlane(image, plane)
      for row in 0..<CVPixelBufferGetHeightOfPlane(image, plane) {
        let line = (base + row * stride).assumingMemoryBound(to: UInt16.self)
        for column in 0..<CVPixelBufferGetWidthOfPlane(image, plane) {
          if plane == 0 {
            planes[0].append(line[column] >> 6)
          } else {
            planes[1].append(line[2 * column] >> 6)
            planes[2].append(line[2 * column + 1] >> 6)
          }
        }
      }
    }
    return planes[0] + planes[1] + planes[2]
  }

  /// ProRes 4444, with values beyond white and black that RGB has no room for.
  @Test(arguments: ["yuva444p10le", "yuva422p10le"]) func deepPicturesWithAlphaKeepTheirSamples(
    _ pixels: String
  ) throws {
    let scratch = Scratch()
    let path = scratch.file("a.mkv")
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "nullsrc=size=256x64:rate=5,format=yuv444p10",
      "-frames:v", "1",
      "-vf",
      "geq=lum='4+X*1015/255':cb='512+300*sin(X/9)':cr='512+300*cos(Y/7)',format=\(pixels)", "-c:v", "ffv1",
      path,
    ])
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-i", path, "-pix_fmt",
      pixels.replacingOccurrences(of: "yuva", with: "yuv"),
      "-f", "rawvideo", scratch.file("raw"),
    ])
    let wanted = Self.words(try Data(contentsOf: scratch.url("raw")))
    let is444 = pixels.hasPrefix("yuva444")
    let format =
      is444
      ? kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange : kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange
    let asset = AVURLAsset(url: scratch.url("a.mkv"))
    let plain = try #require(
      ReaderTests.read(asset, settings: [kCVPixelBufferPixelFormatTypeKey as String: format]).first?
        .imageBuffer)
    #expect(try Self.planes(plain) == wanted)
    #expect(!CVBufferHasAttachment(plain, kCVImageBufferAlphaChannelModeKey))
    // With its alpha, in 16 bits.
    let own = try #require(ReaderTests.read(asset, settings: [:]).first?.imageBuffer)
    #expect(CVPixelBufferGetPixelFormatType(own) == kCVPixelFormatType_4444AYpCbCr16)
    #expect(CVBufferHasAttachment(own, kCVImageBufferAlphaChannelModeKey))
    CVPixelBufferLockBaseAddress(own, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(own, .readOnly) }
    let base = try #require(CVPixelBufferGetBaseAddress(own))
    var luma: [UInt16] = []
    for row in 0..<64 {
      let line = (base + row * CVPixelBufferGetBytesPerRow(own)).assumingMemoryBound(to: UInt16.self)
      luma += (0..<256).map { UInt16(min(1023, (Int(line[4 * $0 + 1]) + 32) >> 6)) }
    }
    #expect(zip(luma, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
  }
}
