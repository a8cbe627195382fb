// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Hears of each fault of a composition, and says whether to look for more.
public protocol AVVideoCompositionValidationHandling: NSObjectProtocol {
  /// A property has a value that is not possible: `renderSize`, `frameDuration`, ...
  func videoComposition(
    _ videoComposition: AVVideoComposition, shouldContinueValidatingAfterFindingInvalidValueForKey key: String
  ) -> Bool
  /// There is no instruction for some time.
  func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingEmptyTimeRange timeRange: CMTimeRange
  ) -> Bool
  /// An instruction's time range is no range, or begins before the one before it ends.
  func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingInvalidTimeRangeIn videoCompositionInstruction:
      any AVVideoCompositionInstructionProtocol
  ) -> Bool
  /// A layer is of a track that the asset has not.
  func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingInvalidTrackIDIn videoCompositionInstruction:
      any AVVideoCompositionInstructionProtocol,
    layerInstruction: AVVideoCompositionLayerInstruction, asset: AVAsset
  ) -> Bool
}

extension AVVideoCompositionValidationHandling {
  public func videoComposition(
    _ videoComposition: AVVideoComposition, shouldContinueValidatingAfterFindingInvalidValueForKey key: String
  ) -> Bool { true }
  public func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingEmptyTimeRange timeRange: CMTimeRange
  ) -> Bool { true }
  public func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingInvalidTimeRangeIn videoCompositionInstruction:
      any AVVideoCompositionInstructionProtocol
  ) -> Bool { true }
  public func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingInvalidTrackIDIn videoCompositionInstruction:
      any AVVideoCompositionInstructionProtocol,
    layerInstruction: AVVideoCompositionLayerInstruction, asset: AVAsset
  ) -> Bool { true }
}

extension AVVideoComposition {
  /// Whether a reader would take the composition.
  ///
  /// Of the parameters:
  ///
  /// - `asset`: Whose tracks the layers are of, and whose duration instructions cover; nil: neither is looked at.
  /// - `timeRange`: What instructions have to cover; one that is not valid: nothing.
  public func isValid(
    for asset: AVAsset?, timeRange: CMTimeRange,
    validationDelegate: (any AVVideoCompositionValidationHandling)?
  ) -> Bool {
    validate(asset?.tracks, asset, asset?.duration ?? .invalid, timeRange, validationDelegate)
  }

  /// Whether a reader would take the composition, once the asset has been loaded.
  /// - Throws: `AVError` if the asset cannot be read.
  public func isValid(
    for asset: AVAsset?, timeRange: CMTimeRange,
    validationDelegate: (any AVVideoCompositionValidationHandling)?
  ) async throws -> Bool {
    _ = try await asset?.load(.duration)
    return validate(asset?.tracks, asset, asset?.duration ?? .invalid, timeRange, validationDelegate)
  }

  /// Whether a reader would take the composition.
  ///
  /// Of the parameters:
  ///
  /// - `tracks`: Of one asset: what layers may be of.
  /// - `assetDuration`: What instructions have to cover at most; invalid: no limit.
  public func isValid(
    for tracks: [AVAssetTrack], assetDuration duration: CMTime, timeRange: CMTimeRange,
    validationDelegate: (any AVVideoCompositionValidationHandling)?
  ) -> Bool { validate(tracks, tracks.first?.asset, duration, timeRange, validationDelegate) }

  private func validate(
    _ tracks: [AVAssetTrack]?, _ asset: AVAsset?, _ duration: CMTime, _ timeRange: CMTimeRange,
    _ delegate: (any AVVideoCompositionValidationHandling)?
  ) -> Bool {
    var isValid = true
    /// - Returns: Whether to stop.
    func report(_ goesOn: (any AVVideoCompositionValidationHandling) -> Bool) -> Bool {
      isValid = false
      return delegate.map { !goesOn($0) } ?? true
    }
    for key in invalidKeys {
      if report({ $0.videoComposition(self, shouldContinueValidatingAfterFindingInvalidValueForKey: key) }) {
        return false
      }
    }
    func isStopped(byGap start: CMTime, _ end: CMTime) -> Bool {
      guard start < end else { return false }
      let gap = CMTimeRange(start: start, end: end)
      return report { $0.videoComposition(self, shouldContinueValidatingAfterFindingEmptyTimeRange: gap) }
    }
    let covers = timeRange.isValid && timeRange.start.isNumeric
    // Where instructions have come to.
    var end: CMTime? = covers ? max(.zero, timeRange.start) : nil
    var last: CMTime?
    for instruction in instructions {
      let range = instruction.timeRange
      let isRange = range.isPlayable && range.duration > .zero
      if !isRange || last.map({ range.start < $0 }) ?? false {
        let stops = report {
          $0.videoComposition(
            self, shouldContinueValidatingAfterFindingInvalidTimeRangeIn: instruction)
        }
        if stops { return false }
        if !isRange { continue }
      }
      if isStopped(byGap: last ?? end ?? range.start, range.start) { return false }
      last = max(last ?? range.end, range.end)
      if stops(atUnknownTracksOf: instruction, tracks, asset, report) { return false }
    }
    if covers {
      end = max(last ?? .zero, end ?? .zero)
      let limit = duration.isNumeric ? min(timeRange.end, duration) : timeRange.end
      // A picture less at the end is none missing.
      let tolerance = frameDuration.isPlayable && frameDuration > .zero ? frameDuration : .zero
      if limit.isNumeric, let end, end + tolerance < limit, isStopped(byGap: end, limit) { return false }
    }
    return isValid
  }

  private func stops(
    atUnknownTracksOf instruction: any AVVideoCompositionInstructionProtocol, _ tracks: [AVAssetTrack]?,
    _ asset: AVAsset?, _ report: ((any AVVideoCompositionValidationHandling) -> Bool) -> Bool
  ) -> Bool {
    guard let tracks, let asset,
      let layers = (instruction as? AVVideoCompositionInstruction)?.layerInstructions
    else { return false }
    for layer in layers where !tracks.contains(where: { $0.trackID == layer.trackID }) {
      let stops = report {
        $0.videoComposition(
          self, shouldContinueValidatingAfterFindingInvalidTrackIDIn: instruction,
          layerInstruction: layer, asset: asset)
      }
      if stops { return true }
    }
    return false
  }

  /// Properties whose values no reader takes.
  private var invalidKeys: [String] {
    var keys: [String] = []
    if !(frameDuration.isPlayable && frameDuration > .zero) { keys.append("frameDuration") }
    if !((1...16384).contains(renderSize.width) && (1...16384).contains(renderSize.height)) {
      keys.append("renderSize")
    }
    if renderScale != 1 { keys.append("renderScale") }
    if instructions.isEmpty { keys.append("instructions") }
    if (try? CompositionColor(self)) == nil,
      colorPrimaries ?? colorTransferFunction ?? colorYCbCrMatrix != nil
    {
      keys.append("colorPrimaries")
    }
    return keys
  }
}
