// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Declarations that typical programs for Apple's systems use.
@Suite struct ClientShapeTests {
  /// Neither final nor with a required `init()`, and with something that `init()` has to set.
  class Marker: NSObject, AVVideoCompositing, @unchecked Sendable {
    // Sendable: it has no state that changes.
    let marks: [UInt8]
    private let name = "marker"
    override init() {
      marks = [200, 60]
      super.init()
    }
    func mark() -> UInt8 { marks[0] }
    var sourcePixelBufferAttributes: [String: any Sendable]? {
      [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
    }
    var requiredPixelBufferAttributesForRenderContext: [String: any Sendable] {
      [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
    }
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
      guard name == "marker", let buffer = request.renderContext.newPixelBuffer() else {
        return request.finish(with: CocoaError(.featureUnsupported))
      }
      CVPixelBufferLockBaseAddress(buffer, [])
      if let base = CVPixelBufferGetBaseAddress(buffer) {
        memset(
          base, Int32(mark()), CVPixelBufferGetBytesPerRow(buffer) * CVPixelBufferGetHeight(buffer))
      }
      CVPixelBufferUnlockBaseAddress(buffer, [])
      request.finish(withComposedVideoFrame: buffer)
    }
  }

  /// It inherits its `init()`.
  class LaterMarker: Marker, @unchecked Sendable {
    // Sendable: it has no state that changes.
    private let more = [3, 4]
    override func mark() -> UInt8 { marks[1] + UInt8(more.count) }
  }

  /// No `init()` of its own, and values for all that it stores.
  class PlainMarker<Name>: NSObject, AVVideoCompositing, @unchecked Sendable {
    // Sendable: it has no state that changes.
    let inner = Marker()
    var sourcePixelBufferAttributes: [String: any Sendable]? { inner.sourcePixelBufferAttributes }
    var requiredPixelBufferAttributesForRenderContext: [String: any Sendable] {
      inner.requiredPixelBufferAttributesForRenderContext
    }
    func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}
    func startRequest(_ request: AVAsynchronousVideoCompositionRequest) { inner.startRequest(request) }
  }

  @Test func compositorsNeedNoRequiredInitializer() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    for (type, value) in [
      (Marker.self, 200), (LaterMarker.self, 62), (PlainMarker<Int>.self, 200),
    ] as [(any AVVideoCompositing.Type, UInt8)] {
      let composition = AVMutableVideoComposition(propertiesOf: asset)
      composition.customVideoCompositorClass = type
      let output = AVAssetReaderVideoCompositionOutput(
        videoTracks: asset.tracks(withMediaType: .video), videoSettings: nil)
      output.videoComposition = composition
      let compositor = try #require(output.customVideoCompositor)
      #expect(Swift.type(of: compositor) == type)
      let first = try #require(
        try ReaderTests.read(
          output, of: asset, range: CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 10))
        ).first)
      let buffer = try #require(CMSampleBufferGetImageBuffer(first))
      CVPixelBufferLockBaseAddress(buffer, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
      let base = try #require(CVPixelBufferGetBaseAddress(buffer))
      #expect(base.load(as: UInt8.self) == value)
    }
  }

  @Test(.timeLimit(.minutes(HangLimit.minutes))) func aRendererWithoutALayerShowsPictures() async throws {
    let renderer = AVSampleBufferVideoRenderer()
    #expect(renderer.status == .unknown && renderer.isReadyForMoreMediaData)
    #expect(renderer.copyDisplayedPixelBuffer() == nil)
    let formats = try #require(renderer.recommendedPixelBufferAttributes.pixelFormatTypes)
    #expect(formats.map(\.rawValue).contains(kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    let picture = try WriterBehaviourTests.picture(7)
    let sample = try CMSampleBuffer(
      imageBuffer: picture, formatDescription: CMFormatDescription(imageBuffer: picture),
      sampleTiming: CMSampleTimingInfo(
        duration: .invalid, presentationTimeStamp: .zero, decodeTimeStamp: .invalid))
    CMSetAttachment(
      sample, key: kCMSampleAttachmentKey_DisplayImmediately, value: kCFBooleanTrue,
      attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    renderer.enqueue(sample)
    #expect(renderer.status == .rendering)
    while renderer.copyDisplayedPixelBuffer() == nil { await Task.yield() }
    #expect(renderer.copyDisplayedPixelBuffer().map(CVPixelBufferGetWidth) == 160)
    await withCheckedContinuation { continuation in
      renderer.flush(removingDisplayedImage: true) { continuation.resume() }
    }
    #expect(renderer.copyDisplayedPixelBuffer() == nil)
  }

  @Test func keysAreLoaded() async throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    await asset.loadValues(forKeys: ["tracks", "duration"])
    #expect(asset.statusOfValue(forKey: "tracks", error: nil) == .loaded && asset.tracks.count == 2)
    let missing = AVURLAsset(url: URL(fileURLWithPath: "/nothing/at/all.mov"))
    await missing.loadValues(forKeys: ["tracks"])
    var error: NSError?
    #expect(missing.statusOfValue(forKey: "tracks", error: &error) == .failed && error != nil)
  }

  @Test func anOrdinaryTrackHasItsCharacteristics() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    for characteristic in [
      AVMediaCharacteristic.containsStereoMultiviewVideo, .carriesVideoStereoMetadata,
      .indicatesHorizontalFieldOfView, .indicatesNonRectilinearProjection,
    ] {
      #expect(!track.hasMediaCharacteristic(characteristic))
      #expect(asset.tracks(withMediaCharacteristic: characteristic).isEmpty)
    }
    let format = try #require(track.formatDescriptions.first as? CMFormatDescription)
    #expect(format.tagCollections == nil)
    #expect(AVMutableComposition().urlAssetInitializationOptions.isEmpty)
    // Uniform types come with AVFoundation.
    #expect(UTType(filenameExtension: "mov")?.identifier == AVFileType.mov.rawValue)
    #expect(UTType(filenameExtension: "heic") == UTType.heic && UTType.heic.conforms(to: .heif))
    #expect(UTType.heic.identifier == "public.heic" && UTType(mimeType: "image/gif") == .gif)
    #expect(NSValue(time: CMTime(value: 1, timescale: 3)).value(of: CMTime.self)?.timescale == 3)
  }
}
