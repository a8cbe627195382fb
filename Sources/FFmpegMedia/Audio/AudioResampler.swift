// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// The sample format, rate and channels at one side of a conversion.
struct ResamplerFormat {
  var format: AVSampleFormat
  var rate: Int32
  var layout: AVChannelLayout
}

/// Makes resampling contexts of libswresample.
enum AudioResampler {
  /// Options of a conversion.
  struct Options: Sendable {
    /// Taps of the resampling filter; nil: libswresample's default, 32.
    var filterSize: Int?
    /// For each channel of the result, the channel of the source, from 0; one that the source does
    /// not have becomes silence. nil: the two channel layouts decide, which may mix channels.
    var channelMap: [Int]?
    /// Whether mixing channels is scaled so that the result cannot exceed full scale in any sample
    /// format. Otherwise this is so for integers only.
    var isNormalized = false
    /// Whether triangular dither is added before samples become integers of fewer bits.
    var isDithered = false
  }

  /// Makes an initialized context, which the caller frees with `swr_free`.
  /// - Parameters:
  ///   - source: The source.
  ///   - target: The result.
  ///   - options: How to convert.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if libswresample cannot do the
  ///   conversion.
  static func make(from source: ResamplerFormat, to target: ResamplerFormat, _ options: Options) throws
    -> OpaquePointer
  {
    var (source, target) = (source, target)
    var made: OpaquePointer?
    let code = swr_alloc_set_opts2(
      &made, &target.layout, target.format, target.rate, &source.layout, source.format, source.rate, 0, nil)
    guard SampleRates.canConvert(from: Int(source.rate), to: Int(target.rate)), code >= 0, let context = made,
      set(options, on: context, source, target), swr_init(context) >= 0
    else {
      swr_free(&made)
      throw MediaFileError(.unsupportedFormat, "this audio cannot be converted as asked")
    }
    return context
  }

  private static func set(
    _ options: Options, on context: OpaquePointer, _ source: ResamplerFormat, _ target: ResamplerFormat
  ) -> Bool {
    let object = UnsafeMutableRawPointer(context)
    if let size = options.filterSize { av_opt_set_int(object, "filter_size", Int64(size), 0) }
    if options.isNormalized { av_opt_set_double(object, "rematrix_maxval", 1, 0) }
    if options.isDithered { av_opt_set(object, "dither_method", "triangular", 0) }
    let (inputs, outputs) = (Int(source.layout.nb_channels), Int(target.layout.nb_channels))
    guard let map = options.channelMap, inputs != outputs || map != Array(0..<inputs) else { return true }
    guard map.count == outputs else { return false }
    // 32-bit samples do not fit into the 24-bit significand of a single-precision number.
    if [source.format, target.format].contains(where: { av_get_packed_sample_fmt($0) == AV_SAMPLE_FMT_S32 }) {
      av_opt_set_sample_fmt(object, "internal_sample_fmt", AV_SAMPLE_FMT_DBLP, 0)
    }
    var matrix = [Double](repeating: 0, count: inputs * outputs)
    for (output, input) in map.enumerated() where (0..<inputs).contains(input) {
      matrix[output * inputs + input] = 1
    }
    return swr_set_matrix(context, matrix, Int32(inputs)) >= 0
  }
}
