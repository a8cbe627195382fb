// SPDX-License-Identifier: Apache-2.0
#if X265
  import CodecInterface
  import CX265
  import Foundation

  /// An open libx265 encoder, from its first key frame until it is drained.
  final class X265Stream {
    private let parameters: X265Parameters
    private let api: UnsafePointer<x265_api>
    private let handle: OpaquePointer
    private let splitter = ChromaSplitter()
    private let picture: UnsafeMutablePointer<x265_picture>
    private let output: UnsafeMutablePointer<x265_picture>
    private var parameterSets: ParameterSets?
    private var filler: ConstantRateFiller?
    private let measuresError: Bool
    /// The pictures that libx265 holds, by their time stamps, if errors are measured.
    private var sources: [Int64: SourceCopy] = [:]
    private let timescale: Double
    /// Seconds of a frame at the most: a long pause is no reason for a frame that takes as long to send.
    private let longestFrame: Double
    /// Of the pictures that are held, in the order in which they came.
    private var durations: [Int64] = []
    let reorderingDepth: Int
    /// Presentation times of the frames that are held.
    private var held: Set<Int64> = []
    var heldFrameCount: Int { held.count }
    private var buffer: CarriedBuffer?
    /// How full the decoder's buffer is after the frames that have come out, 0 to 1; nil where libx265 keeps to none.
    var bufferShare: Double? { buffer?.share }

    /// - Parameter carried: How full the decoder's buffer is, 0 to 1, where this one goes on from another stream.
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

    /// Gives back the next frame that is held.
    func drain() throws(CodecError) -> CompressedFrame? { try run(nil) }

    /// Gives back the frames that are shown no later than a time, and goes on.
    func complete(
      through time: Int64, output: (consuming CompressedFrame) -> Void
    ) throws(CodecError) {
      guard held.contains(where: { $0 <= time }) else { return }
      while held.contains(where: { $0 <= time }) {
        guard let coded = try drain() else { break }
        output(coded)
      }
      // Drained once, libx265 decides on each picture as it comes; told so, it fills its look-ahead again.
      let param = parameters.param
      param.pointee.forceFlush = 1
      let status = api.pointee.encoder_reconfig(handle, param)
      param.pointee.forceFlush = 0
      guard status >= 0 else { throw .malfunction("libx265 does not go on") }
    }

    // MARK: -

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
      var facts = CompressedFrame.Facts()
      for unit in units {
        data.append(UnsafeRawBufferPointer(start: unit.payload, count: Int(unit.sizeBytes)))
        guard unit.type < 32 else { continue }
        // Even types below 16 are frames that nothing of their layer refers to.
        if unit.type < 16 { facts.isReference = unit.type % 2 == 1 }
        facts.isKeyFrame = (16...21).contains(unit.type)
        facts.isOpenGOP = unit.type == 21
      }
      facts.isIntra = output.pointee.sliceType == X265_TYPE_IDR || output.pointee.sliceType == X265_TYPE_I
      facts.averageQP = output.pointee.frameData.qp
      if let source = sources.removeValue(forKey: output.pointee.pts) {
        facts.meanSquaredError = source.errors(of: output.pointee, depth: Int(api.pointee.bit_depth))
      }
      let seconds = durations.isEmpty ? 0 : Double(durations.removeFirst()) / timescale
      if let missing = filler?.bytesMissing(after: data.count, seconds: min(seconds, longestFrame)) {
        // Type 38 is filler data; a NAL unit takes 4 bytes of length, 2 of header and 1 of trailing bits.
        data.appendFiller(header: [38 << 1, 1], fill: max(missing - 7, 0))
        facts.fillerBytes = missing
      }
      buffer?.note(bits: Double(data.count) * 8, seconds: seconds)
      var frame = CompressedFrame(presentationTime: output.pointee.pts, data: data)
      frame.facts = facts
      frame.header = parameterSets.map { .parameterSets($0) }
      parameterSets = nil
      return frame
    }

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
      // The ten bits stand at the top of sixteen: libx265 shifts them down.
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
