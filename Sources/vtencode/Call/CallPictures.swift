// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import VideoToolbox

/// A picture to be sent.
struct CallPicture {
  var buffer: CVPixelBuffer
  /// The presentation time in seconds since the first picture.
  var time: Double
  /// The time of capture by `SessionTime`, in seconds; nil means the time of sending.
  var captured: Double?

  init(buffer: CVPixelBuffer, time: Double, captured: Double? = nil) {
    (self.buffer, self.time, self.captured) = (buffer, time, captured)
  }
}

/// A source of a call's pictures.
protocol CallPictures {
  /// The next picture; nil at the end.
  mutating func next() throws -> CallPicture?
  /// The damage found in the source so far.
  var damage: SourceDamage { get }
}

extension CallPictures {
  var damage: SourceDamage { SourceDamage() }
}

/// The pixel format of a call's pictures.
enum CallPictureFormat: Sendable {
  /// 4:2:0, as cameras deliver it.
  case standard
  /// 4:4:4, for `--profile high444`.
  case full

  var type: OSType {
    switch self {
    case .standard: PixelFormatChoice.video420v.type
    case .full: PixelFormatChoice.video444v.type
    }
  }
}

/// The pictures of a movie, converted to the call's size and to what a camera delivers:
/// progressive, with square samples and a standard dynamic range.
final class MoviePictures: CallPictures {
  private let reader: FrameReader
  /// Told the time of the first picture.
  private let begin: (CMTime) -> Void
  private var start: CMTime?
  /// The time of the last picture, rounded to ticks of the RTP clock.
  private var last: CMTime?

  init(
    _ source: MovieSource, width: Int, height: Int, format: CallPictureFormat = .standard,
    begin: @escaping (CMTime) -> Void = { _ in }
  ) throws {
    self.begin = begin
    let format = format.type
    let mapsTones = source.isHighDynamicRange
    let adapter = PictureAdapter(
      PictureFit(stretchedTo: width, height), pixelFormat: format, mapsTones: mapsTones)
    reader = try FrameReader(
      source, pixelFormat: mapsTones ? PixelFormatChoice.video10Bit.type : format, deinterlacing: .frame,
      adapter: adapter)
  }

  deinit { reader.cancel() }

  var damage: SourceDamage { reader.damage }

  func next() throws -> CallPicture? {
    while !Interrupt.shared.isRequested, let frame = try reader.next() {
      if start == nil { begin(frame.time) }
      let start = start ?? frame.time
      self.start = start
      let time = (frame.time - start).seconds
      // Of pictures with the same RTP time stamp only the first is sent, since receivers could not
      // distinguish them.
      let tick = CMTime(nearest: time, preferredTimescale: CMTimeScale(MediaClock.rtpRate))
      if let last, tick <= last { continue }
      last = tick
      return CallPicture(buffer: frame.pixelBuffer, time: time)
    }
    return nil
  }
}
