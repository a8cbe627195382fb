// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// Runs `encode-segment` for every segment of a plan, several at a time. A segment that fails is
/// tried once more.
final class SegmentWorkers: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private static let maxTries = 2
  /// The number of encoder threads for the last segments, when fewer are waiting than there are
  /// jobs.
  private static let threadsAtTheEnd = min(max(ProcessInfo.processInfo.activeProcessorCount, 1), 4)

  private let plan: EncodingPlanFile
  private let path: String
  private let jobs: Int
  private let mayHaveMoreThreads: Bool
  private let line: ProgressLine
  private let lock = Lock()
  private var waiting: [Int]
  private var tries: [Int: Int] = [:]
  private var running: [Int: Process] = [:]
  /// The fraction of each segment that is done, 0 to 1.
  private var done: [Double]
  private var failure: Failure?

  /// - Parameters:
  ///   - plan: the plan.
  ///   - path: the plan's file.
  ///   - jobs: the number of processes that run at the same time.
  ///   - mayHaveMoreThreads: whether the last segments may use several threads each, because the
  ///     stream does not depend on their number.
  ///   - style: how progress is reported.
  init(plan: EncodingPlanFile, path: String, jobs: Int, mayHaveMoreThreads: Bool, style: ProgressStyle) {
    (self.plan, self.path, self.jobs, self.mayHaveMoreThreads) = (plan, path, jobs, mayHaveMoreThreads)
    line = ProgressLine(total: nil, style: style)
    done = Array(repeating: 0, count: plan.segments.count)
    // The segments that take longest are encoded first, so that the processes end at about the same
    // time.
    let frames = Double(plan.frames)
    let cost = plan.segments.map { Double($0.frames) / frames + $0.complexity }
    waiting = plan.segments.indices.sorted { cost[$0] > cost[$1] }
  }

  func run() async throws {
    defer { line.finish() }
    Interrupt.shared.onRequest { [weak self] in self?.stop() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<min(jobs, plan.segments.count) {
        group.addTask { [self] in
          do {
            try await onThread("job \(number)") { [self] in try work() }
          } catch {
            // If no thread can be started, the other jobs end too.
            lock.withLock { failure = failure ?? error as? Failure }
            throw error
          }
        }
      }
      try await group.waitForAll()
    }
    try Interrupt.shared.check()
    if let failure = lock.withLock({ failure }) { throw failure }
  }

  private func work() throws {
    while let (segment, threads) = next() {
      let problem: String?
      do {
        problem = try encode(segment, threads: threads)
      } catch {
        // The other jobs end too, because the movie cannot be completed any more.
        lock.withLock { failure = failure ?? error as? Failure }
        throw error
      }
      lock.withLock {
        running[segment] = nil
        guard let problem else { return done[segment] = 1 }
        tries[segment, default: 0] += 1
        if tries[segment, default: 0] < Self.maxTries {
          done[segment] = 0
          waiting.append(segment)
        } else {
          failure = failure ?? Failure("segment \(segment) failed: \(problem)")
        }
      }
    }
  }

  /// Takes the next segment.
  /// - Returns: the segment and the number of its encoder's threads, or nil for the planned number;
  ///   nil if there is none left.
  private func next() -> (segment: Int, threads: Int?)? {
    lock.withLock {
      guard failure == nil, !Interrupt.shared.isRequested, !waiting.isEmpty else { return nil }
      let segment = waiting.removeFirst()
      let isNearTheEnd = waiting.count < jobs
      return (segment, mayHaveMoreThreads && isNearTheEnd ? Self.threadsAtTheEnd : nil)
    }
  }

  /// Encodes a segment in another process.
  /// - Returns: the reason of a failure in one line; nil if it succeeded.
  private func encode(_ segment: Int, threads: Int?) throws -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "encode-segment", "--plan", path, "--segment", "\(segment)", "--progress", "json",
    ]
    if let threads { process.arguments? += ["--threads", "\(threads)"] }
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    do { try process.run() } catch {
      throw Failure("cannot start another vtencode: \(Failure.describe(error))")
    }
    lock.withLock { running[segment] = process }
    if Interrupt.shared.isRequested { stop() }
    var last = ""
    var rest = Data()
    while true {
      let bytes = pipe.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      rest += bytes
      while let end = rest.firstIndex(of: 10) {
        let text = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
        rest = Data(rest[(end + 1)...])
        if let event = Progress(text) { record(event, segment) } else if !text.hasPrefix("{") { last = text }
      }
    }
    process.waitUntilExit()
    guard process.terminationStatus != 0 || process.terminationReason == .uncaughtSignal else { return nil }
    if process.terminationReason == .uncaughtSignal {
      return "its process was ended by signal \(process.terminationStatus)"
    }
    return last.hasPrefix("vtencode: ") ? String(last.dropFirst(10)) : last
  }

  private struct Progress: Decodable {
    var event: String
    var frames: Int
    var pass: Int?
    var passes: Int?

    init?(_ line: String) {
      guard let made = try? JSONDecoder().decode(Progress.self, from: Data(line.utf8)),
        made.event == "progress"
      else { return nil }
      self = made
    }
  }

  private func record(_ event: Progress, _ segment: Int) {
    // A third pass is not counted, because it is made only if necessary. If the plan has
    // statistics, the analysis was the first pass.
    let before = plan.segments[segment].statistics == nil ? 0 : 1
    let passes = Double(max(min(event.passes ?? 1, 2) - before, 1))
    let frames = Double(event.frames) / Double(plan.segments[segment].frames)
    let fraction = min((Double(max((event.pass ?? 1) - 1 - before, 0)) + frames) / passes, 1)
    let all = lock.withLock {
      done[segment] = max(done[segment], fraction)
      return zip(plan.segments, done).reduce(0) { $0 + Double($1.0.frames) * $1.1 } / Double(plan.frames)
    }
    line.update(share: all)
  }

  /// Interrupts all running processes.
  private func stop() { for process in lock.withLock({ Array(running.values) }) { process.interrupt() } }
}
