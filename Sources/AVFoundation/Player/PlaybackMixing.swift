// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What an item makes of its asset's tracks when it is played.
struct PlaybackMixing: @unchecked Sendable {
  // Sendable: the composition and the mix are copies of the item's own; a compositor takes requests from any thread.
  var composition: AVVideoComposition?
  /// Makes the composition's pictures; nil where layer instructions are followed.
  var compositor: (any AVVideoCompositing)?
  var mix: AVAudioMix?

  /// What pictures are read from: the track, or what the composition makes of all that can be decoded.
  func pictures(of track: AVAssetTrack, in asset: AVAsset) throws -> AVAssetReaderOutput {
    let settings = PlaybackSettings.pictures(of: track)
    guard let composition else {
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      output.ovtToleratesDamage = true
      return output
    }
    // Which colours they have, the composition says.
    let formats = settings.filter { $0.key == kCVPixelBufferPixelFormatTypeKey as String }
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: try asset.loadedTracks().filter { $0.mediaType == .video && $0.isDecodable },
      videoSettings: formats)
    output.use(composition, compositor)
    return output
  }

  /// What sound is read from: the track, or all enabled ones as the mix says.
  func sound(of track: AVAssetTrack, in asset: AVAsset) throws -> AVAssetReaderOutput {
    let settings = PlaybackSettings.sound(of: track)
    guard let mix else {
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      output.ovtToleratesDamage = true
      return output
    }
    let all = try asset.loadedTracks().filter { $0.mediaType == .audio && $0.isDecodable && $0.isEnabled }
    let output = AVAssetReaderAudioMixOutput(
      audioTracks: all.isEmpty ? [track] : all, audioSettings: settings)
    output.audioMix = mix
    return output
  }
}

extension AVPlayerItem {
  /// How loud each sound track is; nil: one track is played, at its own volume. With a mix all enabled tracks are played.
  /// A change is heard at once, also while the item is played.
  public var audioMix: AVAudioMix? {
    get { playback.lock.withLock { playback.shared.mixing.mix } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVAudioMix }
      playback.lock.withLock { playback.shared.mixing.mix = copy }
      playback.readAnew()
    }
  }

  /// How the pictures of several tracks are made into one; nil: one track is shown. A change is seen at once, also while
  /// the item is played. A composition that no reader takes (`AVVideoComposition.isValid`) makes the item fail.
  public var videoComposition: AVVideoComposition? {
    get { playback.lock.withLock { playback.shared.mixing.composition } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      let compositor = copy?.makeCompositor()
      let old = playback.lock.withLock {
        defer { (playback.shared.mixing.composition, playback.shared.mixing.compositor) = (copy, compositor) }
        return (playback.shared.mixing.composition, playback.shared.mixing.compositor)
      }
      // A client's objects go when the lock is free: they may come back here.
      withExtendedLifetime(old) {}
      playback.readAnew()
    }
  }

  /// The object that makes the composition's pictures; nil where layer instructions are followed.
  public var customVideoCompositor: (any AVVideoCompositing)? {
    playback.lock.withLock { playback.shared.mixing.compositor }
  }
}
