// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport

/// The connection between a receiving session and the web pages that show it: what they are sent,
/// and what they ask for.
struct ReceivedPage {
  /// The time between two status messages, in seconds.
  private static let interval = 0.25
  private let server: WebServer
  private var slices = SliceQP()
  private var next = 0.0
  private var all = RateMeter()
  private var repair = RateMeter()
  private var received = RateMeter()
  private var lost = RateMeter()
  /// The fraction of packets that a page asks to drop, and the number of packets dropped so far.
  private var lossFraction = 0.0
  private var simulatedDrops = 0
  private var isCapped = false
  private var random = SystemRandomNumberGenerator()

  /// Opens the port of the page.
  /// - Parameter wake: as for `WebServer`.
  init(_ place: WebOptions.Place, wake: @escaping @Sendable () -> Void) throws {
    server = try WebServer(place.endpoint, at: place.address, token: place.token, wake: wake)
    WebServer.announce(server, at: place)
  }

  /// Does what the pages have asked for.
  mutating func applyRequests(_ session: inout ReceiverSession, at time: Double) {
    let requests = server.takeRequests()
    if requests.wantsKeyFrame { session.requestKeyFrame(at: time) }
    if let loss = requests.loss { lossFraction = loss }
    switch requests.cap {
    case .rate(let rate):
      session.limitRate(rate)
      isCapped = true
    case .unlimited:
      session.limitRate(nil)
      isCapped = false
    case nil: break
    }
    // When no page is open any more, these settings could not be undone, so they are reset.
    guard requests.isLastPageClosed else { return }
    lossFraction = 0
    if isCapped { session.limitRate(nil) }
    isCapped = false
  }

  /// Whether to drop a datagram with media or repair data, to simulate a bad link.
  mutating func shouldDrop(_ bytes: [UInt8]) -> Bool {
    guard lossFraction > 0, !Greeting.isGreeting(bytes), !RTCPPacket.isControl(bytes),
      Double.random(in: 0..<1, using: &random) < lossFraction
    else { return false }
    simulatedDrops += 1
    return true
  }

  mutating func show(_ shown: Shown, _ codec: VideoCodec) {
    server.show(
      WebFrame(
        codec: codec, number: UInt32(truncatingIfNeeded: shown.frame.number),
        isKeyFrame: shown.frame.descriptor.isKeyFrame,
        captured: shown.captured, arrived: shown.time, qp: slices.averageQP(shown.frame.units, codec),
        units: shown.frame.units))
  }

  /// Lets browsers that come from now on have audio by WebRTC.
  func expectAudio() { server.expectAudio() }

  /// Sends audio to the browsers.
  /// - Parameters:
  ///   - packets: the packets.
  ///   - time: the current time.
  ///   - captureTime: the time of an RTP time stamp in seconds of `SessionTime`; nil if it is not
  ///     known.
  func show(_ packets: [AudioReceiver.Packet], at time: Double, captureTime: (UInt32) -> Double?) {
    for packet in packets {
      server.show(packet, captured: captureTime(packet.timestamp) ?? time)
    }
  }

  /// Sends the pages a status message if one is due.
  mutating func sendStatus(_ session: ReceiverSession, _ output: ReceivedOutput, at time: Double) {
    guard time >= next else { return }
    next = time + Self.interval
    let counts = session.counts
    let repairBytes = counts.recoveredBytes + counts.parityBytes
    all.add(counts.bytes + repairBytes, at: time)
    repair.add(repairBytes, at: time)
    received.add(counts.packets, at: time)
    lost.add(counts.lostPackets, at: time)
    var status = WebStatus(state: session.state == .waiting ? "waiting" : "open", time: time)
    status.rate = all.rate * 8
    status.repairRate = repair.rate * 8
    // Packets that arrive late reduce the count of lost ones, so it may decrease.
    let missing = max(lost.rate, 0)
    status.loss = missing > 0 ? missing / (received.rate + missing) : 0
    status.roundTrip = session.roundTrip
    status.delay = output.log.delays.last
    status.frames = output.frames
    status.keyFrames = output.keyFrames
    status.requests = counts.requests
    status.thrownShare = lossFraction
    status.thrown = simulatedDrops
    status.cap = session.agreedRate
    server.send(status)
  }

  func close() {
    server.send(WebStatus(state: "ended", time: SessionTime.now))
    server.close()
  }

  /// Adds the results of the pages to the summary.
  func sum(_ table: inout SummaryTable) {
    let (figures, dropped) = server.result
    func milliseconds(_ seconds: Double?) -> String {
      seconds.map { "\(TextFormat.fixed($0 * 1000, 0)) ms" } ?? "-"
    }
    if let figures {
      table.row(
        "browser",
        "\(TextFormat.plural(figures.shown, "frame")) shown as it reports, capture to canvas "
          + "\(milliseconds(figures.delayP50)) p50, \(milliseconds(figures.delayP95)) p95")
    } else {
      table.row("browser", "no page was open")
    }
    if dropped > 0 {
      table.row("left out", "\(TextFormat.plural(dropped, "frame")) for pages that were slow or late")
    }
    if simulatedDrops > 0 {
      table.row("thrown away", "\(TextFormat.plural(simulatedDrops, "packet")), as a page asked")
    }
    table.figure("webShown", figures.map { Double($0.shown) })
    table.figure("webDelayP50", figures?.delayP50)
    table.figure("webDelayP95", figures?.delayP95)
    table.figure("webDropped", dropped)
    table.figure("thrown", simulatedDrops)
  }
}
