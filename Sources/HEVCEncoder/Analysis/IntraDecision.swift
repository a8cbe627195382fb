// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels

/// The SATD of a luma block by mode.
struct IntraEstimate: BitwiseCopyable {
  var planar = 0
  var dc = 0
  /// Modes 10 and 26.
  var horizontal = 0
  var vertical = 0

  /// The least of them.
  var least: Int { min(min(planar, dc), min(horizontal, vertical)) }
}

/// Intra prediction (8.4): the choice of the mode, and the coding of intra units.
extension CodingTreeCoder {
  /// Tries a unit with intra prediction, and makes it the best trial if it costs less.
  /// - Parameters:
  ///   - x: the position in luma samples.
  ///   - y: the position in luma samples.
  ///   - log2Size: log2 of the size.
  ///   - estimate: what `intraEstimate` gave for the block just before.
  mutating func tryIntra(_ x: Int, _ y: Int, _ log2Size: Int, _ estimate: IntraEstimate? = nil) {
    let best = trials + (5 &- log2Size) &* 2
    let source = pixels.source.luma + y &* layout.lumaStride + x
    let candidates = MostProbableModes(map, x, y, partIndex: 0)
    let known = estimate ?? intraEstimate(x, y, log2Size)
    let modes = chooseModes(source, log2Size, candidates, settings.intraModes, known)
    let base = intraUnitBits(x, y, log2Size)
    for i in 0..<modes.count {
      let mode = Int(modes[i])
      // Chroma of the mode before has taken the place of the neighbours.
      if i > 0 { collectLuma(x, y, log2Size) }
      beginIntra(best + 1, x, y, log2Size)
      var bits = base &+ modeBits(candidates, mode)
      predictLuma(mode, prediction, 32, log2Size)
      let scan = log2Size == 3 ? SliceWriter.scan(mode) : 0
      let result = blocks.code(
        TransformBlock(
          log2Size: log2Size, qp: qp, deadZone: intraDeadZone, scan: scan,
          codedFlag: Contexts.lumaCBF + 1, lambda: lambda),
        source: source, layout.lumaStride, prediction: prediction, 32, output: best[1].luma, 32,
        levels: best[1].levels)
      let m = UInt8(truncatingIfNeeded: mode)
      best[1].unit.lumaModes = (m, m, m, m)
      best[1].unit.cbfLuma = result.isCoded ? 1 : 0
      bits &+= result.bits &+ self.bits(result.isCoded ? 1 : 0, Contexts.lumaCBF &+ 1)
      best[1].unit.bits = Int32(truncatingIfNeeded: bits)
      best[1].cost = result.error &+ cost(bits: bits)
      guard best[1].cost < best[0].cost else { continue }
      if best[1].cost < costLimit { codeChroma(best + 1, x, y, log2Size) }
      keepBetter(best)
    }
    if log2Size == 3 && best.pointee.unit.kind == .intra && best.pointee.unit.cbfLuma != 0
      && Int(best.pointee.unit.bits) > settings.partsThreshold &* 16
    {
      tryParts(x, y, best)
    }
  }

  private func beginIntra(_ trial: UnsafeMutablePointer<Trial<Sample>>, _ x: Int, _ y: Int, _ log2Size: Int) {
    trial.pointee.unit = CodingUnit()
    trial.pointee.unit.x = Int32(truncatingIfNeeded: x)
    trial.pointee.unit.y = Int32(truncatingIfNeeded: y)
    trial.pointee.unit.log2Size = UInt8(truncatingIfNeeded: log2Size)
    trial.pointee.unit.kind = .intra
  }

  // MARK: Modes

