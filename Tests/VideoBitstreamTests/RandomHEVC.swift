// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

// Random values of each structure of HEVC, every field of which can be written.

extension RandomSyntax {
  private mutating func profile() -> HEVCProfileTierLevel.Profile {
    var value = HEVCProfileTierLevel.Profile()
    value.space = int(0...3)
    value.isHighTier = chance()
    value.idc = int(0...31)
    value.compatibility = int(0...0xFFFF_FFFF)
    value.constraints = int(0...0xFFFF_FFFF_FFFF)
    return value
  }

  private mutating func profileTierLevel(_ subLayers: Int) -> HEVCProfileTierLevel {
    var value = HEVCProfileTierLevel()
    value.profile = profile()
    value.levelIDC = int(0...255)
    value.subLayers = list(subLayers - 1) { r in
      var layer = HEVCProfileTierLevel.SubLayer()
      layer.profile = r.optional { $0.profile() }
      layer.levelIDC = r.optional { $0.int(0...255) }
      return layer
    }
    return value
  }

  private mutating func ordering(_ subLayers: Int) -> HEVCSubLayerOrdering {
    var value = HEVCSubLayerOrdering()
    value.limits = list(chance() ? subLayers : 1) {
      .init(
        maxDecodedPictures: $0.int(1...16), maxReorderPictures: $0.int(0...15),
        maxLatencyIncreasePlus1: $0.syntax(0...0xFFFF_FFFE))
    }
    return value
  }

  private mutating func hevcHRD(hasCommon: Bool, subLayers: Int) -> HEVCHypotheticalDecoder {
    var value = HEVCHypotheticalDecoder()
    if hasCommon {
      var common = HEVCHypotheticalDecoder.Common()
      common.hasNAL = chance()
      common.hasVCL = chance()
      if common.hasNAL || common.hasVCL {
        common.subPicture = optional { r in
          var sub = HEVCHypotheticalDecoder.Common.SubPicture()
          sub.tickDivisor = r.int(2...257)
          sub.removalDelayIncrementLength = r.int(1...32)
          sub.isInPictureTiming = r.chance()
          sub.outputDelayLength = r.int(1...32)
          sub.cpbSizeScale = r.int(0...15)
          return sub
        }
        common.bitRateScale = int(0...15)
        common.cpbSizeScale = int(0...15)
        common.initialRemovalDelayLength = int(1...32)
        common.removalDelayLength = int(1...32)
        common.outputDelayLength = int(1...32)
      }
      value.common = common
    }
    // Without parameters of its own, a set here has no schedules: `common` of the first is empty
    // then.
    let common = value.common ?? HEVCHypotheticalDecoder.Common()
    value.subLayers = list(subLayers) { r in
      var layer = HEVCHypotheticalDecoder.SubLayer()
      layer.isFixedRate = r.chance()
      layer.isFixedRateWithinSequence = layer.isFixedRate || r.chance()
      if layer.isFixedRateWithinSequence {
        layer.elementalDuration = r.int(1...2048)
      } else {
        layer.isLowDelay = r.chance()
      }
      if !layer.isLowDelay { layer.scheduleCount = r.int(1...32) }
      func schedules(_ r: inout RandomSyntax) -> [HEVCHypotheticalDecoder.Schedule] {
        r.list(layer.scheduleCount) { r in
          var schedule = HEVCHypotheticalDecoder.Schedule()
          schedule.bitRateValue = r.syntax(1...0xFFFF_FFFF)
          schedule.cpbSizeValue = r.syntax(1...0xFFFF_FFFF)
          if common.subPicture != nil {
            schedule.subPictureCPBSizeValue = r.syntax(1...0xFFFF_FFFF)
            schedule.subPictureBitRateValue = r.syntax(1...0xFFFF_FFFF)
          }
          schedule.isConstantBitRate = r.chance()
          return schedule
        }
      }
      if common.hasNAL { layer.nal = schedules(&r) }
      if common.hasVCL { layer.vcl = schedules(&r) }
      return layer
    }
    return value
  }

