// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMFormatDescription {
  /// The pictures that each sample of a multi-view stream (MV-HEVC) holds, by their tags: the layer of the stream and the
  /// eye that it is for, the layer of the eye that is shown on its own (`HeroEye`, else the left one) first.
  ///
  /// Nil where a sample holds one picture: where the description has not both eyes' views (`HasLeftStereoEyeView`,
  /// `HasRightStereoEyeView`) and the parameter sets of a further layer (`lhvC`, ISO/IEC 14496-15, clause 9).
  public var tagCollections: [[CMTag]]? {
    func flag(_ key: CFString) -> Bool {
      (CMFormatDescriptionGetExtension(self, extensionKey: key) as? NSNumber)?.boolValue ?? false
    }
    let atoms =
      CMFormatDescriptionGetExtension(
        self, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as? NSDictionary
    guard mediaType == .video, atoms?.object(forKey: "lhvC") != nil,
      flag(kCMFormatDescriptionExtension_HasLeftStereoEyeView),
      flag(kCMFormatDescriptionExtension_HasRightStereoEyeView)
    else { return nil }
    let hero =
      CMFormatDescriptionGetExtension(self, extensionKey: kCMFormatDescriptionExtension_HeroEye) as? NSString
    let isRightFirst = hero == kCMFormatDescriptionHeroEye_Right
    let eyes: [CMStereoViewComponents] = isRightFirst ? [.rightEye, .leftEye] : [.leftEye, .rightEye]
    return eyes.enumerated().map { layer, eye in [.videoLayerID(Int64(layer)), .stereoView(eye)] }
  }
}
