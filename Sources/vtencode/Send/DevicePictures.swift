// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import VideoToolbox

/// A screen or a camera with an optional size and frame rate, such as `x11:`,
/// `x11::0+100,50:640x360@15` or `v4l2:/dev/video0:1280x720@30`.
struct DeviceFormat: Equatable, Sendable {
  static let schemes: [(String, CaptureDevice.Kind)] = [("x11:", .screen), ("v4l2:", .camera)]

  let configuration: CaptureDevice.Configuration

  static func isDevice(_ text: String) -> Bool { schemes.contains { text.hasPrefix($0.0) } }

  /// Parses the description of a device.
  /// - Parameters:
  ///   - text: the description.
  ///   - environment: gives the display for a screen without a name.
  /// - Returns: nil if the text does not describe a device.
  init?(_ text: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let (scheme, kind) = Self.schemes.first(where: { text.hasPrefix($0.0) }) else { return nil }
    var name = text.dropFirst(scheme.count)
    var rate: Double?
    if let at = name.lastIndex(of: "@") {
      guard let value = Double(name[name.index(after: at)...]), (1...240).contains(value) else { return nil }
      rate = value
      name = name[..<at]
    }
    var size: (width: Int, height: Int)?
    // The part after the last colon is a size if it has that form; in `:0` it is the display's
    // number.
    if let colon = name.lastIndex(of: ":") {
      let last = name[name.index(after: colon)...]
      if last.contains("x"), let given = Dimensions(argument: String(last)) {
        guard Dimensions.allowed.contains(given.width), Dimensions.allowed.contains(given.height) else {
          return nil
        }
        size = (given.width, given.height)
        name = name[..<colon]
      }
    }
    if kind == .screen, name.isEmpty || name.hasPrefix("+") {
      // Without a name, it is the display of the environment.
      guard let display = environment["DISPLAY"], !display.isEmpty else { return nil }
      name = Substring(display + name)
    }
    guard !name.isEmpty else { return nil }
    switch kind {
    // An offset needs a size.
    case .screen:
      let parts = name.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count < 2 || size != nil && Self.isPlace(parts[1]) else { return nil }
    // Device files have no colon in their name, but the links in /dev/v4l/by-path have.
    case .camera:
      guard !name.contains(":") || FileManager.default.fileExists(atPath: String(name)) else { return nil }
    }
    configuration = CaptureDevice.Configuration(kind, name: String(name), size: size, frameRate: rate)
  }

  /// Whether the text is the offset of a part of the screen, such as `100,50`.
  private static func isPlace(_ text: Substring) -> Bool {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
    return numbers.count == 2 && numbers.allSatisfy { UInt16($0) != nil && $0.first != "+" }
  }

  static func refusal(of text: String) -> String {
    if text.hasPrefix("v4l2:") {
      return "'\(text)' names no camera; write v4l2:/dev/video0, or v4l2:/dev/video0:1280x720@30."
    }
    let words =
      "'\(text)' names no screen; write x11::0, x11::0:1280x720@15, or x11::0+100,50:640x360 for a part."
    let hasDisplay = ProcessInfo.processInfo.environment["DISPLAY"]?.isEmpty == false
    return hasDisplay ? words : words + " DISPLAY is not set, so x11: needs a name."
  }

  func open() throws -> CaptureDevice {
    do {
      return try CaptureDevice(configuration) { Interrupt.shared.isRequested }
    } catch let error as MediaFileError {
      throw Failure(advice(error))
    }
  }

  private func advice(_ error: MediaFileError) -> String {
    if error.kind == .unsupportedFormat, error.detail.contains("libavdevice") {
      return "\(error.detail); install it (Debian: it comes with ffmpeg)"
    }
    switch configuration.kind {
    case .screen:
      let reason = error.detail.trimmingCharacters(in: CharacterSet(charactersIn: ". "))
      guard !reason.contains("outside") else {
        return "cannot capture the screen: \(reason); choose a part within it"
      }
      let display = configuration.name.prefix { $0 != "+" }
      return "cannot capture the screen: \(reason); is there a display '\(display)', and do you have access "
        + "to it?"
    case .camera:
      if error.kind == .notFound {
        return "there is no camera \(configuration.name); ls /dev/video* shows which there are"
      }
      if error.detail.contains("Inappropriate ioctl") {
        return "\(configuration.name) is not a camera; ls /dev/video* shows which there are"
      }
      return "cannot use the camera: \(error.detail)"
        + (error.detail.contains("Permission denied")
          ? "; access to cameras needs membership in the group video" : "")
    }
  }
}

/// The pictures of a screen or a camera in real time, converted to the call's size.
final class DevicePictures: CallPictures {
  private let device: CaptureDevice
  private let pool: CVPixelBufferPool
  private var first: Double?
  private var last = SessionTime.now

  init(_ device: CaptureDevice, width: Int, height: Int, format: CallPictureFormat) throws {
    self.device = device
    let attributes: [CFString: Any] = [
      kCVPixelBufferWidthKey: width, kCVPixelBufferHeightKey: height,
      kCVPixelBufferPixelFormatTypeKey: format.type,
    ]
    var pool: CVPixelBufferPool?
    CVPixelBufferPoolCreate(nil, nil, attributes as CFDictionary, &pool)
    guard let pool else { throw Failure("out of memory for pictures") }
    self.pool = pool
  }

  func next() throws -> CallPicture? {
    do {
      // A device returns pictures immediately that it kept while none were read, or that it makes
      // up for lost time. They are skipped up to the latest one.
      var captured: Double
      repeat {
        guard try device.read() else { return nil }
        captured = SessionTime.now
      } while captured - last < 0.6 / device.frameRate
      last = captured
      var created: CVPixelBuffer?
      CVPixelBufferPoolCreatePixelBuffer(nil, pool, &created)
      guard let buffer = created else { throw Failure("out of memory for pictures") }
      try device.picture(into: buffer)
      let first = first ?? captured
      self.first = first
      return CallPicture(buffer: buffer, time: captured - first, captured: captured)
    } catch let error as MediaFileError {
      throw Failure(error.detail)
    } catch is PixelConversionError {
      throw Failure("the pictures of this device cannot be converted")
    }
  }
}
