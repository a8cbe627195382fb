// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

// Properties of the pictures that the stream or its format description signals: colours, sample
// aspect ratio, clean aperture and HDR metadata.

extension CompressionProperty {
  static let pictureRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_ColorPrimaries as String,
      type: .enumeration(PixelTransferProperties.primaries), change: .nextKeyFrame,
      documentation:
        "The colour primaries that the stream signals. Default: those of the first source buffer.",
      apply: { value, draft in
        draft.colorPrimaries = value.text.flatMap { ColorNames.code($0, in: .primaries) }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_TransferFunction as String,
      type: .enumeration(PixelTransferProperties.transferFunctions), change: .nextKeyFrame,
      documentation:
        "The transfer function that the stream signals. Default: that of the first source buffer.",
      apply: { value, draft in
        draft.transferFunction = value.text.flatMap { ColorNames.code($0, in: .transferFunctions) }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_YCbCrMatrix as String,
      type: .enumeration(PixelTransferProperties.matrices), change: .nextKeyFrame,
      documentation:
        "The matrix between RGB and Y'CbCr that the stream signals. Default: that of the first source buffer.",
      apply: { value, draft in
        draft.matrix = value.text.flatMap { ColorNames.code($0, in: .matrices) }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_PixelAspectRatio as String,
      type: .dictionary(required: ["HorizontalSpacing", "VerticalSpacing"], optional: []),
      change: .nextKeyFrame,
      documentation: "The sample aspect ratio: HorizontalSpacing and VerticalSpacing, each 1 to 65535.",
      apply: { value, draft in
        guard let numbers = value.dictionary,
          let horizontal = numbers["HorizontalSpacing"].flatMap({ Int(exactly: $0) }),
          let vertical = numbers["VerticalSpacing"].flatMap({ Int(exactly: $0) }),
          (1...65535).contains(horizontal), (1...65535).contains(vertical)
        else { return false }
        draft.configuration.pixelAspect = PixelAspect(horizontal: horizontal, vertical: vertical)
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_CleanAperture as String,
      type: .dictionary(required: ["Width", "Height"], optional: ["HorizontalOffset", "VerticalOffset"]),
      change: .nextKeyFrame,
      documentation: """
        The part of the picture to display, in samples: Width and Height, and the offsets of its \
        centre, HorizontalOffset and VerticalOffset (default 0).
        """,
      apply: { value, draft in
        guard let numbers = value.dictionary, let width = numbers["Width"], let height = numbers["Height"]
        else { return false }
        let right = abs(numbers["HorizontalOffset"] ?? 0) * 2 + width
        let bottom = abs(numbers["VerticalOffset"] ?? 0) * 2 + height
        guard width > 0, height > 0, right <= Double(draft.configuration.width),
          bottom <= Double(draft.configuration.height)
        else { return false }
        draft.cleanAperture = numbers
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_MasteringDisplayColorVolume as String, type: .data(count: 24),
      change: .nextKeyFrame,
      documentation: "The payload of the SEI message on the mastering display colour volume, 24 bytes.",
      feature: .hdrMetadata,
      apply: { value, draft in
        draft.masteringDisplay = value.data
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_ContentLightLevelInfo as String, type: .data(count: 4),
      change: .nextKeyFrame,
      documentation: "The payload of the SEI message on content light levels, 4 bytes.",
      feature: .hdrMetadata,
      apply: { value, draft in
        draft.contentLightLevel = value.data
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_HDRMetadataInsertionMode as String,
      type: .enumeration([
        kVTHDRMetadataInsertionMode_None as String, kVTHDRMetadataInsertionMode_Auto as String,
      ]), change: .nextKeyFrame,
      documentation: """
        Whether the SEI messages of MasteringDisplayColorVolume and ContentLightLevelInfo are \
        written into the stream. Default: Auto, which writes them.
        """, feature: .hdrMetadata,
      defaultValue: .text(kVTHDRMetadataInsertionMode_Auto as String),
      apply: { value, draft in
        draft.insertsHDR = value.text != kVTHDRMetadataInsertionMode_None as String
        return true
      }),
  ]
}
