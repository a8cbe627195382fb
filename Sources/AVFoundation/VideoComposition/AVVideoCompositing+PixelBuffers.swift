// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVVideoCompositionRenderContext {
  /// A picture to fill.
  /// - Throws: `AVError` if there is no memory.
  public func makeMutablePixelBuffer() throws -> CVMutablePixelBuffer {
    guard let made = newPixelBuffer() else {
      throw AVError(.outOfMemory, reason: "A pixel buffer cannot be made.")
    }
    return CVMutablePixelBuffer(unsafeBuffer: made)
  }
}

extension AVAsynchronousVideoCompositionRequest {
  /// A track's picture; nil if it shows none at this time.
  public func sourceReadOnlyPixelBuffer(byTrackID trackID: CMPersistentTrackID) -> CVReadOnlyPixelBuffer? {
    sourceFrame(byTrackID: trackID).map { CVReadOnlyPixelBuffer(unsafeBuffer: $0) }
  }

  /// A track's picture with its times.
  public func sourceReadySampleBuffer(byTrackID trackID: CMPersistentTrackID)
    -> CMReadySampleBuffer<CMSampleBuffer.DynamicContent>?
  { sourceSampleBuffer(byTrackID: trackID).map { CMReadySampleBuffer(unsafeBuffer: $0) } }

  /// Here is the picture. Only the first answer to a request counts.
  public func finish(withComposedPixelBuffer readOnlyPixelBuffer: CVReadOnlyPixelBuffer) {
    finish(withComposedVideoFrame: readOnlyPixelBuffer.withUnsafeBuffer { $0 })
  }
}
