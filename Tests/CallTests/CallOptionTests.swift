// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Foundation
import Testing

@testable import vtencode

@Suite struct CallOptionTests {
  @Test(
    "Values that make no sense are refused",
    arguments: [
      ["--layers", "3"], ["--bottleneck", "500k"], ["--loss", "5%", "--burst-loss", "5%:4"],
      ["--loss", "120%"],
      ["--burst-loss", "5%"], ["--burst-loss", "5%:0.5"], ["--bandwidth", "1s:"], ["--bandwidth", "fast"],
      ["--delay", "-1ms"], ["--mtu", "20"], ["--recovery", "prayer"], ["--port", "5005"], ["--port", "5006"],
      ["--reorder"], ["--intra-refresh-frames", "20"],
      ["--utilisation", "0.5", "--bitrate", "300k"], ["--max-qp", "0"],
      ["--max-qp", "52"], ["--speed", "10"], ["--threads", "0"], ["--utilisation", "0"], ["--window", "1ms"],
      ["--base-layer-bitrate-fraction", "0.7"], ["--layers", "2", "--base-layer-bitrate-fraction", "1.5"],
      ["--frames", "0"], ["--seed", "-1"], ["--bitrate", "5"],
    ])
  func refused(_ arguments: [String]) {
    #expect(throws: (any Error).self) { _ = try CallOptions.parse(["movie.mp4"] + arguments) }
  }

  @Test("Times, shares, bandwidths and bursts as people write them")
  func values() throws {
    let options = try CallOptions.parse([
      "movie.mp4", "--bandwidth", "0s:1500k, 4s:0.5M,8000ms:1500000", "--burst-loss", "5%:4", "--delay",
      "80ms",
      "--queue", "2", "--feedback-loss", "0.25",
    ])
    #expect(options.bandwidth.schedule.steps.map(\.bitsPerSecond) == [1.5e6, 0.5e6, 1.5e6])
    #expect(options.bandwidth.schedule.steps.map(\.time) == [0, 4, 8])
    #expect(
      options.delay.value == 0.08 && options.network.queue.value == 2
        && options.network.feedbackLoss.value == 0.25)
    #expect(abs((options.network.burstLoss?.model.meanRate ?? 0) - 0.05) < 1e-12)
  }

  @Test("The report's page is whole, holds a chart for each question and no number that is none")
  func report() throws {
    var plan = CallPlan.small(.ltr, frames: 60) {
      $0.link.loss = .random(0.05)
      $0.hasLayers = true
      $0.bottleneck = BandwidthSchedule(constant: 250_000)
    }
    plan.seed = 2
    let record = try plan.run()
    let summary = CallSummary(record, plan: plan, movie: "<a & b>.mp4")
    let page = CallReportPage(record, plan: plan, summary: summary).html
    #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
    #expect(page.components(separatedBy: "<svg viewBox=\"0 0 960").count == 6)
    #expect(page.contains("&lt;a &amp; b&gt;.mp4") && !page.contains("<a & b>"))
    for text in ["nan", "inf\"", "-inf", "http://", "https://"] { #expect(!page.contains(text), "\(text)") }
    #expect(
      summary.text.contains("end-to-end delay") && summary.text.contains("receiver behind the bottleneck"))
  }

  @Test("Quantiles and freezes")
  func figures() {
    #expect(CallRecord.quantile(0.5, of: [3, 1, 2]) == 2)
    #expect(CallRecord.quantile(0.99, of: (1...100).map(Double.init)) == 99)
    #expect(CallRecord.quantile(1, of: [4]) == 4 && CallRecord.quantile(0.5, of: []) == nil)
    var record = CallRecord()
    var receiver = CallRecord.Receiver(name: "", bandwidth: .init(constant: 1))
    for index in 0..<60 {
      record.frames.append(.init(time: Double(index) / 30, rate: 1))
      // Frames 20 to 29 never come; four in a row elsewhere are not a freeze.
      let isShown = !(20..<30).contains(index) && !(40..<44).contains(index)
      receiver.shown.append(.init(time: isShown ? Double(index) / 30 + 0.1 : nil))
    }
    let freezes = record.freezes(of: receiver)
    #expect(freezes.count == 1 && abs((freezes.first?.length ?? 0) - 11.0 / 30) < 1e-9)
  }
}
