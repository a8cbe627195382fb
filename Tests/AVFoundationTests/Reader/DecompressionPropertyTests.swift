// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
import Foundation
import Testing

/// `AVVideoDecompressionPropertiesKey` in the settings of a reader's output.
@Suite struct DecompressionPropertyTests {
  private var asset: AVAsset { get throws { AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie())) } }

  private func pictures(_ properties: Any?) throws -> [Data] {
    var settings: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    ]
    if let properties { settings[AVVideoDecompressionPropertiesKey] = properties }
    return try ReaderTests.read(try asset, settings: settings).map { sample in
      let buffer = try #require(CMSampleBufferGetImageBuffer(sample))
      CVPixelBufferLockBaseAddress(buffer, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, 0))
      return Data(
        bytes: base,
        count: CVPixelBufferGetBytesPerRowOfPlane(buffer, 0) * CVPixelBufferGetHeightOfPlane(buffer, 0))
    }
  }

  /// Settings of spatial-video tools for a clip with one view: its pictures are output normally,
  /// without tagged buffers.
  @Test func whatTheDecoderLacksIsPassedOver() throws {
    let baseline = try pictures(nil)
    let layers = kVTDecompressionPropertyKey_RequestedMVHEVCVideoLayerIDs
    #expect(try pictures([layers as String: [0, 1]] as [String: Any]) == baseline)
    // With Core Foundation's types, as many programs do.
    #expect(try pictures([layers: [0, 1] as CFArray]) == baseline)
    #expect(try pictures([layers: [0, 1] as CFArray] as CFDictionary) == baseline)
    // Of a specification, and what can only be read.
    #expect(
      try pictures([
        kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder: true,
        kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder: true,
        kVTDecompressionPropertyKey_PropagatePerFrameHDRDisplayMetadata: false,
      ]) == baseline)
    let sample = try #require(
      try ReaderTests.read(
        try asset, settings: [AVVideoDecompressionPropertiesKey: [layers as String: [0, 1]]]
      ).first)
    #expect(sample.taggedBuffers == nil && CMSampleBufferGetImageBuffer(sample) != nil)
  }

  @Test func whatTheDecoderHasIsDone() throws {
    // Key frames alone: as many as ffprobe counts.
    let keys = try Probe.samples(Fixture.movie()).filter(\.isSync).count
    let found = try pictures([
      kVTDecompressionPropertyKey_OnlyTheseFrames as String:
        kVTDecompressionProperty_OnlyTheseFrames_KeyFrames
    ])
    #expect(found.count == keys && keys > 1)
    // The reader's own, as if they were next to the key.
    #expect(try pictures([kVTDecompressionPropertyKey_ThreadCount as String: 1]) == pictures(nil))
  }

  @Test func nonsenseIsRefused() throws {
    let asset = try asset
    let track = try #require(asset.tracks(withMediaType: .video).first)
    for properties in ["nothing", 5, [3: 4]] as [Any] {
      let output = AVAssetReaderTrackOutput(
        track: track, outputSettings: [AVVideoDecompressionPropertiesKey: properties])
      #expect(!(try AVAssetReader(asset: asset)).canAdd(output), "\(properties)")
    }
    for properties in [
      [kVTDecompressionPropertyKey_ThreadCount as String: 1000],
      [kVTDecompressionPropertyKey_OnlyTheseFrames as String: "a few"],
    ] as [[String: Any]] {
      let output = AVAssetReaderTrackOutput(
        track: track, outputSettings: [AVVideoDecompressionPropertiesKey: properties])
      let reader = try AVAssetReader(asset: asset)
      reader.add(output)
      #expect(!reader.startReading())
      #expect((reader.error as? AVError)?.code == .unsupportedOutputSettings, "\(properties)")
    }
    // The pictures of a composition are not from a decoder.
    let composed = AVAssetReaderVideoCompositionOutput(
      videoTracks: [track], videoSettings: [AVVideoDecompressionPropertiesKey: [String: Any]()])
    #expect(!(try AVAssetReader(asset: asset)).canAdd(composed))
  }

  /// If there is a second view, one view alone does not satisfy the request.
  @Test func furtherViewsOfAStreamThatHasThemAreRefused() throws {
    let track = try #require(try asset.tracks(withMediaType: .video).first)
    let format = try #require(track.formatDescriptions.first as? CMFormatDescription)
    let made = VTDecompressionSession.make(format, attributes: nil, options: DecompressionOptions())
    let session = try #require(made.session)
    defer { VTDecompressionSessionInvalidate(session) }
    let stereo = try CMFormatDescription(
      videoCodecType: .hevc, width: 64, height: 48,
      extensions: .init(base: [
        kCMFormatDescriptionExtension_HasLeftStereoEyeView: NSNumber(value: true),
        kCMFormatDescriptionExtension_HasRightStereoEyeView: NSNumber(value: true),
        kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: ["lhvC": Data([1])] as NSDictionary,
      ]))
    let layers = kVTDecompressionPropertyKey_RequestedMVHEVCVideoLayerIDs as String
    #expect(throws: AVError.self) {
      try RequestedDecompressionProperties([layers: [0, 1]]).apply(to: session, stereo)
    }
    try RequestedDecompressionProperties([layers: [0]]).apply(to: session, stereo)
    try RequestedDecompressionProperties([layers: [0, 1]]).apply(to: session, format)
  }
}
