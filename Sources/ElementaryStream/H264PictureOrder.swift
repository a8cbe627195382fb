import CoreMedia

/// Counts the order of pictures in H.264: clause 8.2.1.
struct H264PictureOrder: Sendable {
  private var previousMSB = 0
  private var previousLSB = 0
  private var previousFrameNum = 0
  private var previousFrameNumOffset = 0
  private var hadReset = false

  /// The order of a picture among those since the last reset, the lower of both fields.
  mutating func order(of slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> Int {
    let (top, bottom): (Int, Int)
    switch sequence.pictureOrderType {
    case 0: (top, bottom) = orderByLSB(slice, sequence)
    case 1: (top, bottom) = orderByCycle(slice, sequence)
    default: (top, bottom) = orderByFrameNum(slice, sequence)
    }
    let order = slice.isField ? (slice.isBottomField ? bottom : top) : min(top, bottom)
    hadReset = slice.resetsOrder
    previousFrameNum = slice.frameNum
    if slice.resetsOrder {
      previousFrameNumOffset = 0
      previousFrameNum = 0
      previousMSB = 0
      previousLSB = slice.isField && slice.isBottomField ? 0 : top &- order
      return 0
    }
    return order
  }

  private mutating func orderByLSB(_ slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> (
    Int, Int
  ) {
    if slice.isIDR { (previousMSB, previousLSB) = (0, 0) }
    let range = 1 << sequence.pictureOrderLSBBits
    var msb = previousMSB
    if slice.orderLSB < previousLSB, previousLSB - slice.orderLSB >= range / 2 {
      msb = previousMSB &+ range
    } else if slice.orderLSB > previousLSB, slice.orderLSB - previousLSB > range / 2 {
      msb = previousMSB &- range
    }
    let top = msb &+ slice.orderLSB
    let bottom = slice.isField ? top : top &+ slice.deltaBottom
    if slice.referenceIDC > 0 { (previousMSB, previousLSB) = (msb, slice.orderLSB) }
    return (top, bottom)
  }

  private mutating func frameNumOffset(_ slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> Int
  {
    let offset =
      slice.isIDR
      ? 0
      : previousFrameNum > slice.frameNum
        ? previousFrameNumOffset &+ (1 << sequence.frameNumBits) : previousFrameNumOffset
    previousFrameNumOffset = offset
    return offset
  }

  private mutating func orderByCycle(_ slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> (
    Int, Int
  ) {
    let offset = frameNumOffset(slice, sequence)
    let cycle = sequence.offsetsForReferenceFrames
    var frame = cycle.isEmpty ? 0 : offset &+ slice.frameNum
    if slice.referenceIDC == 0, frame > 0 { frame -= 1 }
    var expected = 0
    if frame > 0 {
      let rounds = (frame - 1) / cycle.count
      expected = rounds &* cycle.reduce(0, &+)
      for value in cycle[...((frame - 1) % cycle.count)] { expected &+= value }
    }
    if slice.referenceIDC == 0 { expected &+= sequence.offsetForNonReference }
    if slice.isField {
      let order = slice.isBottomField ? expected &+ sequence.offsetForTopToBottom : expected
      return (order &+ slice.delta.0, order &+ slice.delta.0)
    }
    let top = expected &+ slice.delta.0
    return (top, top &+ sequence.offsetForTopToBottom &+ slice.delta.1)
  }

  private mutating func orderByFrameNum(_ slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> (
    Int, Int
  ) {
    let offset = frameNumOffset(slice, sequence)
    let order = slice.isIDR ? 0 : 2 &* (offset &+ slice.frameNum) &- (slice.referenceIDC == 0 ? 1 : 0)
    return (order, order)
  }
}
