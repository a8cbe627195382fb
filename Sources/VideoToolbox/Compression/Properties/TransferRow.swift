// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import VideoBitstream

// The property for the conversion of source pictures to the session's size, shape and colours.

extension CompressionProperty {
  /// Applied after `pictureRows`, whose values take precedence where they were set.
  static let transferRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_PixelTransferProperties as String, type: .pixelTransfer,
      change: .nextKeyFrame,
      documentation: """
        How source pictures with another size, aspect ratio or colour space are converted, as \
        properties of a pixel transfer session.
        """,
      apply: { value, draft in
        guard case .transfer(let values) = value else { return false }
        let settings = PixelTransferProperties.settings(values)
        draft.pixelTransfer = settings
        // The stream signals the colours and the shape that the pictures are converted to.
        func code(_ name: String?, _ table: ColorCodePoints) -> UInt8? {
          name.flatMap { ColorNames.code($0, in: table) }
        }
        draft.colorPrimaries = draft.colorPrimaries ?? code(settings.primaries, .primaries)
        draft.transferFunction =
          draft.transferFunction ?? code(settings.transfer, .transferFunctions)
        draft.matrix = draft.matrix ?? code(settings.matrix, .matrices)
        // Stretched pictures ignore both.
        guard settings.scalingMode != kVTScalingMode_Normal as String else { return true }
        draft.cleanAperture = draft.cleanAperture ?? settings.cleanAperture
        if draft.configuration.pixelAspect == nil, let aspect = settings.pixelAspect {
          guard let horizontal = aspect["HorizontalSpacing"], let vertical = aspect["VerticalSpacing"],
            (1...65535).contains(horizontal), (1...65535).contains(vertical)
          else { return false }
          draft.configuration.pixelAspect = PixelAspect(
            horizontal: Int(horizontal), vertical: Int(vertical))
        }
        return true
      })
  ]
}

extension PixelTransferSettings {
  /// Whether a buffer that already has the right size and pixel format has to be converted
  /// nevertheless.
  func changes(_ buffer: CVPixelBuffer) -> Bool {
    primaries != nil || transfer != nil || matrix != nil || changesShape(of: buffer)
  }

  /// Whether the scaling mode crops the picture, or changes the shape of its pixels.
  func changesShape(of buffer: CVPixelBuffer) -> Bool {
    scalingMode != kVTScalingMode_Normal as String
      && (cleanAperture != nil || pixelAspect != nil
        || CVBufferHasAttachment(buffer, kCVImageBufferCleanApertureKey)
        || CVBufferHasAttachment(buffer, kCVImageBufferPixelAspectRatioKey))
  }
}
