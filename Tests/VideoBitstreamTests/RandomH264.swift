// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

// Random values of each structure of H.264, every field of which can be written.

extension RandomSyntax {
  mutating func scalingLists(_ count: Int) -> H264ScalingLists {
    H264ScalingLists(
      lists: (0..<count).map { index in
        guard chance() else { return nil }
        var scale = 8
        var deltas: [Int] = []
        for _ in 0..<(index < 6 ? 16 : 64) {
          let next = chance(5) ? 0 : int(1...255)
          var delta = next - scale
          if delta > 127 { delta -= 256 }
          if delta < -128 { delta += 256 }
          deltas.append(delta)
          scale = next
          if scale == 0 { break }
        }
        return deltas
      })
  }

  mutating func appearance() -> VideoAppearance {
    var value = VideoAppearance()
    value.aspectRatio = optional { r in
      switch r.int(0...2) {
      case 0: SampleAspectRatio()
      case 1: SampleAspectRatio(width: 40, height: 33)
      default: SampleAspectRatio(width: r.int(0...65535), height: r.int(0...65535))
      }
    }
    value.isOverscanAppropriate = optional { $0.chance() }
    value.signal = optional { r in
      VideoAppearance.Signal(
        format: r.int(0...7), isFullRange: r.chance(),
        color: r.optional {
          ColorDescription(
            primaries: UInt8($0.int(0...255)), transfer: UInt8($0.int(0...255)),
            matrix: UInt8($0.int(0...255)))
        })
    }
    value.chromaLocations = optional { .init(top: $0.int(0...5), bottom: $0.int(0...5)) }
    return value
  }

  mutating func h264HRD() -> H264HypotheticalDecoder {
    var value = H264HypotheticalDecoder()
    value.bitRateScale = int(0...15)
    value.cpbSizeScale = int(0...15)
    value.schedules = list(int(1...32)) { r in
      var schedule = H264HypotheticalDecoder.Schedule()
      schedule.bitRateValue = r.syntax(1...0xFFFF_FFFF)
      schedule.cpbSizeValue = r.syntax(1...0xFFFF_FFFF)
      schedule.isConstantBitRate = r.chance()
      return schedule
    }
    value.initialRemovalDelayLength = int(1...32)
    value.removalDelayLength = int(1...32)
    value.outputDelayLength = int(1...32)
    value.timeOffsetLength = int(0...31)
    return value
  }

  mutating func h264Usability() -> H264VideoUsability {
    var value = H264VideoUsability()
    value.appearance = appearance()
    value.timing = optional {
      .init(
        ticks: VideoTicks(unitsInTick: $0.int(0...0xFFFF_FFFF), timeScale: $0.syntax(0...0xFFFF_FFFF)),
        isFixedFrameRate: $0.chance())
    }
    value.nalHRD = optional { $0.h264HRD() }
    value.vclHRD = optional { $0.h264HRD() }
    value.isLowDelay = (value.nalHRD != nil || value.vclHRD != nil) && chance()
    value.hasPictureStructure = chance()
    value.restriction = optional { r in
      var restriction = H264VideoUsability.Restriction()
      restriction.motionVectorsOverPictureBoundaries = r.chance()
      restriction.maxBytesPerPictureDenominator = r.int(0...16)
      restriction.maxBitsPerMacroblockDenominator = r.int(0...16)
      restriction.log2MaxHorizontalMotion = r.int(0...15)
      restriction.log2MaxVerticalMotion = r.int(0...15)
      restriction.maxReorderFrames = r.int(0...16)
      restriction.maxDecFrameBuffering = r.int(0...16)
      return restriction
    }
    return value
  }

