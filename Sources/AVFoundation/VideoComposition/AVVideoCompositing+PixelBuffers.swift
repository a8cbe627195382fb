// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVVideoCompositionRenderContext {
  /// Returns a pixel buffer to render into.
  /// - Throws: `AVError.Code.outOfMemory` if there is not enough memory.
  public func makeMutablePixelBuffer() throws -> CVMutablePixelBuffer {
    guard let made = newPixelBuffer() else {
      throw AVError(.outOfMemory, reason: "A pixel buffer cannot be made.")
    }
    return CVMutablePixelBuffer(unsafeBuffer: made)
  }
}

extension AVAsynchronousVideoCompositionRequest {
  /// Returns a track's picture; nil if the track presents none at this time.
  public func sourceReadOnlyPixelBuffer(byTrackID trackID: CMPersistentTrackID) -> CVReadOnlyPixelBuffer? {
    sourceFrame(byTrackID: trackID).map { CVReadOnlyPixelBuffer(unsafeBuffer: $0) }
  }

  /// Returns a track's picture with its times; nil if the track presents none at this time.
  public func sourceReadySampleBuffer(byTrackID trackID: CMPersistentTrackID)
    -> CMReadySampleBuffer<CMSampleBuffer.DynamicContent>?
  { sourceSampleBuffer(byTrackID: trackID).map { CMReadySampleBuffer(unsafeBuffer: $0) } }

  /// Completes the request with a picture. Only the first completion of a request has an effect.
  public func finish(withComposedPixelBuffer readOnlyPixelBuffer: CVReadOnlyPixelBuffer) {
    finish(withComposedVideoFrame: readOnlyPixelBuffer.withUnsafeBuffer { $0 })
  }
}