  /// The modes with the least SATD and bits, the best first.
  /// - Parameter known: of blocks of 8x8 and more the SATD of some modes; the neighbours are those
  ///   that were collected for it.
  private func chooseModes(
    _ source: UnsafePointer<Sample>, _ log2Size: Int, _ candidates: MostProbableModes, _ most: Int,
    _ known: IntraEstimate = IntraEstimate()
  ) -> ModeList {
    var list = ModeList(most: most)
    var bestAngle = 10
    var bestCost = Int.max
    func insert(_ mode: Int, _ satd: Int) {
      let cost = satd &+ costSATD(bits: modeBits(candidates, mode))
      list.insert(mode, cost)
      if mode >= 2 && cost < bestCost {
        bestCost = cost
        bestAngle = mode
      }
    }
    func test(_ mode: Int) {
      guard mode >= 0 && mode <= 34, !list.hasTested(mode) else { return }
      if log2Size > 2 {
        insert(mode, lumaSATD(mode, source, log2Size))
      } else {
        predictLuma(mode, prediction, 32, 2)
        insert(
          mode,
          Int(Kernels.satd(kernels, Int32(OVT_4x4), source, layout.lumaStride, prediction, 32)))
      }
    }
    if log2Size > 2 {
      insert(0, known.planar)
      insert(1, known.dc)
      insert(10, known.horizontal)
      insert(26, known.vertical)
    } else {
      test(0)
      test(1)
    }
    var mode = 2
    while mode <= 34 {
      test(mode)
      mode &+= 4
    }
    var step = 2
    while step > 0 {
      let centre = bestAngle
      if centre &- step >= 2 { test(centre &- step) }
      test(centre &+ step)
      step &>>= 1
    }
    test(candidates.first)
    test(candidates.second)
    test(candidates.third)
    return list
  }

  /// The SATD of a few modes, to compare with that of inter prediction. It collects the neighbours.
  func intraEstimate(_ x: Int, _ y: Int, _ log2Size: Int) -> IntraEstimate {
    let source = pixels.source.luma + y &* layout.lumaStride + x
    collectLuma(x, y, log2Size)
    reverseLuma(source, log2Size)
    return IntraEstimate(
      planar: lumaSATD(0, source, log2Size), dc: lumaSATD(1, source, log2Size),
      horizontal: lumaSATD(10, source, log2Size), vertical: lumaSATD(26, source, log2Size))
  }

  // MARK: Parts

  /// Tries an 8x8 unit as four blocks of 4x4 (PART_NxN).
  private mutating func tryParts(_ x: Int, _ y: Int, _ best: UnsafeMutablePointer<Trial<Sample>>) {
    let trial = best + 1
    beginIntra(trial, x, y, 3)
    trial.pointee.unit.isSplit = true
    var bits = intraUnitBits(x, y, 3, isSplit: true)
    var total = cost(bits: bits)
    let stride = layout.lumaStride
    var modes = (UInt8(1), UInt8(1), UInt8(1), UInt8(1))
    let row = map.width &* 2
    // The parts are predicted from each other: each is written into the picture, and its mode into
    // the map, where `commit` overwrites them if another trial is kept.
    for part in 0..<4 {
      let (px, py) = (x &+ (part & 1) &* 4, y &+ (part &>> 1) &* 4)
      let source = pixels.source.luma + py &* stride + px
      let output = pixels.target.planes.luma + py &* stride + px
      collectLuma(px, py, 2)
      let candidates = MostProbableModes(map, px, py, partIndex: part)
      let list = chooseModes(source, 2, candidates, 1)
      let mode = Int(list[0])
      predictLuma(mode, prediction, 32, 2)
      let result = blocks.code(
        TransformBlock(
          log2Size: 2, qp: qp, deadZone: intraDeadZone, isDST: true, scan: SliceWriter.scan(mode),
          codedFlag: Contexts.lumaCBF, lambda: lambda),
        source: source, stride, prediction: prediction, 32, output: output, stride,
        levels: trial.pointee.levels + part &* 16)
      let m = UInt8(truncatingIfNeeded: mode)
      switch part {
      case 0: modes.0 = m
      case 1: modes.1 = m
      case 2: modes.2 = m
      default: modes.3 = m
      }
      map.lumaMode[(py &>> 2) &* row &+ (px &>> 2)] = m
      if result.isCoded { trial.pointee.unit.cbfLuma |= 1 &<< UInt8(part) }
      if result.skipsTransform { trial.pointee.unit.transformSkips |= 1 &<< UInt16(part) }
      let partBits =
        result.bits &+ modeBits(candidates, mode) &+ self.bits(result.isCoded ? 1 : 0, Contexts.lumaCBF)
      bits &+= partBits
      total &+= result.error &+ cost(bits: partBits)
      if total >= min(best.pointee.cost, costLimit) { return }
    }
    trial.pointee.unit.lumaModes = modes
    trial.pointee.unit.bits = Int32(truncatingIfNeeded: bits)
    trial.pointee.cost = total
    blocks.copy(pixels.target.planes.luma + y &* stride + x, stride, trial.pointee.luma, 32, 8)
    codeChroma(trial, x, y, 3)
    keepBetter(best)
  }

