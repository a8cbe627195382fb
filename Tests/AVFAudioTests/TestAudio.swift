// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import ToolSupport

/// A folder for a test, removed when the object goes away.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("AVFAudioTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

enum TestAudio {
  static let ffmpeg = Tool("ffmpeg")
  static let ffprobe = Tool("ffprobe")

  /// Samples of a sine wave.
  static func sine(_ frequency: Double, rate: Double, frames: Int, amplitude: Double = 0.5) -> [Float] {
    (0..<frames).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / rate)) }
  }

  /// The amplitude of a frequency in samples, by correlation, and the residue (root mean
  /// square).
  static func tone(_ frequency: Double, in samples: [Float], rate: Double) -> (
    amplitude: Double, rest: Double
  ) {
    let count = Double(samples.count)
    var (a, b) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let angle = 2 * .pi * frequency * Double(index) / rate
      a += Double(sample) * sin(angle)
      b += Double(sample) * cos(angle)
    }
    (a, b) = (2 * a / count, 2 * b / count)
    var rest = 0.0
    for (index, sample) in samples.enumerated() {
      let angle = 2 * .pi * frequency * Double(index) / rate
      let difference = Double(sample) - a * sin(angle) - b * cos(angle)
      rest += difference * difference
    }
    return ((a * a + b * b).squareRoot(), (rest / count).squareRoot())
  }

  /// A buffer in the standard format.
  static func buffer(_ channels: [[Float]], rate: Double) throws -> AVAudioPCMBuffer {
    let format = try require(
      AVAudioFormat(standardFormatWithSampleRate: rate, channels: AVAudioChannelCount(channels.count)))
    let count = channels.first?.count ?? 0
    let buffer = try require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: AVAudioFrameCount(count)))
    buffer.frameLength = AVAudioFrameCount(count)
    let data = try require(buffer.floatChannelData)
    for (index, channel) in channels.enumerated() { data[index].update(from: channel, count: count) }
    return buffer
  }

  /// The samples of a channel of a buffer of floating-point samples.
  static func samples(_ buffer: AVAudioPCMBuffer, channel: Int = 0) throws -> [Float] {
    let data = try require(buffer.floatChannelData)
    return (0..<Int(buffer.frameLength)).map { data[channel][$0 * buffer.stride] }
  }

  /// Provides buffers one after the other, and then reports the end.
  static func input(_ buffers: [AVAudioBuffer]) -> AVAudioConverterInputBlock {
    var rest = buffers[...]
    return { _, status in
      guard let next = rest.popFirst() else {
        status.pointee = .endOfStream
        return nil
      }
      status.pointee = .haveData
      return next
    }
  }

  /// The output of a converter for buffers, in buffers of a number of frames.
  static func convert(
    _ converter: AVAudioConverter, _ buffers: [AVAudioBuffer], piece: AVAudioFrameCount = 1000
  ) throws -> [AVAudioPCMBuffer] {
    let block = input(buffers)
    var made: [AVAudioPCMBuffer] = []
    while true {
      let buffer = try require(AVAudioPCMBuffer(pcmFormat: converter.outputFormat, frameCapacity: piece))
      var error: NSError?
      let status = converter.convert(to: buffer, error: &error, withInputFrom: block)
      if let error { throw error }
      guard status == .haveData else { return made }
      made.append(buffer)
    }
  }

  /// All packets of a converter for buffers.
  static func encode(
    _ converter: AVAudioConverter, _ buffers: [AVAudioBuffer]
  ) throws -> [AVAudioCompressedBuffer] {
    let block = input(buffers)
    var made: [AVAudioCompressedBuffer] = []
    while true {
      let buffer = AVAudioCompressedBuffer(
        format: converter.outputFormat, packetCapacity: 4,
        maximumPacketSize: converter.maximumOutputPacketSize)
      var error: NSError?
      let status = converter.convert(to: buffer, error: &error, withInputFrom: block)
      if let error { throw error }
      guard status == .haveData else { return made }
      made.append(buffer)
    }
  }

  struct Missing: Error {}

  static func require<T>(_ value: T?) throws -> T {
    guard let value else { throw Missing() }
    return value
  }

  /// The samples that ffmpeg decodes from a file: interleaved floating-point samples.
  static func decoded(_ url: URL) throws -> [Float] {
    let result = try ffmpeg.output(["-v", "error", "-i", url.path, "-f", "f32le", "-"])
    return result.data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  /// ffprobe's output for a file's audio.
  static func probe(_ url: URL, _ entry: String) throws -> String {
    try ffprobe.text([
      "-v", "error", "-select_streams", "a", "-show_entries", "stream=\(entry)", "-of", "csv=p=0", url.path,
    ]).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
