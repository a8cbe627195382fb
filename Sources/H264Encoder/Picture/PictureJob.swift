// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

/// One picture on its way through the coder: what stays the same while its rows are coded, and pointers to
/// what changes. Threads share it; see `PictureJob+Threads.swift` for who may touch what when.
struct PictureJob<Writer: EntropyCoder> {
  let plan: PicturePlan
  let geometry: PictureGeometry
  let configuration: H264EncoderConfiguration
  let sps: H264SequenceParameterSet
  let pps: H264PictureParameterSet
  let syntax: PictureSyntax
  let deblocking: DeblockingFilter
  let referenceRows: ReferenceRows
  /// Where the picture's motion is kept for B pictures, if it is.
  let storedMotion: StoredMotion?
  let qpOffsets: UnsafePointer<Int8>?
  let payload: UnsafeMutablePointer<UInt8>
  let payloadCapacity: Int
  let writer: UnsafeMutablePointer<Writer>
  let output: UnsafeMutablePointer<AccessUnit>
  /// NAL units and bytes there before the slices.
  let leading: (units: Int, count: Int)
  let statistics: UnsafeMutablePointer<PictureStatistics>
  /// QP of each macroblock row, and the bits that it took.
  let rowQP: UnsafeMutablePointer<Int32>
  let rowBits: UnsafeMutablePointer<Int32>
  let pcm: UnsafeMutablePointer<UInt8>
  let estimatesSamples: Bool

  // MARK: - Slices

  /// The first macroblock row of a slice.
  func firstRow(ofSlice i: Int) -> Int { i * geometry.heightInMbs / configuration.slices }

  /// The slice (of those that are whole rows) that a row belongs to.
  func slice(ofRow y: Int) -> Int {
    var i = min(y * configuration.slices / geometry.heightInMbs + 1, configuration.slices - 1)
    while firstRow(ofSlice: i) > y { i -= 1 }
    return i
  }

  func beginSlice(firstMacroblock: Int, qp: Int) {
    var header = plan.header
    header.firstMacroblock = firstMacroblock
    header.qp = qp
    var bits = BitWriter(payload, capacity: payloadCapacity)
    header.write(to: &bits, sps: sps, pps: pps)
    var parameters = SliceParameters()
    parameters.isP = header.isP
    parameters.isB = header.kind == .b
    parameters.activeReferences = header.activeReferences
    parameters.activeReferencesL1 = header.activeReferencesL1
    parameters.transform8x8Mode = pps.transform8x8
    parameters.constrainedIntraPrediction = pps.constrainedIntraPrediction
    parameters.qp = qp
    parameters.cabacInitIDC = header.cabacInitIDC
    writer.pointee.begin(parameters, picture: syntax, after: bits)
  }

  func endSlice() {
    let size = writer.pointee.finish()
    output.pointee.append(
      type: plan.isIDR ? .idrSlice : .slice, refIDC: UInt8(plan.header.refIDC),
      prefix: configuration.lowLatency.writesTemporalLayerPrefix ? plan.scalableHeader : nil,
      payload: payload, count: size)
  }

  /// Bits of the picture so far.
  var bits: Int { output.pointee.bits + writer.pointee.bitCount }

  // MARK: - Macroblocks

  @inline(__always) func availability(_ x: Int, _ y: Int, sliceStart: Int) -> UInt8 {
    let w = geometry.widthInMbs
    let m = y &* w &+ x
    var result: UInt8 = 0
    if x > 0 && m &- 1 >= sliceStart { result |= Availability.left }
    if y > 0 {
      if m &- w >= sliceStart { result |= Availability.top }
      if x < w &- 1 && m &- w &+ 1 >= sliceStart { result |= Availability.topRight }
      if x > 0 && m &- w &- 1 >= sliceStart { result |= Availability.topLeft }
    }
    return result
  }

  /// Decides and reconstructs a macroblock.
  @inline(__always) func analyse(
    _ coder: UnsafeMutablePointer<MacroblockCoder>, x: Int, y: Int, sliceStart: Int, slice: Int, qp: Int,
    economy: Bool
  ) {
    let m = y &* geometry.widthInMbs &+ x
    var macroblockQP = qp
    if let qpOffsets {
      macroblockQP = min(max(qp &+ Int(qpOffsets[m]), configuration.minimumQP), configuration.maximumQP)
    }
    coder.pointee.begin(
      x: x, y: y, available: availability(x, y, sliceStart: sliceStart), qp: macroblockQP)
    syntax.info[m].slice = UInt16(truncatingIfNeeded: slice)
    if coder.pointee.picture.isBidirectional {
      coder.pointee.codeBidirectional(economy: economy)
    } else if economy {
      coder.pointee.codeEconomically()
    } else if coder.pointee.picture.isIntraPicture {
      coder.pointee.codeIntra(coder.pointee.decideIntra16x16(), small: true)
    } else {
      coder.pointee.codeInterPicture()
    }
  }

  /// Levels in the macroblock that are not zero.
  @inline(__always) func coefficientCount(_ m: Int) -> Int {
    if syntax.info[m].codedBlockPattern == 0 { return 0 }
    return Int(ovt_sum24(syntax.nonZero + m &* 24))
  }

