// SPDX-License-Identifier: Apache-2.0
extension HEVCSequenceParameterSet {
  /// Reads a parameter set.
  /// - Parameter nalUnit: the NAL unit with its header, without start code or length.
  /// - Throws: `SyntaxError` if it is invalid, or truncated before the VUI parameters.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes) throws(SyntaxError) {
    guard let header = nalUnit.first, header >> 1 == HEVCNALUnitType.sequenceParameterSet.rawValue else {
      throw .invalid
    }
    var set = Self()
    let failure = BitReader.read(nalUnit, headerLength: 2) { set.code(&$0) }
    if let failure { throw failure }
    guard set.width > 0, set.height > 0 else { throw .invalid }
    self = set
  }

  /// Writes the raw byte sequence payload, trailing bits included.
  package func write(to bits: inout BitWriter) {
    var set = self
    _ = set.code(&bits)
    bits.trailingBits()
    bits.flush()
  }

  /// The NAL unit with header and emulation prevention bytes.
  package var nalUnit: [UInt8] {
    EmulationPrevention.adding(
      header: HEVCNALUnitHeader(type: .sequenceParameterSet).bytes,
      payload: BitWriter.bytes { write(to: &$0) })
  }

  /// Codes the parameter set.
  /// - Returns: the error before the VUI parameters, if any. Decoding does not need the VUI
  ///   parameters and what follows, so an error there keeps the values read before it.
  private mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) -> SyntaxError? {
    c.u(&videoParameterSetID, 4)
    var maxSubLayersMinus1 = subLayerCount - 1
    c.u(&maxSubLayersMinus1, 3, max: 6)
    subLayerCount = maxSubLayersMinus1 + 1
    c.flag(&isTemporalNested)
    profileTierLevel.code(&c, subLayerCount: subLayerCount)
    c.ue(&id, 0...15)
    codeGeometry(&c)
    codeBlocks(&c)
    codeTools(&c)
    codeReferences(&c)
    var hasUsability = vui != nil
    c.flag(&hasUsability)
    if let failure = c.failure { return failure }
    if hasUsability {
      var usability = vui ?? HEVCVideoUsability()
      usability.code(&c, subLayerCount: subLayerCount)
      vui = usability
    }
    codeExtension(&c)
    return nil
  }

  private mutating func codeGeometry<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&chromaFormat, 0...3)
    if chromaFormat == 3 { c.flag(&hasSeparatePlanes) }
    c.ue(&codedWidth, 0...65535)
    c.ue(&codedHeight, 0...65535)
    c.optional(&conformanceWindow, CropOffsets()) { $1.code(&$0) }
    c.ue(&bitDepthLuma, 8...16)
    c.ue(&bitDepthChroma, 8...16)
    c.ue(&log2MaxPictureOrderCountLSB, 4...16)
    ordering.code(&c, subLayerCount: subLayerCount)
  }

  private mutating func codeBlocks<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&log2MinCodingBlock, 3...6)
    c.ue(&log2DiffMaxMinCodingBlock, 0...3)
    c.ue(&log2MinTransformBlock, 2...7)
    c.ue(&log2DiffMaxMinTransformBlock, 0...5)
    c.ue(&maxTransformHierarchyDepthInter, 0...5)
    c.ue(&maxTransformHierarchyDepthIntra, 0...5)
  }

  private mutating func codeTools<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.flag(&hasScalingLists)
    if hasScalingLists { c.optional(&scalingLists, HEVCScalingLists()) { $1.code(&$0) } }
    c.flag(&hasAsymmetricPartitions)
    c.flag(&hasSampleAdaptiveOffset)
    c.optional(&pcm, PCM()) {
      $0.u(&$1.bitDepthLuma, 4, above: 1)
      $0.u(&$1.bitDepthChroma, 4, above: 1)
      $0.ue(&$1.log2MinCodingBlock, 3...8)
      $0.ue(&$1.log2DiffMaxMin, 0...5)
      $0.flag(&$1.isLoopFilterDisabled)
    }
  }

  private mutating func codeReferences<Coder: SyntaxCoder>(_ c: inout Coder) {
    var count = referencePictureSets.count
    c.ue(&count, 0...64)
    if Coder.isReading { referencePictureSets.removeAll() }
    for index in 0..<count where c.failure == nil {
      var set = Coder.isReading ? HEVCReferencePictureSet() : referencePictureSets[index]
      set.code(&c, index: index, sets: referencePictureSets, isInSlice: false)
      if Coder.isReading { referencePictureSets.append(set) }
    }
    let length = log2MaxPictureOrderCountLSB
    c.optional(&longTermReferences, []) {
      var count = $1.count
      $0.ue(&count, 0...32)
      $0.list(&$1, count: count, LongTermReference()) {
        $0.u(&$1.pictureOrderCountLSB, length)
        $0.flag(&$1.isUsed)
      }
    }
    c.flag(&hasTemporalMotion)
    c.flag(&hasStrongIntraSmoothing)
  }

  /// Codes the range extension; other extensions are neither read nor written.
  private mutating func codeExtension<Coder: SyntaxCoder>(_ c: inout Coder) {
    var hasExtension = rangeExtension != nil
    c.flag(&hasExtension)
    guard hasExtension else { return }
    var hasRange = rangeExtension != nil
    c.flag(&hasRange)
    c.reserved(7)
    guard hasRange, c.failure == nil else { return }
    var value = rangeExtension ?? RangeExtension()
    c.u(&value.flags, 9)
    if c.failure == nil { rangeExtension = value }
  }
}
