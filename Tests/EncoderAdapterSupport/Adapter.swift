// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Synchronization

/// A frame as an adapter gave it, copied.
public struct CodedCopy: Sendable {
  public var presentationTime: Int64
  /// Without their lengths; nil if the picture was dropped.
  public var nalUnits: [[UInt8]]?
  public var header: StreamHeader?
  public var properties: CompressedFrame.Properties
  /// The lengths before the NAL units add up to the frame.
  public var isWhole = true

  public init(_ frame: borrowing CompressedFrame) {
    presentationTime = frame.presentationTime
    header = frame.header
    properties = frame.properties
    guard frame.data != nil else { return }
    let bytes = frame.data?.withBytes { bytes in bytes.withUnsafeBufferPointer { [UInt8]($0) } } ?? []
    var units: [[UInt8]] = []
    var at = 0
    while at + 4 <= bytes.count {
      let length = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length > 0, at + 4 + length <= bytes.count else { break }
      units.append([UInt8](bytes[at + 4..<at + 4 + length]))
      at += 4 + length
    }
    isWhole = at == bytes.count
    nalUnits = units
  }
}

/// Runs an adapter over a made-up texture that moves.
public final class AdapterRun {
  public let encoder: any VideoEncoder
  public let configuration: VideoEncoderConfiguration
  public var frames: [CodedCopy] { output.frames.withLock { $0 } }
  private let output = Output()
  private var count = 0

  private final class Output: VideoEncoderOutput {
    let frames = Mutex<[CodedCopy]>([])
    func send(_ frame: consuming CompressedFrame) {
      let copy = CodedCopy(frame)
      frames.withLock { $0.append(copy) }
    }
    // None of the adapters fails after its call.
    func fail(pictureAt presentationTime: Int64, with error: CodecError) { fatalError("\(error)") }
  }

  public init(
    _ description: EncoderDescription, _ configuration: VideoEncoderConfiguration
  ) throws(CodecError) {
    self.configuration = configuration
    encoder = try description.makeEncoder(configuration)
    encoder.start(output: output)
  }

  /// - Parameter width: of the picture, if it is to be another than the configuration's.
  public func encode(_ request: FrameRequest = .init(), width: Int? = nil) throws(CodecError) {
    let (w, h) = (width ?? configuration.width, configuration.height)
    let wide = configuration.format == .p010VideoRange ? 2 : 1
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: w * h * 3 / 2 * wide, alignment: 16)
    defer { memory.deallocate() }
    for y in 0..<h * 3 / 2 {
      for x in 0..<w {
        let value = y < h ? UInt8(truncatingIfNeeded: (x + 2 * count) ^ y &+ x * y / 16) / 2 + 50 : 110
        for byte in 0..<wide { memory[(y * w + x) * wide + byte] = byte == wide - 1 ? value : 0 }
      }
    }
    guard let base = memory.baseAddress.map({ UnsafeRawPointer($0) }) else { return }
    let luma = PlaneView(baseAddress: base, bytesPerRow: w * wide, width: w, height: h)
    let chroma = base + w * h * wide
    let content: PlaneViews
    if configuration.format == .i420VideoRange {
      content = PlaneViews(
        luma, PlaneView(baseAddress: chroma, bytesPerRow: w / 2, width: w / 2, height: h / 2),
        PlaneView(baseAddress: chroma + w * h / 4, bytesPerRow: w / 2, width: w / 2, height: h / 2))
    } else {
      content = PlaneViews(
        luma, PlaneView(baseAddress: chroma, bytesPerRow: w * wide, width: w / 2, height: h / 2))
    }
    let step = Int64(configuration.timescale) / 30
    let picture = InputPicture(
      format: configuration.format, width: w, height: h, content: .planes(content),
      presentationTime: Int64(count) * step, duration: step)
    try encoder.encode(picture, request: request)
    count += 1
  }

  public func encode(_ pictures: Int) throws(CodecError) { for _ in 0..<pictures { try encode() } }
  public func flush() throws(CodecError) { try encoder.flush() }
}