  /// Adds a coded macroblock to the statistics.
  @inline(__always) func count(_ m: Int) {
    let info = syntax.info[m]
    let qp = Int(info.qp)
    if info.type == MacroblockType.skip {
      statistics.pointee.skipped &+= 1
    } else if MacroblockType.isIntra(info.type) {
      statistics.pointee.intra &+= 1
      if info.type == MacroblockType.pcm { return }
    } else if syntax.referenceIndex[m &* 4] > 0 {
      statistics.pointee.farther &+= 1
    }
    statistics.pointee.qpSum &+= qp
    statistics.pointee.qpCount &+= 1
    if qp < statistics.pointee.lowestQP { statistics.pointee.lowestQP = qp }
    if qp > statistics.pointee.highestQP { statistics.pointee.highestQP = qp }
  }

  /// Deblocks a row and makes it a reference.
  func finish(row: Int) {
    if configuration.deblocking { deblocking.filterRow(row) }
    if plan.isReference { referenceRows.finishRow(row) }
    if let storedMotion { storedMotion.store(row: row, syntax, bidirectional: plan.isBidirectional) }
  }

  // MARK: - One thread

  /// Codes the picture with the entropy coder right behind each macroblock.
  func run(_ coder: UnsafeMutablePointer<MacroblockCoder>) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    var slice = 0
    var sliceStart = 0
    var nextSlice = 1
    var qp = plan.qp
    var economy = false
    beginSlice(firstMacroblock: 0, qp: qp)
    for y in 0..<h {
      if nextSlice < configuration.slices && y == firstRow(ofSlice: nextSlice) {
        endSlice()
        slice += 1
        nextSlice += 1
        sliceStart = y * w
        beginSlice(firstMacroblock: sliceStart, qp: qp)
      }
      let before = bits
      if let budget = plan.budget {
        qp = budget.qp(row: y, rows: h, bits: before, base: plan.qp, current: qp)
      }
      rowQP[y] = Int32(qp)
      var x = 0
      while x < w {
        let m = y &* w &+ x
        if let budget = plan.budget, !economy {
          economy = budget.isExhausted(bits: bits, left: w &* h &- m)
        }
        analyse(coder, x: x, y: y, sliceStart: sliceStart, slice: slice, qp: qp, economy: economy)
        if !encode(coder, m, sliceStart: sliceStart) {
          // The slice is full: it ends before this macroblock, which is coded anew as the next one's first.
          referenceRows.still.changed[m] = referenceRows.number
          endSlice()
          slice &+= 1
          sliceStart = m
          beginSlice(firstMacroblock: m, qp: qp)
          continue
        }
        count(m)
        x &+= 1
      }
      rowBits[y] = Int32(truncatingIfNeeded: bits &- before)
      if y > 0 { finish(row: y - 1) }
    }
    endSlice()
    finish(row: h - 1)
  }

  /// Entropy codes a macroblock. Returns false if it does not fit the slice any more.
  @inline(__always) private func encode(
    _ coder: UnsafeMutablePointer<MacroblockCoder>, _ m: Int, sliceStart: Int
  ) -> Bool {
    let levels = coder.pointee.levels
    let limit = configuration.maximumSliceBytes
    if isForSamples(m, levels) { coder.pointee.codePCM(samples: pcm) }
    if limit == nil && coefficientCount(m) < 128 {
      writer.pointee.encode(macroblock: m, levels: levels, pcm: pcm)
      return true
    }
    let before = writer.pointee.bitCount
    writer.pointee.save()
    let info = syntax.info[m]
    writer.pointee.encode(macroblock: m, levels: levels, pcm: pcm)
    if writer.pointee.bitCount - before > PictureCoder.largestMacroblockBits {
      writer.pointee.restore()
      syntax.info[m] = info
      coder.pointee.codePCM(samples: pcm)
      writer.pointee.save()
      writer.pointee.encode(macroblock: m, levels: levels, pcm: pcm)
    }
    if let limit, m > sliceStart {
      // Room for the NAL unit's header, the slice's end and emulation prevention, which the last bytes, not
      // in memory yet, may need once more.
      let bytes = (writer.pointee.bitCount + 7) / 8 + 4
      let written = max(0, bytes - 12)
      if bytes + EmulationPrevention.byteCount(payload, count: written) + 3 > limit {
        writer.pointee.restore()
        return false
      }
    }
    return true
  }

  // MARK: - Parts of the work for several threads

  /// Entropy codes an analysed row. Called for the rows in order.
  func encode(row y: Int, levels: UnsafeMutablePointer<Int16>, pcm rowPCM: UnsafeMutablePointer<UInt8>) {
    let w = geometry.widthInMbs
    let slice = slice(ofRow: y)
    if y == firstRow(ofSlice: slice) {
      if y > 0 { endSlice() }
      beginSlice(firstMacroblock: y * w, qp: Int(rowQP[y]))
    }
    let before = bits
    for x in 0..<w {
      let m = y &* w &+ x
      if coefficientCount(m) < 128 {
        writer.pointee.encode(
          macroblock: m, levels: levels + x &* LevelLayout.count, pcm: rowPCM + x &* 384)
      } else {
        let before = writer.pointee.bitCount
        writer.pointee.encode(
          macroblock: m, levels: levels + x &* LevelLayout.count, pcm: rowPCM + x &* 384)
        if writer.pointee.bitCount &- before > PictureCoder.largestMacroblockBits,
          syntax.info[m].type != MacroblockType.pcm
        {
          statistics.pointee.exceedsMacroblock = true
        }
      }
      count(m)
    }
    rowBits[y] = Int32(truncatingIfNeeded: bits &- before)
    if y == geometry.heightInMbs - 1 { endSlice() }
  }
}
