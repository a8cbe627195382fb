// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs `split`, several `encode-segment` at a time, and `join` as one run.
enum JobsRun {
  static func perform(_ options: EncodingOptions, passes: Int?, jobs: Int) async throws {
    let began = SessionTime.now
    var destination = try Destination(
      argument: options.out, movie: options.movie, suffix: EncodingPlan.Purpose.transcoding.rawValue,
      codec: options.codec, format: options.format(for: options.out))
    if let path = destination.path {
      destination.replaces = try OutputCheck.mayReplace(path, overwrites: options.overwriting.overwrite)
    }
    Interrupt.shared.watch()
    let parent = destination.path.map(folder(of:)) ?? FileManager.default.temporaryDirectory.path
    var planner = Planner(
      options: options, passes: passes, size: .count(1), advice: "omit --jobs", parent: parent)
    planner.isUpright = !destination.hasTransform
    let source = try await planner.open()
    planner.size = .count(segmentCount(source, options, jobs: jobs))
    let scratch = try ScratchFolder(in: parent)
    let plan = try await planner.plan(source)
    let planPath = scratch.path + "/plan.json"
    try plan.write(to: planPath, replaces: false)
    let read = try EncodingPlanFile.read(planPath)
    try await SegmentWorkers(
      plan: read, path: planPath, jobs: jobs,
      mayHaveMoreThreads: options.encoding.threads == nil && read.settings.threadsAreFree,
      style: options.progressOption.progress
    ).run()
    let (opened, joinOptions) = try await PartSource.open(read, at: options.movie, ignoresTime: false)
    try await Joiner(
      file: read, source: opened, options: joinOptions, folder: PartFolder(of: planPath),
      progress: options.progressOption.progress
    ).join(into: destination, began: began)
  }

  /// The least length of a segment in seconds. Shorter segments cost more time than waiting for the
  /// last one: each is decoded from the key frame before it, and it misses its rate by more and so
  /// needs more passes.
  private static let minSeconds = 8.0

  /// The number of segments: enough that no process waits long for the last one, but not so many
  /// that their beginnings cost much.
  private static func segmentCount(_ source: MovieSource, _ options: EncodingOptions, jobs: Int) -> Int {
    let frames = min(source.expectedFrames ?? .max, options.picture.frames ?? .max)
    guard frames < .max else { return jobs * 3 }
    let seconds = Double(frames) / source.frameRate
    let byLength = Int(clamping: (seconds / 20).rounded())
    let maximum = max(jobs, Int(clamping: (seconds / minSeconds).rounded(.down)))
    return max(1, min(max(byLength, jobs * 3), maximum, frames / 50, PartFolder.maxSegments))
  }
}
