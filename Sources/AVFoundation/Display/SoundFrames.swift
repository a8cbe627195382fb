// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Linear PCM of any kind as interleaved floats.
struct SoundFrames {
  let sampleRate: Double
  let channels: Int
  /// When the first frame is to be heard.
  let time: CMTime
  let samples: [Float]

  var count: Int { samples.count / channels }

  /// - Throws: `AVError` for what is not linear PCM, or not whole.
  init(_ sample: CMSampleBuffer) throws {
    func complain(_ reason: String) -> AVError {
      AVError(
        .formatUnsupported, reason: reason, advice: "Enqueue linear PCM of up to 32 channels, with its times."
      )
    }
    guard let format = CMSampleBufferGetFormatDescription(sample),
      let basic = CMAudioFormatDescriptionGetStreamBasicDescription(format)?.pointee,
      basic.mFormatID == kAudioFormatLinearPCM
    else { throw complain("The sample is not linear PCM.") }
    let bits = Int(basic.mBitsPerChannel)
    channels = Int(basic.mChannelsPerFrame)
    sampleRate = basic.mSampleRate
    time = CMSampleBufferGetPresentationTimeStamp(sample)
    let isFloat = basic.mFormatFlags & kAudioFormatFlagIsFloat != 0
    guard (1...32).contains(channels), (1...768_000).contains(sampleRate), time.isNumeric,
      isFloat ? bits == 32 || bits == 64 : [8, 16, 24, 32].contains(bits)
    else { throw complain("The sample's format cannot be played.") }
    guard let block = CMSampleBufferGetDataBuffer(sample) else { throw complain("The sample has no data.") }
    let frames = CMSampleBufferGetNumSamples(sample)
    let width = bits / 8
    let (length, overflow) = frames.multipliedReportingOverflow(by: channels * width)
    guard !overflow, frames >= 0, CMBlockBufferGetDataLength(block) >= length else {
      throw complain("The sample has fewer data than it says.")
    }
    let bytes = try block.withContiguousStorage { Array($0.prefix(length)) }
    let isPlanar = basic.mFormatFlags & kAudioFormatFlagIsNonInterleaved != 0
    let isBigEndian = basic.mFormatFlags & kAudioFormatFlagIsBigEndian != 0
    let isSigned = basic.mFormatFlags & kAudioFormatFlagIsSignedInteger != 0
    let channels = channels
    samples = [Float](unsafeUninitializedCapacity: frames * channels) { out, count in
      bytes.withUnsafeBytes { bytes in
        for index in 0..<frames * channels {
          let place = isPlanar ? index % channels * frames + index / channels : index
          var word: UInt64 = 0
          for byte in 0..<width {
            let at = place * width + (isBigEndian ? byte : width - 1 - byte)
            word = word << 8 | UInt64(bytes[at])
          }
          out[index] = Self.value(word, bits, isFloat: isFloat, isSigned: isSigned)
        }
      }
      count = frames * channels
    }
  }

  @inline(__always)
  private static func value(_ word: UInt64, _ bits: Int, isFloat: Bool, isSigned: Bool) -> Float {
    if isFloat {
      return bits == 32 ? Float(bitPattern: UInt32(word)) : Float(Double(bitPattern: word))
    }
    let half = Float(sign: .plus, exponent: bits - 1, significand: 1)
    guard isSigned else { return Float(word) / half - 1 }
    return Float(Int64(bitPattern: word << UInt64(64 - bits)) >> Int64(64 - bits)) / half
  }
}
