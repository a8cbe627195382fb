// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreVideo

/// Properties of a decoded picture for which Core Video has no attachment, attached to its pixel
/// buffer. They propagate when the picture is converted.
///
/// The field attachments of Core Video cannot be used for this, because they also hold the
/// container's description of the whole track.
package enum DecodedPictureAttachments {
  /// Which of two fields is the earlier one.
  package enum FieldOrder: Int, Sendable {
    case topFirst = 1
    case bottomFirst = 2
  }

  private nonisolated(unsafe) static let fields: CFString = "OVTFieldOrder"
  private nonisolated(unsafe) static let damage: CFString = "OVTIsDamaged"

  /// Attaches the field order and the damage flag of a picture, if it has any.
  static func attach(to picture: DecodedPicture) {
    if picture.isInterlaced {
      let order = picture.isTopFieldFirst ? FieldOrder.topFirst : .bottomFirst
      CVBufferSetAttachment(
        picture.pixelBuffer, fields, NSNumber(value: order.rawValue), .shouldPropagate)
    }
    if picture.isDamaged {
      CVBufferSetAttachment(picture.pixelBuffer, damage, NSNumber(value: true), .shouldPropagate)
    }
  }

  /// The field order of an interlaced picture; nil if the picture is progressive.
  package static func fieldOrder(of buffer: CVPixelBuffer) -> FieldOrder? {
    (CVBufferCopyAttachment(buffer, fields, nil) as? NSNumber).flatMap { FieldOrder(rawValue: $0.intValue) }
  }

  /// Whether the decoder has concealed errors in the picture.
  package static func isDamaged(_ buffer: CVPixelBuffer) -> Bool {
    CVBufferCopyAttachment(buffer, damage, nil) != nil
  }

  /// Removes all attachments of fields, after the picture has been deinterlaced.
  static func removeFields(from buffer: CVPixelBuffer) {
    for key in [fields, kCVImageBufferFieldCountKey, kCVImageBufferFieldDetailKey] {
      CVBufferRemoveAttachment(buffer, key)
    }
  }
}
