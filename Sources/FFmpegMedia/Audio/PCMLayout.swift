// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// The format of samples of linear PCM in memory, from Core Audio's description.
package struct PCMLayout: Equatable, Sendable {
  /// Significant bits of a sample, and bytes that it occupies.
  package let bits: Int
  package let width: Int
  package let isFloat: Bool
  package let isPlanar: Bool
  private let isSigned: Bool
  private let isBigEndian: Bool
  /// Whether the significant bits are the upper ones of the bytes that a sample occupies.
  private let isHigh: Bool

  /// nil unless samples are integers of 8, 16, 24 or 32 bits in up to eight bytes, or
  /// floating-point numbers of 32 or 64 bits.
  package init?(_ basic: AudioStreamBasicDescription) {
    func has(_ flag: AudioFormatFlags) -> Bool { basic.mFormatFlags & flag != 0 }
    bits = Int(basic.mBitsPerChannel)
    isFloat = has(kAudioFormatFlagIsFloat)
    isSigned = has(kAudioFormatFlagIsSignedInteger)
    isBigEndian = has(kAudioFormatFlagIsBigEndian)
    isPlanar = has(kAudioFormatFlagIsNonInterleaved)
    isHigh = has(kAudioFormatFlagIsAlignedHigh)
    let channels = isPlanar ? 1 : Int(basic.mChannelsPerFrame)
    // Packed samples have no unused bytes, whatever `mBytesPerFrame` says.
    let isPacked = has(kAudioFormatFlagIsPacked) || basic.mBytesPerFrame == 0
    guard channels > 0, (isFloat ? [32, 64] : [8, 16, 24, 32]).contains(bits),
      isPacked || Int(basic.mBytesPerFrame) % channels == 0
    else { return nil }
    width = isPacked ? bits / 8 : Int(basic.mBytesPerFrame) / channels
    guard width <= 8, isFloat ? width * 8 == bits : width * 8 >= bits else { return nil }
  }

  /// Converts samples to floating point, -1 to 1.
  package func floats(_ bytes: UnsafeRawBufferPointer) -> [Float] {
    let count = bytes.count / width
    return [Float](unsafeUninitializedCapacity: count) { out, made in
      for index in 0..<count {
        let word = word(bytes, index)
        out[index] =
          isFloat
          ? bits == 32
            ? Float(bitPattern: UInt32(truncatingIfNeeded: word)) : Float(Double(bitPattern: word))
          : Float(integer(word)) / 0x1p31
      }
      made = count
    }
  }

  // MARK: - For libswresample

  /// Whether libswresample can read the samples as they are.
  var isNative: Bool {
    (!isBigEndian || width == 1) && width * 8 == bits && (isFloat || isSigned && bits != 8 && bits != 24)
  }

  var format: AVSampleFormat {
    switch (isFloat, nativeWidth) {
    case (true, 4): isPlanar ? AV_SAMPLE_FMT_FLTP : AV_SAMPLE_FMT_FLT
    case (true, _): isPlanar ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_DBL
    case (false, 2): isPlanar ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S16
    case (false, _): isPlanar ? AV_SAMPLE_FMT_S32P : AV_SAMPLE_FMT_S32
    }
  }

  /// Bytes of a sample in `format`.
  var nativeWidth: Int { isFloat ? bits / 8 : isNative ? width : 4 }

  /// Converts samples to `format`. Integers of other sizes become 32-bit ones.
  func native(_ bytes: [UInt8]) -> [UInt8] {
    guard !isNative else { return bytes }
    let (count, size) = (bytes.count / width, nativeWidth)
    return [UInt8](unsafeUninitializedCapacity: count * size) { out, made in
      bytes.withUnsafeBytes { bytes in
        for index in 0..<count {
          let word = word(bytes, index)
          let value = isFloat ? word : UInt64(UInt32(bitPattern: integer(word)))
          for byte in 0..<size {
            out[index * size + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
          }
        }
      }
      made = count * size
    }
  }

  /// Converts samples from `format` to this layout. If it has fewer bits they are rounded.
  func stored(_ native: [UInt8]) -> [UInt8] {
    guard !isNative else { return native }
    let (size, count) = (nativeWidth, native.count / nativeWidth)
    return [UInt8](unsafeUninitializedCapacity: count * width) { out, made in
      native.withUnsafeBytes { bytes in
        for index in 0..<count {
          var word: UInt64 = 0
          for byte in 0..<size { word |= UInt64(bytes[index * size + byte]) << UInt64(8 * byte) }
          if !isFloat { word = self.word(of: Int32(truncatingIfNeeded: word)) }
          for byte in 0..<width {
            let position = isBigEndian ? width - 1 - byte : byte
            out[index * width + position] = UInt8(truncatingIfNeeded: word >> UInt64(8 * byte))
          }
        }
      }
      made = count * width
    }
  }

  /// Converts a sample of 32 bits to an integer as it is stored.
  @inline(__always)
  private func word(of sample: Int32) -> UInt64 {
    let (sum, overflow) = bits < 32 ? sample.addingReportingOverflow(1 << (31 - bits)) : (sample, false)
    let rounded = (overflow ? Int32.max : sum) >> (32 - bits)
    let value = Int64(isSigned ? rounded : rounded ^ (Int32(-1) << (bits - 1)))
    let own = UInt64(bitPattern: value)
    guard isHigh else { return isSigned ? own : own & (1 << UInt64(bits) - 1) }
    return own << UInt64(8 * width - bits)
  }

  // MARK: - Samples

  @inline(__always)
  private func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    var word: UInt64 = 0
    for byte in 0..<width {
      word = word << 8 | UInt64(bytes[index * width + (isBigEndian ? byte : width - 1 - byte)])
    }
    return word
  }

  /// Converts a stored integer sample to 32 bits, with the significant bits in the upper ones.
  @inline(__always)
  private func integer(_ word: UInt64) -> Int32 {
    let own = isHigh ? word >> UInt64(8 * width - bits) : word
    let upper = UInt32(truncatingIfNeeded: own << UInt64(32 - bits))
    return Int32(bitPattern: isSigned ? upper : upper ^ 0x8000_0000)
  }
}
