// SPDX-License-Identifier: Apache-2.0
#if HEVC
  import CoreGraphics
  import CoreMedia
  import Foundation
  import VideoBitstream

  /// Writes a file of HEVC images (ISO/IEC 23008-12, with the brands `heic` and `mif1`, and ISO/IEC
  /// 23000-22, MIAF).
  ///
  /// An image is one picture, or a grid of pictures if it is larger than a picture can be. Its
  /// width and height are even, as 4:2:0 demands; `clap` removes the additional column and row.
  struct HEICWriter {
    private struct Item {
      var type: String
      var isHidden = false
      var content: Data
      /// Properties by their index in `properties`, and whether a reader has to know them.
      var properties: [(index: Int, isEssential: Bool)] = []
    }

    /// The quality of an image for which none is given.
    static let defaultQuality = 0.6

    private var items: [Item] = []
    /// References between items by their index.
    private var references: [(type: String, source: Int, targets: [Int])] = []
    /// The boxes of all properties. Items can share them.
    private var properties: [Data] = []

    /// Encodes an image and adds it to the file. The first one becomes the primary image.
    /// - Parameters:
    ///   - image: The image.
    ///   - quality: The quality from 0.0 to 1.0.
    ///   - orientation: How the image is displayed.
    /// - Returns: Whether it was added. It is not if its layout is not supported, if it has more
    ///   than 2^28 pixels or a side of more than 2^20, or if memory runs out.
    mutating func add(_ image: CGImage, quality: Double, orientation: CGImagePropertyOrientation) -> Bool {
      guard image.width * image.height <= ImageCodec.maxPixels,
        let pixels = image.straightRGBA(padding: 0)
      else { return false }
      // Profiles of gray do not fit the three components that are coded.
      let profile = image.colorSpace?.numberOfComponents == 3 ? image.colorSpace?.copyICCData() : nil
      // Colors of a profile have no code points, but they need a matrix.
      let color = profile == nil ? HEIFColor.description(of: image.colorSpace) : ColorDescription(matrix: 1)
      let source = HEICSource(pixels: pixels, width: image.width, height: image.height)
      var content = Data("prof".utf8)
      if let profile {
        content.append(profile as Data)
      } else {
        content = Data("nclx".utf8)
        for code in [color.primaries, color.transfer, color.matrix] {
          content.append(bigEndian: UInt16(code))
        }
        // The full range.
        content.append(0x80)
      }
      let first = items.count
      guard let main = add(source, .color(color), quality, orientation) else { return false }
      for item in first..<items.count { attach(box("colr", content), to: item, at: 2) }
      let hasAlpha = ![.none, .noneSkipFirst, .noneSkipLast].contains(image.alphaInfo)
      // An image that is opaque everywhere has no use for alpha.
      guard hasAlpha, source.isTransparent else { return true }
      guard let mask = add(source, .alpha, quality, orientation) else { return false }
      attach(
        box("auxC", Data([0, 0, 0, 0]) + Data("urn:mpeg:hevc:2015:auxid:1".utf8) + [0]), to: mask, at: 2,
        isEssential: true)
      references.append(("auxl", mask, [main]))
      return true
    }

    /// Encodes the colors or the alpha of an image.
    /// - Returns: The index of the item.
    private mutating func add(
      _ source: HEICSource, _ channel: HEICSource.Channel, _ quality: Double,
      _ orientation: CGImagePropertyOrientation
    ) -> Int? {
      let (width, height) = (source.width + source.width & 1, source.height + source.height & 1)
      guard let tiling = HEICTiling(width: width, height: height),
        let encoder = HEICPictureEncoder(tiling, channel, quality: quality)
      else { return nil }
      let main = items.count
      if tiling.grid.rows * tiling.grid.columns > 1 {
        items.append(Item(type: "grid", content: tiling.grid.content))
      }
      let first = items.count
      for row in 0..<tiling.grid.rows {
        for column in 0..<tiling.grid.columns {
          let picture = encoder.encode(source, x: column * tiling.tileWidth, y: row * tiling.tileHeight)
          guard let picture else { return nil }
          let index = items.count
          items.append(Item(type: "hvc1", isHidden: index != main, content: picture))
          attach(box("hvcC", encoder.configuration), to: index, isEssential: true)
          if index != main { attachSize(tiling.tileWidth, tiling.tileHeight, to: index) }
        }
      }
      if first != main { references.append(("dimg", main, Array(first..<items.count))) }
      attachSize(width, height, to: main)
      // The order in which they apply.
      if source.width != width || source.height != height {
        let aperture = CleanAperture(
          ofWidth: Int32(width), height: Int32(height), left: 0, top: 0, right: width - source.width,
          bottom: height - source.height)
        guard let aperture else { return nil }
        attach(box("clap", Data(aperture.bytes)), to: main, isEssential: true)
      }
      attachTransform(HEIFOrientation(orientation), to: main)
      return main
    }

    // MARK: - Properties

    /// Adds a property to an item.
    /// - Parameters:
    ///   - property: The box.
    ///   - item: The index of the item.
    ///   - position: The position among its properties; nil for the last one.
    ///   - isEssential: Whether a reader has to know the property.
    private mutating func attach(
      _ property: Data, to item: Int, at position: Int? = nil, isEssential: Bool = false
    ) {
      var index = properties.count
      if let known = properties.firstIndex(of: property) {
        index = known
      } else {
        properties.append(property)
      }
      let count = items[item].properties.count
      items[item].properties.insert((index, isEssential), at: min(position ?? count, count))
    }

    /// Adds `ispe` and `pixi`.
    private mutating func attachSize(_ width: Int, _ height: Int, to item: Int) {
      var size = Data([0, 0, 0, 0])
      size.append(bigEndian: UInt32(width))
      size.append(bigEndian: UInt32(height))
      attach(box("ispe", size), to: item)
      // Three channels of 8 bits.
      attach(box("pixi", Data([0, 0, 0, 0, 3, 8, 8, 8])), to: item)
    }

    private mutating func attachTransform(_ transform: HEIFOrientation, to item: Int) {
      // With the exchange of top and bottom or of left and right, half a turn is the other
      // exchange.
      let (turns, mode): (Int, UInt8) =
        transform.isMirrored && transform.turns >= 2 ? (transform.turns - 2, 0) : (transform.turns, 1)
      if turns != 0 { attach(box("irot", Data([UInt8(turns)])), to: item, isEssential: true) }
      if transform.isMirrored { attach(box("imir", Data([mode])), to: item, isEssential: true) }
    }

    // MARK: - The file

    /// The file, or nil if there is no image or one of the limits of the format is exceeded: 65,535
    /// items, 32,767 different properties and 4 GiB.
    var data: Data? {
      guard !items.isEmpty, items.count <= 0xFFFF, properties.count <= 0x7FFF,
        references.allSatisfy({ $0.targets.count <= 0xFFFF })
      else { return nil }
      let brands = Data("heic".utf8) + [0, 0, 0, 0] + Data("mif1miafheic".utf8)
      let type = box("ftyp", brands)
      // The size of `meta` does not depend on the positions in it.
      let start = type.count + meta(start: 0).count + 8
      let size = items.reduce(start) { $0 + $1.content.count }
      guard size <= Int(UInt32.max) else { return nil }
      var file = type + meta(start: start)
      file.append(bigEndian: UInt32(size - start + 8))
      file.append(contentsOf: "mdat".utf8)
      for item in items { file.append(item.content) }
      return file
    }

    /// The box `meta`.
    /// - Parameter start: The position of the first item's data in the file.
    private func meta(start: Int) -> Data {
      let handler = box("hdlr", Data([0, 0, 0, 0, 0, 0, 0, 0]) + Data("pict".utf8) + Data(count: 13))
      var primary = Data([0, 0, 0, 0])
      primary.append(bigEndian: UInt16(1))
      var boxes = handler + box("pitm", primary) + locations(start) + information
      if !references.isEmpty { boxes += box("iref", referenceBoxes) }
      boxes += box("iprp", box("ipco", properties.reduce(Data(), +)) + associations)
      return box("meta", Data([0, 0, 0, 0]) + boxes)
    }

    private func locations(_ start: Int) -> Data {
      // Positions and lengths have four bytes; there is no base offset.
      var content = Data([0, 0, 0, 0, 0x44, 0])
      content.append(bigEndian: UInt16(items.count))
      var position = start
      for (index, item) in items.enumerated() {
        // The identifier, this file, and one extent.
        for value in [index + 1, 0, 1] { content.append(bigEndian: UInt16(value)) }
        content.append(bigEndian: UInt32(truncatingIfNeeded: position))
        content.append(bigEndian: UInt32(truncatingIfNeeded: item.content.count))
        position += item.content.count
      }
      return box("iloc", content)
    }

    private var information: Data {
      var content = Data([0, 0, 0, 0])
      content.append(bigEndian: UInt16(items.count))
      for (index, item) in items.enumerated() {
        var entry = Data([2, 0, 0, item.isHidden ? 1 : 0])
        entry.append(bigEndian: UInt16(index + 1))
        // Neither protection nor a name.
        entry += Data([0, 0]) + Data(item.type.utf8) + [0]
        content += box("infe", entry)
      }
      return box("iinf", content)
    }

    private var referenceBoxes: Data {
      var content = Data([0, 0, 0, 0])
      for reference in references {
        var entry = Data()
        for value in [reference.source + 1, reference.targets.count] + reference.targets.map({ $0 + 1 }) {
          entry.append(bigEndian: UInt16(value))
        }
        content += box(reference.type, entry)
      }
      return content
    }

    private var associations: Data {
      // Indices of 15 bits.
      var content = Data([0, 0, 0, 1])
      content.append(bigEndian: UInt32(items.count))
      for (index, item) in items.enumerated() {
        content.append(bigEndian: UInt16(index + 1))
        content.append(UInt8(item.properties.count))
        for property in item.properties {
          content.append(bigEndian: UInt16(property.index + 1) | (property.isEssential ? 0x8000 : 0))
        }
      }
      return box("ipma", content)
    }

    private func box(_ type: String, _ content: Data) -> Data {
      var data = Data(capacity: content.count + 8)
      data.append(bigEndian: UInt32(content.count + 8))
      data.append(contentsOf: type.utf8)
      data.append(content)
      return data
    }
  }
#endif
