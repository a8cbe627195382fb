import CallTransport
import Foundation
import VideoToolbox

/// A line whose bandwidth falls to a third and comes back, with this encoder and with libx264.
enum StepTable {
  private static let encoders: [(name: String, id: String?)] = [
    ("low latency", nil), ("x264 zerolatency, VBV", "org.openvideotoolbox.videoencoder.h264.x264"),
  ]

  static func markdown(_ sources: [MovieSource], limit: Int) throws -> String {
    var table = MarkdownTable(
      "The line falls to a third at 3 s and comes back at 6 s; the encoder is told 100 ms later and gets 0.85 of it",
      [
        "movie", "line", "encoder", "10 frames after down", "largest of them", "used after up", "queue p50",
        "queue p95",
        "queue most", "end to end p99", "rate error", "PSNR shown",
      ])
    for source in sources {
      let clip = try TableClip(source, limit: limit)
      let high = Double(clip.rate) * 1.5 / 0.85
      for encoder in encoders {
        var plan = CallPlan(
          width: clip.width, height: clip.height, frameRate: clip.frameRate,
          link: .init(bandwidth: .init(constant: high)))
        let steps = [(0.0, high), (3, high / 3), (6, high)]
        guard let schedule = BandwidthSchedule(steps.map { .init(time: $0.0, bitsPerSecond: $0.1) }) else {
          continue
        }
        plan.link.bandwidth = schedule
        plan.link.queueLimit = 5
        plan.recovery = .keyframe
        plan.frameLimit = Int(clip.frameRate * 9)
        plan.encoderID = encoder.id
        let record = try CallSimulation(plan, pictures: clip.pictures).run()
        table.add(
          [clip.name, "\(Wording.kilobits(Int(high))), \(Wording.kilobits(Int(high / 3)))", encoder.name]
            + figures(record, clip))
      }
    }
    return table.text
  }

  private static func figures(_ record: CallRecord, _ clip: TableClip) -> [String] {
    let frames = record.frames
    func bits(_ range: Range<Int>) -> Double {
      Double(frames[range.clamped(to: frames.indices)].reduce(0) { $0 + $1.bytes } * 8)
    }
    // The first frame that was asked for at another rate.
    let changes = frames.indices.dropFirst().filter { frames[$0].rate != frames[$0 - 1].rate }
    guard changes.count == 2 else { return [] }
    let (down, up) = (changes[0], changes[1])
    let low = Double(frames[down].rate) / clip.frameRate
    let high = Double(frames[up].rate) / clip.frameRate
    let largest = frames[down..<(down + 10)].map { Double($0.bytes * 8) }.max() ?? 0
    let used = (0..<60).first { bits((up + $0)..<(up + $0 + 5)) >= 0.9 * 5 * high }
    let receiver = record.receivers[0]
    let queue = receiver.shown.map(\.queueingDelay)
    let asked = frames.reduce(0) { $0 + Double($1.rate) } / clip.frameRate
    return [
      Wording.percent(bits(down..<(down + 10)) / (10 * low), 0), Wording.fixed(largest / low, 2),
      used.map { "\($0) frames" } ?? "never", Wording.milliseconds(CallRecord.quantile(0.5, of: queue)),
      Wording.milliseconds(CallRecord.quantile(0.95, of: queue)), Wording.milliseconds(queue.max()),
      Wording.milliseconds(CallRecord.quantile(0.99, of: record.delays(of: receiver))) + " ms",
      Wording.percent(Double(record.bits) / asked - 1),
      Wording.fixed(record.quality(of: receiver) ?? 0, 2) + " dB",
    ]
  }
}
