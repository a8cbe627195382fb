// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// Converts linear PCM between layouts, sample rates and numbers of channels. Not thread-safe.
package final class PCMConverter {
  /// Options of a conversion.
  package struct Options: Sendable {
    /// Taps of the resampling filter; nil: libswresample's default, 32.
    package var filterSize: Int?
    /// For each channel of the result, the channel of the source, from 0, or -1 for silence; nil:
    /// channels are mixed.
    package var channelMap: [Int]?
    /// Whether dither noise is added before samples are quantized to integers.
    package var isDithered = false

    package init() {}
  }

  /// Frames in the format of the result.
  package struct Piece: Sendable {
    /// One plane of interleaved samples, or one plane per channel.
    package var planes: [[UInt8]]
    package var frames: Int
  }

  private let source: PCMLayout
  private let target: PCMLayout
  private let sourceChannels: Int
  private let targetChannels: Int
  private let sourceRate: Int
  private let targetRate: Int
  private let ends: (ResamplerFormat, ResamplerFormat)
  private let options: AudioResampler.Options
  private var resampler: OpaquePointer?

  /// Half the length of the resampling filter, in frames of the source: a frame depends on this
  /// many later ones. 0 if the rate does not change.
  package let latency: Int

  /// Makes a converter.
  /// - Parameters:
  ///   - source: The format of the source.
  ///   - target: The format of the result.
  ///   - options: How to convert.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if samples, rates or channels
  ///   cannot be converted.
  package init(
    from source: AudioStreamBasicDescription, to target: AudioStreamBasicDescription, _ options: Options
  ) throws {
    guard let from = Self.end(source), let to = Self.end(target), let sourceLayout = PCMLayout(source),
      let targetLayout = PCMLayout(target)
    else { throw MediaFileError(.unsupportedFormat, "the audio has no valid sample rate, channels or bits") }
    (self.source, self.target) = (sourceLayout, targetLayout)
    (sourceChannels, targetChannels) = (Int(from.layout.nb_channels), Int(to.layout.nb_channels))
    (sourceRate, targetRate) = (Int(from.rate), Int(to.rate))
    ends = (from, to)
    self.options = AudioResampler.Options(
      filterSize: options.filterSize, channelMap: options.channelMap, isNormalized: true,
      isDithered: options.isDithered && !targetLayout.isFloat)
    // For a lower rate, the filter is longer by the ratio of the rates.
    let half = Double(options.filterSize ?? 32) / 2
    latency =
      sourceRate == targetRate
      ? 0 : Int((half * max(1, Double(sourceRate) / Double(targetRate))).rounded(.up))
    resampler = try AudioResampler.make(from: from, to: to, self.options)
  }

  deinit { swr_free(&resampler) }

  /// Numbers of channels that can be converted.
  private static let channels = 1...UInt32(64)

  private static func end(_ basic: AudioStreamBasicDescription) -> ResamplerFormat? {
    guard basic.mFormatID == kAudioFormatLinearPCM, let layout = PCMLayout(basic),
      channels.contains(basic.mChannelsPerFrame),
      basic.mSampleRate >= 1, basic.mSampleRate <= Double(SampleRates.convertible.upperBound)
    else { return nil }
    var end = ResamplerFormat(
      format: layout.format, rate: Int32(basic.mSampleRate.rounded()), layout: AVChannelLayout())
    av_channel_layout_default(&end.layout, Int32(basic.mChannelsPerFrame))
    return end
  }

  /// Discards the frames that are held.
  /// - Throws: `MediaFileError` if no new resampler can be made.
  package func reset() throws {
    swr_free(&resampler)
    resampler = try AudioResampler.make(from: ends.0, to: ends.1, options)
  }

  /// Converts frames. The last ones are held until those that follow are known.
  /// - Parameters:
  ///   - planes: One plane of interleaved samples, or one per channel, in the source's format.
  ///   - frames: The number of frames in each plane.
  /// - Returns: The frames that are complete.
  /// - Throws: `MediaFileError`.
  package func convert(_ planes: [UnsafeRawBufferPointer], frames: Int) throws -> Piece {
    let width = source.width * (source.isPlanar ? 1 : sourceChannels)
    guard planes.count == (source.isPlanar ? sourceChannels : 1),
      planes.allSatisfy({ $0.count >= frames * width }), frames >= 0
    else { throw MediaFileError(.unsupportedFormat, "the audio has another number of channels or frames") }
    var result = makePiece()
    // At a very low sample rate, a few frames become many; so at most one second is converted at a
    // time.
    let maximum = sourceRate == targetRate ? max(sourceRate, 4096) : sourceRate
    var done = 0
    while done < frames {
      let count = min(frames - done, maximum)
      let parts = planes.map { UnsafeRawBufferPointer(rebasing: $0[done * width..<(done + count) * width]) }
      if source.isNative {
        try run(parts.map(\.baseAddress), count, into: &result)
      } else {
        let native = parts.map { source.native([UInt8]($0)) }
        try withPointers(native) { try run($0, count, into: &result) }
      }
      done += count
    }
    return result
  }

  /// Returns the frames that are still held, computed as if silence followed.
  /// - Throws: `MediaFileError`.
  package func finish() throws -> Piece {
    var result = makePiece()
    try run(nil, 0, into: &result)
    return result
  }

  private func makePiece() -> Piece {
    Piece(planes: Array(repeating: [], count: target.isPlanar ? targetChannels : 1), frames: 0)
  }

  private func withPointers(_ planes: [[UInt8]], _ body: ([UnsafeRawPointer?]) throws -> Void) throws {
    // All planes are in one allocation, so that their pointers are valid together.
    let size = planes.first?.count ?? 0
    let joined = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size * planes.count), alignment: 64)
    defer { joined.deallocate() }
    for (index, plane) in planes.enumerated() {
      UnsafeMutableRawBufferPointer(rebasing: joined[(index * size)...]).copyBytes(from: plane)
    }
    guard let base = joined.baseAddress else { return }
    try body(planes.indices.map { UnsafeRawPointer(base + $0 * size) })
  }

  private func run(_ input: [UnsafeRawPointer?]?, _ count: Int, into result: inout Piece) throws {
    guard let resampler else { return }
    let capacity = swr_get_out_samples(resampler, Int32(count))
    guard capacity >= 0 else { throw MediaFileError.libav(capacity, "audio cannot be converted") }
    guard capacity > 0 else { return }
    let planeCount = target.isPlanar ? targetChannels : 1
    let size = Int(capacity) * target.nativeWidth * (target.isPlanar ? 1 : targetChannels)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: planeCount * size, alignment: 64)
    defer { memory.deallocate() }
    guard let base = memory.baseAddress else { return }
    var outputs: [UnsafeMutablePointer<UInt8>?] = (0..<planeCount).map {
      (base + $0 * size).assumingMemoryBound(to: UInt8.self)
    }
    var inputs = input?.map { $0?.assumingMemoryBound(to: UInt8.self) } ?? []
    let made = outputs.withUnsafeMutableBufferPointer { out in
      inputs.withUnsafeMutableBufferPointer {
        swr_convert(resampler, out.baseAddress, capacity, input == nil ? nil : $0.baseAddress, Int32(count))
      }
    }
    guard made >= 0 else { throw MediaFileError.libav(made, "audio cannot be converted") }
    let bytes = Int(made) * target.nativeWidth * (target.isPlanar ? 1 : targetChannels)
    for index in 0..<planeCount {
      let native = [UInt8](UnsafeRawBufferPointer(start: base + index * size, count: bytes))
      result.planes[index] += target.stored(native)
    }
    result.frames += Int(made)
  }
}
