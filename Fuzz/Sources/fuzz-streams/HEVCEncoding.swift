// SPDX-License-Identifier: Apache-2.0
import FuzzDriver
import HEVCEncoder

/// Encodes pictures with the package's own HEVC encoder. The input chooses the configuration, the
/// pictures, the options of each frame and the calls between them. Values that are out of range
/// must be refused. What is encoded must be decoded by libavcodec to the reconstruction, must not
/// depend on the number of threads, and so must a second pass with the statistics of the first.
@Sendable func fuzzHEVCEncoder(_ input: inout FuzzInput) {
  let job = HEVCJob(&input)
  let (width, height) = (Double(job.configuration.width), Double(job.configuration.height))
  // Larger pictures would only take time and memory.
  let isValid = [width, height].allSatisfy { (8...Double(HEVCEncoderConfiguration.largestSide)).contains($0) }
  if isValid, width * height > 65_536 { return }
  guard let first = HEVCEncoding(job, threads: nil, pass: nil) else { return }
  let known = first.statistics
  if job.comparesThreads, job.configuration.threads > 1 {
    let other = HEVCEncoding(job, threads: 1, pass: nil)
    require(other?.stream == first.stream, "another stream with one thread")
  }
  guard job.repeatsPass else { return }
  require((try? PassStatistics(bytes: known.bytes)) != nil, "statistics that cannot be read")
  _ = HEVCEncoding(job, threads: nil, pass: known)
}

/// The encoding of a job, whose stream has been compared with what libavcodec decodes.
private final class HEVCEncoding {
  /// The bytes of all frames.
  private(set) var stream: [UInt8] = []
  /// The statistics of the pass.
  private(set) var statistics: PassStatistics

  private let encoder: HEVCEncoder
  private let decoder: HEVCDecoding?
  private let isLowLatency: Bool
  private let hasRange: Bool
  /// The number of pictures that were accepted, and of the frames that came out.
  private var (accepted, out) = (0, 0)
  /// The reconstructions that the decoder has to show, in decoding order.
  private var expected: [(index: UInt64, picture: HEVCPicture)] = []
  private var shown: [HEVCPicture] = []
  /// Frames that the decoder does not get.
  private var lost: Set<UInt64> = []

  /// Encodes the pictures of a job.
  /// - Parameters:
  ///   - job: what to encode.
  ///   - threads: the number of threads; nil: that of the job. Then the stream is decoded, too.
  ///   - pass: the statistics of an earlier pass.
  /// - Returns: nil if the encoder refuses the configuration.
  init?(_ job: HEVCJob, threads: Int?, pass: PassStatistics?) {
    var configuration = job.configuration
    if let threads { configuration.threads = threads }
    guard let made = Self.encoder(configuration, pass) else { return nil }
    encoder = made
    encoder.keepsStatistics = true
    statistics = encoder.statistics
    isLowLatency = if case .zero = configuration.latency { true } else { false }
    hasRange = !job.changesRange
    decoder = threads == nil ? HEVCDecoding(configuration) : nil
    if let begin = job.begin { encoder.begin(at: begin) }
    if !configuration.writesParameterSets {
      let sets = encoder.parameterSets
      decoder?.parameterSets = [sets.video, sets.sequence] + sets.pictures
    }
    encode(job)
  }

  private static func encoder(
    _ configuration: HEVCEncoderConfiguration, _ pass: PassStatistics?
  ) -> HEVCEncoder? {
    guard let pass else { return try? HEVCEncoder(configuration: configuration) }
    return try? HEVCEncoder(configuration: configuration, pass: pass)
  }

  private func encode(_ job: HEVCJob) {
    var canvas = HEVCCanvas(job.configuration, job.layout)
    for step in job.steps { perform(step, &canvas) }
    flush()
    require(out == accepted, "\(out) frames of \(accepted) pictures")
    require(encoder.heldFrameCount == 0, "pictures wait after the end")
    statistics = encoder.statistics
    guard let decoder else { return }
    while let picture = decoder.drain() { shown.append(picture) }
    if !isLowLatency { expected.sort { $0.index < $1.index } }
    require(shown.count == expected.count, "\(shown.count) pictures are shown, not \(expected.count)")
    for n in shown.indices {
      let (index, picture) = expected[n]
      require(shown[n] == picture, "frame \(index) is not shown as it was reconstructed")
    }
  }

  // MARK: - Steps

