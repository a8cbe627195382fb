// SPDX-License-Identifier: Apache-2.0
import Foundation

// Posted by an asset or a track whose file grows while it is open, as `AVFragmentedAsset` follows it on Apple's
// systems. An asset of this package is what its file was when it was opened, so that nothing changes and nothing is
// posted.

extension NSNotification.Name {
  public static let AVAssetDurationDidChange = NSNotification.Name("AVAssetDurationDidChangeNotification")
  public static let AVAssetContainsFragmentsDidChange = NSNotification.Name(
    "AVAssetContainsFragmentsDidChangeNotification")
  public static let AVAssetWasDefragmented = NSNotification.Name("AVAssetWasDefragmentedNotification")
  public static let AVAssetChapterMetadataGroupsDidChange = NSNotification.Name(
    "AVAssetChapterMetadataGroupsDidChangeNotification")
  public static let AVAssetMediaSelectionGroupsDidChange = NSNotification.Name(
    "AVAssetMediaSelectionGroupsDidChangeNotification")
  public static let AVAssetTrackTimeRangeDidChange = NSNotification.Name(
    "AVAssetTrackTimeRangeDidChangeNotification")
  public static let AVAssetTrackSegmentsDidChange = NSNotification.Name(
    "AVAssetTrackSegmentsDidChangeNotification")
  public static let AVAssetTrackTrackAssociationsDidChange = NSNotification.Name(
    "AVAssetTrackTrackAssociationsDidChangeNotification")
}
