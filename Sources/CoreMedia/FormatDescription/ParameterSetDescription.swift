// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import VideoBitstream

/// The extensions of a format description that follow from parameter sets.
struct ParameterSetDescription {
  let dimensions: CMVideoDimensions
  let configuration: DecoderConfiguration
  let record: Data
  private let appearance: VideoAppearance
  private let chromaFormat: Int
  private let isInterlaced: Bool
  private let displayWindow: CropOffsets?

  /// Parses parameter sets.
  /// - Parameters:
  ///   - codec: H.264 or HEVC.
  ///   - parameterSets: NAL units without start codes.
  ///   - lengthSize: The size in bytes of the length field before each NAL unit of the samples.
  /// - Throws: `SyntaxError` if they are malformed, or a required type is missing.
  init(codec: NALCodec, parameterSets: [Data], lengthSize: Int) throws {
    switch codec {
    case .h264:
      let sorted = Self.sort(parameterSets, order: [7, 15, 8, 13]) { $0 & 31 }
      guard let sorted, let first = sorted.first, sorted.contains(where: { $0[$0.startIndex] & 31 == 8 })
      else {
        throw SyntaxError.invalid
      }
      let sps = try H264SequenceParameterSet(nalUnit: first)
      configuration = DecoderConfiguration(codec: codec, lengthSize: lengthSize, parameterSets: sorted)
      record = try configuration.avcC()
      dimensions = CMVideoDimensions(width: Int32(sps.width), height: Int32(sps.height))
      appearance = sps.vui?.appearance ?? VideoAppearance()
      chromaFormat = sps.chromaFormat
      isInterlaced = !sps.isFrameOnly
      displayWindow = nil
    case .hevc:
      let sorted = Self.sort(parameterSets, order: [32, 33, 34, 39, 40]) { $0 >> 1 & 63 }
      let sequence = sorted?.first { $0[$0.startIndex] >> 1 & 63 == 33 }
      guard let sorted, let sequence,
        [32, 34].allSatisfy({ type in sorted.contains { $0[$0.startIndex] >> 1 & 63 == type } })
      else { throw SyntaxError.invalid }
      let sps = try HEVCSequenceParameterSet(nalUnit: sequence)
      configuration = DecoderConfiguration(codec: codec, lengthSize: lengthSize, parameterSets: sorted)
      record = try configuration.hvcC()
      dimensions = CMVideoDimensions(width: Int32(sps.width), height: Int32(sps.height))
      appearance = sps.vui?.appearance ?? VideoAppearance()
      chromaFormat = sps.chromaFormat
      isInterlaced = sps.isInterlaced
      displayWindow = sps.displayWindow
    }
  }

  /// Returns the NAL units ordered by type, in the given order of types; nil if one is empty or of
  /// another type.
  private static func sort(_ units: [Data], order: [UInt8], type: (UInt8) -> UInt8) -> [Data]? {
    var ranks: [(rank: Int, unit: Data)] = []
    for unit in units {
      guard let first = unit.first, let rank = order.firstIndex(of: type(first)) else { return nil }
      ranks.append((rank, unit))
    }
    return order.indices.flatMap { rank in ranks.filter { $0.rank == rank }.map(\.unit) }
  }

  /// The extensions, which include the atom `avcC` or `hvcC`.
  var extensions: NSMutableDictionary {
    let result = NSMutableDictionary()
    let atom = configuration.codec == .h264 ? "avcC" : "hvcC"
    result[kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms] =
      [atom as NSString: record as NSData] as NSDictionary
    result[kCMFormatDescriptionExtension_FieldCount] = NSNumber(value: isInterlaced ? 2 : 1)
    result[kCMFormatDescriptionExtension_FullRangeVideo] = NSNumber(value: appearance.isFullRange)
    if let ratio = appearance.aspectRatio?.ratio, ratio.width != ratio.height {
      result[kCMFormatDescriptionExtension_PixelAspectRatio] =
        [
          kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: NSNumber(value: ratio.width),
          kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: NSNumber(value: ratio.height),
        ] as NSDictionary
    }
    if let window = displayWindow {
      result[kCMFormatDescriptionExtension_CleanAperture] = cleanAperture(window)
    }
    let color = appearance.color
    result[kCMFormatDescriptionExtension_ColorPrimaries] =
      ColorCodePoints.primaries.name(of: Int(color.primaries)).map { $0 as CFString }
    result[kCMFormatDescriptionExtension_TransferFunction] =
      ColorCodePoints.transferFunctions.name(of: Int(color.transfer)).map { $0 as CFString }
    result[kCMFormatDescriptionExtension_YCbCrMatrix] =
      ColorCodePoints.matrices.name(of: Int(color.matrix)).map { $0 as CFString }
    if chromaFormat == 1 {
      let locations = appearance.chromaLocations ?? .init(top: 0, bottom: 0)
      let names = ColorCodePoints.chromaLocations
      result[kCMFormatDescriptionExtension_ChromaLocationTopField] = names[locations.top] as CFString
      result[kCMFormatDescriptionExtension_ChromaLocationBottomField] = names[locations.bottom] as CFString
    }
    return result
  }

  private func cleanAperture(_ window: CropOffsets) -> NSDictionary {
    [
      kCMFormatDescriptionKey_CleanApertureWidth:
        NSNumber(value: Int(dimensions.width) - window.left - window.right),
      kCMFormatDescriptionKey_CleanApertureHeight:
        NSNumber(value: Int(dimensions.height) - window.top - window.bottom),
      kCMFormatDescriptionKey_CleanApertureHorizontalOffset:
        NSNumber(value: Double(window.left - window.right) / 2),
      kCMFormatDescriptionKey_CleanApertureVerticalOffset:
        NSNumber(value: Double(window.top - window.bottom) / 2),
    ] as NSDictionary
  }
}