  private func perform(_ step: HEVCStep, _ canvas: inout HEVCCanvas) {
    switch step {
    case .encode(let changes, var request, let isLost):
      for change in changes { canvas.apply(change) }
      request.resolve(encoder.availableReferences)
      encode(canvas, request.options, isLost: isLost && isLowLatency)
    case .reconfigure(let change):
      var changed = encoder.configuration
      change.apply(to: &changed)
      let before = encoder.configuration
      do { try encoder.reconfigure(changed) } catch {
        require(encoder.configuration == before, "a refused change has an effect")
      }
    case .invalidate(let back):
      encoder.invalidateReferences(from: UInt64(clamping: accepted &- back))
    case .acknowledge(let place):
      let known = encoder.availableReferences.filter { !lost.contains($0) }
      encoder.invalidateReferences(except: place < known.count ? known[place] : .max)
    case .complete(let back):
      let output = Output()
      output.complete(through: UInt64(clamping: accepted &- back), encoder)
      take(output, isLost: false)
    case .flush: flush()
    }
  }

  private func flush() {
    let output = Output()
    output.flush(encoder)
    take(output, isLost: false)
  }

  private func encode(_ canvas: HEVCCanvas, _ options: HEVCFrameOptions, isLost: Bool) {
    let output = Output()
    let isAccepted = canvas.withSource { output.encode($0, options, encoder) }
    guard isAccepted else {
      require(output.frames.isEmpty, "a frame of a refused picture")
      return
    }
    accepted += 1
    let index = UInt64(accepted - 1)
    if isLowLatency {
      require(output.frames.count == 1, "\(output.frames.count) frames of a picture")
      require(output.frames.first?.properties.index == index, "another number")
    }
    take(output, isLost: isLost)
    if isLost {
      lost.insert(index)
      encoder.invalidateReferences(from: index)
      require(!encoder.availableReferences.contains(index), "a lost frame is a reference")
    }
  }

  // MARK: - Frames

  /// Frames that have come out of a call. They are checked after it: an error that ends the process
  /// would hide those of the encoder.
  private final class Output {
    struct Frame {
      var properties: HEVCFrameProperties
      var units: [[UInt8]]
      var data: [UInt8]
      var reconstruction: HEVCPicture?
    }
    private(set) var frames: [Frame] = []

    /// Encodes a picture.
    /// - Returns: whether the encoder accepts it.
    func encode(
      _ source: HEVCSource, _ options: HEVCFrameOptions, _ encoder: HEVCEncoder
    ) -> Bool {
      do {
        try encoder.encode(source, options: options) { add($0, encoder) }
        return true
      } catch { return false }
    }

    func complete(through index: UInt64, _ encoder: HEVCEncoder) {
      encoder.complete(through: index) { add($0, encoder) }
    }

    func flush(_ encoder: HEVCEncoder) { encoder.flush { add($0, encoder) } }

    private func add(_ frame: consuming HEVCEncodedFrame, _ encoder: HEVCEncoder) {
      let units = frame.nalUnits.map { frame.data(of: $0) }
      frames.append(
        Frame(
          properties: frame.properties, units: units, data: frame.data,
          reconstruction: frame.properties.isDropped ? nil : HEVCPicture(reconstructionOf: encoder)))
    }
  }

  private func take(_ output: Output, isLost: Bool) {
    for frame in output.frames {
      let (properties, configuration) = (frame.properties, encoder.configuration)
      out += 1
      require(properties.bits == frame.data.count * 8, "another number of bits")
      require(properties.isDropped == frame.units.isEmpty, "a dropped frame has units")
      stream += frame.data
      if properties.isDropped {
        require(isLowLatency && configuration.lowLatency.allowsFrameDropping, "a frame is dropped")
        continue
      }
      if hasRange {
        require(
          properties.lowestQP >= configuration.minimumQP && properties.highestQP <= configuration.maximumQP,
          "QP \(properties.lowestQP)...\(properties.highestQP) is not in the range")
      }
      check(frame)
      if isLost { continue }
      guard let decoder, let picture = frame.reconstruction else { continue }
      expected.append((properties.index, picture))
      let decoded = decoder.decode(frame.units)
      if isLowLatency {
        require(decoded == picture, "frame \(properties.index) is not decoded to the reconstruction")
      }
      if let decoded { shown.append(decoded) }
    }
  }

  /// Checks the bytes that precede each NAL unit, and that no start code is within one.
  private func check(_ frame: Output.Frame) {
    var position = 0
    for unit in frame.units {
      let lengths = (0..<4).map { UInt8(truncatingIfNeeded: unit.count >> (24 - 8 * $0)) }
      let framing = encoder.configuration.framing == .startCodes ? [0, 0, 0, 1] : lengths
      let end = position + 4 + unit.count
      require(end <= frame.data.count, "a unit exceeds its frame")
      require(Array(frame.data[position..<position + 4]) == framing, "wrong framing")
      require(Array(frame.data[position + 4..<end]) == unit, "another unit than in the frame")
      position = end
      var zeros = 0
      for byte in unit {
        require(zeros < 2 || byte > 2, "a start code within a unit")
        zeros = byte == 0 ? zeros + 1 : 0
      }
      require(zeros == 0, "a unit ends with a zero byte")
    }
    require(position == frame.data.count, "bytes behind the last unit")
  }
}
