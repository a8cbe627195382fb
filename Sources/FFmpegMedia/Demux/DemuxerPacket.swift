// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// A sample of a stream as it is stored in the file. It owns the memory that libavformat has read
/// it into.
package final class MediaPacket: @unchecked Sendable {
  // Sendable: only one stage of the pipeline uses a packet at a time.
  // It does not change after creation, except for fields of `pointer` that the demuxer sets before
  // it hands the packet out.
  package let pointer: UnsafeMutablePointer<AVPacket>
  /// The picture's order count; set by the demuxer where presentation times are computed from it.
  var outputPosition: OutputPosition?
  /// Whether data before or at this packet was lost, as far as the container's demuxer can tell.
  package var followsDataLoss = false
  /// Number of the time line on which the times were stored, counted from the file's first one (0);
  /// see `TimeContinuity`.
  package var clock = 0

  init(owning pointer: UnsafeMutablePointer<AVPacket>) { self.pointer = pointer }

  /// Allocates a packet of `size` bytes; nil if there is no memory for it.
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

  /// The stream's index in the file, from 0.
  package var streamIndex: Int { Int(pointer.pointee.stream_index) }
  /// The stored bytes of the sample, which the packet owns.
  package var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: pointer.pointee.data, count: max(0, Int(pointer.pointee.size)))
  }
  /// Presentation and decode time in units of the stream's time base; nil when the container has
  /// none.
  package var pts: Int64? { MediaPacket.time(pointer.pointee.pts) }
  package var dts: Int64? { MediaPacket.time(pointer.pointee.dts) }
  /// In units of the stream's time base; 0 when unknown.
  package var duration: Int64 { pointer.pointee.duration }
  package var isKeyFrame: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
  /// Whether the sample is only needed to decode others: an edit list removes it from the
  /// presentation.
  package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
  /// Whether no other sample depends on this one.
  package var isDisposable: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISPOSABLE != 0 }
  /// Whether libavformat found that data is damaged or missing.
  package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }
  /// Whether the bytes are encrypted, as a movie says for single samples (`senc`; ISO/IEC 23001-7,
  /// 7.2).
  var isEncrypted: Bool { av_packet_get_side_data(pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil }
  /// Offset of the sample in the file, in bytes; -1 if it is not known.
  package var filePosition: Int64 { pointer.pointee.pos }

  /// Subtracts a number of time base units from both times.
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
