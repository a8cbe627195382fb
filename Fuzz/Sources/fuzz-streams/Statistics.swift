// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzDriver
import H264Encoder

private let (width, height, pictures) = (64, 48, 10)

private func configuration(_ rate: Int) -> H264EncoderConfiguration {
  var made = H264EncoderConfiguration(width: width, height: height, latency: .lookAhead(.init()))
  made.effort = 1
  made.lookAhead.frames = 6
  made.lookAhead.rate = .average(rate)
  return made
}

/// Encodes a few changing pictures, and returns the statistics.
private func pass(_ configuration: H264EncoderConfiguration, _ known: StoredPass? = nil) throws
  -> PassStatistics
{
  let encoder =
    try known.map { try H264Encoder(configuration: configuration, pass: $0) }
    ?? H264Encoder(configuration: configuration)
  encoder.keepsStatistics = true
  var memory = [UInt8](repeating: 128, count: width * height * 3 / 2)
  for number in 0..<pictures {
    for at in 0..<width * height { memory[at] = UInt8(truncatingIfNeeded: at &* (number / 4 + 1) &+ number) }
    try memory.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      let chroma = base + width * height
      try encoder.encode(
        SourcePicture(
          width: width, height: height, luma: base, lumaBytesPerRow: width,
          chroma: .planar(
            cb: chroma, cbBytesPerRow: width / 2, cr: chroma + width * height / 4, crBytesPerRow: width / 2)
        )
      ) { _ in }
    }
  }
  encoder.flush { _ in }
  return encoder.statistics
}

/// Valid statistics as the encoder writes them.
private let valid: [UInt8] = (try? pass(configuration(40_000)).bytes) ?? []

/// Changes valid statistics and corrects their checksum. They must be rejected, or usable for
/// encoding.
func fuzzStatistics(_ input: inout FuzzInput) {
  precondition(valid.count > 8)
  var bytes = Array(valid.dropLast(8))
  let rate = max(1, min(input.number(), 1 << 40))
  let parts = (0..<3).map { _ in (Int(input.byte()), Int(input.byte())) }.map { min($0, $1)..<max($0, $1) }
  let bits = input.real()
  while !input.isEmpty {
    let at = Int(input.byte()) << 8 | Int(input.byte())
    let value = input.byte()
    if value < 8 {
      // Integers and floating-point numbers have eight bytes each.
      let real = input.real().bitPattern
      for i in 0..<8 where at + i < bytes.count {
        bytes[at + i] = UInt8(truncatingIfNeeded: real >> (8 * UInt64(i)))
      }
    } else if at < bytes.count {
      bytes[at] = value
    } else if value & 1 == 0 {
      bytes.removeLast(min(bytes.count, at & 255))
    } else {
      bytes += [UInt8](repeating: value, count: at & 255)
    }
  }
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  for i in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: hash >> (8 * UInt64(i)))) }
  guard let statistics = try? PassStatistics(bytes: bytes) else { return }
  precondition((try? PassStatistics(bytes: statistics.bytes)) != nil, "it does not read what it writes")
  for share in statistics.shares(of: parts, bits: bits) { precondition(share >= 0 && share <= 1) }
  for part in parts { precondition(statistics.part(part).count <= statistics.count) }
  // Reads the same bytes through a callback that fails from some call on.
  var calls = 0
  let end = bits < 0 ? Int(bytes.last ?? 0) & 7 : 1 << 40
  func read(_ offset: Int, _ count: Int) -> [UInt8]? {
    calls += 1
    return calls > end + 3 ? nil : Array(bytes[min(offset, bytes.count)..<min(offset + count, bytes.count)])
  }
  guard let stored = try? StoredPass(size: bytes.count, read: read) else {
    precondition(calls > end, "what is read at once is not read in pieces")
    return
  }
  precondition(stored.count == statistics.count && stored.width == statistics.width)
  for part in parts {
    guard let own = try? StoredPass(size: bytes.count, frames: part, read: read) else { continue }
    precondition(own.count == statistics.part(part).count)
  }
  _ = try? pass(configuration(rate), stored)
}
