// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// A chain of libavfilter filters for audio or for pictures.
///
/// The description is that of `ffmpeg -filter_complex`, with one input and one output, such as
/// `atempo=1.5` or `bwdif=mode=send_frame,format=nv12`. To get a certain output format, it must end
/// with `format` or `aformat`. Only one thread at a time may use a graph.
package final class FilterGraph {
  private let library: ovt_filter_library
  private var graph: UnsafeMutablePointer<AVFilterGraph>?
  private let source: UnsafeMutablePointer<AVFilterContext>
  private let sink: UnsafeMutablePointer<AVFilterContext>
  private let description: String
  private let isAudio: Bool
  private(set) var isEnded = false

  /// Whether libavfilter is installed and was built with a filter.
  package static func exists(_ name: String) -> Bool {
    (try? FilterLibrary.functions())?.avfilter_get_by_name(name) != nil
  }

  /// Makes a graph.
  ///
  /// - Parameters:
  ///   - description: The chain of filters.
  ///   - frame: An example of the frames that will be pushed: its sample or pixel format, size,
  ///     rate, channels and colours are read.
  ///   - timeBase: The unit of their times, in seconds.
  ///   - frameRate: Pictures per second; 0: unknown.
  ///   - threads: The number of threads that the filters may use.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if libavfilter does not know the
  ///   chain, does not accept such frames, or is not installed.
  init(
    _ description: String, for frame: UnsafePointer<AVFrame>, timeBase: AVRational,
    frameRate: AVRational = AVRational(num: 0, den: 1), threads: Int = 1
  ) throws {
    let library = try FilterLibrary.functions()
    LibavLog.takeOver()
    self.library = library
    self.description = description
    isAudio = frame.pointee.width == 0
    var graph = library.avfilter_graph_alloc()
    var isMade = false
    defer { if !isMade { library.avfilter_graph_free(&graph) } }
    guard let graph else { throw MediaFileError(.outOfMemory, "no memory for a filter") }
    graph.pointee.nb_threads = Int32(clamping: max(1, threads))
    guard
      let source = library.avfilter_graph_alloc_filter(
        graph, library.avfilter_get_by_name(isAudio ? "abuffer" : "buffer"), "in"),
      let sink = library.avfilter_graph_alloc_filter(
        graph, library.avfilter_get_by_name(isAudio ? "abuffersink" : "buffersink"), "out")
    else { throw MediaFileError(.outOfMemory, "no memory for a filter") }
    (self.source, self.sink) = (source, sink)
    let (code, messages) = LibavLog.collect { () -> Int32 in
      let status = Self.describe(library, frame, timeBase, frameRate, to: source)
      guard status >= 0 else { return status }
      let begun = library.avfilter_init_str(source, nil)
      guard begun >= 0 else { return begun }
      let ended = library.avfilter_init_str(sink, nil)
      guard ended >= 0 else { return ended }
      let linked = Self.link(library, description, graph, source, sink)
      return linked < 0 ? linked : library.avfilter_graph_config(graph, nil)
    }
    guard code >= 0 else {
      let error = MediaFileError.libav(code, "the filter \(description) cannot be made", messages: messages)
      throw error.kind == .outOfMemory
        ? error : MediaFileError(.unsupportedFormat, error.detail, code: code)
    }
    isMade = true
    self.graph = graph
  }

  deinit { library.avfilter_graph_free(&graph) }

  /// The unit of the times of output frames, in seconds.
  var timeBase: AVRational { library.av_buffersink_get_time_base(sink) }

  private static func describe(
    _ library: ovt_filter_library, _ frame: UnsafePointer<AVFrame>, _ timeBase: AVRational,
    _ frameRate: AVRational,
    to source: UnsafeMutablePointer<AVFilterContext>
  ) -> Int32 {
    guard let parameters = library.av_buffersrc_parameters_alloc() else { return ovt_averror(ENOMEM) }
    defer { av_free(parameters) }
    parameters.pointee.format = frame.pointee.format
    parameters.pointee.time_base = timeBase
    if frame.pointee.width == 0 {
      parameters.pointee.sample_rate = frame.pointee.sample_rate
      // The filter copies the layout.
      parameters.pointee.ch_layout = frame.pointee.ch_layout
    } else {
      parameters.pointee.width = frame.pointee.width
      parameters.pointee.height = frame.pointee.height
      parameters.pointee.sample_aspect_ratio = frame.pointee.sample_aspect_ratio
      parameters.pointee.frame_rate = frameRate
      ovt_set_source_colors(parameters, frame)
    }
    return library.av_buffersrc_parameters_set(source, parameters)
  }

  private static func link(
    _ library: ovt_filter_library, _ description: String, _ graph: UnsafeMutablePointer<AVFilterGraph>,
    _ source: UnsafeMutablePointer<AVFilterContext>, _ sink: UnsafeMutablePointer<AVFilterContext>
  ) -> Int32 {
    // The names are those of the chain's ends: its input "in" is the output of the source filter.
    var outputs = library.avfilter_inout_alloc()
    var inputs = library.avfilter_inout_alloc()
    defer {
      library.avfilter_inout_free(&outputs)
      library.avfilter_inout_free(&inputs)
    }
    guard let output = outputs, let input = inputs else { return ovt_averror(ENOMEM) }
    output.pointee.name = av_strdup("in")
    output.pointee.filter_ctx = source
    input.pointee.name = av_strdup("out")
    input.pointee.filter_ctx = sink
    return library.avfilter_graph_parse_ptr(graph, description, &inputs, &outputs, nil)
  }

  // MARK: - Frames

  /// Sends a frame to the chain, which keeps references to its buffers, or copies its data if it
  /// has none.
  /// - Parameter frame: The frame.
  /// - Throws: `MediaFileError`; also after `finish()`.
  func push(_ frame: UnsafePointer<AVFrame>) throws {
    guard !isEnded else { throw MediaFileError(.other, "the filter \(description) has come to its end") }
    let (code, messages) = LibavLog.collect {
      library.av_buffersrc_add_frame_flags(
        source, UnsafeMutablePointer(mutating: frame), Int32(AV_BUFFERSRC_FLAG_KEEP_REF))
    }
    guard code >= 0 else {
      throw MediaFileError.libav(code, "the filter \(description) failed", messages: messages)
    }
  }

  /// Ends the input, after which `pull(into:)` returns the frames that the chain still holds.
  /// - Throws: `MediaFileError`.
  package func finish() throws {
    guard !isEnded else { return }
    isEnded = true
    let (code, messages) = LibavLog.collect { library.av_buffersrc_add_frame_flags(source, nil, 0) }
    guard code >= 0 else {
      throw MediaFileError.libav(code, "the filter \(description) failed", messages: messages)
    }
  }

  /// Receives the next output frame.
  /// - Parameter frame: An empty frame.
  /// - Returns: false if the chain needs more input or, after `finish()`, has no more frames.
  /// - Throws: `MediaFileError`.
  func pull(into frame: UnsafeMutablePointer<AVFrame>) throws -> Bool {
    let (code, messages) = LibavLog.collect { library.av_buffersink_get_frame(sink, frame) }
    if code == ovt_averror(EAGAIN) || code == ovt_averror_eof() { return false }
    guard code >= 0 else {
      throw MediaFileError.libav(code, "the filter \(description) failed", messages: messages)
    }
    return true
  }
}
