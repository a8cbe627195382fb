// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import VideoToolbox

/// A picture to send.
struct CallPicture {
  var buffer: CVPixelBuffer
  /// Seconds from the first picture.
  var time: Double
  /// When it was taken, in seconds of `SessionTime`; nil is the moment at which it is sent.
  var captured: Double?

  init(buffer: CVPixelBuffer, time: Double, captured: Double? = nil) {
    (self.buffer, self.time, self.captured) = (buffer, time, captured)
  }
}

/// Where a call's pictures come from.
protocol CallPictures {
  /// The next picture; nil at the end.
  mutating func next() throws -> CallPicture?
  /// What has been wrong with the source so far.
  var damage: SourceDamage { get }
}

extension CallPictures {
  var damage: SourceDamage { SourceDamage() }
}

/// A movie from its beginning to its end, at the call's size and as a camera's pictures are: progressive, of square samples
/// and of a standard dynamic range.
final class MoviePictures: CallPictures {
  private let reader: FrameReader
  private var start: CMTime?
  /// The time of the last picture, in ticks of RTP's clock.
  private var last: CMTime?

  init(_ source: MovieSource, width: Int, height: Int) throws {
    let format = kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    let mapsTones = source.isHighDynamicRange
    let adapter = PictureAdapter(
      PictureFit(stretchedTo: width, height), pixelFormat: format, mapsTones: mapsTones)
    reader = try FrameReader(
      source, pixelFormat: mapsTones ? PixelFormat.video10Bit.type : format, deinterlacing: .frame,
      adapter: adapter)
  }

  deinit { reader.cancel() }

  var damage: SourceDamage { reader.damage }

  func next() throws -> CallPicture? {
    while !Interrupt.shared.isRequested, let frame = try reader.next() {
      let start = start ?? frame.time
      self.start = start
      let time = (frame.time - start).seconds
      // Of pictures within a tick of RTP's clock the first is sent: receivers cannot tell them apart.
      let tick = CMTime(nearest: time, preferredTimescale: CMTimeScale(MediaClock.rtpRate))
      if let last, tick <= last { continue }
      last = tick
      return CallPicture(buffer: frame.pixelBuffer, time: time)
    }
    return nil
  }
}
