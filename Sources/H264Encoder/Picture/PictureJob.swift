// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream
import VideoEncoding

/// A picture that is being coded: what stays the same from its first to its last row, and pointers
/// to what changes. Threads share it; `PictureJob+Threads.swift` says which of them may access what
/// when.
struct PictureJob<Writer: EntropyCoder> {
  /// The decisions for the picture.
  let plan: PicturePlan
  /// The size of the picture.
  let geometry: PictureGeometry
  /// The configuration of the stream.
  let configuration: H264EncoderConfiguration
  /// The sequence parameter set of the stream.
  let sps: H264SequenceParameterSet
  /// The picture parameter set of the picture.
  let pps: H264PictureParameterSet
  /// The arrays that its macroblocks are stored in.
  let syntax: PictureSyntax
  /// The deblocking filter of the picture.
  let deblocking: DeblockingFilter
  /// Completes rows of the reconstruction for later pictures.
  let referenceRows: ReferenceRows
  /// Where the motion of the picture is stored for later B pictures; nil: it is not needed.
  let storedMotion: StoredMotion?
  /// The QP offset of each macroblock, in QP steps; nil: all offsets are 0.
  let qpOffsets: UnsafePointer<Int8>?
  /// The raw bytes of the present slice.
  let payload: UnsafeMutablePointer<UInt8>
  /// The bytes that `payload` has room for.
  let payloadCapacity: Int
  /// The entropy coder.
  let writer: UnsafeMutablePointer<Writer>
  /// Gets the slices.
  let output: UnsafeMutablePointer<AccessUnitWriter>
  /// The number of NAL units and of bytes in `output` before the slices.
  let leading: (units: Int, count: Int)
  /// The statistics of the picture.
  let statistics: UnsafeMutablePointer<PictureStatistics>
  /// The QP of each macroblock row, and its bits.
  let rowQP: UnsafeMutablePointer<Int32>
  let rowBits: UnsafeMutablePointer<Int32>
  /// The samples of an I_PCM macroblock, where one thread codes the picture.
  let pcm: UnsafeMutablePointer<UInt8>
  /// Whether macroblocks too large for their levels are recognised before entropy coding.
  let estimatesSamples: Bool

  // MARK: - Slices

  /// The first macroblock row of a slice.
  func firstRow(ofSlice i: Int) -> Int { i * geometry.heightInMbs / configuration.slices }

  /// The index of the slice that a row belongs to, where slices consist of whole rows.
  func slice(ofRow y: Int) -> Int {
    var i = min(y * configuration.slices / geometry.heightInMbs + 1, configuration.slices - 1)
    while firstRow(ofSlice: i) > y { i -= 1 }
    return i
  }

  /// Begins a slice with its header.
  func beginSlice(firstMacroblock: Int, qp: Int) {
    var header = plan.header
    header.firstMacroblock = firstMacroblock
    header.qp = min(qp, 51)
    var bits = BitWriter(payload, capacity: payloadCapacity)
    header.write(to: &bits, sps: sps, pps: pps)
    var parameters = SliceParameters()
    parameters.isP = header.isP
    parameters.isB = header.kind == .b
    parameters.activeReferences = header.activeReferences
    parameters.activeReferencesL1 = header.activeReferencesL1
    parameters.transform8x8Mode = pps.transform8x8
    parameters.is444 = configuration.is444
    parameters.constrainedIntraPrediction = pps.constrainedIntraPrediction
    parameters.qp = header.qp
    parameters.cabacInitIDC = header.cabacInitIDC
    writer.pointee.begin(parameters, picture: syntax, after: bits)
  }

  /// Ends the slice and appends its NAL unit to the output.
  func endSlice() {
    let size = writer.pointee.finish()
    output.pointee.append(
      type: plan.isIDR ? .idrSlice : .slice, refIDC: UInt8(plan.header.refIDC),
      prefix: configuration.lowLatency.writesTemporalLayerPrefix ? plan.scalableHeader : nil,
      payload: payload, count: size)
  }

  /// The number of levels of a macroblock.
  var levelCount: Int { LevelLayout.count(is444: configuration.is444) }
  /// The number of samples of an I_PCM macroblock.
  var sampleCount: Int { LevelLayout.samples(is444: configuration.is444) }
  /// The most bits that a macroblock may take.
  var largestMacroblockBits: Int { PictureCoder.largestMacroblockBits(is444: configuration.is444) }

  /// The bits of the picture so far.
  var bits: Int { output.pointee.bits + writer.pointee.bitCount }

  // MARK: - Macroblocks

