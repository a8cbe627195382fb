// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation
import Synchronization
import TestSupport

/// A device of the tests' own: it takes pictures, and finishes each when the test says so, on
/// whatever thread the test says it on. A frame is the bytes of its picture's time stamp.
final class TestDevice: Sendable {
  /// The behaviour of an encoder that is asked for its pending frames.
  enum Flush {
    /// Finishes them all, on a thread of its own, and waits for that.
    case finishes
    /// Loses them.
    case loses
  }

  private struct State {
    var outputs: [any VideoEncoderOutput] = []
    /// Time stamps of pictures without an outcome, in the order in which they came.
    var held: [Int64] = []
    var hasHeader = false
    /// Frames whose memory is not given back.
    var living = 0
  }

  let codec: CodecType
  let depth: Int
  private let flush: Flush
  private let state = Mutex(State())
  /// Signalled for each picture that was taken.
  private let taken = DispatchSemaphore(value: 0)
  /// Called in `encode`, on the session's thread, once the picture is held.
  private let whenTaken: @Sendable (TestDevice, Int64) throws(CodecError) -> Void

  /// - Parameters:
  ///   - number: makes the codec's type its own; each test has another.
  ///   - depth: the encoder's reordering depth.
  init(
    _ number: UInt8, depth: Int = 0, flush: Flush = .finishes,
    whenTaken: @escaping @Sendable (TestDevice, Int64) throws(CodecError) -> Void = { (_, _) in }
  ) {
    codec = CodecType(rawValue: 0x6465_7600 + UInt32(number))
    (self.depth, self.flush, self.whenTaken) = (depth, flush, whenTaken)
  }

  var description: EncoderDescription {
    var description = EncoderDescription(
      id: "org.example.device.\(codec.rawValue)", codec: codec, codecName: "Device", encoderName: "Device",
      displayName: "Device", inputFormats: [.nv12VideoRange],
      makeEncoder: { [self] (_) throws(CodecError) in DeviceEncoder(self) })
    description.features = [.frameReordering]
    return description
  }

  /// Encoders that were made.
  var encoderCount: Int { state.withLock { $0.outputs.count } }
  /// Frames whose memory is retained.
  var livingFrames: Int { state.withLock { $0.living } }
  /// Of pictures without an outcome.
  var heldTimes: [Int64] { state.withLock { $0.held } }
  /// Of the encoder that was made last.
  var output: (any VideoEncoderOutput)? { state.withLock { $0.outputs.last } }

  /// Waits until so many more pictures were taken; false if they do not come.
  func waitForPictures(_ count: Int) -> Bool {
    (0..<count).allSatisfy { _ in waitForSignal(taken) }
  }

  /// Finishes a picture on this thread.
  /// - Parameter output: of an encoder; nil for the last one.
  func finish(_ time: Int64, isDropped: Bool = false, to output: (any VideoEncoderOutput)? = nil) {
    let (ordinaryOutput, isFirst) = state.withLock { state in
      state.held.removeAll { $0 == time }
      if !isDropped { state.living += 1 }
      return (state.outputs.last, isDropped ? false : !exchange(&state.hasHeader, with: true))
    }
    var frame = CompressedFrame(presentationTime: time, data: isDropped ? nil : data(time))
    if isFirst { frame.header = .nothing }
    frame.properties.isKeyFrame = isFirst
    (output ?? ordinaryOutput)?.send(frame)
  }

  func fail(_ time: Int64, _ error: CodecError) {
    let output = state.withLock { state in
      state.held.removeAll { $0 == time }
      return state.outputs.last
    }
    output?.fail(pictureAt: time, with: error)
  }

  /// Memory that tells the device when it is given back.
  private func data(_ time: Int64) -> CompressedData {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    memory.storeBytes(of: time, as: Int64.self)
    return CompressedData(
      adopting: memory, count: 8, capacity: 8, context: Unmanaged.passRetained(self).toOpaque()
    ) { context, memory, _ in
      memory.deallocate()
      guard let context else { return }
      let device = Unmanaged<TestDevice>.fromOpaque(context).takeRetainedValue()
      device.state.withLock { $0.living -= 1 }
    }
  }

  fileprivate func begin(_ output: any VideoEncoderOutput) {
    state.withLock {
      $0.outputs.append(output)
      $0.held = []
      $0.hasHeader = false
    }
  }

  fileprivate func take(_ time: Int64) throws(CodecError) {
    state.withLock { $0.held.append(time) }
    taken.signal()
    try whenTaken(self, time)
  }

  fileprivate func finishAll() {
    switch flush {
    case .finishes: onOtherThread { for time in self.heldTimes { self.finish(time) } }
    case .loses: state.withLock { $0.held = [] }
    }
  }
}

/// Runs something on a thread of its own and waits for it.
func onOtherThread(_ work: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    work()
    done.signal()
  }
  done.wait()
}

private final class DeviceEncoder: VideoEncoder {
  private let device: TestDevice
  var reorderingDepth: Int { device.depth }

  init(_ device: TestDevice) { self.device = device }

  func start(output: any VideoEncoderOutput) { device.begin(output) }
  func encode(_ picture: InputPicture, request: FrameRequest) throws(CodecError) {
    try device.take(picture.presentationTime)
  }
  func flush() throws(CodecError) { device.finishAll() }
  func reconfigure(_ new: VideoEncoderConfiguration) throws(CodecError) -> Reconfiguration { .applied }
}
