// SPDX-License-Identifier: Apache-2.0
// A recorder's way of audio: captured PCM becomes AAC, as streaming libraries do it, and a file is
// made and read again. Every import line is one of macOS, and the umbrella product brings them all.
import AVFAudio
import AVFoundation
import AVKit
import AudioToolbox
import CoreAudio
import CoreAudioTypes
import CoreGraphics
import CoreServices
import ImageIO
import MediaToolbox
import OSLog
import UniformTypeIdentifiers

final class AudioInputEncoder {
  private var converter: AVAudioConverter?
  private var waiting: [AVAudioPCMBuffer] = []
  private(set) var packets = 0
  private(set) var bytes = 0

  private func makeOutputFormat(_ input: AVAudioFormat) -> AVAudioFormat? {
    var description = AudioStreamBasicDescription(
      mSampleRate: input.sampleRate, mFormatID: kAudioFormatMPEG4AAC,
      mFormatFlags: AudioFormatFlags(MPEG4ObjectID.aac_LC.rawValue), mBytesPerPacket: 0,
      mFramesPerPacket: 1024,
      mBytesPerFrame: 0, mChannelsPerFrame: input.channelCount, mBitsPerChannel: 0, mReserved: 0)
    return AVAudioFormat(streamDescription: &description)
  }

  func append(_ buffer: AVAudioPCMBuffer) {
    if converter == nil, let output = makeOutputFormat(buffer.format) {
      converter = AVAudioConverter(from: buffer.format, to: output)
      converter?.bitRate = 96_000
    }
    guard let converter else { return }
    waiting.append(buffer)
    var status: AVAudioConverterOutputStatus = .haveData
    repeat {
      let output = AVAudioCompressedBuffer(
        format: converter.outputFormat, packetCapacity: 1,
        maximumPacketSize: converter.maximumOutputPacketSize)
      var error: NSError?
      status = converter.convert(to: output, error: &error) { _, status in
        if self.waiting.isEmpty {
          status.pointee = .noDataNow
          return nil
        }
        status.pointee = .haveData
        return self.waiting.removeFirst()
      }
      if status == .haveData {
        packets += Int(output.packetCount)
        bytes += Int(output.packetDescriptions?.pointee.mDataByteSize ?? 0)
      }
    } while status == .haveData
  }
}

func fail(_ reason: String) -> Never {
  Logger(subsystem: "client", category: "sound").error("\(reason)")
  exit(1)
}

@main enum Main {
  static func main() throws {
    guard let format = AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2) else {
      fail("format")
    }
    let encoder = AudioInputEncoder()
    for block in 0..<100 {
      guard let buffer = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 1024) else { fail("buffer") }
      buffer.frameLength = 1024
      for frame in 0..<1024 {
        let value = sinf(Float(block * 1024 + frame) * 0.05)
        buffer.floatChannelData?[0][frame] = value
        buffer.floatChannelData?[1][frame] = value
      }
      encoder.append(buffer)
    }
    // The encoder looks ahead.
    guard (97...100).contains(encoder.packets), encoder.bytes > 10_000 else {
      fail("\(encoder.packets) packets")
    }

    let url = URL(fileURLWithPath: CommandLine.arguments[1])
    let settings: [String: Any] = [
      AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 48_000.0, AVNumberOfChannelsKey: 2,
      AVLinearPCMBitDepthKey: 16,
    ]
    var file: AVAudioFile? = try AVAudioFile(forWriting: url, settings: settings)
    if let buffer = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 4800) {
      buffer.frameLength = 4800
      try file?.write(from: buffer)
    }
    file = nil
    guard try AVAudioFile(forReading: url).length == 4800 else { fail("length") }

    let time = AVAudioTime(hostTime: mach_absolute_time(), sampleTime: 480, atRate: 48_000)
    guard time.isHostTimeValid, AVAudioTime.seconds(forHostTime: AudioGetCurrentHostTime()) > 0 else {
      fail("time")
    }
    guard UTTypeConformsTo(kUTTypeMPEG4, kUTTypeMovie), UTType.movie.identifier == kUTTypeMovie as String
    else {
      fail("types")
    }
    print("audio: all well")
  }
}
