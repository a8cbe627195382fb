// SPDX-License-Identifier: Apache-2.0
import Foundation
import ImageIO

/// Encodes images as PNG, JPEG or HEIC files.
enum ThumbnailFile {
  /// The file name extensions and their uniform type identifiers. HEIC can be written only if the
  /// build has an HEVC encoder.
  private static let types: KeyValuePairs = [
    "png": "public.png", "jpg": "public.jpeg", "jpeg": "public.jpeg", "heic": "public.heic",
  ]
  private static let written = {
    let identifiers = CGImageDestinationCopyTypeIdentifiers() as? [String] ?? []
    return types.filter { identifiers.contains($0.value) }
  }()

  /// The endings of names that `type(of:)` takes, for an error message.
  static var endings: String {
    let endings = written.map { "." + $0.key }
    return endings.dropLast().joined(separator: ", ") + " or " + (endings.last ?? "")
  }

  /// The uniform type of a file by its name's ending; nil if such files are not written.
  static func type(of name: String) -> String? {
    let ending = (name as NSString).pathExtension.lowercased()
    return written.first { $0.key == ending }?.value
  }

  /// The bytes of a picture's file.
  /// - Parameters:
  ///   - image: the picture.
  ///   - type: the file's uniform type.
  static func data(_ image: CGImage, type: String) throws -> Data {
    let data = NSMutableData()
    guard
      let destination = CGImageDestinationCreateWithData(data as CFMutableData, type as CFString, 1, nil)
    else { throw Failure("pictures of this type cannot be written here") }
    // The default quality of HEIC corresponds to about 0.9 of JPEG.
    let options: [CFString: Any] =
      type == "public.heic" ? [:] : [kCGImageDestinationLossyCompressionQuality: 0.9]
    CGImageDestinationAddImage(destination, image, options as CFDictionary)
    guard CGImageDestinationFinalize(destination) else { throw Failure("the picture cannot be written") }
    return data as Data
  }
}

/// A sheet on which pictures are arranged in rows.
struct ContactSheet {
  private let grid: SheetGrid
  private let cell: (width: Int, height: Int)
  private let context: CGContext
  /// The distance between two pictures, and of the pictures from the edges, in samples.
  private static let gap = 8
  private static let largestSide = 16_384

  /// - Parameters:
  ///   - grid: the columns and rows.
  ///   - width: the width of each picture, in samples.
  ///   - height: its height.
  /// - Throws: a `Failure` if the sheet would be too large.
  init(_ grid: SheetGrid, width: Int, height: Int) throws {
    self.grid = grid
    cell = (width, height)
    let sheetWidth = grid.columns * (width + Self.gap) + Self.gap
    let sheetHeight = grid.rows * (height + Self.gap) + Self.gap
    guard sheetWidth <= Self.largestSide, sheetHeight <= Self.largestSide,
      let context = CGContext(
        data: nil, width: sheetWidth, height: sheetHeight, bitsPerComponent: 8, bytesPerRow: 0,
        space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
    else {
      throw Failure(
        "the sheet would have \(sheetWidth)x\(sheetHeight) samples, and \(Self.largestSide) a side are possible; "
          + "give a smaller --dimensions or fewer pictures", status: 64)
    }
    self.context = context
    context.setFillColor(red: 0.12, green: 0.12, blue: 0.12, alpha: 1)
    context.fill(CGRect(x: 0, y: 0, width: sheetWidth, height: sheetHeight))
  }

  /// Draws a picture into its cell, by its number from 0 in reading order.
  func draw(_ image: CGImage, number: Int) {
    let (column, row) = (number % grid.columns, number / grid.columns)
    // The origin of a CGContext is at the lower left.
    let x = Self.gap + column * (cell.width + Self.gap) + (cell.width - image.width) / 2
    let y =
      Self.gap + (grid.rows - 1 - row) * (cell.height + Self.gap) + (cell.height - image.height) / 2
    context.draw(image, in: CGRect(x: x, y: y, width: image.width, height: image.height))
  }

  func image() throws -> CGImage {
    guard let image = context.makeImage() else { throw Failure("out of memory for the sheet") }
    return image
  }
}