  mutating func hevcVideoParameterSet() -> HEVCVideoParameterSet {
    var value = HEVCVideoParameterSet()
    value.id = int(0...15)
    value.isBaseLayerInternal = chance()
    value.isBaseLayerAvailable = chance()
    value.layerCount = int(1...64)
    value.subLayerCount = int(1...7)
    value.isTemporalNested = chance()
    value.profileTierLevel = profileTierLevel(value.subLayerCount)
    value.ordering = ordering(value.subLayerCount)
    value.maxLayerID = int(0...63)
    value.layerSets = list(syntax(0...60)) { r in
      r.next() & ~((UInt64.max >> UInt64(value.maxLayerID)) >> 1)
    }
    value.timing = optional { r in
      var timing = HEVCVideoParameterSet.Timing(
        ticks: VideoTicks(unitsInTick: r.int(0...0xFFFF_FFFF), timeScale: r.int(0...0xFFFF_FFFF)))
      timing.ticksPerOrderCount = r.optional { $0.syntax(1...0xFFFF_FFFF) }
      timing.decoders = r.list(r.int(0...min(2, value.layerSets.count + 1))) {
        .init(
          layerSetIndex: $0.int(0...1023),
          parameters: $0.hevcHRD(hasCommon: true, subLayers: value.subLayerCount))
      }
      return timing
    }
    return value
  }

  private mutating func hevcUsability(_ subLayers: Int) -> HEVCVideoUsability {
    var value = HEVCVideoUsability()
    value.appearance = appearance()
    value.hasNeutralChroma = chance()
    value.isFieldSequence = chance()
    value.hasPictureStructure = chance()
    value.displayWindow = optional {
      CropOffsets(left: $0.int(0...9), right: $0.int(0...9), top: $0.int(0...9), bottom: $0.int(0...9))
    }
    value.timing = optional { r in
      var timing = HEVCVideoUsability.Timing(
        ticks: VideoTicks(unitsInTick: r.int(0...0xFFFF_FFFF), timeScale: r.int(0...0xFFFF_FFFF)))
      timing.ticksPerOrderCount = r.optional { $0.syntax(1...0xFFFF_FFFF) }
      timing.hrd = r.optional { $0.hevcHRD(hasCommon: true, subLayers: subLayers) }
      return timing
    }
    value.restriction = optional { r in
      var restriction = HEVCVideoUsability.Restriction()
      restriction.hasFixedTiles = r.chance()
      restriction.motionVectorsOverPictureBoundaries = r.chance()
      restriction.hasRestrictedLists = r.chance()
      restriction.minSpatialSegmentation = r.int(0...4095)
      restriction.maxBytesPerPictureDenominator = r.int(0...16)
      restriction.maxBitsPerMinCodingUnitDenominator = r.int(0...16)
      restriction.log2MaxHorizontalMotion = r.int(0...15)
      restriction.log2MaxVerticalMotion = r.int(0...15)
      return restriction
    }
    return value
  }

  private mutating func hevcScalingLists() -> HEVCScalingLists {
    var value = HEVCScalingLists()
    for index in value.lists.indices {
      let size = min(index / 6, 3)
      value.lists[index] =
        chance()
        ? .predicted(int(0...5))
        : .coded(
          dc: size > 1 ? int(1...255) : 16,
          deltas: list(min(64, 1 << (4 + 2 * size))) { $0.int(-128...127) })
    }
    return value
  }

  /// - Parameter sets: Those before it.
  private mutating func referencePictureSet(
    _ sets: [HEVCReferencePictureSet], isInSlice: Bool
  ) -> HEVCReferencePictureSet {
    var value = HEVCReferencePictureSet()
    if !sets.isEmpty, chance() {
      var prediction = HEVCReferencePictureSet.Prediction()
      if isInSlice { prediction.indexDelta = int(1...sets.count) }
      prediction.isNegative = chance()
      prediction.absoluteDelta = syntax(1...32768)
      var kept = 0
      prediction.flags = list(sets[sets.count - prediction.indexDelta].count + 1) { r in
        let isUsed = kept < 16 && r.chance()
        let isKept = isUsed || (kept < 16 && r.chance())
        if isKept { kept += 1 }
        return .init(isUsed: isUsed, isKept: isKept)
      }
      value.prediction = prediction
    } else {
      value.negative = list(int(0...8)) { .init(distance: $0.syntax(1...32768), isUsed: $0.chance()) }
      value.positive = list(int(0...8)) { .init(distance: $0.syntax(1...32768), isUsed: $0.chance()) }
    }
    return value
  }

