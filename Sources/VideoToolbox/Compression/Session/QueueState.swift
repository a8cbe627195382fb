// SPDX-License-Identifier: Apache-2.0
/// What a source that cannot wait has to know.
extension VTCompressionSession {
  /// Whether the next frame would wait for the encoder. Such a source drops it rather than stand still.
  package var isQueueFull: Bool { pipeline.isQueueFull }
}
