// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Passes one encoding to several outputs. An output that fails is left out, and the others go on;
/// the run fails when none is left.
final class SeveralOutputs: Output, @unchecked Sendable {
  // Sendable: one task changes the properties before `start`; `lock` guards the failures.
  private let outputs: [any Output]
  /// For each track and each output: the output's identifier; nil if the output does not hold the
  /// track.
  private var identifiers: [[OutputTrack.ID?]] = []
  private let lock = Lock()
  private var failures: [Int: Failure] = [:]
  private let showsFailures: Bool

  /// The number of samples of a track that wait for an output.
  private static let waitingSamples = 256

  /// - Parameters:
  ///   - outputs: at least one.
  ///   - showsFailures: whether the user is notified at once of an output that fails.
  init(_ outputs: [any Output], showsFailures: Bool) {
    (self.outputs, self.showsFailures) = (outputs, showsFailures)
  }

  var name: String { outputs.map(\.name).joined(separator: " and ") }
  var tracks: Set<OutputTrack.Kind> { outputs.reduce(into: []) { $0.formUnion($1.tracks) } }
  func plays(_ audio: CMFormatDescription) -> Bool {
    outputs.filter { $0.tracks.contains(.audio) }.allSatisfy { $0.plays(audio) }
  }
  var isLive: Bool { outputs.allSatisfy(\.isLive) }
  /// Each output gets the times that it needs.
  let beginsAtZero = false
  let backPressure = BackPressure.waits
  var outcomeOfInterruptedRun: String { outputs.first?.outcomeOfInterruptedRun ?? "nothing was written" }

  private func isActive(_ index: Int) -> Bool { lock.withLock { failures[index] == nil } }

  /// Records that an output has failed.
  /// - Throws: the failure if no output is left.
  private func record(_ error: any Error, of index: Int) throws {
    let failure =
      error as? Failure ?? Failure("cannot write \(outputs[index].name): \(Failure.describe(error))")
    let (isNew, isLast) = lock.withLock {
      let isNew = failures[index] == nil
      if isNew { failures[index] = failure }
      return (isNew, failures.count == outputs.count)
    }
    if isNew {
      outputs[index].abandon()
      if !isLast, showsFailures { Console.note("vtencode: \(failure.message); the other outputs go on") }
    }
    if isLast { throw failure }
  }

  private func onEach(_ body: (Int, any Output) throws -> Void) throws {
    for (index, output) in outputs.enumerated() where isActive(index) {
      do { try body(index, output) } catch { try record(error, of: index) }
    }
  }

  func open() throws { try onEach { try $1.open() } }

  func add(_ track: OutputTrack) throws -> OutputTrack.ID? {
    var row: [OutputTrack.ID?] = Array(repeating: nil, count: outputs.count)
    try onEach { index, output in
      guard output.tracks.contains(track.kind) else { return }
      row[index] = try output.add(track)
      if row[index] == nil, track.kind == .video {
        throw Failure("\(output.name) cannot hold this video; try .mov")
      }
      if row[index] == nil, track.kind == .audio, showsFailures {
        Console.note(
          "vtencode: \(output.name) cannot hold another audio track, or not this one; it is left out there")
      }
    }
    guard row.contains(where: { $0 != nil }) else { return nil }
    identifiers.append(row)
    return identifiers.count - 1
  }

  func start() throws { try onEach { try $1.start() } }

  func append(
    to track: OutputTrack.ID, from next: @escaping @Sendable () throws -> CMSampleBuffer?,
    whenFull: @escaping @Sendable (Bool) -> Void
  ) async throws {
    let branches = outputs.indices.compactMap { index in
      identifiers[track][index].map { Branch(self, output: index, track: $0) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for branch in branches { group.addTask { try await branch.run(whenFull: whenFull) } }
      group.addTask {
        do {
          try await onThread("outputs") {
            while let sample = try next() {
              var isTaken = false
              for branch in branches where try branch.push(sample) { isTaken = true }
              if !isTaken { break }
            }
            for branch in branches { branch.queue.end() }
          }
        } catch {
          for branch in branches { branch.queue.cancel() }
          throw error
        }
      }
      do { for try await _ in group {} } catch {
        for branch in branches { branch.queue.cancel() }
        throw error
      }
    }
  }

  /// A track on its way to one output.
  private final class Branch: @unchecked Sendable {
    // Sendable: the properties do not change, and the queue has its own lock.
    let queue = BoundedQueue<CMSampleBuffer>(capacity: SeveralOutputs.waitingSamples)
    private let owner: SeveralOutputs
    private let output: Int
    private let track: OutputTrack.ID

    init(_ owner: SeveralOutputs, output: Int, track: OutputTrack.ID) {
      (self.owner, self.output, self.track) = (owner, output, track)
    }

    /// - Returns: whether the output takes samples.
    func push(_ sample: CMSampleBuffer) throws -> Bool {
      guard owner.isActive(output) else { return false }
      guard owner.outputs[output].beginsAtZero, let shift = owner.lock.withLock({ owner.origin }) else {
        return queue.push(sample)
      }
      guard let shifted = try shift.apply(to: sample) else { return true }
      return queue.push(shifted)
    }

    func run(whenFull: @escaping @Sendable (Bool) -> Void) async throws {
      guard owner.isActive(output) else { return queue.cancel() }
      do {
        try await owner.outputs[output].append(
          to: track, from: { [queue] in try queue.pop() }, whenFull: whenFull)
      } catch {
        queue.cancel()
        // Its other tracks stop too, since it is abandoned.
        try owner.record(error, of: output)
      }
    }
  }

  /// Set by the first picture; the audio's samples come after it, or are left out.
  private var origin: SampleShift?

  func begin(with first: CMSampleBuffer) {
    lock.withLock { origin = SampleShift(toZero: first) }
    for output in outputs { output.begin(with: first) }
  }

  func finish() async throws {
    for (index, output) in outputs.enumerated() where isActive(index) {
      do { try await output.finish() } catch { try record(error, of: index) }
    }
  }

  func publish(isPart: Bool) throws -> OutputResult {
    var result = OutputResult()
    try onEach { index, output in
      let one = try output.publish(isPart: isPart && !output.isLive)
      // The summary's first file is that of `--out`.
      if index == 0 { (result.fileBytes, result.path) = (one.fileBytes, one.path) }
      result.servers += one.servers
      if index > 0, one.servers.isEmpty {
        result.others.append(AdditionalFile(number: index, path: one.path, fileBytes: one.fileBytes))
      }
    }
    result.failures = lock.withLock {
      failures.sorted { $0.key < $1.key }.map { OutputFailure(number: $0.key, message: $0.value.message) }
    }
    return result
  }

  func abandon() { for output in outputs { output.abandon() } }
}
