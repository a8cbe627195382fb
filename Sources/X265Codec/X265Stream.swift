// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  import CX265
  import Foundation

  /// An open libx265 encoder, which is used until it is drained.
  final class X265Stream {
    private let parameters: X265Parameters
    private let api: UnsafePointer<x265_api>
    private let handle: OpaquePointer
    /// Splits interleaved chroma, which libx265 does not accept.
    private let splitter = ChromaSplitter()
    /// The input picture, reused for each call.
    private let picture: UnsafeMutablePointer<x265_picture>
    /// The output picture, reused for each call.
    private let output: UnsafeMutablePointer<x265_picture>
    /// The parameter sets, until the first frame has been returned with them.
    private var parameterSets: ParameterSets?
    /// Computes filler data; nil unless the bit rate is constant.
    private var filler: ConstantRateFiller?
    private let measuresError: Bool
    /// Copies of the held pictures by presentation time; empty unless errors are measured.
    private var sources: [Int64: SourceCopy] = [:]
    /// The units of time stamps per second.
    private let timescale: Double
    /// The longest duration of a frame in seconds that counts for filler data: a pause must not
    /// become one huge frame.
    private let longestFrame: Double
    /// The durations of the held pictures in input order, in units of the timescale.
    private var durations: [Int64] = []
    /// The most frames that precede a frame in decoding order and follow it in output order.
    let reorderingDepth: Int
    /// The presentation times of the held frames.
    private var held: Set<Int64> = []
    /// The number of frames that libx265 holds.
    var heldFrameCount: Int { held.count }
    /// The decoder's buffer after the returned frames; nil where libx265 keeps to none.
    private var buffer: CarriedBuffer?
    /// The fullness of the decoder's buffer after the returned frames, 0 to 1; nil where libx265
    /// keeps to none.
    var bufferFullness: Double? { buffer?.fullnessFraction }

    /// Opens an encoder.
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - frameRate: the frame rate for rate control, in frames per second.
    ///   - carried: the fullness of the decoder's buffer, 0 to 1, where the stream continues
    ///     another; nil where it does not.
    /// - Throws: `CodecError` if libx265 does not support the configuration.
    init(
      _ configuration: VideoEncoderConfiguration, frameRate: Double, carried: Double? = nil
    ) throws(CodecError) {
      var configuration = configuration
      configuration.frameRate = frameRate
      parameters = try X265Parameters(configuration, carried: carried)
      buffer = parameters.buffer.map { CarriedBuffer($0) }
      api = parameters.api
      guard let handle = api.pointee.encoder_open(parameters.param) else {
        throw .invalidConfiguration("libx265 does not take these settings")
      }
      guard let picture = api.pointee.picture_alloc(), let output = api.pointee.picture_alloc() else {
        api.pointee.encoder_close(handle)
        throw .outOfMemory
      }
      self.handle = handle
      self.picture = picture
      self.output = output
      measuresError = configuration.measuresError
      timescale = Double(configuration.timescale)
      longestFrame = max(1, 3 / frameRate)
      api.pointee.encoder_parameters(handle, parameters.param)
      let actual = parameters.param.pointee
      reorderingDepth = actual.bframes == 0 ? 0 : actual.bBPyramid != 0 ? 2 : 1
      if case .constant(let bits) = configuration.rate.mode {
        filler = ConstantRateFiller(
          bitsPerSecond: bits,
          capacity: configuration.rate.bufferModel?.size ?? bits / 2,
          initialFullness: parameters.buffer?.initialFullness ?? 0.9)
      }
      parameterSets = try readParameterSets(configuration)
    }

    deinit {
      api.pointee.picture_free(picture)
      api.pointee.picture_free(output)
      api.pointee.encoder_close(handle)
    }

    /// Passes a picture to libx265.
    /// - Parameters:
    ///   - source: the picture.
    ///   - request: the options of the frame.
    ///   - frameDuration: the duration of a frame, in units of the timescale.
    /// - Returns: the frame that libx265 returned; nil if it returned none.
    func encode(
      _ source: InputPicture, request: FrameRequest, frameDuration: Int64
    ) throws(CodecError) -> CompressedFrame? {
      api.pointee.picture_init(parameters.param, picture)
      try setPlanes(source)
      picture.pointee.pts = source.presentationTime
      picture.pointee.sliceType = request.forcesKeyFrame ? X265_TYPE_IDR : X265_TYPE_AUTO
      if let qp = request.baseQP {
        let rc = parameters.param.pointee.rc
        picture.pointee.forceqp = min(max(Int32(qp), rc.qpMin), rc.qpMax) + 1
      }
      held.insert(source.presentationTime)
      durations.append(frameDuration)
      return try run(picture)
    }

    /// Returns the next held frame; nil if there is none.
    func drain() throws(CodecError) -> CompressedFrame? { try run(nil) }

    /// Returns the held frames that are presented no later than a time, and continues the stream.
    /// - Parameters:
    ///   - time: the presentation time.
    ///   - output: receives the frames in decoding order.
    func complete(
      through time: Int64, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      guard held.contains(where: { $0 <= time }) else { return }
      while held.contains(where: { $0 <= time }) {
        guard let coded = try drain() else { break }
        output(coded)
      }
      // After it was drained, libx265 decides on each picture at once. Reconfiguration with
      // forceFlush 1 makes it fill its look-ahead again.
      let param = parameters.param
      param.pointee.forceFlush = 1
      let status = api.pointee.encoder_reconfig(handle, param)
      param.pointee.forceFlush = 0
      guard status >= 0 else { throw .malfunction("libx265 does not go on") }
    }

    // MARK: -

    /// Calls libx265 with a picture, or with nil to drain it.
    private func run(_ input: UnsafeMutablePointer<x265_picture>?) throws(CodecError) -> CompressedFrame? {
      var nals: UnsafeMutablePointer<x265_nal>?
      var count: UInt32 = 0
      let result = api.pointee.encoder_encode(handle, &nals, &count, input, output)
      guard result >= 0 else { throw .malfunction("libx265 failed") }
      guard result > 0, let nals, count > 0 else { return nil }
      held.remove(output.pointee.pts)

      let units = UnsafeBufferPointer(start: nals, count: Int(count))
      let size = units.reduce(0) { $0 + Int($1.sizeBytes) }
      var data = CompressedData(capacity: size + 64)
      var properties = CompressedFrame.Properties()
      for unit in units {
        data.append(UnsafeRawBufferPointer(start: unit.payload, count: Int(unit.sizeBytes)))
        guard unit.type < 32 else { continue }
        // Even nal_unit_types below 16 are pictures that none of the same sub-layer refers to.
        if unit.type < 16 { properties.isReference = unit.type % 2 == 1 }
        properties.isKeyFrame = (16...21).contains(unit.type)
        properties.isOpenGOP = unit.type == 21
      }
      properties.isIntra =
        output.pointee.sliceType == X265_TYPE_IDR || output.pointee.sliceType == X265_TYPE_I
      properties.averageQP = output.pointee.frameData.qp
      if let source = sources.removeValue(forKey: output.pointee.pts) {
        properties.meanSquaredError = source.errors(of: output.pointee, depth: Int(api.pointee.bit_depth))
      }
      let seconds = durations.isEmpty ? 0 : Double(durations.removeFirst()) / timescale
      if let missing = filler?.bytesMissing(after: data.count, seconds: min(seconds, longestFrame)) {
        // nal_unit_type 38 is filler data. Its NAL unit has 4 bytes of length, 2 of header and 1 of
        // trailing bits.
        data.appendFiller(header: [38 << 1, 1], fill: max(missing - 7, 0))
        properties.fillerBytes = missing
      }
      buffer?.add(bits: Double(data.count) * 8, seconds: seconds)
      var frame = CompressedFrame(presentationTime: output.pointee.pts, data: data)
      frame.properties = properties
      frame.header = parameterSets.map { .parameterSets($0) }
      parameterSets = nil
      return frame
    }

    /// Sets the planes of the input picture.
    private func setPlanes(_ source: InputPicture) throws(CodecError) {
      let views = try source.planes()
      var planes = [views.first]
      let isWide = source.format == .p010VideoRange || source.format == .p010FullRange
      switch source.format {
      case .nv12VideoRange, .nv12FullRange, .p010VideoRange, .p010FullRange:
        guard let chroma = views.second else { throw .invalidConfiguration("a plane is missing") }
        let split = try splitter.split(chroma, bytesPerSample: isWide ? 2 : 1)
        planes += [split.cb, split.cr]
      case .i420VideoRange, .i420FullRange:
        guard let cb = views.second, let cr = views.third else {
          throw .invalidConfiguration("a plane is missing")
        }
        planes += [cb, cr]
      default: throw .unsupported("a pixel format that libx265 does not take")
      }
      if measuresError { sources[source.presentationTime] = SourceCopy(planes, isWide: isWide) }
      // The ten bits are the upper ones of sixteen, which libx265 shifts down.
      picture.pointee.bitDepth = isWide ? 16 : 8
      picture.pointee.colorSpace = X265_CSP_I420
      picture.pointee.planes = (
        UnsafeMutableRawPointer(mutating: planes[0].baseAddress),
        UnsafeMutableRawPointer(mutating: planes[1].baseAddress),
        UnsafeMutableRawPointer(mutating: planes[2].baseAddress)
      )
      picture.pointee.stride = (
        Int32(planes[0].bytesPerRow), Int32(planes[1].bytesPerRow), Int32(planes[2].bytesPerRow)
      )
    }

    /// Reads and edits the parameter sets.
    private func readParameterSets(_ configuration: VideoEncoderConfiguration) throws(CodecError)
      -> ParameterSets
    {
      var nals: UnsafeMutablePointer<x265_nal>?
      var count: UInt32 = 0
      guard api.pointee.encoder_headers(handle, &nals, &count) >= 0, let nals else {
        throw .malfunction("libx265 gives no headers")
      }
      var sets = ParameterSets(sps: [], pps: [])
      for nal in UnsafeBufferPointer(start: nals, count: Int(count)) where nal.sizeBytes > 4 {
        let unit = [UInt8](UnsafeBufferPointer(start: nal.payload + 4, count: Int(nal.sizeBytes) - 4))
        switch nal.type {
        case 32: sets.vps.append(unit)
        case 33: sets.sps.append(unit)
        case 34: sets.pps.append(unit)
        default: break
        }
      }
      guard !sets.vps.isEmpty, !sets.sps.isEmpty, !sets.pps.isEmpty else {
        throw .malfunction("libx265 gives no headers")
      }
      try StreamHeaders.edit(&sets, configuration)
      return sets
    }
  }
#endif
