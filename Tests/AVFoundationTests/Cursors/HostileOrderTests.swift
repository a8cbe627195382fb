// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import AVFoundation

/// Movies whose pictures are shown long after they are decoded, or in no order: queries of a cursor
/// are correct, and cost a few hundred samples' work, not that of the whole movie.
@Suite struct HostileOrderTests {
  private static let count = 6000

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The presentation time of the picture N, as an expression of ffmpeg.
    let presentationTime: String
  }

  static let cases = [
    Case(
      testDescription: "the first picture is shown last",
      presentationTime: "if(eq(N\\,0)\\,\(count + 1000)\\,N)"),
    Case(
      testDescription: "every other picture is shown later",
      presentationTime: "if(mod(N\\,2)\\,N\\,N+\(count))"),
    Case(testDescription: "backwards", presentationTime: "2*\(count)-N"),
    Case(testDescription: "in no order", presentationTime: "N+mod(N*7919\\,\(count))"),
    Case(testDescription: "at once", presentationTime: "\(count)"),
  ]

  private func index(_ kind: Case) throws -> (AVURLAsset, SampleIndex, [(pts: Int64, dts: Int64)]) {
    let plain = try Fixture.make(
      "hostile-plain.mov",
      [
        "-f", "lavfi", "-i", "color=s=16x16:r=1000", "-frames:v", "\(Self.count)", "-c:v", "mjpeg",
        "-video_track_timescale", "1000",
      ])
    let path = try Fixture.make(
      "hostile.mov",
      [
        "-i", plain, "-c", "copy", "-bsf:v", "setts=pts='\(kind.presentationTime)':dts=N:time_base=1/1000",
        "-video_track_timescale", "1000", "-use_editlist", "0",
      ])
    let text = try Tool.run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts,dts", "-of", "csv=p=0",
      path,
    ])
    let listed = text.split(separator: "\n").map { line in
      let numbers = line.split(separator: ",").compactMap { Int64($0) }
      return (pts: numbers[0], dts: numbers[1])
    }
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    return (asset, try #require(track.sampleIndex), listed)
  }

  @Test(arguments: cases) func stepsInPresentationOrderCostLittle(_ kind: Case) throws {
    let (asset, index, listed) = try index(kind)
    #expect(listed.count == Self.count)
    let sorted = listed.indices.sorted { (listed[$0].pts, $0) < (listed[$1].pts, $1) }
    #expect(index.firstPresented == sorted.first)
    #expect(index.lastPresented == sorted.last)
    // The first query may read the file; later ones examine only a few blocks.
    let maximum = 128 * 40
    var costliest = 0
    func cost<T>(_ work: () -> T) -> T {
      let before = index.lookups
      defer { costliest = max(costliest, index.lookups - before) }
      return work()
    }
    var wrong = 0
    for (place, number) in sorted.enumerated() {
      let next = place + 1 < sorted.count ? sorted[place + 1] : nil
      let before = place > 0 ? sorted[place - 1] : nil
      if cost({ index.presentedAfter(number) }) != next { wrong += 1 }
      if cost({ index.presentedBefore(number) }) != before { wrong += 1 }
      let time = listed[number].pts
      let last = sorted[place...].prefix { listed[$0].pts == time }.last
      if place % 50 == 0, cost({ index.sample(presentedAt: time) }) != last { wrong += 1 }
    }
    #expect(wrong == 0)
    #expect(costliest <= maximum, "\(costliest) samples were looked at for one step")
    withExtendedLifetime(asset) {}
  }

  @Test(arguments: cases) func questionsOfReorderingCostLittle(_ kind: Case) throws {
    let (asset, index, listed) = try index(kind)
    _ = index.last
    // The latest before, and the earliest after, each sample.
    var latest = [Int64.min]
    for sample in listed { latest.append(max(latest[latest.count - 1], sample.pts)) }
    var earliest = [Int64.max]
    for sample in listed.reversed() { earliest.append(min(earliest[earliest.count - 1], sample.pts)) }
    earliest.reverse()
    var (wrong, costliest) = (0, 0)
    for (number, sample) in listed.enumerated() {
      let before = index.lookups
      if index.isAnyPresented(after: sample.pts, before: number) != (latest[number] > sample.pts) {
        wrong += 1
      }
      if index.isAnyPresented(before: sample.pts, following: number) != (earliest[number + 1] < sample.pts) {
        wrong += 1
      }
      // Each of these pictures is a group of its own.
      if index.sync(before: number) != number { wrong += 1 }
      costliest = max(costliest, index.lookups - before)
    }
    #expect(wrong == 0)
    #expect(costliest <= 128 * 8, "\(costliest) samples were looked at for one picture")
    withExtendedLifetime(asset) {}
  }

  /// A single key frame, and a single chunk, of thousands of samples.
  @Test func keyFramesAndChunksFarAwayCostLittle() throws {
    let path = try Fixture.make(
      "one-key.mov",
      [
        "-f", "lavfi", "-i", "color=s=16x16:r=1000", "-frames:v", "\(Self.count)", "-c:v", "mpeg4", "-g",
        "\(Self.count)", "-sc_threshold", "1000000000", "-video_track_timescale", "1000",
      ])
    let samples = try Probe.samples(path, data: false)
    let keys = samples.indices.filter { samples[$0].isSync }
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let index = try #require(track.sampleIndex)
    #expect(index.last == Self.count - 1)
    let first = index.lookups
    for number in 0..<Self.count {
      #expect(index.sync(before: number) == keys.last { $0 <= number })
      #expect(index.chunk(of: number)?.samples.contains(number) == true)
    }
    #expect(index.lookups - first < Self.count * 400, "\(index.lookups - first)")
    withExtendedLifetime(asset) {}
  }

  /// The order compared with a sorted list, with keys in any order that are often equal.
  @Test(arguments: [1, 40, 1_000_000]) func theOrderIsThatOfASortedList(range: Int64) {
    var state: UInt64 = 88_172_645_463_325_252
    func random() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
    typealias Key = PresentationOrder.Key
    var times: [Int64] = []
    var order = PresentationOrder()
    for number in 0..<5000 {
      times.append(Int64(random() % UInt64(range)) + (number % 3 == 0 ? Int64(number) : 0))
      order.insert(Key(time: times[number], number: number)) { times[$0] }
    }
    let sorted = times.indices.map { Key(time: times[$0], number: $0) }.sorted()
    #expect(order.first == sorted.first)
    #expect(order.last == sorted.last)
    var wrong = 0
    for (place, key) in sorted.enumerated() {
      if order.next(after: key, time: { times[$0] }) != (place + 1 < sorted.count ? sorted[place + 1] : nil) {
        wrong += 1
      }
      if order.last(before: key, time: { times[$0] }) != (place > 0 ? sorted[place - 1] : nil) { wrong += 1 }
      let beyond = Key(time: key.time, number: .max)
      if order.last(before: beyond, time: { times[$0] }) != sorted.last(where: { $0.time <= key.time }),
        place % 100 == 0
      {
        wrong += 1
      }
    }
    #expect(wrong == 0)
  }
}
