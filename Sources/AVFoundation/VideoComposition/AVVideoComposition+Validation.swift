// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Receives each fault that validation of a composition finds, and decides whether validation
/// continues.
public protocol AVVideoCompositionValidationHandling: NSObjectProtocol {
  /// The value of a property is invalid: `renderSize`, `frameDuration` and others.
  func videoComposition(
    _ videoComposition: AVVideoComposition, shouldContinueValidatingAfterFindingInvalidValueForKey key: String
  ) -> Bool
  /// No instruction covers a time range.
  func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingEmptyTimeRange timeRange: CMTimeRange
  ) -> Bool
  /// The time range of an instruction is empty or invalid, or begins before the previous
  /// instruction ends.
  func videoComposition(
    _ videoComposition: AVVideoComposition,
    shouldContinueValidatingAfterFindingInvalidTimeRangeIn videoCompositionInstruction:
      any AVVideoCompositionInstructionProtocol
  ) -> Bool
  /// A layer instruction names a track that the asset does not have.
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
  /// Checks whether a reader would accept the composition.
  /// - Parameters:
  ///   - asset: The asset whose tracks the layer instructions must name, and after whose end no
  ///     instructions are required; nil to check neither.
  ///   - timeRange: The range that the instructions must cover; an invalid range checks no
  ///     coverage.
  ///   - validationDelegate: Receives each fault; without it validation stops at the first.
  /// - Returns: False if a fault was found.
  public func isValid(
    for asset: AVAsset?, timeRange: CMTimeRange,
    validationDelegate: (any AVVideoCompositionValidationHandling)?
  ) -> Bool {
    validate(asset?.tracks, asset, asset?.duration ?? .invalid, timeRange, validationDelegate)
  }

  /// Checks whether a reader would accept the composition, after the asset has been loaded. See the
  /// synchronous method for the parameters.
  /// - Throws: `AVError` if the asset cannot be read.
  public func isValid(
    for asset: AVAsset?, timeRange: CMTimeRange,
    validationDelegate: (any AVVideoCompositionValidationHandling)?
  ) async throws -> Bool {
    _ = try await asset?.load(.duration)
    return validate(asset?.tracks, asset, asset?.duration ?? .invalid, timeRange, validationDelegate)
  }

  /// Checks whether a reader would accept the composition.
  /// - Parameters:
  ///   - tracks: Tracks of one asset, which the layer instructions must name.
  ///   - duration: The time after which no instructions are required; invalid for no limit.
  ///   - timeRange: The range that the instructions must cover; an invalid range checks no
  ///     coverage.
  ///   - validationDelegate: Receives each fault; without it validation stops at the first.
  /// - Returns: False if a fault was found.
  public func isValid(
    for tracks: [AVAssetTrack], assetDuration duration: CMTime, timeRange: CMTimeRange,
    validationDelegate: (any AVVideoCompositionValidationHandling)?
  ) -> Bool { validate(tracks, tracks.first?.asset, duration, timeRange, validationDelegate) }

  private func validate(
    _ tracks: [AVAssetTrack]?, _ asset: AVAsset?, _ duration: CMTime, _ timeRange: CMTimeRange,
    _ delegate: (any AVVideoCompositionValidationHandling)?
  ) -> Bool {
    var isValid = true
    /// Records a fault.
    /// - Returns: Whether validation stops.
    func report(_ continues: (any AVVideoCompositionValidationHandling) -> Bool) -> Bool {
      isValid = false
      return delegate.map { !continues($0) } ?? true
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
    // The start of the range to be covered; after the loop, the end of the covered range.
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
      // Up to one frame duration may remain uncovered at the end.
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

  /// The keys of the properties whose values no reader accepts.
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
