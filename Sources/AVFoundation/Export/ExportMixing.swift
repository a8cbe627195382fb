// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What an export makes of several tracks together: a mix of the sound, a composition of the pictures. The first track
/// of each kind then stands for all.
struct ExportMixing {
  private let settings: AVAssetExportSession.Settings
  private let preset: ExportPreset
  private let tracks: [AVAssetTrack]

  init(_ settings: AVAssetExportSession.Settings, _ preset: ExportPreset, _ tracks: [AVAssetTrack]) {
    self.settings = settings
    self.preset = preset
    self.tracks = tracks
  }

  /// - Throws: `AVError` if the preset copies what is to be made anew, or the pitch algorithm is not known.
  func check() throws {
    var copiesVideo = false
    if case .copy = preset.video { copiesVideo = true }
    guard settings.composition == nil || !copiesVideo, settings.mix == nil || !preset.copiesSound else {
      throw AVError(
        .operationNotSupportedForPreset,
        reason: "A preset that copies samples takes no audio mix and no video composition.")
    }
    if let error = settings.pitch.error(.incorrectlyConfigured) { throw error }
  }

  private func all(_ type: AVMediaType) -> [AVAssetTrack] { tracks.filter { $0.mediaType == type } }

  /// Whether the movie gets a track for this one.
  func isAlone(_ track: AVAssetTrack) -> Bool {
    switch track.mediaType {
    case .video: settings.composition == nil || track === all(.video).first
    case .audio: settings.mix == nil || track === all(.audio).first
    default: false
    }
  }

  /// Reads several tracks instead of one, where that is wanted.
  func pair(
    _ pair: (output: AVAssetReaderOutput, input: AVAssetWriterInput)?, _ track: AVAssetTrack
  ) throws -> (output: AVAssetReaderOutput, input: AVAssetWriterInput)? {
    guard let pair else { return nil }
    if track.mediaType == .video, let composition = settings.composition {
      let output = AVAssetReaderVideoCompositionOutput(
        videoTracks: all(.video),
        videoSettings: [
          kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
        ])
      output.use(composition, settings.compositor)
      // What the pictures are like is the composition's affair.
      var writing = pair.input.outputSettings
      let size = preset.fitted(composition.renderSize)
      writing?[AVVideoWidthKey] = size.width
      writing?[AVVideoHeightKey] = size.height
      let input = AVAssetWriterInput(mediaType: .video, outputSettings: writing)
      input.languageCode = pair.input.languageCode
      input.marksOutputTrackAsEnabled = pair.input.marksOutputTrackAsEnabled
      return (output, input)
    }
    if track.mediaType == .audio, let mix = settings.mix {
      let output = AVAssetReaderAudioMixOutput(
        audioTracks: all(.audio), audioSettings: [AVFormatIDKey: kAudioFormatLinearPCM])
      output.audioMix = mix
      output.audioTimePitchAlgorithm = settings.pitch
      let writing: [String: Any] = [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVEncoderBitRateKey: ExportPreset.soundRate,
      ]
      let input = AVAssetWriterInput(mediaType: .audio, outputSettings: writing)
      input.languageCode = pair.input.languageCode
      input.marksOutputTrackAsEnabled = pair.input.marksOutputTrackAsEnabled
      return (output, input)
    }
    (pair.output as? AVAssetReaderTrackOutput)?.audioTimePitchAlgorithm = settings.pitch
    return pair
  }
}

extension ExportPreset {
  /// The size of the video that is made of composed pictures: within the preset's box, in whole pairs of pixels.
  func fitted(_ size: CGSize) -> (width: Int, height: Int) {
    let (width, height) = (max(2, Double(size.width)), max(2, Double(size.height)))
    var scale = 1.0
    if case .encode(_, let box?, _) = video {
      // The box lies as the picture does.
      let (long, short) = (Double(box.width), Double(box.height))
      let limit = width >= height ? (long, short) : (short, long)
      scale = min(1, limit.0 / width, limit.1 / height)
    }
    func even(_ side: Double) -> Int { max(2, min(16384, Int(clamping: (side * scale).rounded())) & ~1) }
    return (even(width), even(height))
  }
}