  /// The neighbours of a macroblock that belong to its slice, as `Availability` bits (6.4.9).
  /// - Parameters:
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - sliceStart: the index of the first macroblock of the slice.
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
  /// - Parameters:
  ///   - coder: the thread's macroblock coder.
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - sliceStart: the index of the first macroblock of the slice.
  ///   - slice: the index of the slice.
  ///   - qp: the QP of the row, up to `LowLatencySettings.coarsestQP`.
  ///   - isBudgetSpent: whether to code it in as few bits as possible, because the budget is spent.
  @inline(__always) func analyse(
    _ coder: UnsafeMutablePointer<MacroblockCoder>, x: Int, y: Int, sliceStart: Int, slice: Int, qp: Int,
    isBudgetSpent: Bool
  ) {
    let m = y &* geometry.widthInMbs &+ x
    var macroblockQP = qp
    if let qpOffsets {
      macroblockQP = min(
        max(qp &+ Int(qpOffsets[m]), configuration.minimumQP), max(configuration.maximumQP, qp))
    }
    coder.pointee.begin(
      x: x, y: y, available: availability(x, y, sliceStart: sliceStart), qp: macroblockQP)
    syntax.info[m].slice = UInt16(truncatingIfNeeded: slice)
    if coder.pointee.picture.isBidirectional {
      coder.pointee.codeBidirectional(isBudgetSpent: isBudgetSpent)
    } else if isBudgetSpent {
      coder.pointee.codeWithFewestBits()
    } else if coder.pointee.picture.isIntraPicture {
      coder.pointee.codeIntra(coder.pointee.decideIntra16x16(), small: true)
    } else {
      coder.pointee.codeInterPicture()
    }
  }

  /// The number of levels in a macroblock that are not 0.
  @inline(__always) func coefficientCount(_ m: Int) -> Int {
    if syntax.info[m].codedBlockPattern == 0 { return 0 }
    let counts = syntax.nonZero + m &* 24
    let luma = Int(ovt_sum24(counts))
    if !configuration.is444 { return luma }
    return luma &+ Int(ovt_sum24(counts + syntax.componentCounts))
      &+ Int(ovt_sum24(counts + 2 &* syntax.componentCounts))
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
      statistics.pointee.inOtherReferences &+= 1
    }
    statistics.pointee.qpSum &+= qp
    statistics.pointee.qpCount &+= 1
    if qp < statistics.pointee.lowestQP { statistics.pointee.lowestQP = qp }
    if qp > statistics.pointee.highestQP { statistics.pointee.highestQP = qp }
  }

  /// Deblocks a row and completes the rows of the reconstruction that this makes final.
  func finish(row: Int) {
    if configuration.deblocking { deblocking.filterRow(row) }
    if plan.isReference { referenceRows.finishRow(row) }
    if let storedMotion { storedMotion.store(row: row, syntax, bidirectional: plan.isBidirectional) }
  }

  // MARK: - One thread

  /// Codes the picture with one thread: each macroblock is entropy coded right after it was
  /// reconstructed.
  func run(_ coder: UnsafeMutablePointer<MacroblockCoder>) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    var slice = 0
    var sliceStart = 0
    var nextSlice = 1
    var qp = plan.qp
    var isBudgetSpent = false
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
        if let budget = plan.budget, !isBudgetSpent {
          isBudgetSpent = budget.isExhausted(bits: bits, left: w &* h &- m)
        }
        analyse(coder, x: x, y: y, sliceStart: sliceStart, slice: slice, qp: qp, isBudgetSpent: isBudgetSpent)
        if !encode(coder, m, sliceStart: sliceStart) {
          // The slice is full. It ends before this macroblock, which is coded again as the first
          // one of the next slice.
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

  /// Entropy codes a macroblock, as I_PCM if its levels take too many bits.
  /// - Parameters:
  ///   - coder: the macroblock coder, which holds the levels.
  ///   - m: the index of the macroblock.
  ///   - sliceStart: the index of the first macroblock of the slice.
  /// - Returns: false if the macroblock does not fit into the slice.
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
    if writer.pointee.bitCount - before > largestMacroblockBits {
      writer.pointee.restore()
      syntax.info[m] = info
      coder.pointee.codePCM(samples: pcm)
      writer.pointee.save()
      writer.pointee.encode(macroblock: m, levels: levels, pcm: pcm)
    }
    if let limit, m > sliceStart {
      // Room is left for the header of the NAL unit, the end of the slice, and emulation prevention
      // bytes (7.4.1), which the last bytes may need too: they are not in memory yet.
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

  /// Entropy codes a row that was analysed. The rows are passed in order.
  /// - Parameters:
  ///   - y: the index of the row.
  ///   - levels: its levels, `levelCount` per macroblock.
  ///   - rowPCM: the samples of its I_PCM macroblocks, `sampleCount` bytes per macroblock.
  func encode(row y: Int, levels: UnsafeMutablePointer<Int16>, pcm rowPCM: UnsafeMutablePointer<UInt8>) {
    let w = geometry.widthInMbs
    let slice = slice(ofRow: y)
    if y == firstRow(ofSlice: slice) {
      if y > 0 { endSlice() }
      beginSlice(firstMacroblock: y * w, qp: Int(rowQP[y]))
    }
    let before = bits
    let (levelCount, sampleCount) = (levelCount, sampleCount)
    for x in 0..<w {
      let m = y &* w &+ x
      if coefficientCount(m) < 128 {
        writer.pointee.encode(
          macroblock: m, levels: levels + x &* levelCount, pcm: rowPCM + x &* sampleCount)
      } else {
        let before = writer.pointee.bitCount
        writer.pointee.encode(
          macroblock: m, levels: levels + x &* levelCount, pcm: rowPCM + x &* sampleCount)
        if writer.pointee.bitCount &- before > largestMacroblockBits,
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
