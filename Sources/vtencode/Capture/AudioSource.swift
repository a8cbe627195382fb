// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FFmpegMedia
import Foundation

/// Where captured audio comes from: a microphone, or a test tone.
enum AudioSource: Equatable, Sendable {
  case device(AudioCapture.Kind, name: String)
  /// A generated tone; see `TestTone`.
  case test

  static let advice =
    "it takes pulse: for the user's microphone, pulse:NAME or alsa:NAME for another, or test: for a tone"

  private static let schemes: [(String, AudioCapture.Kind)] = [("pulse:", .pulse), ("alsa:", .alsa)]

  /// - Returns: nil if the text names no source of audio.
  init?(_ text: String) {
    if text == "test:" {
      self = .test
    } else if let (scheme, kind) = Self.schemes.first(where: { text.hasPrefix($0.0) }) {
      let name = text.dropFirst(scheme.count)
      self = .device(kind, name: name.isEmpty ? "default" : String(name))
    } else {
      return nil
    }
  }

  /// The source as the user may write it.
  var name: String {
    switch self {
    case .test: "test:"
    case .device(let kind, let name): "\(kind.rawValue):\(name)"
    }
  }

  /// Opens the source.
  /// - Throws: a `Failure` that says what is wrong with it, and which others there are.
  func open() throws -> any AudioInput {
    guard case .device(let kind, let device) = self else { return TestTone() }
    do {
      return DeviceAudioInput(
        try AudioCapture(kind, name: device, rate: PCMFormat.rate) { Interrupt.shared.isRequested },
        name: name)
    } catch let error as MediaFileError {
      throw Failure(advice(error, kind, device))
    }
  }

  private func advice(_ error: MediaFileError, _ kind: AudioCapture.Kind, _ device: String) -> String {
    if error.kind == .unsupportedFormat, error.detail.contains("libavdevice") {
      guard error.detail.contains("built without") else {
        return "\(error.detail); install it (Debian: it comes with ffmpeg)"
      }
      let other = kind == .pulse ? "alsa:default" : "pulse:"
      return "cannot record from '\(name)': \(error.detail); try --sound \(other)"
    }
    let others = AudioCapture.devices(kind).filter { $0 != device && $0 != "null" }
    let choice =
      others.isEmpty
      ? "" : "; there are " + others.prefix(8).map { "\(kind.rawValue):\($0)" }.joined(separator: ", ")
    if kind == .pulse {
      return others.isEmpty
        ? "cannot record from '\(name)': no sound server (PulseAudio or PipeWire) answers with a microphone; "
          + "start one, or give --sound alsa:default"
        : "there is no source '\(name)'\(choice)"
    }
    let detail = error.detail
    if detail.contains("No such") {
      return "there is no audio device '\(name)'"
        + (choice.isEmpty ? "; arecord -L lists those of this machine" : choice)
    }
    let reason =
      detail.contains("busy")
      ? "; another program uses it, so close that, or give --sound pulse:, which shares it"
      : detail.contains("denied")
        ? "; access to audio devices needs membership in the group audio"
        : detail.contains("sample format") || detail.contains("channel")
          ? "; alsa:plughw:... in place of alsa:hw:... converts its format" : choice
    return "cannot record from '\(name)': \(detail)\(reason)"
  }
}

extension AudioSource: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

/// Gives audio of 48 kHz as interleaved samples of 32 bits in floating point. One thread reads it.
protocol AudioInput: AnyObject {
  /// The number of channels, 1 or 2.
  var channels: Int { get }
  /// Waits for audio.
  /// - Returns: the audio; nil at its end.
  /// - Throws: a `Failure` if the source fails.
  func read() throws -> AudioInputPiece?
  /// Makes the next audio longer by some frames, or shorter, over a distance in frames.
  func stretch(by frames: Int, over distance: Int)
}

/// Audio of an input.
struct AudioInputPiece: Sendable {
  var data: Data
  /// When the first frame was recorded, by `SessionTime`; nil if the audio follows no clock.
  var captured: Double?
}

/// The audio of a microphone.
private final class DeviceAudioInput: AudioInput {
  private let device: AudioCapture
  private let name: String

  init(_ device: AudioCapture, name: String) { (self.device, self.name) = (device, name) }

  var channels: Int { device.channels }

  func read() throws -> AudioInputPiece? {
    do {
      guard let piece = try device.read() else { return nil }
      return AudioInputPiece(data: Data(piece.samples), captured: SessionTime.now - piece.age)
    } catch let error as MediaFileError {
      throw Failure("'\(name)': \(error.detail)")
    }
  }

  func stretch(by frames: Int, over distance: Int) { device.stretch(by: frames, over: distance) }
}

/// A generated tone of 440 Hz, with a louder one of 880 Hz in the first tenth of each second.
final class TestTone: AudioInput {
  let channels = 1
  private var position = 0
  /// Both frequencies are whole, so that every second is the same.
  private static let second: [Float] = (0..<PCMFormat.rate).map { index in
    let time = Double(index) / Double(PCMFormat.rate)
    let (frequency, volume) = time < 0.1 ? (880.0, 0.4) : (440.0, 0.1)
    return Float(volume * sin(2 * .pi * frequency * time))
  }

  func read() throws -> AudioInputPiece? {
    let count = PCMFormat.rate / 50
    let start = position % PCMFormat.rate
    position += count
    return AudioInputPiece(
      data: Self.second[start..<start + count].withUnsafeBytes { Data($0) }, captured: nil)
  }

  func stretch(by frames: Int, over distance: Int) {}
}
