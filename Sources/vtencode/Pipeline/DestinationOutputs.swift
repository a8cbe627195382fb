// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

extension Destination {
  /// Makes the output that the run writes to, which passes the encoding to all of them.
  /// - Parameters:
  ///   - control: takes what the outputs ask of the encoder.
  ///   - monitor: gets the servers.
  ///   - renditions: the settings of further renditions, which segments hold.
  func makeOutput(
    source: MovieSource, plan: EncodingPlan, control: EncoderControl,
    monitor: ServerMonitor = ServerMonitor(), renditions: [EncodingPlan] = []
  ) -> any Output {
    let outputs = all.enumerated().map { number, destination in
      destination.makeSingle(
        source: source, plan: plan, control, monitor, number: number, renditions: renditions)
    }
    return outputs.count == 1
      ? outputs[0] : SeveralOutputs(outputs, showsFailures: plan.progress.showsNotices)
  }

  private func makeSingle(
    source: MovieSource, plan: EncodingPlan, _ control: EncoderControl, _ monitor: ServerMonitor, number: Int,
    renditions: [EncodingPlan]
  ) -> any Output {
    switch kind {
    case .movie(let type):
      MovieOutput(
        path: path ?? "", type: type, replaces: replaces, beginning: movieStart, metadata: source.metadata,
        isFastStart: plan.isFastStart)
    case .container(let container):
      ContainerOutput(path: path, container: container, replaces: replaces, metadata: source.metadata)
    case .segments(let segments):
      HTTPLiveOutput(path: path ?? "", plan: segments, replaces: replaces, encodings: [plan] + renditions)
    case .elementaryStream, .standardOutput: ElementaryStreamOutput(path: path, replaces: replaces)
    case .server(let address, let container):
      ServerOutput(
        address, container: container, isPaced: plan.isPaced || source.comesLive,
        hasRate: plan.quality == nil, showsEvents: plan.progress.showsNotices, control: control,
        monitor: monitor, number: number)
    }
  }

  /// Checks the paths of several outputs against each other and the inputs, and asks whether
  /// existing files may be replaced.
  /// - Throws: a `Failure` if one of them cannot be written.
  mutating func check(inputs: [String], overwrites: Bool) throws {
    var known: [String] = []
    try forEach { destination in
      guard let path = destination.path else { return }
      for input in inputs where Self.areSameFile(path, InputFile.path(of: input)) {
        throw Failure("the output '\(path)' is one of the inputs; choose another name with --out")
      }
      for other in known where path == other || Self.areSameFile(path, other) {
        throw Failure("'\(path)' is named as two outputs; choose another name for one of them", status: 64)
      }
      known.append(path)
      destination.replaces = try OutputCheck.mayReplace(path, overwrites: overwrites)
      if destination.segments != nil {
        try SegmentNames(playlist: path).check(
          vtencode.folder(of: path), isReplaced: destination.replaces, overwrites: overwrites)
        // Files of an earlier run whose playlist is gone.
        destination.replaces = destination.replaces || overwrites
      }
    }
    guard all.filter(\.isStandardOutput).count < 2 else {
      throw Failure("standard output takes one stream; give --out - once", status: 64)
    }
  }

  private mutating func forEach(_ body: (inout Destination) throws -> Void) rethrows {
    try body(&self)
    for index in further.indices { try body(&further[index]) }
  }

  /// Sets the time in the source at which movies begin.
  mutating func begin(at start: CMTime) { forEach { $0.movieStart = start } }
}
