// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The memory of this process in bytes.
public enum ProcessMemory {
  public static var resident: Int { field("VmRSS:") }
  public static var peak: Int { field("VmHWM:") }

  public static func resetPeak() {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return }
    fputs("5", file)
    fclose(file)
  }

  private static func field(_ name: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
    else { return 0 }
    return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) * 1024
  }
}
