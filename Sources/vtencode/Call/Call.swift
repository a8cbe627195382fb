// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport
import ElementaryStream
import Foundation

struct Call: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Simulates a video call over a network that loses, delays and throttles, and measures it.",
    discussion: """
      Sender, network and receivers live in this process, on a virtual clock: the same seed gives the same call. \
      The sender packs H.264 into RTP (RFC 6184); receivers put frames together, decode them with \
      VTDecompressionSession and answer with RTCP. Losses are repaired as --recovery says.

      Examples:
        vtencode call talk.mp4 --loss 5% --recovery ltr --report call.html
        vtencode call talk.mp4 --burst-loss 5%:8 --recovery keyframe
        vtencode call talk.mp4 --bandwidth 0s:1500k,4s:500k,8s:1500k
        vtencode call talk.mp4 --layers 2 --bandwidth 1500k --bottleneck 700k
        vtencode call talk.mp4 --sdp call.sdp & ffplay -protocol_whitelist file,udp,rtp call.sdp
      """)

  @OptionGroup var options: CallOptions

  func run() async throws {
    let outputs = [
      ("--report", options.report), ("--dump", options.dump), ("--received", options.received),
      ("--sdp", options.sdp), ("--record", options.record),
    ]
    for (index, output) in outputs.enumerated() {
      try OutputCheck.check(
        output.1, option: output.0, others: [options.movie] + outputs[..<index].map(\.1))
    }
    Interrupt.shared.watch()
    let source = try await MovieSource.open(options.movie, streamFrameRate: nil)
    let plan = try CallPlan(options, source: source)
    let isQuiet = !Console.standardErrorIsTerminal
    let (record, damage) = try await onThread("call") {
      let pictures = try MoviePictures(source, width: plan.width, height: plan.height)
      let progress = ProgressLine(
        total: plan.frameLimit ?? source.expectedFrames, style: isQuiet ? .none : .auto)
      defer { progress.finish() }
      let simulation = try CallSimulation(plan, pictures: pictures)
      simulation.progress = { progress.update(frames: $0) }
      return (try simulation.run(), pictures.damage.summary)
    }
    let summary = CallSummary(record, plan: plan, movie: options.movie)
    try Console.print(summary.text)
    if let path = options.report {
      try Self.write(Data(CallReportPage(record, plan: plan, summary: summary).html.utf8), to: path, "report")
    }
    if let path = options.record { try Self.write(CallRecordFile(record).json(), to: path, "record") }
    if let path = options.dump {
      var capture = PacketCapture(port: UInt16(options.port ?? CallOptions.defaultPort))
      for packet in record.packets { capture.add(packet) }
      try Self.write(Data(capture.bytes), to: path, "capture")
    }
    if let path = options.received {
      let units = record.receivers[0].frames.joined().map { Data($0) }
      try Self.write(AnnexB.stream(of: units), to: path, "stream")
    }
    if let path = options.sdp {
      let description = Self.description(of: record, port: UInt16(options.port ?? CallOptions.defaultPort))
      try Self.write(Data(description.text.utf8), to: path, "session description")
      let packets = record.packets
      let port = UInt16(options.port ?? CallOptions.defaultPort)
      try await onThread("replay") { try PacketReplay.send(packets, port: port) }
    }
    if let damage {
      throw Failure("'\(source.name)' is damaged: \(damage)", status: SourceDamage.exitStatus)
    }
  }

  private static func description(of record: CallRecord, port: UInt16) -> SessionDescription {
    var description = SessionDescription(
      port: port, payloadType: MediaStream.payloadType, sequenceParameterSets: record.sequenceParameterSets,
      pictureParameterSets: record.pictureParameterSets)
    description.frameRate = record.frameRate
    return description
  }

  private static func write(_ data: Data, to path: String, _ what: String) throws {
    do {
      try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw Failure("cannot write the \(what) '\(path)': \(Failure.describe(error))")
    }
  }
}
