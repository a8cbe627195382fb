// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A parser of transport streams by ISO/IEC 13818-1, independent of the package.
struct TransportStream {
  /// Places where a packet's continuity counter does not follow the one before (2.4.3.3), or where
  /// there is no sync byte.
  private(set) var breaks: [Int] = []
  /// Program clock references in seconds, in the order of the file.
  private(set) var clocks: [Double] = []
  private(set) var packets = 0
  /// Stream types of the program map (2.4.4.8), by PID.
  private(set) var types: [Int: UInt8] = [:]

  init(_ data: Data) {
    let bytes = [UInt8](data)
    var counters: [Int: UInt8] = [:]
    var mapPID: Int?
    for start in stride(from: 0, to: bytes.count - bytes.count % 188, by: 188) {
      packets += 1
      guard bytes[start] == 0x47 else {
        breaks.append(start)
        continue
      }
      let pid = Int(bytes[start + 1] & 0x1F) << 8 | Int(bytes[start + 2])
      let control = bytes[start + 3] >> 4 & 3
      let counter = bytes[start + 3] & 15
      var payload = start + 4
      if control & 2 != 0 {
        let length = Int(bytes[start + 4])
        payload += 1 + length
        if length >= 7, bytes[start + 5] & 0x10 != 0 {
          let base =
            bytes[start + 6..<start + 10].reduce(0) { $0 << 8 | Int($1) } << 1 | Int(bytes[start + 10] >> 7)
          let rest = Int(bytes[start + 10] & 1) << 8 | Int(bytes[start + 11])
          clocks.append(Double(base) / 90_000 + Double(rest) / 27_000_000)
        }
      }
      if control & 1 != 0, pid != 0x1FFF {
        if let last = counters[pid], counter != (last + 1) & 15 { breaks.append(start) }
        counters[pid] = counter
      }
      guard control & 1 != 0, bytes[start + 1] & 0x40 != 0 else { continue }
      let section = payload + 1 + Int(bytes[payload])
      if pid == 0, section + 12 <= start + 188 {
        mapPID = Int(bytes[section + 10] & 0x1F) << 8 | Int(bytes[section + 11])
      } else if pid == mapPID, section + 12 <= start + 188 {
        let end = section + 3 + (Int(bytes[section + 1] & 15) << 8 | Int(bytes[section + 2])) - 4
        var at = section + 12 + (Int(bytes[section + 10] & 15) << 8 | Int(bytes[section + 11]))
        while at + 5 <= min(end, start + 188) {
          types[Int(bytes[at + 1] & 0x1F) << 8 | Int(bytes[at + 2])] = bytes[at]
          at += 5 + (Int(bytes[at + 3] & 15) << 8 | Int(bytes[at + 4]))
        }
      }
    }
  }

  /// The longest time between two program clock references in seconds.
  var longestClockInterval: Double { zip(clocks, clocks.dropFirst()).map { $1 - $0 }.max() ?? .infinity }
}
