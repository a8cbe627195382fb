// SPDX-License-Identifier: Apache-2.0

/// The sums of the transform blocks of a unit.
struct CodedResidual: BitwiseCopyable {
  /// The squared error.
  var error = 0
  /// In sixteenths of a bit.
  var bits = 0
  /// `BlockResult.isNegligible` of all blocks.
  var isNegligible = true
}

/// The residual of inter units.
extension CodingTreeCoder {
  /// The squared error of the prediction of all components.
  func predictionError(_ block: PredictionBlock) -> Int {
    let log2Size = block.unitSize.trailingZeroBitCount
    let luma = block.unitY &* layout.lumaStride &+ block.unitX
    let chroma = (block.unitY / 2) &* layout.chromaStride &+ block.unitX / 2
    let source = pixels.source
    let stride = layout.chromaStride
    var sum = blocks.squaredError(source.luma + luma, layout.lumaStride, prediction, 32, log2Size)
    sum &+= blocks.squaredError(source.cb + chroma, stride, predictionCb, 16, log2Size &- 1)
    sum &+= blocks.squaredError(source.cr + chroma, stride, predictionCr, 16, log2Size &- 1)
    return sum
  }

  /// Makes the prediction the reconstruction of a trial.
  mutating func takePrediction(_ trial: UnsafeMutablePointer<Trial<Sample>>) {
    swap(&trial.pointee.luma, &prediction)
    swap(&trial.pointee.cb, &predictionCb)
    swap(&trial.pointee.cr, &predictionCr)
  }

  /// Codes luma of the residual of an inter unit from `prediction`, and sets its coded block flags;
  /// those of chroma become 0.
  /// - Parameter hasLimit: whether blocks whose levels are worth less than they cost get none.
  /// - Returns: sums without the bits of coded block flags.
  func codeLumaResidual(
    _ trial: UnsafeMutablePointer<Trial<Sample>>, _ block: PredictionBlock, hasLimit: Bool
  ) -> CodedResidual {
    let unit = trial.pointee.unit
    let log2Size = Int(unit.log2Size)
    // A unit of two parts has four transform blocks (interSplitFlag).
    let isSplit = unit.partMode != .whole
    let partLog2 = isSplit ? log2Size &- 1 : log2Size
    let size = 1 &<< partLog2
    var sum = CodedResidual()
    var flags: UInt8 = 0
    var skips: UInt16 = 0
    for part in 0..<(isSplit ? 4 : 1) {
      let dx: Int = (part & 1) &* size
      let dy: Int = (part &>> 1) &* size
      let at: Int = (block.unitY &+ dy) &* layout.lumaStride &+ block.unitX &+ dx
      let to: Int = dy &* 32 &+ dx
      let luma = blocks.code(
        TransformBlock(
          log2Size: partLog2, qp: qp, deadZone: interDeadZone,
          codedFlag: Contexts.lumaCBF &+ (isSplit ? 0 : 1), hasLimit: hasLimit, lambda: lambda),
        source: pixels.source.luma + at, layout.lumaStride, prediction: prediction + to, 32,
        output: trial.pointee.luma + to, 32, levels: trial.pointee.levels + part &* size &* size)
      let bit = UInt8(1) &<< UInt8(part)
      if luma.isCoded { flags |= bit }
      if luma.skipsTransform { skips |= UInt16(bit) }
      sum.isNegligible = sum.isNegligible && luma.isNegligible
      sum.error &+= luma.error
      sum.bits &+= luma.bits
    }
    trial.pointee.unit.isSplit = isSplit
    (trial.pointee.unit.cbfLuma, trial.pointee.unit.cbfCb, trial.pointee.unit.cbfCr) = (flags, 0, 0)
    trial.pointee.unit.transformSkips = skips
    return sum
  }

  /// Codes chroma of the residual of an inter unit whose luma is coded.
  /// - Parameters:
  ///   - hasLimit: as for luma.
  ///   - sum: what is added to, with the bits of all coded block flags.
  func codeChromaResidual(
    _ trial: UnsafeMutablePointer<Trial<Sample>>, _ block: PredictionBlock, hasLimit: Bool,
    _ sum: inout CodedResidual
  ) {
    let unit = trial.pointee.unit
    let isSplit = unit.isSplit
    let depth = isSplit ? 1 : 0
    let log2Size = Int(unit.log2Size) &- 1 &- depth
    let size = 1 &<< log2Size
    let stride = layout.chromaStride
    let transform = TransformBlock(
      log2Size: log2Size, qp: chromaQP, isChroma: true, deadZone: interDeadZone,
      codedFlag: Contexts.chromaCBF &+ depth, hasLimit: hasLimit, lambda: lambda)
    var cbf: (UInt8, UInt8) = (0, 0)
    var skips = unit.transformSkips
    for part in 0..<(isSplit ? 4 : 1) {
      let dx: Int = (part & 1) &* size
      let dy: Int = (part &>> 1) &* size
      let at: Int = (block.unitY / 2 &+ dy) &* stride &+ block.unitX / 2 &+ dx
      let to: Int = dy &* 16 &+ dx
      let levels: Int = part &* size &* size
      let cb = blocks.code(
        transform, source: pixels.source.cb + at, stride, prediction: predictionCb + to, 16,
        output: trial.pointee.cb + to, 16, levels: trial.pointee.levels + LevelLayout.cb + levels)
      let cr = blocks.code(
        transform, source: pixels.source.cr + at, stride, prediction: predictionCr + to, 16,
        output: trial.pointee.cr + to, 16, levels: trial.pointee.levels + LevelLayout.cr + levels)
      let bit = UInt8(1) &<< UInt8(part)
      if cb.isCoded { cbf.0 |= bit }
      if cr.isCoded { cbf.1 |= bit }
      if cb.skipsTransform { skips |= UInt16(bit) &<< 4 }
      if cr.skipsTransform { skips |= UInt16(bit) &<< 8 }
      sum.isNegligible = sum.isNegligible && cb.isNegligible && cr.isNegligible
      sum.error &+= cb.error &+ cr.error
      sum.bits &+= cb.bits &+ cr.bits
      if cb.isCoded || cr.isCoded || isSplit {
        sum.bits &+= bits(unit.cbfLuma & bit != 0 ? 1 : 0, Contexts.lumaCBF &+ 1 &- depth)
      }
      sum.bits &+= bits(cb.isCoded ? 1 : 0, Contexts.chromaCBF &+ depth)
      sum.bits &+= bits(cr.isCoded ? 1 : 0, Contexts.chromaCBF &+ depth)
    }
    (trial.pointee.unit.cbfCb, trial.pointee.unit.cbfCr) = cbf
    trial.pointee.unit.transformSkips = skips
    if unit.cbfLuma | cbf.0 | cbf.1 == 0 {
      sum.bits = 0
      // Without a residual there is no transform tree.
      trial.pointee.unit.isSplit = false
    }
  }
}
