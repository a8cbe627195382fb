// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The pixels of a PQ movie that is exported as H.264, against the formulas of the standards,
/// computed again here.
@Suite struct ToneMappingExportTests {
  /// PQ signals of red, green and blue: greys from dark to bright, and colours that stay within
  /// BT.709.
  private static let patches: [[Double]] = [
    [0.10, 0.10, 0.10], [0.30, 0.30, 0.30], [0.45, 0.45, 0.45], [0.55, 0.55, 0.55], [0.65, 0.65, 0.65],
    [0.75, 0.75, 0.75], [0.60, 0.52, 0.48], [0.46, 0.56, 0.44],
  ]
  private static let width = 32

  // MARK: - The standards' formulas

  /// SMPTE ST 2084: candela per square metre of a signal, and back.
  private static func light(_ signal: Double) -> Double {
    let power = pow(signal, 1 / (2523.0 / 4096 * 128))
    let value = max(power - 3424.0 / 4096, 0) / (2413.0 / 4096 * 32 - 2392.0 / 4096 * 32 * power)
    return 10_000 * pow(value, 1 / (2610.0 / 16384))
  }
  private static func signal(_ light: Double) -> Double {
    let power = pow(light / 10_000, 2610.0 / 16384)
    return pow(
      (3424.0 / 4096 + 2413.0 / 4096 * 32 * power) / (1 + 2392.0 / 4096 * 32 * power), 2523.0 / 4096 * 128)
  }

  /// Report ITU-R BT.2390, 5.4.1: from a peak of 1,000 cd/m² to one of 203.
  private static func rolledOff(_ light: Double) -> Double {
    let top = signal(1000)
    let limit = signal(203) / top
    let knee = 1.5 * limit - 0.5
    let input = signal(light) / top
    guard input > knee else { return light }
    let t = (input - knee) / (1 - knee)
    let output =
      (2 * t * t * t - 3 * t * t + 1) * knee + (t * t * t - 2 * t * t + t) * (1 - knee)
      + (-2 * t * t * t + 3 * t * t) * limit
    return self.light(output * top)
  }

  /// 8-bit BT.709 of 10-bit BT.2020 and PQ, both in the video range.
  private static func expected(_ code: [Int]) -> [Double] {
    let (y, cb, cr) = (
      (Double(code[0]) - 64) / 876, (Double(code[1]) - 512) / 896, (Double(code[2]) - 512) / 896
    )
    let (r, b) = (y + 1.4746 * cr, y + 1.8814 * cb)
    let g = (y - 0.2627 * r - 0.0593 * b) / 0.6780
    var rgb = [r, g, b].map(light)
    let greatest = rgb.max() ?? 0
    rgb = rgb.map { $0 * rolledOff(greatest) / greatest / 203 }
    // BT.2087: linear BT.2020 to BT.709. Then BT.1886.
    let linear = [
      1.6605 * rgb[0] - 0.5876 * rgb[1] - 0.0728 * rgb[2],
      -0.1246 * rgb[0] + 1.1329 * rgb[1] - 0.0083 * rgb[2],
      -0.0182 * rgb[0] - 0.1006 * rgb[1] + 1.1187 * rgb[2],
    ]
    let shown = linear.map { pow(min(1, max(0, $0)), 1 / 2.4) }
    let luma = 0.2126 * shown[0] + 0.7152 * shown[1] + 0.0722 * shown[2]
    return [
      16 + 219 * luma, 128 + 224 * (shown[2] - luma) / 1.8556, 128 + 224 * (shown[0] - luma) / 1.5748,
    ]
  }

  private static func code(_ rgb: [Double]) -> [Int] {
    let y = 0.2627 * rgb[0] + 0.6780 * rgb[1] + 0.0593 * rgb[2]
    return [
      Int((64 + 876 * y).rounded()), Int((512 + 896 * (rgb[2] - y) / 1.8814).rounded()),
      Int((512 + 896 * (rgb[0] - y) / 1.4746).rounded()),
    ]
  }

  /// Five equal frames, without loss.
  private static func movie(_ codes: [[Int]], in scratch: Scratch) throws {
    let (columns, rows) = (codes.count * width, 64)
    var frame = Data()
    func add(_ plane: Int, _ width: Int, _ rows: Int) {
      for _ in 0..<rows {
        for x in 0..<columns * width / self.width {
          withUnsafeBytes(of: UInt16(codes[x / width][plane]).littleEndian) { frame.append(contentsOf: $0) }
        }
      }
    }
    add(0, width, rows)
    add(1, width / 2, rows / 2)
    add(2, width / 2, rows / 2)
    try Data((0..<5).flatMap { _ in frame }).write(to: scratch.url("raw"))
    try Tool.run([
      "ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s", "\(columns)x\(rows)", "-r",
      "25", "-i", scratch.file("raw"), "-c:v", "libx265", "-x265-params",
      "lossless=1:log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc",
      "-color_primaries",
      "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-tag:v", "hvc1",
      scratch.file("pq.mov"),
    ])
  }

  @Test func pixelsOfAnExportAreThoseOfTheStandards() async throws {
    let scratch = Scratch()
    let codes = Self.patches.map(Self.code)
    try Self.movie(codes, in: scratch)
    let asset = AVURLAsset(url: scratch.url("pq.mov"))
    #expect(asset.tracks(withMediaType: .video).first?.hasMediaCharacteristic(.containsHDRVideo) == true)
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetHighestQuality))
    try await session.export(to: scratch.url("sdr.mov"), as: .mov)
    let properties = try Probe.properties(
      scratch.file("sdr.mov"), "stream=codec_name,pix_fmt,color_transfer,color_primaries,color_space")
    #expect(properties["codec_name"] == "h264" && properties["pix_fmt"] == "yuv420p")
    #expect(properties["color_transfer"] == "bt709" && properties["color_primaries"] == "bt709")
    try Tool.run([
      "ffmpeg", "-v", "error", "-i", scratch.file("sdr.mov"), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt",
      "yuv420p", scratch.file("out"),
    ])
    let pixels = [UInt8](try Data(contentsOf: scratch.url("out")))
    let (columns, rows) = (codes.count * Self.width, 64)
    #expect(pixels.count == columns * rows * 3 / 2)
    for (index, code) in codes.enumerated() {
      let wanted = Self.expected(code)
      // In the patch's middle: its edges are smoothed by the encoder.
      let chroma = columns * rows + rows / 4 * (columns / 2) + index * Self.width / 2 + Self.width / 4
      let found = [
        pixels[rows / 2 * columns + index * Self.width + Self.width / 2], pixels[chroma],
        pixels[chroma + columns * rows / 4],
      ].map(Double.init)
      for (a, b) in zip(found, wanted) {
        #expect(abs(a - b) <= 3, "patch \(index): \(found), \(wanted.map { $0.rounded() })")
      }
    }
  }
}
