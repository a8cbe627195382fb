// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreGraphics
import Foundation
import ImageIO
import UniformTypeIdentifiers

// Contact sheets: `Thumbnails MOVIE FOLDER` takes pictures out of a movie, draws them onto a sheet
// and writes it as PNG and JPEG.

struct Failure: Error { let text: String }

func require(_ condition: Bool, _ text: String) throws { if !condition { throw Failure(text: text) } }

let movie = AVURLAsset(url: URL(fileURLWithPath: CommandLine.arguments[1]))
let folder = URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true)

let generator = AVAssetImageGenerator(asset: movie)
generator.appliesPreferredTrackTransform = true
generator.apertureMode = .cleanAperture
generator.maximumSize = CGSize(width: 160, height: 160)
generator.requestedTimeToleranceBefore = .zero
generator.requestedTimeToleranceAfter = CMTime(seconds: 0.1, preferredTimescale: 600)

let duration = try await movie.load(.duration)
let times = (0..<6).map { CMTimeMultiplyByFloat64(duration, multiplier: Double($0) / 6) }
var pictures: [CGImage] = []
for await result in generator.images(for: times) {
  switch result {
  case .success(requestedTime: let wanted, image: let image, actualTime: let actual):
    try require(actual.seconds - wanted.seconds < 0.11, "\(actual.seconds) instead of \(wanted.seconds)")
    pictures.append(image)
  case .failure(requestedTime: let wanted, error: let error):
    throw Failure(text: "no picture at \(wanted.seconds): \(error)")
  }
}
try require(pictures.count == 6, "\(pictures.count) pictures")
let cell = CGSize(width: pictures[0].width, height: pictures[0].height)
try require(cell.width == 160 && cell.height < 160, "\(cell)")

// The sheet.
let sheet = CGSize(width: cell.width * 3, height: cell.height * 2)
guard
  let context = CGContext(
    data: nil, width: Int(sheet.width), height: Int(sheet.height), bitsPerComponent: 8, bytesPerRow: 0,
    space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGImageAlphaInfo.premultipliedFirst.rawValue)
else { throw Failure(text: "no context") }
context.setFillColor(CGColor(red: 1, green: 0, blue: 0, alpha: 1))
context.fill(CGRect(origin: .zero, size: sheet))
context.interpolationQuality = .high
for (index, picture) in pictures.enumerated() where index != 5 {
  let place = CGPoint(
    x: CGFloat(index % 3) * cell.width, y: sheet.height - CGFloat(index / 3 + 1) * cell.height)
  context.draw(picture, in: CGRect(origin: place, size: cell))
}
guard let image = context.makeImage() else { throw Failure(text: "no image") }

func write(_ image: CGImage, to name: String, _ type: UTType, _ options: [CFString: Any] = [:]) throws -> URL
{
  let url = folder.appendingPathComponent(name)
  guard let destination = CGImageDestinationCreateWithURL(url as CFURL, type.identifier as CFString, 1, nil)
  else { throw Failure(text: "no destination for \(type)") }
  CGImageDestinationAddImage(destination, image, options as CFDictionary)
  try require(CGImageDestinationFinalize(destination), "\(name) is not written")
  return url
}

func read(_ url: URL) throws -> CGImage {
  guard let source = CGImageSourceCreateWithURL(url as CFURL, nil),
    let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
    let image = CGImageSourceCreateImageAtIndex(source, 0, nil)
  else { throw Failure(text: "\(url.lastPathComponent) cannot be read") }
  try require(
    properties[kCGImagePropertyPixelWidth] as? Int == image.width, "width of \(url.lastPathComponent)")
  return image
}

/// The colour in the middle of the cell that was left red.
func red(_ image: CGImage) throws -> [UInt8] {
  var pixel = [UInt8](repeating: 0, count: 4)
  let drawn = pixel.withUnsafeMutableBytes { bytes -> Bool in
    guard
      let context = CGContext(
        data: bytes.baseAddress, width: 1, height: 1, bitsPerComponent: 8, bytesPerRow: 4,
        space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
    else { return false }
    // The lower right cell.
    context.translateBy(x: -cell.width * 2.5, y: -cell.height / 2)
    context.draw(image, in: CGRect(origin: .zero, size: sheet))
    return true
  }
  try require(drawn, "nothing drawn")
  return pixel
}

let png = try read(write(image, to: "sheet.png", .png))
let jpeg = try read(write(image, to: "sheet.jpg", .jpeg, [kCGImageDestinationLossyCompressionQuality: 0.9]))
for picture in [png, jpeg] {
  try require(picture.width == Int(sheet.width) && picture.height == Int(sheet.height), "size")
  let colour = try red(picture)
  try require(colour[0] > 240 && colour[1] < 16 && colour[2] < 16 && colour[3] == 255, "\(colour)")
}
let thumbnail = CGImageSourceCreateWithURL(folder.appendingPathComponent("sheet.png") as CFURL, nil).flatMap {
  CGImageSourceCreateThumbnailAtIndex(
    $0, 0,
    [kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceThumbnailMaxPixelSize: 60]
      as CFDictionary)
}
try require(thumbnail?.width == 60, "thumbnail")
print("thumbnails: \(png.width)x\(png.height)")
