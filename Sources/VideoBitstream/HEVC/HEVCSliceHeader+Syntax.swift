// SPDX-License-Identifier: Apache-2.0
extension HEVCSliceHeader {
  /// Reads the header of a NAL unit of type 0...31. Damage after the picture order count is
  /// ignored.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header, without start code or length.
  ///   - sequences: the sequence parameter sets by their identifiers.
  ///   - pictures: the picture parameter sets by their identifiers.
  /// - Throws: `SyntaxError` if the header is invalid or truncated, or names a parameter set that
  ///   is missing.
  package init<Bytes: Collection<UInt8>>(
    nalUnit: Bytes, sequences: [Int: HEVCSequenceParameterSet], pictures: [Int: HEVCPictureParameterSet]
  ) throws(SyntaxError) {
    guard nalUnit.count > 2 else { throw .truncated }
    guard let nal = HEVCNALUnitHeader(of: nalUnit) else { throw .invalid }
    var header = Self()
    header.nal = nal
    let failure = BitReader.read(nalUnit, headerLength: 2) { reader -> SyntaxError? in
      header.codeStart(&reader)
      if let failure = reader.failure { return failure }
      guard let pps = pictures[header.pictureParameterSetID],
        let sps = sequences[pps.sequenceParameterSetID]
      else { return .invalid }
      header.codeOrder(&reader, sps, pps)
      let failure = reader.failure
      header.codeRest(&reader, sps, pps)
      return failure
    }
    if let failure { throw failure }
    self = header
  }

  /// Writes the header with its byte alignment; slice data follow it.
  /// - Parameters:
  ///   - bits: receives the header.
  ///   - sps: the sequence parameter set of `pps`.
  ///   - pps: the picture parameter set that the slice refers to.
  package func write(to bits: inout BitWriter, sps: HEVCSequenceParameterSet, pps: HEVCPictureParameterSet) {
    var header = self
    header.pictureParameterSetID = pps.id
    header.codeStart(&bits)
    header.codeOrder(&bits, sps, pps)
    header.codeRest(&bits, sps, pps)
    bits.trailingBits()
  }

