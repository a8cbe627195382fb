// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The colours in which a video composition makes its pictures: those that it names, or else those
/// of its sources.
struct CompositionColor {
  /// The colours of BT.709, to which sources of high dynamic range are converted if the compositor
  /// does not support them.
  static let standardRange: [String: any Sendable] = [
    AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_709_2,
    AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
    AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_709_2,
  ]

  /// The value of `AVVideoColorPropertiesKey` for reading the sources; nil if they are not
  /// converted.
  let properties: [String: any Sendable]?
  private let requirements: ColorRequirements?
  /// The attachments with which pictures are tagged.
  private let tags: [(key: CFString, name: String)]

  /// Creates the colours that a composition names.
  /// - Returns: Nil if it names none.
  /// - Throws: `AVError.Code.invalidVideoComposition` if it names only some of the three, or an
  ///   unknown value.
  init?(_ composition: AVVideoComposition) throws {
    let named = [
      AVVideoColorPrimariesKey: composition.colorPrimaries,
      AVVideoTransferFunctionKey: composition.colorTransferFunction,
      AVVideoYCbCrMatrixKey: composition.colorYCbCrMatrix,
    ].compactMapValues { $0 }
    if named.isEmpty { return nil }
    try self.init(named)
  }

  private init(_ named: [String: any Sendable]) throws {
    let requirements: ColorRequirements
    do { requirements = try ColorRequirements(named) } catch { throw Self.colorError(error) }
    self.requirements = requirements
    properties = named
    tags = [
      (kCVImageBufferColorPrimariesKey, requirements.primaries),
      (kCVImageBufferTransferFunctionKey, requirements.transferFunction),
      (kCVImageBufferYCbCrMatrixKey, requirements.matrix),
    ]
  }

  /// Creates the colours of a composition that names none: those of the first source, or of BT.709
  /// if a source has a high dynamic range that the compositor does not support.
  /// - Returns: Nil if no source declares its colours.
  init?(of tracks: [AVAssetTrack], for compositor: any AVVideoCompositing) {
    let sources = tracks.flatMap(Self.sources)
    if !compositor.supportsHDRSourceFrames, sources.contains(where: { $0.stream.codec.isHDR }),
      let standard = try? CompositionColor(Self.standardRange),
      (try? tracks.forEach { try standard.check($0) }) != nil
    {
      self = standard
      return
    }
    var first: [(key: CFString, name: String)] = []
    // A source with alpha often has no YCbCr matrix, so a source that declares all three is
    // preferred.
    for source in sources where first.count < 3 {
      let own = Self.tags(of: source)
      if first.isEmpty || own.count == 3 { first = own }
    }
    if first.isEmpty { return nil }
    (properties, requirements, tags) = (nil, nil, first)
  }

  private static func sources(of track: AVAssetTrack) -> [TrackDescription] {
    (track as? AVCompositionTrack)?.timeline.parts.compactMap { $0.source?.track.properties } ?? [
      track.properties
    ]
  }

  private static func tags(of source: TrackDescription) -> [(key: CFString, name: String)] {
    guard let format = source.format else { return [] }
    return [
      (kCMFormatDescriptionExtension_ColorPrimaries, kCVImageBufferColorPrimariesKey),
      (kCMFormatDescriptionExtension_TransferFunction, kCVImageBufferTransferFunctionKey),
      (kCMFormatDescriptionExtension_YCbCrMatrix, kCVImageBufferYCbCrMatrixKey),
    ].compactMap { own, key in
      (CMFormatDescriptionGetExtension(format, extensionKey: own) as? String).map { (key, $0) }
    }
  }

  /// Checks that a track's pictures can be converted to these colours.
  /// - Throws: `AVError.Code.invalidVideoComposition`.
  func check(_ track: AVAssetTrack) throws {
    for source in Self.sources(of: track) {
      do { try requirements?.check(against: source.stream) } catch { throw Self.colorError(error) }
    }
  }

  /// Tags a picture with these colours. Colours that come from the sources do not replace the
  /// picture's own tags.
  func tag(_ image: CVPixelBuffer) {
    for (key, name) in tags where properties != nil || CVBufferCopyAttachment(image, key, nil) == nil {
      CVBufferSetAttachment(image, key, name as NSString, .shouldPropagate)
    }
  }

  /// Copies the tags for colours and alpha from a picture to one that is made from it.
  static func copyTags(from image: CVPixelBuffer, to target: CVPixelBuffer) {
    for key in [
      kCVImageBufferColorPrimariesKey, kCVImageBufferTransferFunctionKey, kCVImageBufferYCbCrMatrixKey,
    ] {
      guard let value = CVBufferCopyAttachment(image, key, nil) else { continue }
      CVBufferSetAttachment(target, key, value, .shouldPropagate)
    }
    PixelConverter.correctAlphaMode(of: target, after: image)
  }

  /// Returns BT.709 for a source of high dynamic range; nil if the source has a standard dynamic
  /// range or cannot be converted.
  static func standardRange(for source: MediaStream) -> [String: any Sendable]? {
    guard source.codec.isHDR, (try? ColorRequirements(standardRange).check(against: source)) != nil else {
      return nil
    }
    return standardRange
  }

  private static func colorError(_ error: any Error) -> AVError {
    AVError(
      .invalidVideoComposition,
      reason: (error as? AVError)?._nsError.localizedFailureReason ?? "The colours are not possible.",
      advice: "Give primaries, transfer function and YCbCr matrix, or none of them.", underlying: error)
  }
}
