// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The results of a run, for the summary.
struct RunReport: Sendable {
  var plan: EncodingPlan
  var encoderID: String
  var written: OutputReport
  var frames: Int
  var dropped: Int
  var keyFrames: Int
  var videoBytes: Int
  var videoSeconds: Double
  /// The duration of all runs, in seconds.
  var wallSeconds: Double
  /// How many times the clip was encoded to meet its bit rate.
  var runs = 1
  /// The number of passes of the last run.
  var passes = 1
  /// Whether the run was one of several passes, on demand or as asked for.
  var madePasses = false
  /// Whether there was no room next to the output for another pass.
  var lackedRoom = false
  /// The number of frames that passes over parts of the movie have encoded again.
  var framesAgain = 0
  var quality: Quality?
  /// The damage found in the source.
  var damage = SourceDamage()
  /// The further renditions of the same pictures.
  var renditions: [RenditionReport] = []

  var bitRate: Double { videoSeconds > 0 ? Double(videoBytes) * 8 / videoSeconds : 0 }

  /// The bit rate, and what it was asked to be.
  private var rateSummary: String {
    let rate = TextFormat.bitRate(bitRate)
    if let quality = plan.quality {
      let value = TextFormat.fixed(quality, 2)
      if plan.isStill {
        return "one picture has none; \(TextFormat.bytes(videoBytes)), for a quality of \(value)"
      }
      guard let ceiling = plan.ceiling else { return "\(rate), for a quality of \(value)" }
      let constant = "\(rate), constant quality \(value)"
      let limit = TextFormat.bitRate(Double(ceiling))
      if bitRate <= Double(ceiling) { return "\(constant), at most \(limit)" }
      // The first key frame is most of a very short movie, and a short one fits into the buffer
      // that fills at the ceiling.
      if videoSeconds < RateRefinement.shortestLimited {
        return "\(constant); a ceiling of \(limit) does not apply to less than a second"
      }
      guard let seconds = plan.ceilingBuffer, videoSeconds < 2 * seconds else {
        return "\(constant), ceiling \(limit)"
      }
      return "\(constant), ceiling \(limit) over \(TextFormat.fixed(seconds, 0)) s and more"
    }
    let deviation = (bitRate / Double(plan.bitRate) - 1) * 100
    let sign = deviation >= 0 ? "+" : "-"
    let target =
      "\(rate), target \(TextFormat.bitRate(Double(plan.bitRate))) "
      + "(\(sign)\(TextFormat.fixed(abs(deviation), 1)) %)"
    guard let rateOfQuality = plan.rateOfQuality else { return target }
    return target + ", the ceiling, as constant quality "
      + "\(TextFormat.fixed(EncodingPlan.defaultQuality, 2)) takes \(TextFormat.bitRate(rateOfQuality))"
  }

  func summary(destination: Destination) -> String {
    let speed = wallSeconds > 0 ? Double(frames) / wallSeconds : 0
    var lines = [
      "video   \(plan.codec.name), \(plan.width)x\(plan.height), \(TextFormat.plural(frames, "frame")), "
        + "\(TextFormat.fixed(videoSeconds, 2)) s, \(TextFormat.plural(keyFrames, "key frame"))"
        + (dropped > 0 ? ", \(dropped) dropped" : ""),
      "rate    " + rateSummary
        + (passes > 1 ? ", in \(passes) passes" : "")
        + (passes > 1 && plan.makesPassesOnDemand ? ", since one was uneven or missed the rate" : "")
        + (framesAgain > 0 ? " (\(framesAgain) frames again)" : "")
        + (runs > 1 ? ", encoded \(runs) times to meet the target" : ""),
      "speed   \(TextFormat.fixed(speed, 1)) fps, \(TextFormat.fixed(wallSeconds, 2)) s"
        + (videoSeconds > 0 && wallSeconds > 0
          ? ", \(TextFormat.fixed(videoSeconds / wallSeconds, 1)) times real time" : ""),
    ]
    lines.insert(contentsOf: renditions.map { "also    \($0.summary)" }, at: 2)
    if let quality {
      lines.append("psnr    \(quality.description)")
    }
    if written.leftOut > 0 {
      lines.append(
        "left    \(TextFormat.plural(written.leftOut, "frame")) out, as the output had no room for them")
    }
    if let audio = written.audio.summary { lines.append("audio   \(audio)") }
    if let text = written.text.summary { lines.append("text    \(text)") }
    if let damage = damage.summary { lines.append("damage  \(damage)") }
    if !destination.isServer, !written.failures.contains(where: { $0.number == 0 }) {
      lines.append("file    \(written.path ?? destination.name), \(TextFormat.bytes(written.fileBytes))")
    }
    for file in written.others {
      lines.append(
        "file    \(file.path ?? destination.all[file.number].name), \(TextFormat.bytes(file.fileBytes))")
    }
    for server in written.servers { lines.append("server  \(server.summary)") }
    for failure in written.failures { lines.append("failed  \(failure.message)") }
    return lines.joined(separator: "\n")
  }
}
