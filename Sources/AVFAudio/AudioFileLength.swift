// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// Finds where the audio of a file ends.
struct AudioFileLength {
  /// The end in frames, in the time of the packets; nil if there is no packet.
  let end: Int64?
  /// The start of the last packet, if only decoding can tell how much of it is audio; `end` may
  /// then be too late.
  let uncertainPacket: Int64?

  /// Seconds. If the file states a longer gap or packet, its audio ends there; otherwise a small
  /// file could produce days of silence.
  private static let longestGap: Int64 = 60

  /// Finds the end. For uncompressed audio it is computed from the header and the file's size.
  /// Otherwise all packets are read, because only they tell their durations and how much is to be
  /// removed at the end.
  init(_ demuxer: Demuxer, _ stream: MediaStream, sampleRate: Int, fileSize: Int64) throws {
    let scale = CMTimeScale(clamping: sampleRate)
    func frames(_ time: Int64) -> Int64 {
      CMTimeConvertScale(stream.time(time), timescale: scale, method: .roundHalfAwayFromZero).value
    }
    let layout = stream.audioLayout
    if layout.mFormatID == kAudioFormatLinearPCM, layout.mBytesPerFrame > 0, stream.duration > 0 {
      // The duration in the header may be wrong, so it is limited by the size of the file.
      end = min(frames(stream.duration), fileSize / Int64(layout.mBytesPerFrame))
      uncertainPacket = nil
      return
    }
    var last: Int64?
    var uncertain: Int64?
    let maximum = Self.longestGap.multipliedClamped(by: Int64(sampleRate))
    // Reading errors end the audio here. They are reported when the file is read.
    while let packet = try? demuxer.next() {
      guard let time = packet.pts ?? packet.dts else { continue }
      let start = frames(time)
      if let last, start.subtractingClamped(last) > maximum { break }
      let said = frames(time.addingClamped(packet.duration)).subtractingClamped(start)
      // Some files have no durations, and in some the part to be removed is subtracted already. A
      // second is longer than any packet.
      let length = min(maximum, said > 0 ? said : Int64(sampleRate))
      uncertain = said <= 0 || packet.skippedAudio.end > 0 ? start : nil
      last = max(last ?? start, start.addingClamped(length))
    }
    uncertainPacket = uncertain
    end = last.map { last in stream.editedEnd.map { min(last, frames($0)) } ?? last }
  }
}
