// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Settings that are taken from the first source buffer where the client has not set the property,
/// such as colours and frame rate. They stay the same for the rest of the session.
struct SourceTraits {
  /// The pixel format of the pictures that the encoder gets.
  var format: PictureFormat
  private var primaries: UInt8?
  private var transfer: UInt8?
  private var matrix: UInt8?
  private var pixelAspect: PixelAspect?
  private var frameRate: Double?
  /// The frames per second above which the duration of one frame tells no frame rate.
  private static let highestRate = 300.0
  private var masteringDisplay: [UInt8]?
  private var contentLightLevel: [UInt8]?

  /// Derives the settings.
  /// - Parameters:
  ///   - encoder: The session's encoder.
  ///   - requested: The pixel format of the session's source attributes; nil if they name none.
  ///   - draft: The session's settings.
  ///   - buffer: The first source buffer; nil if it is not known yet.
  ///   - duration: That buffer's duration, from which a frame rate is estimated.
  init(
    encoder: EncoderDescription, requested: OSType?, draft: CompressionDraft, buffer: CVPixelBuffer?,
    duration: CMTime
  ) {
    let profile = draft.configuration.profile
    let native = encoder.inputFormats(for: profile)
    let given = buffer.map { PictureFormat(rawValue: CVPixelBufferGetPixelFormatType($0)) }
    if let requested, native.contains(PictureFormat(rawValue: requested)) {
      format = PictureFormat(rawValue: requested)
    } else if let given, native.contains(given) {
      format = given
    } else {
      // A conversion to another chroma format keeps the range.
      let isFull = given?.isFullRange == true && encoder.inputFormatsByProfile[profile] != nil
      let wantsTenBits = draft.hasProfile && draft.configuration.profile == .hevcMain10
      let preferred: PictureFormat = wantsTenBits ? .p010VideoRange : .nv12VideoRange
      let defaultFormat = native.contains(preferred) ? preferred : native.first ?? .nv12VideoRange
      format = native.first { isFull && $0.isFullRange } ?? defaultFormat
    }
    guard let buffer else { return }
    (primaries, transfer, matrix) = ColorNames.description(of: buffer)
    if encoder.features.contains(.hdrMetadata) {
      func bytes(_ key: CFString, _ count: Int) -> [UInt8]? {
        (CVBufferCopyAttachment(buffer, key, nil) as? NSData).map { [UInt8]($0 as Data) }
          .flatMap { $0.count == count ? $0 : nil }
      }
      masteringDisplay = bytes(kCVImageBufferMasteringDisplayColorVolumeKey, 24)
      contentLightLevel = bytes(kCVImageBufferContentLightLevelInfoKey, 4)
    }
    if CVPixelBufferGetWidth(buffer) == draft.configuration.width,
      CVPixelBufferGetHeight(buffer) == draft.configuration.height,
      let shape = CVBufferCopyAttachment(buffer, "CVPixelAspectRatio", nil) as? NSDictionary,
      let horizontal = (shape["HorizontalSpacing"] as? NSNumber)?.intValue,
      let vertical = (shape["VerticalSpacing"] as? NSNumber)?.intValue,
      (1...65535).contains(horizontal), (1...65535).contains(vertical)
    {
      pixelAspect = PixelAspect(horizontal: horizontal, vertical: vertical)
    }
    // The first frame of a recording with a variable rate may be shown very shortly, and says
    // nothing of the others then: its level would be one that few decoders have.
    if duration.isNumeric, duration.seconds * Self.highestRate > 1, duration.seconds < 60 {
      frameRate = 1 / duration.seconds
    }
  }

  /// Makes the encoder's configuration: the draft, completed with these settings.
  func configuration(from draft: CompressionDraft, encoder: EncoderDescription) -> VideoEncoderConfiguration {
    var draft = draft
    // A profile that was changed since may take another chroma format.
    let native = encoder.inputFormats(for: draft.configuration.profile)
    var chosen = format
    if !native.contains(chosen) {
      chosen = native.first { $0.isFullRange == format.isFullRange } ?? native.first ?? format
    }
    draft.configuration.format = chosen
    draft.configuration.color = ColorDescription(
      primaries: draft.colorPrimaries ?? primaries ?? 2, transfer: draft.transferFunction ?? transfer ?? 2,
      matrix: draft.matrix ?? matrix ?? 2)
    draft.configuration.isFullRange = chosen.isFullRange
    draft.masteringDisplay = draft.masteringDisplay ?? masteringDisplay
    draft.contentLightLevel = draft.contentLightLevel ?? contentLightLevel
    if draft.configuration.pixelAspect == nil { draft.configuration.pixelAspect = pixelAspect }
    if draft.configuration.frameRate == nil { draft.configuration.frameRate = frameRate }
    return draft.resolved(for: encoder)
  }
}

extension PictureFormat {
  var isFullRange: Bool {
    self == .nv12FullRange || self == .i420FullRange || self == .p010FullRange || self == .nv24FullRange
  }
}
