// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Foundation
import Synchronization
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// The state that threads share in addition to the rows of pictures that are coded.
@Suite struct RowTaskTests {
  /// Counts the threads of each task, and delays them.
  private final class Counting: RowTask, @unchecked Sendable {
    let byThread: [Entry]
    let byRow: [Entry]

    final class Entry: Sendable {
      let count = Atomic<Int>(0)
    }

    override init(rows: Int, threads: Int) {
      byThread = (0..<threads).map { _ in Entry() }
      byRow = (0..<rows).map { _ in Entry() }
      super.init(rows: rows, threads: threads)
    }

    override func work(row i: Int, thread: Int) {
      byThread[thread].count.add(1, ordering: .relaxed)
      byRow[i].count.add(1, ordering: .relaxed)
      // Others may have the processor.
      for turn in 0..<4000 { if turn % 500 == 0 { sched_yield() } else { _ = getppid() } }
    }
  }

  @Test("Threads that have nothing to code take part, each row is done once", arguments: [2, 3, 8])
  func threadsWithoutSlicesTakePartAndEachRowIsDoneOnce(threads: Int) {
    let signal = Signal()
    let rows = Counting(rows: 24, threads: threads)
    let scheduler = PictureScheduler(threads: threads, slots: 1, first: rows, signal: signal)
    for _ in 0..<10 {
      rows.open(24)
      signal.notify()
      _ = rows.help(thread: 0)
      rows.close()
    }
    scheduler.end()
    #expect(rows.byRow.allSatisfy { $0.count.load(ordering: .relaxed) == 10 })
    for (n, entry) in rows.byThread.enumerated() {
      #expect(entry.count.load(ordering: .relaxed) > 0, "thread \(n) of \(threads)")
    }
  }

  /// The pre-analysis does not depend on the threads.
  @Test("The analysis of several threads is that of one", arguments: SyntheticContent.Kind.allCases)
  func theLookOfSeveralThreadsIsThatOfOne(kind: SyntheticContent.Kind) throws {
    let (width, height) = (210, 178)
    let content = SyntheticContent(kind: kind, width: width, height: height, seed: 3)
    let geometry = PictureGeometry(width: width, height: height)
    var memory = EncoderMemory()
    let kernels = memory.allocate(OVTVideoKernels())
    _ = ovt_video_kernels_init(kernels, ovt_cpu_detect())
    func costs(threads: Int) -> [[Int32]] {
      let analysis = LookAheadPreAnalysis(geometry, kernels: UnsafePointer(kernels), threads: threads)
      let scheduler =
        threads > 1
        ? PictureScheduler(threads: threads, slots: 1, first: analysis, signal: analysis.signal) : nil
      defer { scheduler?.end() }
      var result: [[Int32]] = []
      let pictures = (0..<4).map { _ in QueuedPicture(geometry) }
      for (n, picture) in pictures.enumerated() {
        content.frame(n).withSource(planar: n % 2 == 0, padding: n) {
          analysis.analyse(picture, $0, strength: 1)
        }
        if n > 0 { analysis.estimateMotion(picture, from: pictures[n - 1].lowResolution) }
      }
      analysis.estimateReferenceCosts(pictures[3], to: (pictures[0].lowResolution, 3), nil)
      analysis.estimateReferenceCosts(
        pictures[1], to: (pictures[0].lowResolution, 1), (pictures[3].lowResolution, 2))
      for picture in pictures {
        let count = geometry.macroblockCount
        result.append([Int32(picture.intraCost), Int32(picture.interCost)])
        for values in [picture.intraCosts, picture.interCosts, picture.costs] {
          result.append(Array(UnsafeBufferPointer(start: values, count: count)))
        }
        result.append(UnsafeBufferPointer(start: picture.ownCosts, count: count).map { Int32($0) })
        result.append(
          UnsafeBufferPointer(start: picture.vectors, count: count).map { Int32($0.x) << 16 + Int32($0.y) })
        let levels = picture.brightnessMeasurement.levels
        // The same as for the whole picture, once it is available.
        let whole = BrightnessMeasurement(geometry, memory: &memory)
        for row in 0..<whole.rows { whole.read(picture.source, row: row) }
        #expect(whole.levels.luma.mean == levels.luma.mean)
        #expect(whole.levels.cb.deviation == levels.cb.deviation)
        for level in [levels.luma, levels.cb, levels.cr] {
          result.append([Int32(level.mean * 4096), Int32(level.deviation * 4096)])
        }
        let source = picture.source
        result.append((0..<width * height).map { Int32(source.luma[$0]) })
      }
      return result
    }
    let alone = costs(threads: 1)
    // The mode of intra prediction costs 10 by itself.
    #expect(alone[1].allSatisfy { $0 >= 10 })
    for threads in [2, 3, 8] { #expect(costs(threads: threads) == alone, "\(threads) threads") }
  }

  /// The same of the look of the low-latency encoder.
  @Test("A picture is seen alike by one thread and by several", arguments: SyntheticContent.Kind.allCases)
  func aPictureIsSeenAlikeByOneThreadAndBySeveral(kind: SyntheticContent.Kind) throws {
    let (width, height) = (350, 290)
    let content = SyntheticContent(kind: kind, width: width, height: height, seed: 5)
    func properties(threads: Int) throws -> [PreAnalysisResult] {
      var c = H264EncoderConfiguration(width: width, height: height)
      c.threads = threads
      let (sps, pps) = try c.makeParameterSets()
      let coder = PictureCoder(configuration: c, sps: sps, pps: pps, cpu: ovt_cpu_detect())
      var memory = EncoderMemory()
      let analysis = PreAnalysis(
        coder.geometry, kernels: ovt_video_kernels(coder.kernels), threads: coder.threads, memory: &memory)
      var result: [PreAnalysisResult] = []
      for n in 0..<6 {
        content.frame(n).withSource(planar: true, padding: 0) { analysis.analyse($0, with: coder) }
        result.append(analysis.result(isKeyFrame: false))
        result.append(analysis.result(isKeyFrame: true))
      }
      return result
    }
    let alone = try properties(threads: 1)
    for threads in [2, 5] {
      for (a, b) in zip(alone, try properties(threads: threads)) {
        #expect(a.residual == b.residual && a.novelty == b.novelty && a.isStill == b.isStill)
      }
    }
  }
}
