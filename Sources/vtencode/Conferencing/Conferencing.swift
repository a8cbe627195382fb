// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

struct Conferencing: AsyncParsableCommand, EncodingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encodes a movie as for a call: in the low-latency mode, which outputs each frame immediately.",
    discussion: """
      No frame is delayed, and there is no key frame after the first (with libx265, one where the bit rate or the \
      frame rate changes). The bit rate may change during encoding; temporal layers, long-term references and a limit \
      of the QP are for networks with losses and congestion.

      Examples:
        vtencode conferencing talk.mp4 --bitrate 800k --out call.mp4
        vtencode conferencing talk.mp4 --base-layer-fraction 0.5 --report call.html
        vtencode conferencing slides.mov --bitrate 300k --max-qp 32 --report slides.html
        vtencode conferencing talk.mp4 --bitrate 1500k --rate-steps "2s:500k,4s:1500k" --unpaced
        vtencode conferencing test:640x360@30 --duration 5 --report test.html --out test.mp4

      --help shows the options that are used most; --help-all shows all of them.
      """,
    aliases: ["conference"])

  @OptionGroup var options: EncodingOptions
  @OptionGroup var modeOptions: ConferencingOptions
  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var range: RangeOptions
  @OptionGroup(title: "Changes of the movie", visibility: .helpAll) var changes: ChangeOptions

  @Flag(help: "Encode as fast as possible instead of in real time.")
  var unpaced = false

  var furtherOutput: String? { modeOptions.report }

  func validate() throws {
    try changes.validate(with: options)
    if options.quality != nil, modeOptions.calls.rateSteps != nil {
      throw ValidationError("--rate-steps changes a bit rate, and --quality has none; give one of them.")
    }
  }

  var furtherInputs: [String] { [changes.overlay].compactMap { $0 } }

  func run() async throws {
    let plan = ConferencingPlan(modeOptions)
    let request = EncodingRequest(
      options: options, purpose: .conferencing, isPaced: !unpaced, conferencing: plan, range: range.range,
      changes: changes)
    let output = try request.destination()
    let report = try AuxiliaryFile(
      modeOptions.report, option: "--report", what: "report",
      others: request.inputs.map { InputFile.path(of: $0) } + [output.path],
      overwrites: options.overwriting.overwrite)
    var failure: Failure?
    do {
      try await EncodingRun.perform(request)
    } catch let error as Failure where error.status == SourceDamage.exitStatus {
      // A damaged movie has been encoded as far as possible, so there is a report.
      failure = error
    }
    try report?.write(Data(ReportPage(plan.log.contents).html.utf8))
    if let failure { throw failure }
  }
}
