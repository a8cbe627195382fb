// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import FuzzDriver

/// Inserts, scales and removes ranges of a foreign movie in a composition, and reads it.
@Sendable func fuzzCompositions(_ input: inout FuzzInput) {
  let flags = input.byte()
  let times = (0..<4).map { _ in CMTime(value: Int64(input.number()), timescale: 30) }
  guard let asset = asset(input.rest(), "mov") else { return }
  let composition = AVMutableComposition()
  let range = CMTimeRange(start: times[0], duration: times[1])
  do {
    if flags & 1 == 0 {
      try composition.insertTimeRange(
        CMTimeRange(start: .zero, duration: asset.duration), of: asset, at: .zero)
    } else {
      try composition.insertTimeRange(range, of: asset, at: times[2])
      try composition.insertTimeRange(range, of: asset, at: .zero)
    }
  } catch { return }
  if flags & 2 != 0 { composition.scaleTimeRange(range, toDuration: times[3]) }
  if flags & 4 != 0 { composition.removeTimeRange(CMTimeRange(start: times[2], duration: times[3])) }
  if flags & 8 != 0 { composition.insertEmptyTimeRange(CMTimeRange(start: times[3], duration: times[1])) }
  _ = AVVideoComposition(propertiesOf: composition).frameDuration
  guard let reader = try? AVAssetReader(asset: composition) else { return }
  let audioTracks = composition.tracks(withMediaType: .audio)
  let pictures = composition.tracks(withMediaType: .video)
  var outputs: [AVAssetReaderOutput] = []
  if !audioTracks.isEmpty {
    outputs.append(AVAssetReaderAudioMixOutput(audioTracks: audioTracks, audioSettings: nil))
  }
  if flags & 16 != 0, !pictures.isEmpty {
    let output = AVAssetReaderVideoCompositionOutput(videoTracks: pictures, videoSettings: nil)
    output.videoComposition = AVVideoComposition(propertiesOf: composition)
    outputs.append(output)
  } else if let track = pictures.first {
    outputs.append(AVAssetReaderTrackOutput(track: track, outputSettings: [:]))
  }
  for output in outputs where reader.canAdd(output) { reader.add(output) }
  guard reader.startReading() else { return }
  for output in reader.outputs {
    var count = 0
    while count < 12, let sample = output.copyNextSampleBuffer() {
      count += 1
      // Audio is read about a second at a time, regardless of the sizes in a header.
      require(CMSampleBufferGetTotalSampleSize(sample) < 64 << 20, "much audio at once")
    }
  }
  reader.cancelReading()
}
