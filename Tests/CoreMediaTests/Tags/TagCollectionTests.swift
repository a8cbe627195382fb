// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

/// The views of a stream, by what its description says.
@Suite struct TagCollectionTests {
  private func description(_ extensions: [CFString: Any]) throws -> CMFormatDescription {
    try CMFormatDescription(
      videoCodecType: .hevc, width: 64, height: 48,
      extensions: CMFormatDescription.Extensions(base: extensions.mapValues { $0 as AnyObject }))
  }

  private var layers: [CFString: Any] {
    [kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: ["lhvC": Data([1])] as NSDictionary]
  }
  private var eyes: [CFString: Any] {
    [
      kCMFormatDescriptionExtension_HasLeftStereoEyeView: true,
      kCMFormatDescriptionExtension_HasRightStereoEyeView: true,
    ]
  }

  @Test func aStreamWithLayersHasACollectionForEachEye() throws {
    let views = try #require(try description(layers.merging(eyes) { $1 }).tagCollections)
    #expect(views.map { $0.firstValue(matchingCategory: .videoLayerID) } == [0, 1])
    #expect(views.map { $0.firstValue(matchingCategory: .stereoView) } == [.leftEye, .rightEye])
    let right = [kCMFormatDescriptionExtension_HeroEye: kCMFormatDescriptionHeroEye_Right as Any]
    let turned = try description(layers.merging(eyes) { $1 }.merging(right) { $1 }).tagCollections
    #expect(turned?.map { $0.firstValue(matchingCategory: .stereoView) } == [.rightEye, .leftEye])
  }

  @Test func aStreamOfOneViewHasNoCollection() throws {
    #expect(try description([:]).tagCollections == nil)
    #expect(try description(layers).tagCollections == nil)
    #expect(try description(eyes).tagCollections == nil)
    #expect(try CMFormatDescription(videoCodecType: .h264, width: 64, height: 48).tagCollections == nil)
  }

  @Test func formatsOfAudioAreTheirFourCharacters() {
    for (format, text) in [
      (kAudioFormatAPAC, "apac"), (kAudioFormatAppleIMA4, "ima4"), (kAudioFormatAMR, "samr"),
      (kAudioFormatMPEG4AAC_ELD, "aace"), (kAudioFormatMPEGD_USAC, "usac"), (kAudioFormatMPEGLayer2, ".mp2"),
    ] {
      #expect(format == text.utf8.reduce(0) { $0 << 8 | UInt32($1) })
    }
    #expect(kAudioFormatMicrosoftGSM == 0x6D73_0031 && kAudioFormatDVIIntelIMA == 0x6D73_0011)
  }
}