  private mutating func codeStart<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.flag(&isFirstInPicture)
    if nal.type.isIRAP { c.flag(&discardsPriorPictures) }
    c.ue(&pictureParameterSetID, 0...63)
  }

  /// Codes the syntax elements that distinguish and order pictures.
  private mutating func codeOrder<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
  ) {
    if !isFirstInPicture {
      if pps.allowsDependentSegments { c.flag(&isDependent) }
      c.u(&segmentAddress, ceilLog2(sps.codingTreeBlocks))
    }
    guard !isDependent else { return }
    c.u(&extraBits, pps.extraHeaderBits)
    var type = kind.rawValue
    c.ue(&type, 0...2)
    kind = HEVCSliceKind(rawValue: type) ?? .i
    if pps.hasOutputFlag { c.flag(&isOutput) }
    if sps.hasSeparatePlanes { c.u(&colorPlane, 2) }
    if !nal.type.isIDR { c.u(&pictureOrderCountLSB, sps.log2MaxPictureOrderCountLSB) }
  }

  private mutating func codeRest<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
  ) {
    if !isDependent {
      if !nal.type.isIDR { codeReferencePictures(&c, sps) }
      if sps.hasSampleAdaptiveOffset {
        c.flag(&hasLumaSAO)
        if sps.chromaArrayType != 0 { c.flag(&hasChromaSAO) }
      }
      if kind != .i { codePrediction(&c, sps, pps) }
      codeQuantisation(&c, pps)
    }
    if pps.tiles != nil || pps.isSynchronised { codeEntryPoints(&c, sps, pps) }
    if pps.hasSliceHeaderExtension {
      var count = extensionBytes.count
      c.ue(&count, 0...256)
      c.list(&extensionBytes, count: count, 0) { $0.u(&$1, 8) }
    }
  }

  private mutating func codeReferencePictures<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: HEVCSequenceParameterSet
  ) {
    let sets = sps.referencePictureSets
    var isOfSequence = referencePictureSetIndex != nil
    c.flag(&isOfSequence)
    guard c.failure == nil else { return }
    if isOfSequence {
      var index = referencePictureSetIndex ?? 0
      c.u(&index, ceilLog2(sets.count))
      if index >= sets.count { return c.fail(.invalid) }
      referencePictureSetIndex = index
    } else {
      referencePictureSet.code(&c, index: sets.count, sets: sets, isInSlice: true)
    }
    if let known = sps.longTermReferences { codeLongTerm(&c, sps, known) }
    if sps.hasTemporalMotion { c.flag(&hasTemporalMotion) }
  }

  private mutating func codeLongTerm<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: HEVCSequenceParameterSet, _ known: [HEVCSequenceParameterSet.LongTermReference]
  ) {
    var ofSequence = longTermReferences.reduce(0) { $0 + ($1.index == nil ? 0 : 1) }
    var ofSlice = longTermReferences.count - ofSequence
    if !known.isEmpty { c.ue(&ofSequence, 0...32) }
    c.ue(&ofSlice, 0...32)
    var number = 0
    c.list(&longTermReferences, count: ofSequence + ofSlice, LongTermReference()) {
      if number < ofSequence {
        var index = $1.index ?? 0
        $0.u(&index, ceilLog2(known.count))
        if index >= known.count { $0.fail(.invalid) }
        $1.index = index
      } else {
        $0.u(&$1.pictureOrderCountLSB, sps.log2MaxPictureOrderCountLSB)
        $0.flag(&$1.isUsed)
      }
      $0.optional(&$1.msbCycle, 0) { $0.ue(&$1) }
      number += 1
    }
  }

  /// NumPicTotalCurr: the number of pictures that the reference lists are made of.
  private func referenceCount(_ sps: HEVCSequenceParameterSet) -> Int {
    var count =
      (referencePictureSetIndex.map { sps.referencePictureSets[$0] } ?? referencePictureSet).usedCount
    for reference in longTermReferences {
      let isUsed = reference.index.map { sps.longTermReferences?[$0].isUsed ?? false } ?? reference.isUsed
      if isUsed { count += 1 }
    }
    return count
  }

  private mutating func codePrediction<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
  ) {
    codeActiveReferences(&c, pps)
    // Without a failure all indices are valid.
    guard c.failure == nil else { return }
    let total = referenceCount(sps)
    if pps.allowsListModification, total > 1 {
      let (count, countL1) = (activeReferences, activeReferencesL1)
      let length = ceilLog2(total)
      c.optional(&list0, []) { $0.list(&$1, count: count, 0) { $0.u(&$1, length) } }
      if kind == .b { c.optional(&list1, []) { $0.list(&$1, count: countL1, 0) { $0.u(&$1, length) } } }
    }
    if kind == .b { c.flag(&isMotionDifferenceL1Zero) }
    if pps.hasCabacInit { c.flag(&cabacInit) }
    if hasTemporalMotion {
      if kind == .b { c.flag(&collocated.isFromL0) }
      if (collocated.isFromL0 ? activeReferences : activeReferencesL1) > 1 { c.ue(&collocated.index, 0...14) }
    }
    if kind == .p ? pps.hasWeightedPrediction : pps.hasWeightedBiprediction {
      var table = weights ?? HEVCPredictionWeights()
      table.code(
        &c, hasChroma: sps.chromaArrayType != 0, references: activeReferences,
        referencesL1: kind == .b ? activeReferencesL1 : 0)
      weights = table
    }
    var fiveMinus = 5 - mergeCandidates
    c.ue(&fiveMinus, 0...4)
    mergeCandidates = 5 - fiveMinus
  }

  private mutating func codeActiveReferences<Coder: SyntaxCoder>(
    _ c: inout Coder, _ pps: HEVCPictureParameterSet
  ) {
    var overrides =
      activeReferences != pps.defaultActiveReferences
      || kind == .b && activeReferencesL1 != pps.defaultActiveReferencesL1
    c.flag(&overrides)
    if overrides {
      c.ue(&activeReferences, 1...15)
      if kind == .b { c.ue(&activeReferencesL1, 1...15) }
    } else {
      activeReferences = pps.defaultActiveReferences
      if kind == .b { activeReferencesL1 = pps.defaultActiveReferencesL1 }
    }
  }

  private mutating func codeQuantisation<Coder: SyntaxCoder>(
    _ c: inout Coder, _ pps: HEVCPictureParameterSet
  ) {
    c.se(&qp, -48...51, above: pps.initialQP)
    if pps.hasSliceChromaQPOffsets {
      c.se(&cbQPOffset, -12...12)
      c.se(&crQPOffset, -12...12)
    }
    if pps.rangeExtension?.chromaOffsets != nil { c.flag(&adjustsChromaQP) }
    if pps.deblocking?.allowsOverride == true {
      c.optional(&deblocking, HEVCDeblockingFilter()) { $1.code(&$0) }
    }
    let isDeblocked = !(deblocking ?? pps.deblocking?.filter ?? HEVCDeblockingFilter()).isDisabled
    if pps.isFilteredAcrossSlices, hasLumaSAO || hasChromaSAO || isDeblocked { c.flag(&isFilteredAcross) }
  }

  /// The most entry points of a slice: one for each row of coding tree blocks in each column of
  /// tiles, and at most 65536, far more than any level allows.
  package static func maxEntryPoints(_ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet) -> Int {
    min(max((pps.tiles?.columns ?? 1) * sps.codingTreeBlockRows, 0), 1 << 16)
  }

  private mutating func codeEntryPoints<Coder: SyntaxCoder>(
    _ c: inout Coder, _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
  ) {
    var count = entryPoints.count
    c.ue(&count, 0...Self.maxEntryPoints(sps, pps))
    guard count > 0 else { return }
    c.ue(&entryPointLength, 1...32)
    let length = entryPointLength
    c.list(&entryPoints, count: count, 1) { $0.u(&$1, length, above: 1) }
  }
}
