// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The video composition and the audio mix with which an item is played.
struct PlaybackProcessing: @unchecked Sendable {
  // Sendable: the composition and the mix are copies of the item's own; a compositor takes requests
  // from any thread.
  var composition: AVVideoComposition?
  /// The compositor of the composition; nil if the built-in compositor follows its layer
  /// instructions.
  var compositor: (any AVVideoCompositing)?
  var mix: AVAudioMix?

  /// The output to read pictures from: one for the track or, with a composition, for all decodable
  /// video tracks.
  func pictures(of track: AVAssetTrack, in asset: AVAsset) throws -> AVAssetReaderOutput {
    let settings = PlaybackSettings.pictures(of: track)
    guard let composition else {
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      output.ovtToleratesDamage = true
      return output
    }
    // The composition determines the colours.
    let formats = settings.filter { $0.key == kCVPixelBufferPixelFormatTypeKey as String }
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: try asset.loadedTracks().filter { $0.mediaType == .video && $0.isDecodable },
      videoSettings: formats)
    output.use(composition, compositor)
    return output
  }

  /// The output to read audio from: one for the track or, with a mix, for all enabled audio tracks.
  func audio(of track: AVAssetTrack, in asset: AVAsset) throws -> AVAssetReaderOutput {
    let settings = PlaybackSettings.audio(of: track)
    guard let mix else {
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      output.ovtToleratesDamage = true
      return output
    }
    let all = try asset.loadedTracks().filter { $0.mediaType == .audio && $0.isDecodable && $0.isEnabled }
    let output = AVAssetReaderAudioMixOutput(
      audioTracks: all.isEmpty ? [track] : all, audioSettings: settings)
    output.audioMix = mix
    output.ovtToleratesDamage = true
    return output
  }
}

extension AVPlayerItem {
  /// The volumes of the audio tracks. If nil, one track is played at its own volume; with a mix all
  /// enabled tracks are played. A change takes effect at once, even during playback.
  public var audioMix: AVAudioMix? {
    get { playback.lock.withLock { playback.shared.mixing.mix } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVAudioMix }
      playback.lock.withLock { playback.shared.mixing.mix = copy }
      playback.readAnew()
    }
  }

  /// How the pictures of several tracks are composed. If nil, one track is shown. A change takes
  /// effect at once, even during playback. An invalid composition (see
  /// `AVVideoComposition.isValid`) makes the item fail.
  public var videoComposition: AVVideoComposition? {
    get { playback.lock.withLock { playback.shared.mixing.composition } }
    set {
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      let compositor = copy?.makeCompositor()
      let old = playback.lock.withLock {
        defer { (playback.shared.mixing.composition, playback.shared.mixing.compositor) = (copy, compositor) }
        return (playback.shared.mixing.composition, playback.shared.mixing.compositor)
      }
      // The program's objects are released outside of the lock, since their deinitialization may
      // call this item.
      withExtendedLifetime(old) {}
      playback.readAnew()
    }
  }

  /// The custom compositor of the video composition; nil if the built-in compositor follows its
  /// layer instructions.
  public var customVideoCompositor: (any AVVideoCompositing)? {
    playback.lock.withLock { playback.shared.mixing.compositor }
  }
}
