import CoreVideo

/// What parameter sets say about pictures, as extensions of a format description.
struct ParameterSetDescription {
  let dimensions: CMVideoDimensions
  let configuration: DecoderConfiguration
  let record: Data
  private let usability: VideoUsability
  private let chromaFormat: Int
  private let isInterlaced: Bool
  private let displayWindow: (left: Int, right: Int, top: Int, bottom: Int)?

  /// - Parameter parameterSets: NAL units without start codes; throws if they do not describe pictures.
  init(codec: NALCodec, parameterSets: [Data], lengthSize: Int) throws {
    switch codec {
    case .h264:
      let sorted = Self.sort(parameterSets, order: [7, 15, 8, 13]) { $0 & 31 }
      guard let sorted, let first = sorted.first, sorted.contains(where: { $0[$0.startIndex] & 31 == 8 })
      else {
        throw ParameterSetError.invalid
      }
      let sps = try H264SequenceParameterSet(nalUnit: first)
      configuration = DecoderConfiguration(codec: codec, lengthSize: lengthSize, parameterSets: sorted)
      record = try configuration.avcC()
      dimensions = CMVideoDimensions(width: Int32(sps.width), height: Int32(sps.height))
      usability = sps.usability
      chromaFormat = sps.chromaFormat
      isInterlaced = !sps.isFrameOnly
      displayWindow = nil
    case .hevc:
      let sorted = Self.sort(parameterSets, order: [32, 33, 34, 39, 40]) { $0 >> 1 & 63 }
      let sequence = sorted?.first { $0[$0.startIndex] >> 1 & 63 == 33 }
      guard let sorted, let sequence,
        [32, 34].allSatisfy({ type in sorted.contains { $0[$0.startIndex] >> 1 & 63 == type } })
      else { throw ParameterSetError.invalid }
      let sps = try HEVCSequenceParameterSet(nalUnit: sequence)
      configuration = DecoderConfiguration(codec: codec, lengthSize: lengthSize, parameterSets: sorted)
      record = try configuration.hvcC()
      dimensions = CMVideoDimensions(width: Int32(sps.width), height: Int32(sps.height))
      usability = sps.usability
      chromaFormat = sps.chromaFormat
      isInterlaced = sps.isInterlaced
      displayWindow = sps.displayWindow
    }
  }

  /// The units by type, in the order of the types; nil if one is of another type or empty.
  private static func sort(_ units: [Data], order: [UInt8], type: (UInt8) -> UInt8) -> [Data]? {
    var ranks: [(rank: Int, unit: Data)] = []
    for unit in units {
      guard let first = unit.first, let rank = order.firstIndex(of: type(first)) else { return nil }
      ranks.append((rank, unit))
    }
    return order.indices.flatMap { rank in ranks.filter { $0.rank == rank }.map(\.unit) }
  }

  /// The extensions, with `avcC` or `hvcC` among them.
  var extensions: NSMutableDictionary {
    let result = NSMutableDictionary()
    let atom = configuration.codec == .h264 ? "avcC" : "hvcC"
    result[kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms] =
      [atom as NSString: record as NSData] as NSDictionary
    result[kCMFormatDescriptionExtension_FieldCount] = NSNumber(value: isInterlaced ? 2 : 1)
    result[kCMFormatDescriptionExtension_FullRangeVideo] = NSNumber(value: usability.isFullRange)
    if let ratio = usability.sampleAspectRatio, ratio.width != ratio.height {
      result[kCMFormatDescriptionExtension_PixelAspectRatio] =
        [
          kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: NSNumber(value: ratio.width),
          kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: NSNumber(value: ratio.height),
        ] as NSDictionary
    }
    if let window = displayWindow {
      result[kCMFormatDescriptionExtension_CleanAperture] = cleanAperture(window)
    }
    result[kCMFormatDescriptionExtension_ColorPrimaries] =
      VideoCodePoints.colorPrimaries[usability.colorPrimaries]
    result[kCMFormatDescriptionExtension_TransferFunction] =
      VideoCodePoints.transferFunctions[usability.transferCharacteristics]
    result[kCMFormatDescriptionExtension_YCbCrMatrix] = VideoCodePoints.matrices[usability.matrixCoefficients]
    if chromaFormat == 1 {
      let locations = usability.chromaLocations ?? (0, 0)
      result[kCMFormatDescriptionExtension_ChromaLocationTopField] =
        VideoCodePoints.chromaLocations[locations.top]
      result[kCMFormatDescriptionExtension_ChromaLocationBottomField] =
        VideoCodePoints.chromaLocations[locations.bottom]
    }
    return result
  }

  private func cleanAperture(_ window: (left: Int, right: Int, top: Int, bottom: Int)) -> NSDictionary {
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

/// Code points of ITU-T H.273 and what they are called here.
enum VideoCodePoints {
  nonisolated(unsafe) static let colorPrimaries: [Int: CFString] = [
    1: kCMFormatDescriptionColorPrimaries_ITU_R_709_2, 5: kCMFormatDescriptionColorPrimaries_EBU_3213,
    6: kCMFormatDescriptionColorPrimaries_SMPTE_C, 9: kCMFormatDescriptionColorPrimaries_ITU_R_2020,
    11: kCMFormatDescriptionColorPrimaries_DCI_P3, 12: kCMFormatDescriptionColorPrimaries_P3_D65,
    22: kCMFormatDescriptionColorPrimaries_P22,
  ]
  nonisolated(unsafe) static let transferFunctions: [Int: CFString] = [
    1: kCMFormatDescriptionTransferFunction_ITU_R_709_2, 6: kCMFormatDescriptionTransferFunction_ITU_R_709_2,
    7: kCMFormatDescriptionTransferFunction_SMPTE_240M_1995, 8: kCMFormatDescriptionTransferFunction_Linear,
    13: kCMFormatDescriptionTransferFunction_sRGB, 14: kCMFormatDescriptionTransferFunction_ITU_R_2020,
    15: kCMFormatDescriptionTransferFunction_ITU_R_2020,
    16: kCMFormatDescriptionTransferFunction_SMPTE_ST_2084_PQ,
    17: kCMFormatDescriptionTransferFunction_SMPTE_ST_428_1,
    18: kCMFormatDescriptionTransferFunction_ITU_R_2100_HLG,
  ]
  nonisolated(unsafe) static let matrices: [Int: CFString] = [
    1: kCMFormatDescriptionYCbCrMatrix_ITU_R_709_2, 5: kCMFormatDescriptionYCbCrMatrix_ITU_R_601_4,
    6: kCMFormatDescriptionYCbCrMatrix_ITU_R_601_4, 7: kCMFormatDescriptionYCbCrMatrix_SMPTE_240M_1995,
    9: kCMFormatDescriptionYCbCrMatrix_ITU_R_2020,
  ]
  /// By chroma_sample_loc_type.
  nonisolated(unsafe) static let chromaLocations: [CFString] = [
    kCMFormatDescriptionChromaLocation_Left, kCMFormatDescriptionChromaLocation_Center,
    kCMFormatDescriptionChromaLocation_TopLeft, kCMFormatDescriptionChromaLocation_Top,
    kCMFormatDescriptionChromaLocation_BottomLeft, kCMFormatDescriptionChromaLocation_Bottom,
  ]
}