  mutating func h264SequenceParameterSet() -> H264SequenceParameterSet {
    var value = H264SequenceParameterSet()
    value.profileIDC = [66, 77, 88, 100, 110, 122, 244, 44].randomElement(using: &self) ?? 66
    value.constraintFlags = int(0...63) << 2
    value.levelIDC = [9, 10, 11, 31, 40, 52, 62].randomElement(using: &self) ?? 10
    value.id = int(0...31)
    if value.hasChromaFormat {
      value.chromaFormat = int(0...3)
      value.hasSeparatePlanes = value.chromaFormat == 3 && chance()
      value.bitDepthLuma = int(8...14)
      value.bitDepthChroma = int(8...14)
      value.isLosslessAtZero = chance()
      value.scalingLists = optional { $0.scalingLists(value.chromaFormat == 3 ? 12 : 8) }
    }
    value.log2MaxFrameNum = int(4...16)
    value.pictureOrderCountType = int(0...2)
    if value.pictureOrderCountType == 0 { value.log2MaxPictureOrderCountLSB = int(4...16) }
    if value.pictureOrderCountType == 1 {
      value.orderCycle.isDeltaAlwaysZero = chance()
      value.orderCycle.offsetForNonReference = int(-1000...1000)
      value.orderCycle.offsetForTopToBottom = syntax(-0x7FFF_FFFF...0x7FFF_FFFF)
      value.orderCycle.offsetsForReferenceFrames = list(syntax(0...255)) { $0.int(-99...99) }
    }
    value.maxReferenceFrames = int(0...16)
    value.gapsInFrameNumAllowed = chance()
    value.widthInMbs = int(8...4096)
    value.heightInMapUnits = int(8...4096)
    value.isFrameOnly = chance()
    value.isMacroblockAdaptive = !value.isFrameOnly && chance()
    value.direct8x8Inference = chance()
    value.cropping = optional {
      CropOffsets(left: $0.int(0...15), right: $0.int(0...15), top: $0.int(0...15), bottom: $0.int(0...15))
    }
    value.vui = optional { $0.h264Usability() }
    return value
  }

  mutating func sliceGroups() -> H264SliceGroups {
    let count = int(2...8)
    let map: H264SliceGroups.Map =
      switch int(0...6) {
      case 0: .interleaved(runs: list(count) { $0.syntax(1...1000) })
      case 1: .dispersed
      case 2: .foreground(list(count - 1) { .init(topLeft: $0.int(0...99), bottomRight: $0.int(0...999)) })
      case 6:
        .explicit(list(int(1...300)) { UInt8($0.int(0...(count > 4 ? 7 : count > 2 ? 3 : 1))) })
      case let type: .changing(type: max(type, 3), isReversed: chance(), rate: int(1...99))
      }
    return H264SliceGroups(count: count, map: map)
  }

  mutating func h264PictureParameterSet(chromaFormat: Int) -> H264PictureParameterSet {
    var value = H264PictureParameterSet()
    value.id = int(0...255)
    value.sequenceParameterSetID = int(0...31)
    value.cabac = chance()
    value.hasBottomFieldOrder = chance()
    value.sliceGroups = optional { $0.sliceGroups() }
    value.defaultActiveReferences = int(1...32)
    value.defaultActiveReferencesL1 = int(1...32)
    value.hasWeightedPrediction = chance()
    value.weightedBipredIDC = int(0...2)
    value.initialQP = int(-10...51)
    value.initialQS = int(0...51)
    value.chromaQPOffset = int(-12...12)
    value.deblockingControlPresent = chance()
    value.constrainedIntraPrediction = chance()
    value.hasRedundantPictures = chance()
    value.high = optional { r in
      var high = H264PictureParameterSet.High(
        transform8x8: r.chance(), secondChromaQPOffset: r.int(-12...12))
      let count = 6 + (high.transform8x8 ? (chromaFormat == 3 ? 6 : 2) : 0)
      high.scalingLists = r.optional { $0.scalingLists(count) }
      return high
    }
    return value
  }

  private mutating func modifications() -> [H264ReferenceListModification] {
    list(chance(30) ? int(1...33) : 0) { r in
      let difference = r.syntax(1...1 << 17)
      return r.chance(30)
        ? .longTerm(pictureNumber: r.int(0...31))
        : .shortTerm(difference: r.chance() ? difference : -difference)
    }
  }

  private mutating func memoryManagement() -> [H264MemoryManagement] {
    list(int(0...12)) { r in
      switch r.int(1...6) {
      case 1: .removeShortTerm(difference: r.syntax(1...1 << 17))
      case 2: .removeLongTerm(pictureNumber: r.int(0...31))
      case 3: .makeLongTerm(difference: r.syntax(1...1 << 17), index: r.int(0...31))
      case 4: .longTermLimit(r.int(0...32))
      case 5: .removeAll
      default: .currentIsLongTerm(index: r.int(0...31))
      }
    }
  }

