// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Derives the picture order count of H.264 (8.2.1).
struct H264PictureOrder: Sendable {
  /// prevPicOrderCntMsb
  private var previousMSB = 0
  /// prevPicOrderCntLsb
  private var previousLSB = 0
  /// prevFrameNum
  private var previousFrameNum = 0
  /// prevFrameNumOffset
  private var previousFrameNumOffset = 0
  private var hadReset = false

  /// Returns the picture order count of a picture: the lower of both fields for a frame, relative
  /// to the last IDR picture or memory_management_control_operation 5.
  /// - Parameters:
  ///   - slice: the first slice header of the picture.
  ///   - sequence: its sequence parameter set.
  mutating func order(of slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> Int {
    let (top, bottom): (Int, Int)
    switch sequence.pictureOrderCountType {
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
    let range = 1 << sequence.log2MaxPictureOrderCountLSB
    var msb = previousMSB
    if slice.pictureOrderCountLSB < previousLSB, previousLSB - slice.pictureOrderCountLSB >= range / 2 {
      msb = previousMSB &+ range
    } else if slice.pictureOrderCountLSB > previousLSB, slice.pictureOrderCountLSB - previousLSB > range / 2 {
      msb = previousMSB &- range
    }
    let top = msb &+ slice.pictureOrderCountLSB
    let bottom = slice.isField ? top : top &+ slice.deltaPictureOrderBottom
    if slice.refIDC > 0 { (previousMSB, previousLSB) = (msb, slice.pictureOrderCountLSB) }
    return (top, bottom)
  }

  private mutating func frameNumOffset(_ slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> Int
  {
    let offset =
      slice.isIDR
      ? 0
      : previousFrameNum > slice.frameNum
        ? previousFrameNumOffset &+ (1 << sequence.log2MaxFrameNum) : previousFrameNumOffset
    previousFrameNumOffset = offset
    return offset
  }

  private mutating func orderByCycle(_ slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> (
    Int, Int
  ) {
    let offset = frameNumOffset(slice, sequence)
    let cycle = sequence.orderCycle.offsetsForReferenceFrames
    var frame = cycle.isEmpty ? 0 : offset &+ slice.frameNum
    if slice.refIDC == 0, frame > 0 { frame -= 1 }
    var expected = 0
    if frame > 0 {
      let rounds = (frame - 1) / cycle.count
      expected = rounds &* cycle.reduce(0, &+)
      for value in cycle[...((frame - 1) % cycle.count)] { expected &+= value }
    }
    if slice.refIDC == 0 { expected &+= sequence.orderCycle.offsetForNonReference }
    if slice.isField {
      let order = slice.isBottomField ? expected &+ sequence.orderCycle.offsetForTopToBottom : expected
      return (order &+ slice.deltaPictureOrder, order &+ slice.deltaPictureOrder)
    }
    let top = expected &+ slice.deltaPictureOrder
    return (top, top &+ sequence.orderCycle.offsetForTopToBottom &+ slice.deltaPictureOrder1)
  }

  private mutating func orderByFrameNum(_ slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) -> (
    Int, Int
  ) {
    let offset = frameNumOffset(slice, sequence)
    let order = slice.isIDR ? 0 : 2 &* (offset &+ slice.frameNum) &- (slice.refIDC == 0 ? 1 : 0)
    return (order, order)
  }
}