  mutating func hevcSequenceParameterSet() -> HEVCSequenceParameterSet {
    var value = HEVCSequenceParameterSet()
    value.videoParameterSetID = int(0...15)
    value.subLayerCount = int(1...7)
    value.isTemporalNested = chance()
    value.profileTierLevel = profileTierLevel(value.subLayerCount)
    value.id = int(0...15)
    value.chromaFormat = int(0...3)
    value.hasSeparatePlanes = value.chromaFormat == 3 && chance()
    value.codedWidth = int(100...65535)
    value.codedHeight = int(100...65535)
    value.conformanceWindow = optional {
      CropOffsets(left: $0.int(0...9), right: $0.int(0...9), top: $0.int(0...9), bottom: $0.int(0...9))
    }
    value.bitDepthLuma = int(8...16)
    value.bitDepthChroma = int(8...16)
    value.log2MaxPictureOrderCountLSB = int(4...16)
    value.ordering = ordering(value.subLayerCount)
    value.log2MinCodingBlock = int(3...6)
    value.log2DiffMaxMinCodingBlock = int(0...3)
    value.log2MinTransformBlock = int(2...5)
    value.log2DiffMaxMinTransformBlock = int(0...3)
    value.maxTransformHierarchyDepthInter = int(0...4)
    value.maxTransformHierarchyDepthIntra = int(0...4)
    value.hasScalingLists = chance()
    if value.hasScalingLists { value.scalingLists = optional { $0.hevcScalingLists() } }
    value.hasAsymmetricPartitions = chance()
    value.hasSampleAdaptiveOffset = chance()
    value.pcm = optional { r in
      var pcm = HEVCSequenceParameterSet.PCM()
      pcm.bitDepthLuma = r.int(1...16)
      pcm.bitDepthChroma = r.int(1...16)
      pcm.log2MinCodingBlock = r.int(3...5)
      pcm.log2DiffMaxMin = r.int(0...2)
      pcm.isLoopFilterDisabled = r.chance()
      return pcm
    }
    for _ in 0..<syntax(0...64) {
      value.referencePictureSets.append(referencePictureSet(value.referencePictureSets, isInSlice: false))
    }
    value.longTermReferences = optional { r in
      r.list(r.int(0...32)) { r in
        .init(
          pictureOrderCountLSB: r.int(0...(1 << value.log2MaxPictureOrderCountLSB) - 1), isUsed: r.chance())
      }
    }
    value.hasTemporalMotion = chance()
    value.hasStrongIntraSmoothing = chance()
    value.vui = optional { $0.hevcUsability(value.subLayerCount) }
    value.rangeExtension = optional { .init(flags: $0.int(0...511)) }
    return value
  }

  private mutating func deblockingFilter() -> HEVCDeblockingFilter {
    var value = HEVCDeblockingFilter()
    value.isDisabled = chance()
    if !value.isDisabled {
      value.betaOffset = int(-6...6)
      value.tcOffset = int(-6...6)
    }
    return value
  }

