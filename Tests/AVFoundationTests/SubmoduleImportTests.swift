// SPDX-License-Identifier: Apache-2.0
import AVFoundation.AVAnimation
import AVFoundation.AVAsset
import AVFoundation.AVAssetCache
import AVFoundation.AVAssetTrackGroup
import AVFoundation.AVAssetWriter
import AVFoundation.AVCaption
import AVFoundation.AVCaptionConversionValidator
import AVFoundation.AVCaptionFormatConformer
import AVFoundation.AVCaptionGroup
import AVFoundation.AVCaptionGrouper
import AVFoundation.AVCaptionSettings
import AVFoundation.AVSampleBufferGenerator
import AVFoundation.AVSampleCursor
import CoreMedia.CMTime
import CoreVideo.CVHostTime
import CoreVideo.CVPixelBuffer
import Foundation
import Testing
import UniformTypeIdentifiers.UTType
import VideoToolbox.VTCompressionSession
import VideoToolbox.VTPixelRotationProperties
import VideoToolbox.VTProfessionalVideoWorkflow

/// Parts of modules, as on Apple's systems where they are headers: this file imports nothing else
/// of the package.
@Suite struct SubmoduleImportTests {
  @Test func partsOfModulesBringTheirNames() {
    let asset: AVAsset = AVURLAsset(url: URL(fileURLWithPath: "/nothing"))
    #expect(asset.tracks.isEmpty && CMTime.zero.isNumeric && CVPixelBufferGetTypeID() != 0)
    #expect(AVLayerVideoGravity.resizeAspect != .resize && AVCaption("a", timeRange: .zero).text == "a")
    #expect(CVGetHostClockFrequency() > 0 && asset.trackGroups.isEmpty)
    #expect(UTType("public.mpeg-4") == .mpeg4Movie && VTCompressionSessionGetTypeID() != 0)
  }
}
