// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The colours that a video composition names for what is made.
struct CompositionColor {
  /// The value of `AVVideoColorPropertiesKey` for the sources.
  let properties: [String: any Sendable]
  private let requirements: ColorRequirements

  /// - Returns: nil if the composition names none.
  /// - Throws: `AVError.invalidVideoComposition` if it names some and not all, or such as are not known.
  init?(_ composition: AVVideoComposition) throws {
    let named = [
      AVVideoColorPrimariesKey: composition.colorPrimaries,
      AVVideoTransferFunctionKey: composition.colorTransferFunction,
      AVVideoYCbCrMatrixKey: composition.colorYCbCrMatrix,
    ].compactMapValues { $0 }
    if named.isEmpty { return nil }
    do { requirements = try ColorRequirements(named) } catch { throw Self.refusal(error) }
    properties = named
  }

  /// - Throws: `AVError.invalidVideoComposition` if a track's pictures cannot be converted to these colours.
  func check(_ track: AVAssetTrack) throws {
    let sources =
      (track as? AVCompositionTrack)?.timeline.parts.compactMap { $0.source?.track.facts.stream }
      ?? [track.facts.stream]
    for source in sources {
      do { try requirements.check(against: source) } catch { throw Self.refusal(error) }
    }
  }

  /// Says in a picture that it has these colours.
  func tag(_ image: CVPixelBuffer) {
    for (key, name) in [
      (kCVImageBufferColorPrimariesKey, requirements.primaries),
      (kCVImageBufferTransferFunctionKey, requirements.transferFunction),
      (kCVImageBufferYCbCrMatrixKey, requirements.matrix),
    ] { CVBufferSetAttachment(image, key, name as NSString, .shouldPropagate) }
  }

  private static func refusal(_ error: any Error) -> AVError {
    AVError(
      .invalidVideoComposition,
      reason: (error as? AVError)?._nsError.localizedFailureReason ?? "The colours are not possible.",
      advice: "Give primaries, transfer function and YCbCr matrix, or none of them.", underlying: error)
  }
}
