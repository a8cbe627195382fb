// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMFormatDescription {
  /// The tags of the pictures in each sample of a multi-view stream (MV-HEVC): the layer of the
  /// stream and the eye. The layer of the eye that is shown alone comes first: `HeroEye`, or the
  /// left eye by default.
  ///
  /// Nil if a sample contains one picture, that is unless the description has views of both eyes
  /// (`HasLeftStereoEyeView`, `HasRightStereoEyeView`) and parameter sets of a further layer
  /// (`lhvC`, ISO/IEC 14496-15, clause 9).
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
