// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia
import VideoBitstream

/// The parts of a format description that decoding needs.
struct StreamFormat: @unchecked Sendable {
  // Sendable: immutable.
  // Immutable, as format descriptions are.
  let description: CMVideoFormatDescription
  let codec: CodecType
  /// The dimensions of the format description; those of the largest sequence parameter set where
  /// the description exceeds all of them.
  let width: Int
  let height: Int
  /// The codec's configuration record (such as the avcC or hvcC box's content); empty if there is
  /// none.
  let record: [UInt8]
  /// The size of the length field before each NAL unit, in bytes; 0 for codecs without NAL units.
  let lengthSize: Int
  /// The sample format that the first sequence parameter set states; nil if it is unknown.
  let samples: SampleKind?

  /// The format of the pictures' samples.
  struct SampleKind: Equatable {
    var bitDepth: Int
    /// `chroma_format_idc`: 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    var chromaFormat: Int
    var isFullRange: Bool
  }

  init(_ description: CMVideoFormatDescription) {
    self.description = description
    codec = CodecType(rawValue: CMFormatDescriptionGetMediaSubType(description))
    let dimensions = CMVideoFormatDescriptionGetDimensions(description)
    var size = (width: Int(dimensions.width), height: Int(dimensions.height))
    let atoms =
      CMFormatDescriptionGetExtension(
        description, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
      as? NSDictionary
    record = Self.record(codec, atoms, description)
    // A stream may use any of its parameter sets, so no picture is larger than the largest of them.
    func limit(_ size: inout (width: Int, height: Int), _ sets: [(coded: (Int, Int), shown: (Int, Int))]) {
      guard let widest = sets.map(\.coded.0).max(), let highest = sets.map(\.coded.1).max(),
        size.width > widest || size.height > highest,
        let largest = sets.max(by: { $0.shown.0 * $0.shown.1 < $1.shown.0 * $1.shown.1 })
      else { return }
      size = largest.shown
    }
    let isFullRange =
      (CMFormatDescriptionGetExtension(
        description, extensionKey: kCMFormatDescriptionExtension_FullRangeVideo)
      as? NSNumber)?.boolValue ?? false
    var lengthSize = 0
    var samples: SampleKind?
    if Self.isH264(codec) {
      let configuration = try? CoreMedia.DecoderConfiguration(avcC: Data(record))
      lengthSize = configuration?.lengthSize ?? 4
      let sets = (configuration?.parameterSets ?? []).filter { $0.first.map { $0 & 31 } == 7 }
        .compactMap { try? H264SequenceParameterSet(nalUnit: $0) }
      if let sps = sets.first {
        samples = SampleKind(
          bitDepth: max(sps.bitDepthLuma, sps.bitDepthChroma), chromaFormat: sps.chromaFormat,
          isFullRange: isFullRange)
      }
      limit(&size, sets.map { (($0.codedWidth, $0.codedHeight), ($0.width, $0.height)) })
    } else if Self.isHEVC(codec) {
      let configuration = try? CoreMedia.DecoderConfiguration(hvcC: Data(record))
      lengthSize = configuration?.lengthSize ?? 4
      let sets = (configuration?.parameterSets ?? []).filter { $0.first.map { $0 >> 1 & 63 } == 33 }
        .compactMap { try? HEVCSequenceParameterSet(nalUnit: $0) }
      if let sps = sets.first {
        samples = SampleKind(
          bitDepth: max(sps.bitDepthLuma, sps.bitDepthChroma), chromaFormat: sps.chromaFormat,
          isFullRange: isFullRange)
      }
      limit(&size, sets.map { (($0.codedWidth, $0.codedHeight), ($0.width, $0.height)) })
    }
    (width, height) = size
    self.lengthSize = lengthSize
    self.samples = samples
  }

  static func isH264(_ codec: CodecType) -> Bool { codec == .h264 || codec.rawValue == 0x6176_6333 }
  static func isHEVC(_ codec: CodecType) -> Bool { codec == .hevc || codec.rawValue == 0x6865_7631 }

  /// The number of fields per frame that the format description states: 2 if frames may be
  /// interlaced.
  var fieldCount: Int {
    (CMFormatDescriptionGetExtension(description, extensionKey: kCMFormatDescriptionExtension_FieldCount)
      as? NSNumber)?.intValue ?? 1
  }

  /// Whether frames of the codec are predicted from others.
  var hasInterframeDependencies: Bool { FFmpegVideoDecoder.hasInterframeDependencies(codec) }

  /// The pixel format that the decoder outputs without a conversion, as far as the description
  /// tells.
  var nativePixelFormat: OSType {
    guard let samples else { return kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange }
    switch (samples.bitDepth > 8, samples.chromaFormat, samples.isFullRange) {
    case (false, 2, false): return kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange
    case (false, 2, true): return kCVPixelFormatType_422YpCbCr8BiPlanarFullRange
    case (false, 3, false): return kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange
    case (false, 3, true): return kCVPixelFormatType_444YpCbCr8BiPlanarFullRange
    case (false, _, false): return kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    case (false, _, true): return kCVPixelFormatType_420YpCbCr8BiPlanarFullRange
    case (true, 2, false): return kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange
    case (true, 2, true): return kCVPixelFormatType_422YpCbCr10BiPlanarFullRange
    case (true, 3, false): return kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange
    case (true, 3, true): return kCVPixelFormatType_444YpCbCr10BiPlanarFullRange
    case (true, _, false): return kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange
    case (true, _, true): return kCVPixelFormatType_420YpCbCr10BiPlanarFullRange
    }
  }

  /// Whether a session for this format can continue with frames of another format.
  /// - Parameters:
  ///   - other: The format of the frames that follow.
  ///   - anyDimensions: Whether the dimensions may differ.
  func canBecome(_ other: StreamFormat, anyDimensions: Bool) -> Bool {
    if other.description === description { return true }
    guard other.codec == codec, other.lengthSize == lengthSize else { return false }
    if !anyDimensions, (other.width, other.height) != (width, height) { return false }
    if record == other.record { return true }
    // Without parameter sets there is nothing to compare: the record must not change.
    guard let samples, let others = other.samples else { return false }
    return samples == others
  }

  // MARK: Configuration records

  /// Finds the codec's configuration record in the format description's extensions; empty if there
  /// is none.
  private static func record(
    _ codec: CodecType, _ atoms: NSDictionary?, _ description: CMVideoFormatDescription
  ) -> [UInt8] {
    func atom(_ name: String) -> [UInt8]? {
      let value = atoms?[name as NSString]
      if let data = value as? Data { return [UInt8](data) }
      // Several atoms of one name come as an array.
      if let list = value as? [Data], let first = list.first { return [UInt8](first) }
      return nil
    }
    if isH264(codec) { return atom("avcC") ?? [] }
    if isHEVC(codec) { return atom("hvcC") ?? [] }
    if let esds = atom("esds") { return decoderSpecificInfo(esds) ?? [] }
    // "glbl" is how QuickTime files hold the set-up data of codecs that have no atom of their own.
    if let known = atom("av1C") ?? atom("glbl") { return known }
    let stored = StoredCodec(description).extradata
    if !stored.isEmpty { return stored }
    // For a codec that only a registered decoder knows, a single atom is taken for the record.
    guard let atoms, atoms.count == 1, let name = atoms.allKeys.first as? String else { return [] }
    return atom(name) ?? []
  }

  /// The decoder's own part of an MPEG-4 elementary stream descriptor (ISO/IEC 14496-1, 7.2.6).
  private static func decoderSpecificInfo(_ esds: [UInt8]) -> [UInt8]? {
    // Version and flags come first in the full box.
    var bytes = esds.dropFirst(4)
    func descriptor() -> (tag: UInt8, length: Int)? {
      guard let tag = bytes.popFirst() else { return nil }
      var length = 0
      for _ in 0..<4 {
        guard let byte = bytes.popFirst() else { return nil }
        length = length << 7 | Int(byte & 0x7F)
        if byte & 0x80 == 0 { break }
      }
      return (tag, length)
    }
    while let (tag, length) = descriptor() {
      switch tag {
      case 3:
        guard bytes.count >= 3, let flags = bytes.dropFirst(2).first else { return nil }
        bytes = bytes.dropFirst(3)
        if flags & 0x80 != 0 { bytes = bytes.dropFirst(2) }
        if flags & 0x40 != 0 { bytes = bytes.dropFirst(1 + Int(bytes.first ?? 0)) }
        if flags & 0x20 != 0 { bytes = bytes.dropFirst(2) }
      case 4: bytes = bytes.dropFirst(13)
      case 5: return Array(bytes.prefix(length))
      default: bytes = bytes.dropFirst(length)
      }
    }
    return nil
  }
}

/// The properties of a compressed frame in the headers of its NAL units.
struct FrameTraits {
  /// Whether no frame that follows in decode order refers to a frame before this one: true for IDR
  /// pictures, and for CRA pictures false.
  var isClosedKeyFrame = false
  /// The temporal sub-layer (`TemporalId` of HEVC), from 0.
  var temporalLevel = 0

  /// Reads the header of the first slice.
  /// - Parameters:
  ///   - data: The frame's bytes.
  ///   - format: The format of the frame.
  ///   - isSync: Whether the sample's attachments mark it as a sync sample; used for codecs without
  ///     NAL units.
  init(_ data: UnsafeRawBufferPointer, _ format: StreamFormat, isSync: Bool) {
    guard LengthPrefix.isValid(format.lengthSize) else {
      isClosedKeyFrame = isSync
      return
    }
    let codec: NALCodec = StreamFormat.isHEVC(format.codec) ? .hevc : .h264
    var (isClosed, level) = (false, 0)
    LengthPrefix.forEachUnit(in: data, lengthSize: format.lengthSize) { range in
      let unit = data[range]
      guard let first = unit.first, codec.isSlice(codec.unitType(first)) else { return true }
      // A CRA picture may be followed by leading pictures that refer to pictures before it.
      isClosed = codec.closesReferences(codec.unitType(first))
      if codec == .hevc { level = HEVCNALUnitHeader(of: unit).map { Int($0.temporalID) } ?? 0 }
      return false
    }
    (isClosedKeyFrame, temporalLevel) = (isClosed, level)
  }
}
