// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import AVFoundation.AVAsset
import CoreMedia.CMTime
import Foundation

/// As a view model has it that tells its observers.
private final class Export: NSObject {
  var progress = 0.0 {
    willSet { willChangeValue(forKey: "progress") }
    didSet { didChangeValue(forKey: "progress") }
  }
}

func shapes() {
  // The uniform types come with AVFoundation.
  check(UTType("public.mpeg-4")?.preferredFilenameExtension == "mp4", "the type of mp4")
  let size = CGSize(width: 16, height: 9)
  check(size.debugDescription == "(16.0, 9.0)" && size.equalTo(CGSize(width: 16, height: 9)), "a size")
  check(CGRect(origin: .zero, size: size).equalTo(CGRect(x: 0, y: 0, width: 16, height: 9)), "a rectangle")
  check(NSValue(time: .zero).value(of: CMTime.self) == .zero, "a time in a value")
  check(kAudioFormatAPAC == 0x6170_6163, "APAC")
  check(AVVideoDecompressionPropertiesKey == "AVVideoDecompressionPropertiesKey", "a key")
  let renderer = AVSampleBufferVideoRenderer()
  check(renderer.recommendedPixelBufferAttributes.pixelFormatTypes?.isEmpty == false, "a renderer's formats")
  let export = Export()
  export.progress = 1
  check(export.progress == 1, "progress")
}

func loaded(_ asset: AVAsset) async -> Bool {
  await asset.loadValues(forKeys: ["tracks"])
  let tracks = asset.tracks(withMediaCharacteristic: .containsStereoMultiviewVideo)
  let formats = tracks.flatMap(\.formatDescriptions).compactMap { $0 as? CMFormatDescription }
  return formats.contains { $0.tagCollections?.isEmpty == false }
}
