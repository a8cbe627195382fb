// SPDX-License-Identifier: Apache-2.0
#if HEVC
  import CodecInterface
  import CoreMedia
  import EncoderAdapter
  import Foundation
  import HEVCEncoder
  import VideoBitstream

  /// The division of an image into pictures that the encoder can code.
  struct HEICTiling {
    private(set) var grid: HEIFGrid
    /// The size of each picture, which is that of the image if there is one.
    private(set) var tileWidth: Int
    private(set) var tileHeight: Int

    /// The longest side of a tile.
    private static let largestTile = 4096

    /// Divides an image. It is nil for an image with a side of more than 1,048,576 samples, because
    /// a grid has at most 256 rows and columns.
    /// - Parameters:
    ///   - width: The width, which is even.
    ///   - height: The height, which is even.
    init?(width: Int, height: Int) {
      grid = HEIFGrid(rows: 1, columns: 1, width: width, height: height)
      (tileWidth, tileHeight) = (width, height)
      let limit = HEVCEncoderConfiguration.largestSide
      guard max(width, height) > limit || width * height > HEVCEncoderConfiguration.largestArea else {
        return
      }
      grid.columns = (width + Self.largestTile - 1) / Self.largestTile
      grid.rows = (height + Self.largestTile - 1) / Self.largestTile
      guard max(grid.columns, grid.rows) <= 256 else { return nil }
      // Multiples of the largest coding block, so that tiles are not padded inside of the image.
      tileWidth = ((width + grid.columns - 1) / grid.columns + 63) & ~63
      tileHeight = ((height + grid.rows - 1) / grid.rows + 63) & ~63
    }
  }

  /// The pixels of an image.
  struct HEICSource {
    /// The content of a picture.
    enum Channel: Equatable {
      /// The colors, with the code points that the stream declares.
      case color(ColorDescription)
      case alpha
    }

    /// Red, green, blue and alpha, not premultiplied.
    let pixels: [UInt8]
    let width: Int
    let height: Int

    /// Whether any pixel is not opaque.
    var isTransparent: Bool {
      pixels.withUnsafeBufferPointer { pixels in
        stride(from: 3, to: 4 * width * height, by: 4).contains { pixels[$0] < 255 }
      }
    }
  }

  /// Encodes the pictures of one image, each as a key frame of the package's own encoder.
  struct HEICPictureEncoder {
    /// The HEVCDecoderConfigurationRecord.
    let configuration: Data
    private let encoder: HEVCEncoder
    private let channel: HEICSource.Channel
    private let options: HEVCFrameOptions

    /// Creates the encoder of the tiles of an image. It is nil if the encoder refuses the size.
    /// - Parameters:
    ///   - tiling: The sizes.
    ///   - channel: What the pictures show.
    ///   - quality: The quality from 0.0 to 1.0, with the meaning of a compression session's
    ///     `kVTCompressionPropertyKey_Quality`.
    init?(_ tiling: HEICTiling, _ channel: HEICSource.Channel, quality: Double) {
      self.channel = channel
      // The encoder codes 8x8 samples at least.
      let (width, height) = (max(8, tiling.tileWidth), max(8, tiling.tileHeight))
      var settings = HEVCEncoderConfiguration(width: width, height: height)
      if width != tiling.tileWidth { settings.visibleWidth = tiling.tileWidth }
      if height != tiling.tileHeight { settings.visibleHeight = tiling.tileHeight }
      if case .color(let color) = channel { settings.colour = color }
      settings.fullRange = true
      // The lowest level that the size allows.
      settings.frameRate = 1
      settings.minimumQP = 0
      settings.threads = min(max(ProcessInfo.processInfo.activeProcessorCount, 1), 8)
      settings.writesParameterSets = false
      settings.framing = .lengths
      var options = HEVCFrameOptions()
      options.isKeyFrame = true
      options.qp = RateRequest.qp(quality: quality)
      self.options = options
      guard let encoder = try? HEVCEncoder(configuration: settings) else { return nil }
      self.encoder = encoder
      let sets = encoder.parameterSets
      // Still pictures have no frame rate, and their chroma is elsewhere than in video.
      guard var sequence = try? HEVCSequenceParameterSet(nalUnit: sets.sequence) else { return nil }
      sequence.vui?.timing = nil
      sequence.vui?.appearance.chromaLocations = .init(
        top: HEICPlanes.chromaLocation, bottom: HEICPlanes.chromaLocation)
      let record = DecoderConfiguration(
        codec: .hevc, lengthSize: 4,
        parameterSets: ([sets.video, sequence.nalUnit] + sets.pictures).map { Data($0) })
      guard let configuration = try? record.hvcC() else { return nil }
      self.configuration = configuration
    }

    /// Encodes a picture.
    /// - Parameters:
    ///   - source: The image. Its last column and its last row are repeated beyond its edges.
    ///   - x: The first column of the picture.
    ///   - y: The first row of the picture.
    /// - Returns: The NAL units behind their lengths, or nil if the encoder fails.
    func encode(_ source: HEICSource, x: Int, y: Int) -> Data? {
      let (width, height) = (encoder.configuration.width, encoder.configuration.height)
      let planes = HEICPlanes(width: width, height: height)
      switch channel {
      case .color(let color): planes.fill(source, x: x, y: y, matrix: color.matrix)
      case .alpha: planes.fillAlpha(source, x: x, y: y)
      }
      let frame = withExtendedLifetime(planes) {
        try? encoder.encode(planes.picture, options: options).data
      }
      return frame.flatMap { $0.isEmpty ? nil : Data($0) }
    }
  }
#endif