  // MARK: Chroma

  /// Codes chroma of an intra trial whose luma is coded, and adds its cost.
  private mutating func codeChroma(
    _ trial: UnsafeMutablePointer<Trial<Sample>>, _ x: Int, _ y: Int, _ log2Size: Int
  ) {
    let (cx, cy) = (x &>> 1, y &>> 1)
    let size = log2Size &- 1
    if settings.triesChromaModes {
      var least = Int.max
      var chosen: UInt8 = 4
      for number in 0..<5 {
        // Mode 4, that of luma, first.
        let mode: UInt8 = number == 0 ? 4 : UInt8(truncatingIfNeeded: number &- 1)
        trial.pointee.unit.chromaMode = mode
        let angle = trial.pointee.unit.chromaPredictionMode
        var cost = costSATD(bits: mode == 4 ? 16 : 48)
        for component in 0..<2 {
          let at = cy &* layout.chromaStride &+ cx
          let source = (component == 0 ? pixels.source.cb : pixels.source.cr) + at
          collectChroma(component, cx, cy, x, y, size)
          Kernels.intra(kernels, Int32(angle), predictionCb, 16, edge, Int32(size), 0)
          cost &+=
            size == 2
            ? Int(Kernels.satd(kernels, Int32(OVT_4x4), source, layout.chromaStride, predictionCb, 16))
            : Int(Kernels.satd8(kernels, Int32(size), source, layout.chromaStride, predictionCb, 16))
        }
        if cost < least {
          least = cost
          chosen = mode
        }
      }
      trial.pointee.unit.chromaMode = chosen
    }
    let angle = trial.pointee.unit.chromaPredictionMode
    let scan = log2Size == 3 ? SliceWriter.scan(angle) : 0
    var bits =
      trial.pointee.unit.chromaMode == 4
      ? self.bits(0, Contexts.chromaMode) : self.bits(1, Contexts.chromaMode) &+ 32
    for component in 0..<2 {
      let at = cy &* layout.chromaStride &+ cx
      let source = (component == 0 ? pixels.source.cb : pixels.source.cr) + at
      collectChroma(component, cx, cy, x, y, size)
      Kernels.intra(kernels, Int32(angle), predictionCb, 16, edge, Int32(size), 0)
      let result = blocks.code(
        TransformBlock(
          log2Size: size, qp: chromaQP, isChroma: true, deadZone: intraDeadZone, scan: scan,
          codedFlag: Contexts.chromaCBF, lambda: lambda),
        source: source, layout.chromaStride, prediction: predictionCb, 16,
        output: component == 0 ? trial.pointee.cb : trial.pointee.cr, 16,
        levels: trial.pointee.levels + (component == 0 ? LevelLayout.cb : LevelLayout.cr))
      if result.isCoded {
        if component == 0 { trial.pointee.unit.cbfCb = 1 } else { trial.pointee.unit.cbfCr = 1 }
      }
      if result.skipsTransform { trial.pointee.unit.transformSkips |= component == 0 ? 0x10 : 0x100 }
      bits &+= result.bits &+ self.bits(result.isCoded ? 1 : 0, Contexts.chromaCBF)
      trial.pointee.cost &+= result.error
    }
    trial.pointee.cost &+= cost(bits: bits)
    trial.pointee.unit.bits &+= Int32(truncatingIfNeeded: bits)
  }
}

extension CodingTreeCoder {
  /// Codes an intra unit with the most probable mode and without a residual.
  mutating func codePlainIntra(_ x: Int, _ y: Int, _ log2Size: Int) {
    beginIntra(trials, x, y, log2Size)
    let mode = MostProbableModes(map, x, y, partIndex: 0).first
    let m = UInt8(truncatingIfNeeded: mode)
    trials[0].unit.lumaModes = (m, m, m, m)
    trials[0].unit.bits = 80
    collectLuma(x, y, log2Size)
    predictLuma(mode, trials[0].luma, 32, log2Size)
    for component in 0..<2 {
      collectChroma(component, x &>> 1, y &>> 1, x, y, log2Size &- 1)
      Kernels.intra(
        kernels, Int32(mode), component == 0 ? trials[0].cb : trials[0].cr, 16, edge,
        Int32(log2Size &- 1), 0)
    }
    commit(trials[0])
  }
}
