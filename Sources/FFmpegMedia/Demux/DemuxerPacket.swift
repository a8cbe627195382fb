// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// One stored sample of a stream, with the memory that libavformat read it into.
package final class MediaPacket: @unchecked Sendable {
  // Sendable: owned by one stage of the pipeline after the other.
  // Immutable after creation, but for `pointer`'s fields that the demuxer sets before it hands the packet out.
  package let pointer: UnsafeMutablePointer<AVPacket>
  /// Set by the demuxer where presentation times follow from it.
  var place: PicturePlace?
  /// The file holds nothing that can be read about here, as far as its kind of file tells.
  package var isBesideGap = false
  /// Which of several clocks, one after the other, its times were read by.
  package var clock = 0

  init(owning pointer: UnsafeMutablePointer<AVPacket>) { self.pointer = pointer }

  /// A packet with memory for `size` bytes of its own.
  convenience init?(size: Int) {
    guard size >= 0, size < Int(Int32.max) - 64, let packet = av_packet_alloc() else { return nil }
    guard av_new_packet(packet, Int32(size)) == 0 else {
      var packet: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&packet)
      return nil
    }
    self.init(owning: packet)
  }

  /// A packet without times, of bytes that are copied; nil if there is no memory for them.
  package convenience init?(copying bytes: UnsafeRawBufferPointer) {
    self.init(size: bytes.count)
    self.bytes.copyMemory(from: bytes)
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&packet)
  }

  package var streamIndex: Int { Int(pointer.pointee.stream_index) }
  package var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: pointer.pointee.data, count: max(0, Int(pointer.pointee.size)))
  }
  /// Presentation and decode time in units of the stream's time base; nil when the container has none.
  package var pts: Int64? { MediaPacket.time(pointer.pointee.pts) }
  package var dts: Int64? { MediaPacket.time(pointer.pointee.dts) }
  /// In units of the stream's time base; 0 when unknown.
  package var duration: Int64 { pointer.pointee.duration }
  package var isKeyFrame: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
  /// Needed for decoding only: an edit list cuts it from the presentation.
  package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
  package var isDisposable: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISPOSABLE != 0 }
  package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }
  /// Its bytes are encrypted, as a movie says of single samples (`senc`).
  var isEncrypted: Bool { av_packet_get_side_data(pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil }
  package var filePosition: Int64 { pointer.pointee.pos }

  /// Moves both times back, in units of the stream's time base.
  func shift(back change: Int64) {
    if let pts { pointer.pointee.pts = pts.subtractingClamped(change) }
    if let dts { pointer.pointee.dts = dts.subtractingClamped(change) }
  }

  /// Audio samples to drop at the packet's start and end (encoder delay and padding).
  package var skippedAudio: (start: Int, end: Int) {
    var size = 0
    guard let side = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8 else {
      return (0, 0)
    }
    func little(_ at: Int) -> Int {
      (0..<4).reduce(0) { $0 | Int(side[at + $1]) << (8 * $1) }
    }
    return (little(0), little(4))
  }

  private static func time(_ value: Int64) -> Int64? { value == ovt_av_nopts_value() ? nil : value }
}
