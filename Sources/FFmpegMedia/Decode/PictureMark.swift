// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreVideo

/// What the decoder knows of one picture and Core Video has no name for, attached to the picture's buffer; it goes along
/// when the picture is converted.
///
/// The attachments of fields will not do: they also say what the file says of all its pictures.
package enum PictureMark {
  /// Which of two fields is the earlier one.
  package enum FieldOrder: Int, Sendable {
    case topFirst = 1
    case bottomFirst = 2
  }

  private nonisolated(unsafe) static let fields: CFString = "OVTFieldOrder"
  private nonisolated(unsafe) static let damage: CFString = "OVTIsDamaged"

  /// Most pictures have nothing to mark, and cost nothing.
  static func mark(_ picture: DecodedPicture) {
    if picture.isInterlaced {
      let order = picture.isTopFieldFirst ? FieldOrder.topFirst : .bottomFirst
      CVBufferSetAttachment(
        picture.pixelBuffer, fields, NSNumber(value: order.rawValue), .shouldPropagate)
    }
    if picture.isDamaged {
      CVBufferSetAttachment(picture.pixelBuffer, damage, NSNumber(value: true), .shouldPropagate)
    }
  }

  /// nil for a picture of one moment.
  package static func fieldOrder(of buffer: CVPixelBuffer) -> FieldOrder? {
    (CVBufferCopyAttachment(buffer, fields, nil) as? NSNumber).flatMap { FieldOrder(rawValue: $0.intValue) }
  }

  /// Whether the decoder has made up a part of the picture.
  package static func isDamaged(_ buffer: CVPixelBuffer) -> Bool {
    CVBufferCopyAttachment(buffer, damage, nil) != nil
  }

  /// The picture has become one of a single moment.
  static func removeFields(from buffer: CVPixelBuffer) {
    for key in [fields, kCVImageBufferFieldCountKey, kCVImageBufferFieldDetailKey] {
      CVBufferRemoveAttachment(buffer, key)
    }
  }
}
