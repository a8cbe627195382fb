// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Synchronization
import Testing
import TestSupport
import VideoToolbox

/// Sessions that nothing but a frame on its way holds any more.
@Suite(.enabled(if: SampleMovie.isAvailable)) struct LastReferenceTests {
  /// Owns a session, and ends it as it goes.
  private final class Owner: Sendable {
    let session: VTDecompressionSession
    let invalidates: Bool
    let gone: DispatchSemaphore

    init(_ session: VTDecompressionSession, invalidates: Bool, gone: DispatchSemaphore) {
      (self.session, self.invalidates, self.gone) = (session, invalidates, gone)
    }

    deinit {
      if invalidates { VTDecompressionSessionInvalidate(session) }
      gone.signal()
    }
  }

  @Test(arguments: [false, true], [false, true])
  func theHandlerIsTheLastToKnowASession(isRealTime: Bool, invalidates: Bool) throws {
    let movie = try SampleMovie(
      ["-c:v", "libx264", "-g", "5"], size: "64x48", seconds: 0.4, reference: false)
    for isDamaged in [false, true] {
      let frames = Mutex(0)
      let gone = DispatchSemaphore(value: 0)
      try {
        let owner = Owner(
          try makeDecoder(
            movie.format, properties: [kVTDecompressionPropertyKey_RealTime: isRealTime]),
          invalidates: invalidates, gone: gone)
        for sample in movie.samples {
          let sent =
            isDamaged
            ? try SampleMovie.sample(
              Data([0, 0, 0, 9, 0x65]), movie.format, time: sample.presentationTimeStamp, isSync: true)
            : sample
          let status = VTDecompressionSessionDecodeFrame(
            owner.session, sampleBuffer: sent, flags: [._EnableAsynchronousDecompression], infoFlagsOut: nil
          ) { _, _, _, _, _ in
            letOthersRun(turns: 5000)
            withExtendedLifetime(owner) {}
            frames.withLock { $0 += 1 }
          }
          #expect(status == noErr)
        }
      }()
      #expect(waitForSignal(gone))
      #expect(frames.withLock { $0 } == movie.samples.count)
    }
  }
}
