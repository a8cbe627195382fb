// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport
import ElementaryStream
import Foundation

struct Call: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Simulates a video call over a network with losses, delay and limited bandwidth, and measures it.",
    discussion: """
      Sender, network and receivers are simulated in this process on a virtual clock: the same seed gives the same \
      call. The sender packetizes H.264 or HEVC into RTP (RFC 6184, RFC 7798); receivers assemble frames, decode them with \
      VTDecompressionSession and answer with RTCP. Losses are repaired as --recovery says. The call is of pictures alone: \
      a movie's audio is left out.

      Examples:
        vtencode call talk.mp4 --loss 5% --recovery ltr --report call.html
        vtencode call talk.mp4 --burst-loss 5%:8 --recovery keyframe
        vtencode call talk.mp4 --codec hevc --loss 5% --received call.265
        vtencode call talk.mp4 --start 1:30 --duration 20 --loss 5%
        vtencode call talk.mp4 --bandwidth 0s:1500k,4s:500k,8s:1500k
        vtencode call talk.mp4 --layers 2 --bandwidth 1500k --bottleneck 700k
        vtencode call talk.mp4 --sdp call.sdp & ffplay -protocol_whitelist file,udp,rtp call.sdp

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @OptionGroup var options: CallOptions
  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var range: RangeOptions
  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func run() async throws {
    let files = try CallFiles(options)
    Interrupt.shared.watch()
    var source = try await MovieSource.open(options.movie, streamFrameRate: nil).upright()
    if let range = range.range { source = try source.part(range) }
    let plan = try CallPlan(options, source: source)
    let isQuiet = !Console.standardErrorIsTerminal
    if !isQuiet, !source.audioTracks.isEmpty {
      Console.note("vtencode: the simulated call is of pictures alone, so the audio is left out")
    }
    let (record, damage) = try await onThread("call") { [source] in
      let pictures = try MoviePictures(source, width: plan.width, height: plan.height)
      let progress = ProgressLine(
        total: plan.frameLimit ?? source.expectedFrames, style: isQuiet ? .none : .auto)
      defer { progress.finish() }
      let simulation = try CallSimulation(plan, pictures: pictures)
      simulation.progress = { progress.update(frames: $0) }
      return (try simulation.run(), pictures.damage.summary)
    }
    try Interrupt.shared.check()
    let summary = CallSummary(record, plan: plan, movie: options.movie)
    // The files are written first, so that they are complete even if standard output is closed.
    try files.write(record, plan: plan, summary: summary)
    try Console.print(summary.text)
    if options.results.sdp != nil {
      let packets = record.packets
      let port = UInt16(options.results.port ?? CallOptions.defaultPort)
      try await onThread("replay") { try PacketReplay.send(packets, port: port) }
    }
    if let damage {
      throw Failure("'\(source.name)' is damaged: \(damage)", status: SourceDamage.exitStatus)
    }
  }
}

/// The files that a call writes in addition to its summary.
private struct CallFiles {
  private let report: AuxiliaryFile?
  private let dump: AuxiliaryFile?
  private let received: AuxiliaryFile?
  private let sdp: AuxiliaryFile?
  private let record: AuxiliaryFile?
  private let port: UInt16

  init(_ options: CallOptions) throws {
    var others: [String?] = [options.movie]
    func file(_ path: String?, _ option: String, _ what: String) throws -> AuxiliaryFile? {
      defer { others.append(path) }
      return try AuxiliaryFile(
        path, option: option, what: what, others: others, overwrites: options.results.overwriting.overwrite)
    }
    report = try file(options.report, "--report", "report")
    dump = try file(options.results.dump, "--dump", "capture")
    received = try file(options.results.received, "--received", "stream")
    sdp = try file(options.results.sdp, "--sdp", "session description")
    record = try file(options.results.record, "--record", "record")
    port = UInt16(options.results.port ?? CallOptions.defaultPort)
  }

  func write(_ call: CallRecord, plan: CallPlan, summary: CallSummary) throws {
    try report?.write(Data(CallReportPage(call, plan: plan, summary: summary).html.utf8))
    try record?.write(CallRecordFile(call).json())
    if let dump {
      var capture = PacketCapture(port: port)
      for packet in call.packets { capture.add(packet) }
      try dump.write(Data(capture.bytes))
    }
    try received?.write(AnnexB.stream(of: call.receivers[0].frames.joined().map { Data($0) }))
    try sdp?.write(Data(description(of: call, plan.codec).text.utf8))
  }

  private func description(of record: CallRecord, _ codec: Codec) -> SessionDescription {
    var description = SessionDescription(
      port: port, payloadType: RTPPayloadType.media, codec: codec.transportCodec,
      parameterSets: record.parameterSets)
    description.frameRate = record.frameRate
    return description
  }
}
