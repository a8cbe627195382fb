// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The hypothetical reference decoder of H.264's clause C.1 and HEVC's C.2 for the pictures of a
/// movie, by what ffmpeg's trace_headers reads in its sequence parameter set, buffering period and
/// picture timing messages: nothing of this package has a part in it.
struct HypotheticalDecoder {
  struct Unit {
    /// Ticks of 90 kHz; nil where no buffering period begins.
    var period: (delay: Double, offset: Double)?
    /// Clock ticks since the last unit with a buffering period.
    var removalDelay = 0.0
    /// HEVC: clock ticks since the last unit with `isAnchor`; nil where no buffering period begins.
    var removalDelayDelta: Double?
    /// HEVC: whether it is neither a leading picture nor a sub-layer non-reference picture.
    var isAnchor = false
    /// With framing of four bytes for each NAL unit.
    var bits = 0.0
  }

  private(set) var units: [Unit] = []
  /// Bits a second, bits, seconds.
  private(set) var (rate, size, tick) = (0.0, 0.0, 0.0)
  private(set) var isConstant = false
  /// Bits in the buffer just before each unit is removed.
  private(set) var held: [Double] = []

  init(_ path: String) throws {
    let traced = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "verbose", "-i", path, "-map", "0:v", "-c", "copy", "-bsf:v", "trace_headers", "-f",
        "null", "-",
      ])
    var values: [String: Double] = [:]
    for line in traced.complaintLines where line.hasPrefix("[trace_headers") {
      guard let equals = line.range(of: " = ", options: .backwards), let close = line.firstIndex(of: "]"),
        let value = Double(line[equals.upperBound...])
      else { continue }
      // "[trace_headers @ 0x...] 24   name   bits = value"; arrays as name[i].
      let words = line[line.index(after: close)..<equals.lowerBound].split(separator: " ")
      guard words.count >= 2 else { continue }
      let name = String(words[1].split(separator: "[")[0])
      values[name] = value
      if name == "nal_unit_type", value < 32, !units.isEmpty {
        let type = Int(value)
        units[units.count - 1].isAnchor = !(6...9 ~= type) && (type > 14 || type % 2 == 1)
      }
      let isHEVC = name == "au_cpb_removal_delay_minus1"
      guard isHEVC || name == "cpb_removal_delay" else { continue }
      var unit = Unit(removalDelay: isHEVC ? value + 1 : value)
      if let delay = values.removeValue(
        forKey: isHEVC ? "nal_initial_cpb_removal_delay" : "initial_cpb_removal_delay"),
        let offset = values.removeValue(
          forKey: isHEVC ? "nal_initial_cpb_removal_offset" : "initial_cpb_removal_delay_offset")
      {
        unit.period = (delay, offset)
        unit.removalDelayDelta = values.removeValue(forKey: "au_cpb_removal_delay_delta_minus1").map {
          $0 + 1
        }
      }
      units.append(unit)
    }
    func one(_ name: String) throws -> Double { try #require(values[name], "no \(name) in \(path)") }
    rate = (try one("bit_rate_value_minus1") + 1) * exp2(6 + (try one("bit_rate_scale")))
    size = (try one("cpb_size_value_minus1") + 1) * exp2(4 + (try one("cpb_size_scale")))
    let prefix = values["vui_time_scale"] == nil ? "" : "vui_"
    tick = try one(prefix + "num_units_in_tick") / one(prefix + "time_scale")
    isConstant = try one("cbr_flag") == 1
    let sizes = try Probe(path).packets().compactMap { $0.size.flatMap(Int.init) }
    try #require(
      sizes.count == units.count, "\(units.count) picture timing messages, \(sizes.count) pictures")
    for (n, bytes) in sizes.enumerated() { units[n].bits = Double(bytes * 8) }
  }

  /// Takes the units in and out at their times; notes what C.3 forbids.
  /// - Returns: A line for each unit that breaks a rule.
  mutating func run() throws -> [String] {
    var complaints: [String] = []
    var period = try #require(units.first?.period, "no buffering period at the beginning")
    var begin = 0.0
    var arrived = 0.0
    var anchor = 0.0
    var times: [(first: Double, last: Double, removal: Double)] = []
    for (n, unit) in units.enumerated() {
      // Nominal removal (C.1.2).
      let removal = n == 0 ? period.delay / 90_000 : begin + tick * unit.removalDelay
      if let own = unit.period {
        period = own
        begin = removal
        if n > 0 {
          // D.3.2 of HEVC.
          if let delta = unit.removalDelayDelta, abs(anchor + tick * delta - removal) > tick / 2 {
            complaints.append("unit \(n): \(delta) ticks after the last unit that counts")
          }
          // The bits that have arrived by then according to the message (C.3).
          let ticks = (removal - arrived) * 90_000
          if own.delay > (ticks + 1e-4).rounded(.up)
            || isConstant && own.delay < (ticks - 1e-4).rounded(.down)
          {
            complaints.append("unit \(n): an initial delay of \(own.delay), and \(ticks) have passed")
          }
        }
      }
      if unit.isAnchor { anchor = removal }
      // Arrival (C.1.1).
      let reach = period.delay + (unit.period == nil ? period.offset : 0)
      let first = isConstant ? arrived : max(arrived, removal - reach / 90_000)
      arrived = first + unit.bits / rate
      times.append((first, arrived, removal))
      if arrived > removal + 1e-7 {
        complaints.append("unit \(n): comes in \((arrived - removal) * 1000) ms after its removal")
      }
    }
    held = times.indices.map { n in
      var bits = 0.0
      for (unit, time) in zip(units[n...], times[n...]) {
        // They come in one after the other.
        guard time.first < times[n].removal else { break }
        bits += min((times[n].removal - time.first) / (time.last - time.first), 1) * unit.bits
      }
      if bits > size + 1 { complaints.append("unit \(n): \(bits - size) bits have no room before it") }
      return bits
    }
    return complaints
  }
}
