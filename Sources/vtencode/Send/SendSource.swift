// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import VideoToolbox

/// The source of a call: its name, size and frame rate, and its pictures.
struct SendSource: Sendable {
  private enum Kind: Sendable {
    case movie(MovieSource, loops: Bool)
    case test(TestPictures.Format)
    case device(Device)
  }

  /// An opened device.
  private final class Device: @unchecked Sendable {
    // Sendable: it is handed over from one thread to another.
    let device: CaptureDevice

    init(_ device: CaptureDevice) { self.device = device }
  }

  private let kind: Kind
  let name: String
  let width: Int
  let height: Int
  let frameRate: Double

  static func open(_ options: SendOptions) async throws -> SendSource {
    if var format = TestPictures.Format(options.source) {
      if let size = options.dimensions { format.size = size }
      return SendSource(
        kind: .test(format), name: options.source, width: format.size.width, height: format.size.height,
        frameRate: format.frameRate)
    }
    if let format = DeviceFormat(options.source) {
      let device = try format.open()
      let width = options.dimensions?.width ?? device.width & ~1
      let height = options.dimensions?.height ?? device.height & ~1
      guard Dimensions.encodable.contains(width), Dimensions.encodable.contains(height) else {
        throw Failure(
          "'\(options.source)' has pictures of \(width) by \(height); give a size with --dimensions")
      }
      return SendSource(
        kind: .device(Device(device)), name: options.source, width: width, height: height,
        frameRate: device.frameRate)
    }
    let movie = try await MovieSource.open(options.source, streamFrameRate: nil).upright()
    let (width, height) = try movie.callSize(options.dimensions)
    return SendSource(
      kind: .movie(movie, loops: options.loops), name: options.source, width: width, height: height,
      frameRate: movie.frameRate)
  }

  func pictures() throws -> any CallPictures {
    switch kind {
    case .movie(let movie, true): try LoopedMovie(movie, width: width, height: height)
    case .movie(let movie, false): try MoviePictures(movie, width: width, height: height)
    case .test(let format): try TestPictures(format)
    case .device(let holder): try DevicePictures(holder.device, width: width, height: height)
    }
  }
}

/// A movie that starts again when it ends.
final class LoopedMovie: CallPictures {
  private let source: MovieSource
  private let width: Int
  private let height: Int
  private var lap: MoviePictures
  private var start = 0.0
  private var last = 0.0
  /// The damage found in the first pass that had any; later passes have the same damage.
  private var found = SourceDamage()

  var damage: SourceDamage { found.isEmpty ? lap.damage : found }

  init(_ source: MovieSource, width: Int, height: Int) throws {
    self.source = source
    self.width = width
    self.height = height
    lap = try MoviePictures(source, width: width, height: height)
  }

  func next() throws -> CallPicture? {
    if let picture = try lap.next() {
      last = picture.time
      return CallPicture(buffer: picture.buffer, time: start + picture.time)
    }
    if found.isEmpty { found = lap.damage }
    start += last + 1 / max(source.frameRate, 1)
    lap = try MoviePictures(source, width: width, height: height)
    guard let picture = try lap.next() else { return nil }
    last = picture.time
    return CallPicture(buffer: picture.buffer, time: start + picture.time)
  }
}