  private mutating func weights(_ hasChroma: Bool, _ count: Int, _ countL1: Int) -> H264PredictionWeights {
    func weight(_ r: inout RandomSyntax) -> H264PredictionWeights.Weight {
      .init(weight: r.int(-128...127), offset: r.int(-128...127))
    }
    func entry(_ r: inout RandomSyntax) -> H264PredictionWeights.Entry {
      var entry = H264PredictionWeights.Entry()
      entry.luma = r.optional(weight)
      if hasChroma {
        entry.chroma = r.optional {
          var chroma = H264PredictionWeights.Chroma()
          chroma.cb = weight(&$0)
          chroma.cr = weight(&$0)
          return chroma
        }
      }
      return entry
    }
    var value = H264PredictionWeights()
    value.log2LumaDenominator = int(0...7)
    if hasChroma { value.log2ChromaDenominator = int(0...7) }
    value.list0 = list(count, entry)
    value.list1 = list(countL1, entry)
    return value
  }

  mutating func h264SliceHeader(
    _ sps: H264SequenceParameterSet, _ pps: H264PictureParameterSet
  ) -> H264SliceHeader {
    var value = H264SliceHeader()
    value.refIDC = int(0...3)
    value.isIDR = value.refIDC > 0 && chance(30)
    value.firstMacroblock = syntax(0...100_000)
    value.kind = H264SliceKind(rawValue: int(0...4)) ?? .i
    value.isOnlyKind = chance()
    value.pictureParameterSetID = pps.id
    if sps.hasSeparatePlanes { value.colorPlane = int(0...2) }
    value.frameNum = int(0...(1 << sps.log2MaxFrameNum) - 1)
    value.isField = !sps.isFrameOnly && chance()
    value.isBottomField = value.isField && chance()
    if value.isIDR { value.idrPictureID = syntax(0...65535) }
    if sps.pictureOrderCountType == 0 {
      value.pictureOrderCountLSB = int(0...(1 << sps.log2MaxPictureOrderCountLSB) - 1)
      if pps.hasBottomFieldOrder, !value.isField { value.deltaPictureOrderBottom = int(-99...99) }
    } else if sps.pictureOrderCountType == 1, !sps.orderCycle.isDeltaAlwaysZero {
      value.deltaPictureOrder = int(-99...99)
      if pps.hasBottomFieldOrder, !value.isField { value.deltaPictureOrder1 = int(-99...99) }
    }
    if pps.hasRedundantPictures { value.redundantPictureCount = int(0...127) }
    if !value.kind.isIntra {
      value.usesSpatialDirect = value.kind == .b && chance()
      value.activeReferences = chance() ? pps.defaultActiveReferences : int(1...32)
      if value.kind == .b {
        value.activeReferencesL1 = chance() ? pps.defaultActiveReferencesL1 : int(1...32)
      }
      value.modifications = modifications()
      if value.kind == .b { value.modificationsL1 = modifications() }
      if value.kind == .b ? pps.weightedBipredIDC == 1 : pps.hasWeightedPrediction {
        value.weights = weights(
          sps.chromaArrayType != 0, value.activeReferences, value.kind == .b ? value.activeReferencesL1 : 0)
      }
      if pps.cabac { value.cabacInitIDC = int(0...2) }
    }
    if value.isIDR {
      value.discardsPriorPictures = chance()
      value.isLongTerm = chance()
    } else if value.refIDC > 0 {
      value.memoryManagement = optional { $0.memoryManagement() }
    }
    value.qp = int(0...51)
    if value.kind == .sp { value.isSwitching = chance() }
    if value.kind == .sp || value.kind == .si { value.qs = int(0...51) }
    if pps.deblockingControlPresent {
      value.deblocking.disableIDC = int(0...2)
      if value.deblocking.disableIDC != 1 {
        value.deblocking.alphaOffset = int(-6...6)
        value.deblocking.betaOffset = int(-6...6)
      }
    }
    if case .changing(_, _, let rate) = pps.sliceGroups?.map {
      value.sliceGroupChangeCycle = int(0...(sps.widthInMbs * sps.heightInMapUnits + rate - 1) / rate)
    }
    return value
  }
}
