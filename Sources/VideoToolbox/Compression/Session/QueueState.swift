// SPDX-License-Identifier: Apache-2.0
/// The state of the queue, for sources that cannot wait, such as a camera.
extension VTCompressionSession {
  /// Whether a call that encodes the next frame would block until the encoder has caught up. A live
  /// source drops the frame instead.
  package var isQueueFull: Bool { pipeline.isQueueFull }
}
