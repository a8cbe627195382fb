// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// Where the sound of a file ends.
struct AudioFileLength {
  /// In frames, on the time line of the packets; nil if there is no packet.
  let end: Int64?
  /// Where the last packet begins, if only decoding can tell how much of it is sound; then `end` may be too late.
  let uncertainPacket: Int64?

  /// Seconds. Where more is said to be silent, or to be a packet's, a small file would be days of silence: the sound ends.
  private static let longestGap: Int64 = 60

  /// Reads the file through, unless it is uncompressed: how long the packets are that a header counts, and what is to be
  /// left out at the end, is known of the packets alone.
  init(_ demuxer: Demuxer, _ stream: MediaStream, sampleRate: Int, fileSize: Int64) throws {
    let scale = CMTimeScale(clamping: sampleRate)
    func frames(_ time: Int64) -> Int64 {
      CMTimeConvertScale(stream.time(time), timescale: scale, method: .roundHalfAwayFromZero).value
    }
    let layout = stream.audioLayout
    if layout.mFormatID == kAudioFormatLinearPCM, layout.mBytesPerFrame > 0, stream.duration > 0 {
      // A header may say anything; the file has what it has.
      end = min(frames(stream.duration), fileSize / Int64(layout.mBytesPerFrame))
      uncertainPacket = nil
      return
    }
    var last: Int64?
    var uncertain: Int64?
    let most = Self.longestGap.multipliedClamped(by: Int64(sampleRate))
    // What can be read is the file; damage is told where it is met.
    while let packet = try? demuxer.next() {
      guard let time = packet.pts ?? packet.dts else { continue }
      let start = frames(time)
      if let last, start.subtractingClamped(last) > most { break }
      let said = frames(time.addingClamped(packet.duration)).subtractingClamped(start)
      // Some files do not say it, some take what is to be left out off it. Without a word a second is more than enough.
      let length = min(most, said > 0 ? said : Int64(sampleRate))
      uncertain = said <= 0 || packet.skippedAudio.end > 0 ? start : nil
      last = max(last ?? start, start.addingClamped(length))
    }
    uncertainPacket = uncertain
    end = last.map { last in stream.editedEnd.map { min(last, frames($0)) } ?? last }
  }
}