  mutating func hevcPictureParameterSet() -> HEVCPictureParameterSet {
    var value = HEVCPictureParameterSet()
    value.id = int(0...63)
    value.sequenceParameterSetID = int(0...15)
    value.allowsDependentSegments = chance()
    value.hasOutputFlag = chance()
    value.extraHeaderBits = int(0...7)
    value.hidesSigns = chance()
    value.hasCabacInit = chance()
    value.defaultActiveReferences = int(1...15)
    value.defaultActiveReferencesL1 = int(1...15)
    value.initialQP = int(-20...51)
    value.constrainedIntraPrediction = chance()
    value.allowsTransformSkip = chance()
    value.qpDeltaDepth = optional { $0.int(0...3) }
    value.cbQPOffset = int(-12...12)
    value.crQPOffset = int(-12...12)
    value.hasSliceChromaQPOffsets = chance()
    value.hasWeightedPrediction = chance()
    value.hasWeightedBiprediction = chance()
    value.allowsTransquantBypass = chance()
    value.isSynchronised = chance()
    value.tiles = optional { r in
      var tiles = HEVCPictureParameterSet.Tiles()
      tiles.columns = r.int(1...20)
      tiles.rows = r.int(1...22)
      tiles.sizes = r.optional { r in
        .init(
          widths: r.list(tiles.columns - 1) { $0.int(1...99) },
          heights: r.list(tiles.rows - 1) { $0.int(1...99) })
      }
      tiles.isFilteredAcross = r.chance()
      return tiles
    }
    value.isFilteredAcrossSlices = chance()
    value.deblocking = optional { r in
      var deblocking = HEVCPictureParameterSet.Deblocking()
      deblocking.allowsOverride = r.chance()
      deblocking.filter = r.deblockingFilter()
      return deblocking
    }
    value.scalingLists = optional { $0.hevcScalingLists() }
    value.allowsListModification = chance()
    value.log2ParallelMergeLevel = int(2...6)
    value.hasSliceHeaderExtension = chance()
    value.rangeExtension = optional { r in
      var range = HEVCPictureParameterSet.RangeExtension()
      if value.allowsTransformSkip { range.log2MaxTransformSkipBlock = r.int(2...5) }
      range.hasCrossComponentPrediction = r.chance()
      range.chromaOffsets = r.optional { r in
        var list = HEVCPictureParameterSet.RangeExtension.ChromaOffsetList()
        list.depth = r.int(0...3)
        list.offsets = r.list(r.int(1...6)) { .init(cb: $0.int(-12...12), cr: $0.int(-12...12)) }
        return list
      }
      range.log2SAOOffsetScaleLuma = r.int(0...4)
      range.log2SAOOffsetScaleChroma = r.int(0...4)
      return range
    }
    return value
  }

  mutating func hevcSliceHeader(
    _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
  ) -> HEVCSliceHeader {
    var value = HEVCSliceHeader()
    let types: [HEVCNALUnitType] = [.trailN, .trailR, .idrWithRADL, .idrWithoutLeading, .cra]
    value.nal = HEVCNALUnitHeader(
      type: types.randomElement(using: &self) ?? .trailR, temporalID: UInt8(int(0...6)))
    value.isFirstInPicture = chance()
    if value.nal.type.isIRAP { value.discardsPriorPictures = chance() }
    value.pictureParameterSetID = pps.id
    if !value.isFirstInPicture {
      value.isDependent = pps.allowsDependentSegments && chance(20)
      value.segmentAddress = int(0...max(0, sps.codingTreeBlocks - 1))
    }
    if !value.isDependent { fill(&value, sps, pps) }
    if pps.tiles != nil || pps.isSynchronised {
      value.entryPoints = list(min(syntax(0...60), HEVCSliceHeader.maxEntryPoints(sps, pps))) {
        $0.int(1...1000)
      }
      if !value.entryPoints.isEmpty { value.entryPointLength = int(10...32) }
    }
    if pps.hasSliceHeaderExtension { value.extensionBytes = list(syntax(0...256)) { $0.int(0...255) } }
    return value
  }

