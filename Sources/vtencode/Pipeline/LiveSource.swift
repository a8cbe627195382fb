// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import ArgumentParser
import FFmpegMedia
import Foundation

/// A source whose pictures are made while they are read: a screen, a camera, or a test picture.
struct LiveSource: Sendable {
  private enum Kind: Sendable {
    case test(TestPictures.Format)
    case device(OpenDevice)
  }

  /// An opened device.
  private final class OpenDevice: @unchecked Sendable {
    // Sendable: it is handed over from one thread to another.
    let device: CaptureDevice

    init(_ device: CaptureDevice) { self.device = device }
  }

  private let kind: Kind
  let name: String
  /// The size of the device's or the test picture, in samples.
  let width: Int
  let height: Int
  let frameRate: Double

  /// Whether a command's argument names such a source, rightly or wrongly.
  static func isLive(_ text: String) -> Bool {
    text.hasPrefix(TestPictures.Format.scheme) || DeviceFormat.isDevice(text)
  }

  /// Whether a command's argument names what can be read once alone: a live source, or an address.
  static func isReadOnce(_ text: String) -> Bool { isLive(text) || StreamAddress.isAddress(text) }

  /// Refuses a live source, for commands that read movie files. A file may have such a name.
  /// - Throws: a `Failure` if the argument names a live source, and no file.
  static func refuse(_ argument: String) throws {
    guard isLive(argument), access(InputFile.path(of: argument), F_OK) != 0 else { return }
    throw Failure(
      "'\(argument)' is a live source, which transcoding, streaming, conferencing and send read; this command reads "
        + "movie files", status: 64)
  }

  /// Checks the name of a source.
  /// - Throws: a `ValidationError` if it begins as that of a live source, but is none.
  static func validate(_ text: String, dimensions: Dimensions? = nil) throws {
    if text.hasPrefix(TestPictures.Format.scheme), TestPictures.Format(text) == nil {
      throw ValidationError(
        "'\(text)' is not a valid test source; use test:, test:1280x720 or test:640x360@25.")
    }
    if let format = TestPictures.Format(text),
      let reason = TestPictures.Format.refusal(of: dimensions ?? format.size)
    {
      throw ValidationError("'\(text)' is not possible: \(reason).")
    }
    if DeviceFormat.isDevice(text), DeviceFormat(text) == nil {
      throw ValidationError(DeviceFormat.refusal(of: text))
    }
  }

  /// Opens a source.
  /// - Parameters:
  ///   - text: its name.
  ///   - testSize: the size of a test picture, in place of the one in its name.
  /// - Returns: nil if the text does not name a live source.
  /// - Throws: a `Failure` if a device cannot be used.
  static func open(_ text: String, testSize: Dimensions? = nil) throws -> LiveSource? {
    if var format = TestPictures.Format(text) {
      if let testSize { format.size = testSize }
      return LiveSource(
        kind: .test(format), name: text, width: format.size.width, height: format.size.height,
        frameRate: format.frameRate)
    }
    guard let format = DeviceFormat(text) else { return nil }
    let device = try format.open()
    return LiveSource(
      kind: .device(OpenDevice(device)), name: text, width: device.width & ~1, height: device.height & ~1,
      frameRate: device.frameRate)
  }

  /// The pictures of the source.
  /// - Parameters:
  ///   - width: the width of a device's pictures, in samples; test pictures have their own size.
  ///   - height: their height.
  func pictures(width: Int, height: Int, format: CallPictureFormat) throws -> any CallPictures {
    switch kind {
    case .test(let test): try TestPictures(test)
    case .device(let holder): try DevicePictures(holder.device, width: width, height: height, format: format)
    }
  }
}

/// The pictures of a live source for a `FrameReader`.
final class LivePictures: PictureFeed {
  private let source: LiveSource
  private var pictures: any CallPictures
  private var last = CMTime.negativeInfinity
  private let audio: MovieSource.Captured?
  /// Whether the clock in test pictures shows the time of day.
  private let showsTimeOfDay: Bool
  /// The time of day at time zero, in seconds since 1970.
  private var origin: Double?

  let damage: OVTReadingDamage? = nil

  /// - Parameters:
  ///   - source: the source.
  ///   - audio: the audio recorded with it, which begins with the first picture; nil if there is
  ///     none.
  ///   - format: the pixel format.
  ///   - showsTimeOfDay: whether the clock in test pictures shows the time of day at which they are
  ///     due, so that a player can tell how old they are; otherwise the time in the recording.
  init(
    _ source: LiveSource, audio: MovieSource.Captured? = nil, format: CallPictureFormat,
    showsTimeOfDay: Bool = false
  ) throws {
    (self.source, self.audio, self.showsTimeOfDay) = (source, audio, showsTimeOfDay)
    pictures = try source.pictures(width: source.width, height: source.height, format: format)
  }

  func next() throws -> Frame? {
    while !Interrupt.shared.isRequested, let picture = try pictures.next() {
      let time = CMTime(nearest: picture.time, preferredTimescale: 90_000)
      // Two pictures of a device may fall into the same tick.
      guard time > last else { continue }
      last = time
      // A device knows when it has taken a picture; others are taken when they are due.
      if let captured = picture.captured { audio?.begin(time, captured: captured) }
      if let test = pictures as? TestPictures {
        // Without a pace the time in the recording, so that every run gives the same pictures.
        let begin = showsTimeOfDay ? origin ?? Date().timeIntervalSince1970 - picture.time : 0
        origin = begin
        test.stamp(picture.buffer, milliseconds: UInt64(max(begin + picture.time, 0) * 1000))
      }
      return Frame(
        pixelBuffer: picture.buffer, time: time,
        duration: CMTime(nearest: 1 / source.frameRate, preferredTimescale: 90_000))
    }
    return nil
  }

  func failure() -> (any Error)? { nil }
  func cancel() {}
}
