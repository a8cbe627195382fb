// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Runs work in a hundred parts, and measures memory and descriptors after each.
final class Watch: Sendable {
  static let parts = 100
  /// The number of parts in which pools and caches may still grow.
  private static let settledAfter = 20

  private let finished = Mutex<[MemoryCurve]>([])

  /// Runs the parts. It ends the program if memory grows after the first fifth, or if a descriptor
  /// stays open.
  func run(_ name: String, _ part: (Int) throws -> Void) {
    var curve = MemoryCurve(name: name)
    let begin = Date()
    do {
      for number in 0..<Self.parts {
        try part(number)
        let (resident, files) = Self.usage()
        curve.resident.append(resident)
        curve.files.append(files)
      }
    } catch {
      print("\(name): failed: \(error)")
      exit(1)
    }
    let done = curve
    finished.withLock { $0.append(done) }
    let settled = curve.resident.dropFirst(Self.settledAfter).map { Double($0) / 1024 }
    let mean = settled.reduce(0, +) / Double(settled.count)
    let tenth = Self.slope(settled) * Double(Self.parts) / 10
    let files = (curve.files.last ?? 0) - (curve.files.first ?? 0)
    let tenths = stride(from: 9, to: Self.parts, by: 10).map { String(curve.resident[$0] >> 10) }
    print(
      "\(name): \(tenths.joined(separator: " ")) kB; \(Int(tenth.rounded())) kB a tenth, \(files) files more, "
        + "\(Int(Date().timeIntervalSince(begin))) s")
    // The growth that is accepted for a tenth of the work, in kB: 1 % of the mean, but at least 512
    // kB.
    if tenth > max(512, mean / 100) || files > 0 {
      print("\(name): grows")
      exit(1)
    }
  }

  private static func usage() -> (resident: Int, files: Int) {
    let words = ((try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? "").split(
      separator: " ")
    let pages = words.count > 1 ? Int(words[1]) ?? 0 : 0
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    return (pages * Int(sysconf(Int32(_SC_PAGESIZE))), files)
  }

  /// The slope of the least-squares line, per value.
  private static func slope(_ values: [Double]) -> Double {
    let middle = Double(values.count - 1) / 2
    let mean = values.reduce(0, +) / Double(values.count)
    var above = 0.0
    var below = 0.0
    for (x, y) in values.enumerated() {
      above += (Double(x) - middle) * (y - mean)
      below += (Double(x) - middle) * (Double(x) - middle)
    }
    return below > 0 ? above / below : 0
  }

  /// A chart of all curves.
  func chart(title: String) -> MemoryChart { MemoryChart(title: title, curves: finished.withLock { $0 }) }
}
