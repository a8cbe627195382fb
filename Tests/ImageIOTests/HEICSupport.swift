// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO
import Testing
import ToolSupport

/// Pixels of four bytes: red, green, blue, alpha.
struct Pixels: Equatable {
  var width: Int
  var height: Int
  var bytes: [UInt8]

  init(width: Int, height: Int, bytes: [UInt8]) {
    (self.width, self.height, self.bytes) = (width, height, bytes)
  }

  /// A picture with gradients in all channels, and some texture in luma.
  static func textured(_ width: Int, _ height: Int, hasAlpha: Bool = false) -> Pixels {
    var bytes = [UInt8](repeating: 255, count: 4 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        let wave = sin(Double(x) / 9) * cos(Double(y) / 7) * 24 + Double((x * 7 + y * 13) % 5)
        let (u, v) = (Double(x) / Double(max(width, 64)), Double(y) / Double(max(height, 64)))
        let place = 4 * (y * width + x)
        bytes[place] = UInt8(max(0, min(255, 40 + 150 * u + wave)))
        bytes[place + 1] = UInt8(max(0, min(255, 60 + 100 * v + wave)))
        bytes[place + 2] = UInt8(max(0, min(255, 180 - 120 * u * v + wave)))
        if hasAlpha { bytes[place + 3] = UInt8(max(0, min(255, 255 - 200 * v))) }
      }
    }
    return Pixels(width: width, height: height, bytes: bytes)
  }

  /// The image, with alpha that is not premultiplied or without alpha.
  func image(hasAlpha: Bool = false, space: CGColorSpace = CGColorSpaceCreateDeviceRGB()) throws -> CGImage {
    let provider = try #require(CGDataProvider(data: Data(bytes) as NSData))
    let alpha: CGImageAlphaInfo = hasAlpha ? .last : .noneSkipLast
    return try #require(
      CGImage(
        width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: 4 * width,
        space: space, bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue), provider: provider, decode: nil,
        shouldInterpolate: true, intent: .defaultIntent))
  }

  /// The pixels of an image of this layout.
  init(_ image: CGImage) throws {
    try #require(image.bitsPerPixel == 32 && image.bytesPerRow == 4 * image.width)
    let data = Data(referencing: try #require(image.dataProvider?.data))
    self.init(width: image.width, height: image.height, bytes: [UInt8](data))
  }

  /// The peak signal-to-noise ratio in dB over channels.
  func psnr(_ other: Pixels, channels: Range<Int> = 0..<3) -> Double {
    guard width == other.width, height == other.height, bytes.count == other.bytes.count else { return 0 }
    var sum = 0
    for pixel in stride(from: 0, to: bytes.count, by: 4) {
      for channel in channels {
        let difference = Int(bytes[pixel + channel]) - Int(other.bytes[pixel + channel])
        sum += difference * difference
      }
    }
    let mean = Double(sum) / Double(width * height * channels.count)
    return mean == 0 ? 100 : 10 * log10(255 * 255 / mean)
  }

  subscript(x: Int, y: Int) -> [Int] { (0..<4).map { Int(bytes[4 * (y * width + x) + $0]) } }
}

/// A folder for files, with tools that read and write HEIC files.
final class HEICFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("heic-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// A file that ImageIO writes.
  func heic(
    _ images: [CGImage], quality: Double? = nil, orientation: CGImagePropertyOrientation? = nil
  ) throws -> Data {
    let data = NSMutableData()
    let destination = try #require(
      CGImageDestinationCreateWithData(data, "public.heic" as CFString, images.count, nil))
    var properties: [CFString: Any] = [:]
    if let quality { properties[kCGImageDestinationLossyCompressionQuality] = quality }
    if let orientation { properties[kCGImagePropertyOrientation] = NSNumber(value: orientation.rawValue) }
    for image in images { CGImageDestinationAddImage(destination, image, properties as CFDictionary) }
    try #require(CGImageDestinationFinalize(destination))
    return Data(referencing: data)
  }

  /// The picture that ffmpeg decodes from a file of another type.
  func pixels(_ url: URL) throws -> Pixels {
    let text = try Tool("ffprobe").text([
      "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", url.path,
    ])
    let size = text.split(whereSeparator: { ",\n".contains($0) }).compactMap { Int($0) }
    try #require(size.count == 2, "\(url.lastPathComponent)")
    let (status, data) = try Tool("ffmpeg").output([
      "-v", "error", "-i", url.path, "-f", "rawvideo", "-pix_fmt", "rgba", "-",
    ])
    try #require(status == 0 && data.count == 4 * size[0] * size[1])
    return Pixels(width: size[0], height: size[1], bytes: [UInt8](data))
  }

  /// The images that libheif decodes from a file, the primary one first.
  func libheif(_ data: Data) throws -> [Pixels] {
    let (source, target) = (file("decoded.heic"), file("decoded.png"))
    try data.write(to: source)
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) where name.hasSuffix(".png") {
      try FileManager.default.removeItem(at: file(name))
    }
    let (status, text) = try Tool("heif-convert").run([source.path, target.path])
    try #require(status == 0, "\(text)")
    if FileManager.default.fileExists(atPath: target.path) { return [try pixels(target)] }
    var result: [Pixels] = []
    while case let next = file("decoded-\(result.count + 1).png"),
      FileManager.default.fileExists(atPath: next.path)
    {
      result.append(try pixels(next))
    }
    return result
  }

  /// The output of heif-info for a file.
  func information(_ data: Data) throws -> String {
    try data.write(to: file("described.heic"))
    let (status, text) = try Tool("heif-info").run([file("described.heic").path])
    try #require(status == 0)
    return text
  }
}
