// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreVideo

/// A frame of audio or a picture for a `FilterGraph`, with memory of its own.
final class FilterFrame {
  let pointer: UnsafeMutablePointer<AVFrame>

  /// Makes an empty frame, to receive output.
  init() throws {
    guard let frame = av_frame_alloc() else { throw MediaFileError(.outOfMemory, "no memory for a frame") }
    pointer = frame
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = pointer
    av_frame_free(&frame)
  }

  /// Makes a frame of interleaved 32-bit floating-point samples; of silence if `samples` is nil.
  convenience init(
    _ samples: UnsafeBufferPointer<Float>?, frames: Int, channels: Int, sampleRate: Int, time: Int64
  ) throws {
    try self.init()
    pointer.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
    pointer.pointee.sample_rate = Int32(clamping: sampleRate)
    av_channel_layout_default(&pointer.pointee.ch_layout, Int32(clamping: channels))
    pointer.pointee.nb_samples = Int32(clamping: max(0, frames))
    pointer.pointee.pts = time
    guard frames > 0 else { return }
    guard av_frame_get_buffer(pointer, 0) >= 0, let target = pointer.pointee.data.0 else {
      throw MediaFileError(.outOfMemory, "no memory for audio")
    }
    let bytes = Int(pointer.pointee.nb_samples) * channels * MemoryLayout<Float>.size
    if let samples, let base = samples.baseAddress,
      samples.count * MemoryLayout<Float>.size >= bytes
    {
      memcpy(target, base, bytes)
    } else {
      memset(target, 0, bytes)
    }
  }

  /// Copies a picture. The caller sets colours, fields and the pixel aspect ratio.
  convenience init(_ view: PictureView, time: Int64) throws {
    try self.init()
    pointer.pointee.format = view.format.rawValue
    pointer.pointee.width = Int32(clamping: view.width)
    pointer.pointee.height = Int32(clamping: view.height)
    pointer.pointee.pts = time
    guard av_frame_get_buffer(pointer, 0) >= 0 else {
      throw MediaFileError(.outOfMemory, "no memory for a picture")
    }
    let target = PictureView(pointer)
    let layout = view.layout
    for plane in 0..<layout.planeCount {
      guard let from = view.planes[plane], let to = target.planes[plane] else { continue }
      let bytes = layout.bytes(view.width, inPlane: plane)
      for row in 0..<layout.rows(view.height, inPlane: plane) {
        memcpy(to + row * Int(target.strides[plane]), from + row * Int(view.strides[plane]), bytes)
      }
    }
  }
}
