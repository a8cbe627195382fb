// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import CAllocationCounter
import H264Encoder

/// An encoder configuration whose allocations per frame are counted.
struct EngineCase {
  let name: String
  var configuration: H264EncoderConfiguration
  /// The options for frame `n`. They are created before the counting starts.
  var options: (Int) -> H264FrameOptions = { _ in H264FrameOptions() }

  struct Count {
    var first = 0
    var later = 0
    var framesWithAny = 0
    var laterFrames = 0
    var kilobits = 0.0
  }

  func count(_ clip: ClipPictures, traps: Bool) throws -> Count {
    let encoder = try H264Encoder(configuration: configuration)
    let options = (0..<clip.count).map(self.options)
    var count = Count()
    var bytes = 0
    for n in 0..<clip.count {
      let luma = clip.picture(n)
      let picture = SourcePicture(
        width: clip.width, height: clip.height, luma: luma, lumaBytesPerRow: clip.width,
        chroma: .interleaved(luma + clip.width * clip.height, bytesPerRow: clip.width))
      let frameOptions = options[n]
      let before = allocation_count()
      if n >= MadeUpClip.frameRate && traps { allocation_trap(1) }
      bytes += try encoder.encode(picture, options: frameOptions).byteCount
      allocation_trap(0)
      let allocated = Int(allocation_count() - before)
      if n < MadeUpClip.frameRate {
        count.first += allocated
      } else {
        count.later += allocated
        count.laterFrames += 1
        if allocated > 0 { count.framesWithAny += 1 }
      }
    }
    count.kilobits = Double(bytes * 8) * clip.frameRate / Double(clip.count) / 1000
    return count
  }

  static var all: [EngineCase] {
    var list: [EngineCase] = []
    for threads in [1, 2] {
      for (rateName, rate) in [
        ("QP 28", H264EncoderConfiguration.LowLatency.RateControl.constantQP(28)),
        ("600 kbit/s", .averageBitRate(600_000)),
      ] {
        for effort in [0, 3, H264EncoderConfiguration.maxEffort] {
          var c = H264EncoderConfiguration(width: MadeUpClip.width, height: MadeUpClip.height)
          c.frameRate = Double(MadeUpClip.frameRate)
          c.threads = threads
          c.lowLatency.rateControl = rate
          c.effort = effort
          let name = "\(threads) thread\(threads == 1 ? "" : "s"), \(rateName), effort \(effort)"
          list.append(EngineCase(name: name, configuration: c))
          if effort == H264EncoderConfiguration.maxEffort { continue }
          var several = c
          several.maximumReferences = 4
          several.lowLatency.adaptiveQuantisation = 1
          several.measuresError = true
          list.append(EngineCase(name: name + ", 4 references", configuration: several))
          several.lowLatency.longTermReferences = 2
          several.lowLatency.writesTemporalLayerPrefix = true
          several.lowLatency.allowsNonReferenceFrames = true
          list.append(
            EngineCase(name: name + ", long-term, layers", configuration: several) { n in
              var o = H264FrameOptions()
              if n % 10 == 0 { o.longTermSlot = n / 10 % 2 }
              o.isReference = n % 2 == 0
              o.temporalLayer = n % 2
              if n % 25 == 24 { o.references = .longTerm([1, 0]) }
              return o
            })
          var limited = c
          limited.dataRateLimits = [.init(bytes: 50_000, seconds: 1), .init(bytes: 120_000, seconds: 3)]
          limited.lowLatency.allowsFrameDropping = true
          limited.lowLatency.sceneChange = .keyFrame
          limited.slices = 3
          list.append(EngineCase(name: name + ", data-rate limits", configuration: limited))
          if threads == 1 {
            limited.maximumSliceBytes = 500
            limited.lowLatency.intraRefreshPeriod = 15
            limited.entropyCoding = .cavlc
            list.append(EngineCase(name: name + ", limits, small slices", configuration: limited))
          }
        }
      }
    }
    return list
  }
}