  private mutating func fill(
    _ value: inout HEVCSliceHeader, _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
  ) {
    value.extraBits = int(0...(1 << pps.extraHeaderBits) - 1)
    value.kind = HEVCSliceKind(rawValue: int(0...2)) ?? .i
    if pps.hasOutputFlag { value.isOutput = chance() }
    if sps.hasSeparatePlanes { value.colorPlane = int(0...2) }
    let lsb = (1 << sps.log2MaxPictureOrderCountLSB) - 1
    if !value.nal.type.isIDR {
      value.pictureOrderCountLSB = int(0...lsb)
      if !sps.referencePictureSets.isEmpty, chance() {
        value.referencePictureSetIndex = int(0...sps.referencePictureSets.count - 1)
      } else {
        value.referencePictureSet = referencePictureSet(sps.referencePictureSets, isInSlice: true)
      }
      if let known = sps.longTermReferences {
        value.longTermReferences = list(known.isEmpty ? 0 : int(0...3)) { r in
          var reference = HEVCSliceHeader.LongTermReference()
          reference.index = r.int(0...known.count - 1)
          reference.msbCycle = r.optional { $0.syntax(0...1000) }
          return reference
        }
        value.longTermReferences += list(int(0...3)) { r in
          var reference = HEVCSliceHeader.LongTermReference()
          reference.pictureOrderCountLSB = r.int(0...lsb)
          reference.isUsed = r.chance()
          reference.msbCycle = r.optional { $0.syntax(0...1000) }
          return reference
        }
      }
      if sps.hasTemporalMotion { value.hasTemporalMotion = chance() }
    }
    if sps.hasSampleAdaptiveOffset {
      value.hasLumaSAO = chance()
      value.hasChromaSAO = sps.chromaArrayType != 0 && chance()
    }
    if value.kind != .i { fillPrediction(&value, sps, pps) }
    value.qp = int(-20...51)
    if pps.hasSliceChromaQPOffsets {
      value.cbQPOffset = int(-12...12)
      value.crQPOffset = int(-12...12)
    }
    if pps.rangeExtension?.chromaOffsets != nil { value.adjustsChromaQP = chance() }
    if pps.deblocking?.allowsOverride == true { value.deblocking = optional { $0.deblockingFilter() } }
    let filter = value.deblocking ?? pps.deblocking?.filter ?? HEVCDeblockingFilter()
    if pps.isFilteredAcrossSlices, value.hasLumaSAO || value.hasChromaSAO || !filter.isDisabled {
      value.isFilteredAcross = chance()
    }
  }

  private mutating func fillPrediction(
    _ value: inout HEVCSliceHeader, _ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet
  ) {
    value.activeReferences = chance() ? pps.defaultActiveReferences : int(1...15)
    if value.kind == .b { value.activeReferencesL1 = chance() ? pps.defaultActiveReferencesL1 : int(1...15) }
    // NumPicTotalCurr, counted here by itself.
    let set = value.referencePictureSetIndex.map { sps.referencePictureSets[$0] } ?? value.referencePictureSet
    var total =
      (set.prediction?.flags.filter(\.isUsed).count) ?? (set.negative + set.positive).filter(\.isUsed).count
    for reference in value.longTermReferences {
      if reference.index.map({ sps.longTermReferences?[$0].isUsed == true }) ?? reference.isUsed {
        total += 1
      }
    }
    if pps.allowsListModification, total > 1 {
      value.list0 = optional { r in r.list(value.activeReferences) { $0.int(0...total - 1) } }
      if value.kind == .b {
        value.list1 = optional { r in r.list(value.activeReferencesL1) { $0.int(0...total - 1) } }
      }
    }
    if value.kind == .b { value.isMotionDifferenceL1Zero = chance() }
    if pps.hasCabacInit { value.cabacInit = chance() }
    if value.hasTemporalMotion {
      if value.kind == .b { value.collocated.isFromL0 = chance() }
      let count = value.collocated.isFromL0 ? value.activeReferences : value.activeReferencesL1
      if count > 1 { value.collocated.index = int(0...count - 1) }
    }
    if value.kind == .p ? pps.hasWeightedPrediction : pps.hasWeightedBiprediction {
      func entry(_ r: inout RandomSyntax) -> HEVCPredictionWeights.Entry {
        func weight(_ r: inout RandomSyntax) -> HEVCPredictionWeights.Weight {
          .init(delta: r.int(-128...127), offset: r.int(-512...511))
        }
        var entry = HEVCPredictionWeights.Entry()
        entry.luma = r.optional(weight)
        if sps.chromaArrayType != 0 {
          entry.chroma = r.optional {
            var chroma = HEVCPredictionWeights.Chroma()
            chroma.cb = weight(&$0)
            chroma.cr = weight(&$0)
            return chroma
          }
        }
        return entry
      }
      var weights = HEVCPredictionWeights()
      weights.log2LumaDenominator = int(0...7)
      if sps.chromaArrayType != 0 { weights.deltaLog2ChromaDenominator = int(-7...7) }
      weights.list0 = list(value.activeReferences, entry)
      weights.list1 = list(value.kind == .b ? value.activeReferencesL1 : 0, entry)
      value.weights = weights
    }
    value.mergeCandidates = int(1...5)
  }
}
