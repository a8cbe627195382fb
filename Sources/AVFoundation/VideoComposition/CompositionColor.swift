// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The colours that a video composition has what is made in: those that it names, or those of its sources.
struct CompositionColor {
  /// BT.709: what a high dynamic range is made into where nobody takes it.
  static let standardRange: [String: any Sendable] = [
    AVVideoColorPrimariesKey: AVVideoColorPrimaries_ITU_R_709_2,
    AVVideoTransferFunctionKey: AVVideoTransferFunction_ITU_R_709_2,
    AVVideoYCbCrMatrixKey: AVVideoYCbCrMatrix_ITU_R_709_2,
  ]

  /// The value of `AVVideoColorPropertiesKey` for the sources; nil: they are not converted.
  let properties: [String: any Sendable]?
  private let requirements: ColorRequirements?
  /// What pictures say of themselves.
  private let tags: [(key: CFString, name: String)]

  /// - Returns: nil if the composition names none.
  /// - Throws: `AVError.invalidVideoComposition` if it names some and not all, or such as are not known.
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
    do { requirements = try ColorRequirements(named) } catch { throw Self.refusal(error) }
    self.requirements = requirements
    properties = named
    tags = [
      (kCVImageBufferColorPrimariesKey, requirements.primaries),
      (kCVImageBufferTransferFunctionKey, requirements.transferFunction),
      (kCVImageBufferYCbCrMatrixKey, requirements.matrix),
    ]
  }

  /// For a composition that names no colours: the first source's, or BT.709 where one of them has a high dynamic
  /// range that the compositor does not take.
  /// - Returns: nil if the sources do not say.
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
    // A picture with alpha that lies above others often has no YCbCr matrix: who names all is preferred.
    for source in sources where first.count < 3 {
      let own = Self.tags(of: source)
      if first.isEmpty || own.count == 3 { first = own }
    }
    if first.isEmpty { return nil }
    (properties, requirements, tags) = (nil, nil, first)
  }

  private static func sources(of track: AVAssetTrack) -> [TrackFacts] {
    (track as? AVCompositionTrack)?.timeline.parts.compactMap { $0.source?.track.facts } ?? [track.facts]
  }

  private static func tags(of source: TrackFacts) -> [(key: CFString, name: String)] {
    guard let format = source.format else { return [] }
    return [
      (kCMFormatDescriptionExtension_ColorPrimaries, kCVImageBufferColorPrimariesKey),
      (kCMFormatDescriptionExtension_TransferFunction, kCVImageBufferTransferFunctionKey),
      (kCMFormatDescriptionExtension_YCbCrMatrix, kCVImageBufferYCbCrMatrixKey),
    ].compactMap { own, key in
      (CMFormatDescriptionGetExtension(format, extensionKey: own) as? String).map { (key, $0) }
    }
  }

  /// - Throws: `AVError.invalidVideoComposition` if a track's pictures cannot be converted to these colours.
  func check(_ track: AVAssetTrack) throws {
    for source in Self.sources(of: track) {
      do { try requirements?.check(against: source.stream) } catch { throw Self.refusal(error) }
    }
  }

  /// Says in a picture that it has these colours. What the sources have does not replace what the picture says
  /// itself.
  func tag(_ image: CVPixelBuffer) {
    for (key, name) in tags where properties != nil || CVBufferCopyAttachment(image, key, nil) == nil {
      CVBufferSetAttachment(image, key, name as NSString, .shouldPropagate)
    }
  }

  /// Says in a picture that is made of another that it has its colours, and its alpha.
  static func copyTags(from image: CVPixelBuffer, to target: CVPixelBuffer) {
    for key in [
      kCVImageBufferColorPrimariesKey, kCVImageBufferTransferFunctionKey, kCVImageBufferYCbCrMatrixKey,
    ] {
      guard let value = CVBufferCopyAttachment(image, key, nil) else { continue }
      CVBufferSetAttachment(target, key, value, .shouldPropagate)
    }
    PixelConverter.settleAlphaMode(of: target, after: image)
  }

  /// What pictures of a high dynamic range are asked to be where an ordinary one is wanted; nil: they have that already, or
  /// cannot be converted.
  static func standardRange(for source: MediaStream) -> [String: any Sendable]? {
    guard source.codec.isHDR, (try? ColorRequirements(standardRange).check(against: source)) != nil else {
      return nil
    }
    return standardRange
  }

  private static func refusal(_ error: any Error) -> AVError {
    AVError(
      .invalidVideoComposition,
      reason: (error as? AVError)?._nsError.localizedFailureReason ?? "The colours are not possible.",
      advice: "Give primaries, transfer function and YCbCr matrix, or none of them.", underlying: error)
  }
}
