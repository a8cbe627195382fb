// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import Foundation
import FuzzDriver

private let endings = [
  "wav", "caf", "m4a", "aiff", "mp3", "flac", "ogg", "aac", "mka", "mov", "w64", "au", "amr", "opus",
]
private let formats: [AVAudioCommonFormat] = [
  .pcmFormatFloat32, .pcmFormatFloat64, .pcmFormatInt16, .pcmFormatInt32,
]
/// The largest number of frames of one read; larger buffers would only take more memory.
private let maxFrames = 1 << 13
private let maxReads = 40

/// Opens the input as an audio file, and reads given numbers of frames at given positions, and at
/// the beginning.
func fuzzAudioFile(_ input: inout FuzzInput) {
  let flags = input.byte()
  let ending = endings[Int(input.byte()) % endings.count]
  let capacity = AVAudioFrameCount(1 + abs(input.number()) % maxFrames)
  let places = (0..<3).map { _ in Int64(input.number()) }
  let url = URL(fileURLWithPath: "/dev/shm/ovt-fuzz-\(ProcessInfo.processInfo.processIdentifier).\(ending)")
  guard (try? input.rest().write(to: url)) != nil else { return }
  defer { unlink(url.path) }
  guard
    let file = try? AVAudioFile(
      forReading: url, commonFormat: formats[Int(flags) % formats.count], interleaved: flags & 4 != 0)
  else { return }
  require(file.length >= 0, "a length of \(file.length)")
  guard let buffer = AVAudioPCMBuffer(pcmFormat: file.processingFormat, frameCapacity: capacity) else {
    return require(false, "no buffer in \(file.processingFormat)")
  }
  for place in places + [0] {
    file.framePosition = place
    require((0...file.length).contains(file.framePosition), "\(file.framePosition) of \(file.length)")
    for _ in 0..<maxReads {
      let before = file.framePosition
      do { try file.read(into: buffer) } catch { break }
      require(buffer.frameLength <= buffer.frameCapacity, "\(buffer.frameLength) frames in \(capacity)")
      require(
        file.framePosition == before + Int64(buffer.frameLength) && file.framePosition <= file.length,
        "from \(before) to \(file.framePosition) of \(file.length), with \(buffer.frameLength) frames")
      // A read without frames means the end of the file.
      if buffer.frameLength == 0 {
        require(file.framePosition == file.length, "\(file.framePosition) of \(file.length), and no frame")
        break
      }
    }
  }
}
