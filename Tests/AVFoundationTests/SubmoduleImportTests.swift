// SPDX-License-Identifier: Apache-2.0
import AVFoundation.AVAsset
import AVFoundation.AVAssetWriter
import CoreMedia.CMTime
import CoreVideo.CVPixelBuffer
import Foundation
import Testing
import UniformTypeIdentifiers.UTType
import VideoToolbox.VTCompressionSession

/// Parts of modules, as on Apple's systems where they are headers: this file imports nothing else of the package.
@Suite struct SubmoduleImportTests {
  @Test func partsOfModulesBringTheirNames() {
    let asset: AVAsset = AVURLAsset(url: URL(fileURLWithPath: "/nothing"))
    #expect(asset.tracks.isEmpty && CMTime.zero.isNumeric && CVPixelBufferGetTypeID() != 0)
    #expect(UTType("public.mpeg-4") == .mpeg4Movie && VTCompressionSessionGetTypeID() != 0)
  }
}
