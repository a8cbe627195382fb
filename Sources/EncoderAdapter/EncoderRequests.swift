// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import VideoBitstream
import VideoEncoding

extension RateRequest {
  /// The rate of the low-latency mode, and the range of the QP.
  package struct LowLatency: Sendable {
    /// The bit rate or QP to aim at.
    package var rate: LowLatencyRate
    /// The lowest QP of any block.
    package var minimumQP: Int
    /// The highest QP of any block.
    package var maximumQP: Int
  }

  /// The equivalent of the request for an encoder whose QP goes from 0 to 51.
  package var lowLatency: LowLatency {
    var result: LowLatency
    switch mode {
    case .quality(let quality):
      result = LowLatency(rate: .constantQP(Self.qp(quality: quality)), minimumQP: minQP ?? 0, maximumQP: 51)
    case .average(let bits), .constant(let bits), .variable(let bits):
      result = LowLatency(
        rate: .averageBitRate(min(max(bits, 1000), 2_000_000_000)), minimumQP: minQP ?? 8, maximumQP: 51)
    }
    result.maximumQP = maxQP ?? 51
    result.minimumQP = min(result.minimumQP, result.maximumQP)
    return result
  }

  /// The QP for a quality: 0 is the smallest file, 0.5 is good, 1 is nearly lossless.
  package static func qp(quality: Double) -> Int {
    let points: [(quality: Double, qp: Double)] = [(0, 48), (0.25, 37), (0.5, 27), (0.75, 19), (1, 4)]
    let q = min(max(quality, 0), 1)
    for (a, b) in zip(points, points.dropFirst()) where q <= b.quality {
      return Int((a.qp + (b.qp - a.qp) * (q - a.quality) / (b.quality - a.quality)).rounded())
    }
    return 4
  }
}

extension SpeedPreference {
  /// The share of the frame interval that encoding may take in real time, unless the caller sets an
  /// effort; nil: the effort does not follow the time. Half of the interval leaves the other half
  /// to everything else that is done with a frame.
  package var encodeTimeShare: Double? {
    guard isRealTime == true, effort == nil else { return nil }
    let share: Double =
      switch prefersSpeedOverQuality {
      case true: 0.25
      case nil: 0.5
      case false: 0.7
      }
    return savesPower ? share / 2 : share
  }
}

extension CompressedData {
  /// Adopts the memory of a coded frame, which goes back to the encoder's pool.
  /// - Parameters:
  ///   - memory: the memory.
  ///   - count: the number of its bytes that are the frame's.
  package init(_ memory: consuming FrameMemory, count: Int) {
    let (address, capacity, pool) = memory.release()
    self.init(adopting: address, count: count, capacity: capacity, context: pool.toOpaque()) {
      guard let pool = $0 else { return }
      FrameMemory.giveBack($1, capacity: $2, pool: Unmanaged<FrameMemoryPool>.fromOpaque(pool))
    }
  }
}
