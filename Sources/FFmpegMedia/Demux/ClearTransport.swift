// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A transport stream whose scrambled packets at the beginning are replaced by null packets (PID
/// 0x1FFF; ISO/IEC 13818-1, 2.4.3.3). libavformat would parse some of the scrambled ones as clear,
/// and take wrong times from them.
final class ClearTransport: MediaByteSource {
  private let make: @Sendable () throws -> any MediaByteReader
  private let hidden: [UInt32]

  /// - Parameters:
  ///   - hidden: Offsets of the packets to be replaced, in bytes from the beginning of the file, in
  ///     ascending order.
  ///   - makeReader: Opens the file.
  init(hiding hidden: [UInt32], _ makeReader: @escaping @Sendable () throws -> any MediaByteReader) {
    (self.hidden, make) = (hidden, makeReader)
  }

  func makeReader() -> any MediaByteReader { Reader(Result { try make() }, hidden) }

  private final class Reader: MediaByteReader {
    private let reader: Result<any MediaByteReader, any Error>
    private let hidden: [UInt32]
    /// Bytes 1 to 3 of a null packet's header: PID 0x1FFF, not scrambled, with a payload.
    private static let header: [UInt8] = [0x1F, 0xFF, 0x10]

    init(_ reader: Result<any MediaByteReader, any Error>, _ hidden: [UInt32]) {
      (self.reader, self.hidden) = (reader, hidden)
    }

    var length: Int64? { (try? reader.get())?.length }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
      let count = try reader.get().read(at: offset, into: buffer)
      var (low, high) = (0, hidden.count)
      while low < high {
        let middle = (low + high) / 2
        if Int64(hidden[middle]) + 3 < offset { low = middle + 1 } else { high = middle }
      }
      while low < hidden.count, Int64(hidden[low]) < offset + Int64(count) {
        for (index, byte) in Self.header.enumerated() {
          let at = Int64(hidden[low]) + 1 + Int64(index) - offset
          if at >= 0, at < Int64(count) { buffer[Int(at)] = byte }
        }
        low += 1
      }
      return count
    }

    func cancel() { (try? reader.get())?.cancel() }
  }
}
