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
      documentation: "Colour primaries. Those of the first source buffer if not set.",
      apply: { value, draft in
        draft.colorPrimaries = value.text.flatMap { ColorNames.code($0, in: .primaries) }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_TransferFunction as String,
      type: .enumeration(PixelTransferProperties.transferFunctions), change: .nextKeyFrame,
      documentation: "Transfer function. That of the first source buffer if not set.",
      apply: { value, draft in
        draft.transferFunction = value.text.flatMap { ColorNames.code($0, in: .transferFunctions) }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_YCbCrMatrix as String,
      type: .enumeration(PixelTransferProperties.matrices), change: .nextKeyFrame,
      documentation: "Conversion between RGB and Y'CbCr. That of the first source buffer if not set.",
      apply: { value, draft in
        draft.matrix = value.text.flatMap { ColorNames.code($0, in: .matrices) }
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_PixelAspectRatio as String,
      type: .dictionary(required: ["HorizontalSpacing", "VerticalSpacing"], optional: []),
      change: .nextKeyFrame,
      documentation: "The shape of a sample: HorizontalSpacing and VerticalSpacing.",
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
      documentation: "The part of the picture to be seen: Width, Height, HorizontalOffset, VerticalOffset.",
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
      documentation: "24 bytes of the SEI message mastering display colour volume.", feature: .hdrMetadata,
      apply: { value, draft in
        draft.masteringDisplay = value.data
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_ContentLightLevelInfo as String, type: .data(count: 4),
      change: .nextKeyFrame,
      documentation: "4 bytes of the SEI message content light level information.", feature: .hdrMetadata,
      apply: { value, draft in
        draft.contentLightLevel = value.data
        return true
      }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_HDRMetadataInsertionMode as String,
      type: .enumeration([
        kVTHDRMetadataInsertionMode_None as String, kVTHDRMetadataInsertionMode_Auto as String,
      ]), change: .nextKeyFrame,
      documentation: "Whether the two messages above are written into the stream.", feature: .hdrMetadata,
      defaultValue: .text(kVTHDRMetadataInsertionMode_Auto as String),
      apply: { value, draft in
        draft.insertsHDR = value.text != kVTHDRMetadataInsertionMode_None as String
        return true
      }),
  ]
}
