// Encodes made-up video in many configurations and counts the allocations of each frame after the first
// second. Run by scripts/count-allocations, which loads the counter before it.

import Foundation
import H264Encoder

private typealias Counter = @convention(c) () -> UInt
private typealias Trap = @convention(c) (Int32) -> Void

private func symbol<T>(_ name: String, as type: T.Type) -> T? {
  dlsym(UnsafeMutableRawPointer(bitPattern: 0), name).map { unsafeBitCast($0, to: type) }
}

guard let count = symbol("ovt_allocation_count", as: Counter.self),
  let trap = symbol("ovt_allocation_trap", as: Trap.self)
else {
  print("The counter is not loaded: run scripts/count-allocations.")
  exit(2)
}
private let traps = CommandLine.arguments.contains("--trap")

private let width = 320
private let height = 192
private let frameRate = 30
private let seconds = 5

/// A few seconds of a moving texture with a scene change and some noise, NV12, all in memory beforehand.
private struct Clip {
  let frames: [UnsafeMutablePointer<UInt8>]

  init(count: Int) {
    frames = (0..<count).map { n in
      let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: width * height * 3 / 2)
      var noise = UInt32(truncatingIfNeeded: n &* 2_654_435_761)
      let scene = n / 40
      for y in 0..<(height * 3 / 2) {
        for x in 0..<width {
          noise = noise &* 1_664_525 &+ 1_013_904_223
          let u = Double(x + n * 2 + scene * 57) / 23
          let v = Double(y - n + scene * 91) / 17
          let texture = 128 + 60 * sin(u) * cos(v) + 30 * sin(u * 5.1 + v * 3.3)
          memory[y * width + x] = UInt8(max(0, min(255, texture + Double(noise >> 28))))
        }
      }
      return memory
    }
  }

  func picture(_ n: Int) -> SourcePicture {
    let memory = frames[n]
    return SourcePicture(
      width: width, height: height, luma: memory, lumaBytesPerRow: width,
      chroma: .interleaved(memory + width * height, bytesPerRow: width))
  }
}

private struct Case {
  let name: String
  var configuration: EncoderConfiguration
  /// Options of frame `n`, made before the frame is counted.
  var options: (Int) -> FrameOptions = { _ in FrameOptions() }
}

private func cases() -> [Case] {
  var list: [Case] = []
  for threads in [1, 2] {
    for (rateName, rate) in [
      ("QP 28", EncoderConfiguration.RateControl.constantQP(28)), ("600 kbit/s", .averageBitRate(600_000)),
    ] {
      for speed in [0, 3, EncoderConfiguration.fastestSpeed] {
        var c = EncoderConfiguration(width: width, height: height)
        c.frameRate = Double(frameRate)
        c.threads = threads
        c.rateControl = rate
        c.speed = speed
        let name = "\(threads) thread\(threads == 1 ? "" : "s"), \(rateName), speed \(speed)"
        list.append(Case(name: name, configuration: c))
        if speed == 0 { continue }
        var several = c
        several.maximumReferences = 4
        several.adaptiveQuantisation = 1
        several.measuresError = true
        list.append(Case(name: name + ", 4 references", configuration: several))
        several.longTermReferences = 2
        several.writesTemporalLayerPrefix = true
        several.allowsNonReferenceFrames = true
        list.append(
          Case(name: name + ", long-term, layers", configuration: several) { n in
            var o = FrameOptions()
            if n % 10 == 0 { o.longTermSlot = n / 10 % 2 }
            o.isReference = n % 2 == 0
            o.temporalLayer = n % 2
            if n % 25 == 24 { o.references = .longTerm([1, 0]) }
            return o
          })
        var limited = c
        limited.dataRateLimits = [.init(bytes: 50_000, seconds: 1), .init(bytes: 120_000, seconds: 3)]
        limited.allowsFrameDropping = true
        limited.sceneChange = .keyFrame
        limited.slices = 3
        list.append(Case(name: name + ", data-rate limits", configuration: limited))
        if threads == 1 {
          limited.maximumSliceBytes = 500
          limited.intraRefreshPeriod = 15
          limited.entropyCoding = .cavlc
          list.append(Case(name: name + ", limits, small slices", configuration: limited))
        }
      }
    }
  }
  return list
}

private let clip = Clip(count: frameRate * seconds)
private var failures = 0
for test in cases() {
  let encoder = try LowLatencyEncoder(configuration: test.configuration)
  let options = clip.frames.indices.map(test.options)
  var first = 0
  var later = 0
  var framesWith = 0
  var bytes = 0
  for n in clip.frames.indices {
    let picture = clip.picture(n)
    let frameOptions = options[n]
    let before = count()
    if n >= frameRate && traps { trap(1) }
    bytes += try encoder.encode(picture, options: frameOptions).byteCount
    trap(0)
    let allocated = Int(count() - before)
    if n < frameRate {
      first += allocated
    } else {
      later += allocated
      if allocated > 0 { framesWith += 1 }
    }
  }
  if later > 0 { failures += 1 }
  let name = test.name.padding(toLength: 52, withPad: " ", startingAt: 0)
  print(
    "\(name) first second \(first), then \(later) in \(framesWith) of \(frameRate * (seconds - 1)) frames"
      + " (\(bytes * 8 / seconds / 1000) kbit/s)")
}
print(failures == 0 ? "No allocation after the first second." : "\(failures) configurations allocate.")
exit(failures == 0 ? 0 : 1)
