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

/// A movie from its beginning to its end, at the call's size; what is interlaced becomes progressive, as a camera's
/// pictures are.
final class MoviePictures: CallPictures {
  private let reader: FrameReader
  private let scaler: CallScaler
  private var start: CMTime?
  /// The time of the last picture, in ticks of RTP's clock.
  private var last: CMTime?

  init(_ source: MovieSource, width: Int, height: Int) throws {
    reader = try FrameReader(
      source, pixelFormat: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, deinterlacing: .frame)
    scaler = CallScaler(width: width, height: height)
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
      return CallPicture(buffer: try scaler.scale(frame.pixelBuffer), time: time)
    }
    return nil
  }
}

/// Brings pictures to a size.
final class CallScaler {
  private let width: Int
  private let height: Int
  private var session: VTPixelTransferSession?

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The picture itself if it has the size already.
  func scale(_ image: CVPixelBuffer) throws -> CVPixelBuffer {
    if CVPixelBufferGetWidth(image) == width, CVPixelBufferGetHeight(image) == height { return image }
    if session == nil {
      VTPixelTransferSessionCreate(allocator: kCFAllocatorDefault, pixelTransferSessionOut: &session)
    }
    var target: CVPixelBuffer?
    CVPixelBufferCreate(
      kCFAllocatorDefault, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &target)
    guard let session, let target else { throw Failure("out of memory for the movie's pictures") }
    let status = VTPixelTransferSessionTransferImage(session, from: image, to: target)
    guard status == noErr else { throw Failure("cannot scale the movie's pictures (error \(status))") }
    return target
  }
}
