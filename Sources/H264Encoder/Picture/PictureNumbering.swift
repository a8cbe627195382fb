// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The numbers by which slice headers identify pictures in decoding order: frame_num and
/// idr_pic_id (7.4.3).
struct PictureNumbering {
  /// frame_num of the last coded picture.
  private(set) var frameNum = 0
  /// idr_pic_id of the last IDR picture: `firstPictureID` in the first, then 1 and 2 in turns, so
  /// that it differs from that of an IDR picture with which another stream continues this one. Nil
  /// before the first.
  private var idrPictureID: Int?
  /// idr_pic_id of the first IDR picture.
  private let firstPictureID: Int
  /// Whether the last coded picture is a reference picture, after which frame_num increases.
  private var lastWasReference = false

  /// Begins before the first picture.
  /// - Parameter firstPictureID: idr_pic_id of the first IDR picture.
  init(firstPictureID: Int = 0) { self.firstPictureID = firstPictureID }

  /// Moves on to the next picture, and sets its type and its numbers in its slice header.
  /// - Parameters:
  ///   - plan: the plan of the picture; receives the numbers.
  ///   - kind: the type of its slices.
  ///   - maxFrameNum: MaxFrameNum, a power of two.
  mutating func advance(_ plan: inout PicturePlan, kind: H264SliceKind, maxFrameNum: Int) {
    if plan.isIDR {
      frameNum = 0
      idrPictureID = idrPictureID.map { $0 == 1 ? 2 : 1 } ?? firstPictureID
    } else if lastWasReference {
      frameNum = (frameNum + 1) & (maxFrameNum - 1)
    }
    lastWasReference = plan.isReference
    plan.header.kind = kind
    plan.header.isIDR = plan.isIDR
    plan.header.refIDC = plan.isReference ? 2 : 0
    plan.header.frameNum = frameNum
    plan.header.idrPictureID = idrPictureID ?? 0
  }
}

extension [DecodedPictureBuffer.Entry] {
  /// Moves the newest picture of raised quality from the third position or later to the second
  /// position, unless the second is one.
  mutating func preferRaisedQuality() {
    for i in indices.dropFirst(2) where self[i].hasRaisedQuality && !self[1].hasRaisedQuality {
      insert(remove(at: i), at: 1)
      return
    }
  }
}
