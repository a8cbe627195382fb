// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing
import VideoToolbox

/// Sessions of the low-latency mode with a gradual intra refresh.
@Suite struct IntraRefreshTests {
  private static let size = (width: 320, height: 240)

  /// A session, or nil where the build lacks the encoder.
  private static func session(
    _ codec: CMVideoCodecType, period: Int, layers: Bool = false
  ) throws -> VTCompressionSession? {
    do {
      return try makeSession(
        codec, width: size.width, height: size.height,
        specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
        properties: [
          kVTCompressionPropertyKey_AverageBitRate: 600_000,
          kVTCompressionPropertyKey_ExpectedFrameRate: 30,
          kOVTCompressionPropertyKey_Effort: 2,
          kVTCompressionPropertyKey_BaseLayerFrameRateFraction: layers ? 0.5 : 1,
          kOVTCompressionPropertyKey_IntraRefreshFrameCount: period,
        ])
    } catch let error as SessionError where error.status == kVTCouldNotFindVideoEncoderErr {
      return nil
    }
  }

  /// Whether a frame has a recovery point message, which is alone in its NAL unit.
  private static func isRecoveryPoint(_ sample: CMSampleBuffer, _ codec: CMVideoCodecType) -> Bool {
    sample.nalUnits.contains { unit in
      guard unit.count > 3 else { return false }
      return codec == kCMVideoCodecType_HEVC
        ? unit[0] >> 1 & 63 == 39 && unit[2] == 6 : unit[0] & 31 == 6 && unit[1] == 6
    }
  }

  /// The decoded luma of each frame.
  /// - Parameter isMixed: whether the frames are of several streams, so that references may be
  ///   missing.
  private static func pictures(
    _ samples: [CMSampleBuffer], _ codec: CMVideoCodecType, isMixed: Bool = false
  ) throws -> [Data] {
    let bytes = try StreamProbe.decode(
      annexB(samples), hevc: codec == kCMVideoCodecType_HEVC, allowsErrors: isMixed)
    let count = size.width * size.height
    return stride(from: 0, to: bytes.count, by: count).map { bytes[$0..<min($0 + count, bytes.count)] }
  }

  @Test(
    "Who had other pictures up to a recovery point has the same ones when the refresh has passed",
    .enabled(if: StreamProbe.isAvailable),
    arguments: [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC], [5, 12, 40])
  func aRefreshReplacesAKeyFrame(codec: CMVideoCodecType, period: Int) throws {
    for hasLayers in [false, true] {
      guard let session = try Self.session(codec, period: period, layers: hasLayers),
        let other = try Self.session(codec, period: period, layers: hasLayers)
      else { return }
      let count = 4 * period + 30
      let clip = TestClip(width: Self.size.width, height: Self.size.height)
      let samples = try encode(session, clip, count: count)
      let others = try encode(other, clip, count: count, from: 300)
      let context = "\(codec), \(period) frames, layers \(hasLayers)"
      for stream in [samples, others] {
        #expect(stream.count == count && stream.map(\.isSync).firstIndex(of: true) == 0, "\(context)")
        #expect(stream.count(where: \.isSync) == 1, "\(context)")
      }
      let points = samples.indices.filter { Self.isRecoveryPoint(samples[$0], codec) }
      // With layers, H.264 counts frames of the base layer alone.
      let step = hasLayers && codec == kCMVideoCodecType_H264 ? 2 * period : period
      // A refresh begins and ends with a frame of the base layer.
      let maximum = step + (hasLayers ? 2 : 0)
      #expect(
        zip(points, points.dropFirst()).allSatisfy { $1 - $0 >= period && $1 - $0 <= maximum },
        "\(context): \(points)")
      let point = try #require(points.dropFirst().first, "\(context)")
      let whole = try Self.pictures(samples, codec)
      let mixed = try Self.pictures(others[..<point] + Array(samples[point...]), codec, isMixed: true)
      try #require(whole.count == count && mixed.count == count, "\(context)")
      #expect(mixed[point] != whole[point], "\(context)")
      let first = point + step - 1
      try #require(first < count - 5)
      for n in first..<count { #expect(mixed[n] == whole[n], "\(context), frame \(n)") }
    }
  }

  @Test(
    "Frames of a refresh have about the same size, where a key frame stands out",
    arguments: [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC])
  func framesOfARefreshHaveAboutTheSameSize(codec: CMVideoCodecType) throws {
    guard let session = try Self.session(codec, period: 15) else { return }
    let clip = TestClip(width: Self.size.width, height: Self.size.height)
    let sizes = try encode(session, clip, count: 90).map { CMSampleBufferGetTotalSampleSize($0) }
    // The first second is for the key frame at the beginning.
    let steady = sizes.dropFirst(30)
    let mean = Double(steady.reduce(0, +)) / Double(steady.count)
    #expect(Double(steady.max() ?? 0) < 2.5 * mean, "\(codec): \(sizes)")
    #expect(Double(sizes[0]) > 3 * mean, "\(codec): \(sizes)")
    #expect(abs(mean * 8 * 30 / 600_000 - 1) < 0.15, "\(codec): \(mean)")
  }

  @Test(
    "The property is listed, read back and may change, and a change takes effect at once or at a key frame",
    arguments: [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC])
  func thePropertyMayChange(codec: CMVideoCodecType) throws {
    guard let session = try Self.session(codec, period: 0) else { return }
    let key = kOVTCompressionPropertyKey_IntraRefreshFrameCount
    var listed: CFDictionary?
    #expect(
      VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &listed) == noErr)
    #expect((listed as? [CFString: Any])?[key] != nil)
    for value in [-1, 1001] {
      #expect(VTSessionSetProperty(session, key: key, value: value as CFNumber) == kVTParameterErr)
    }
    let clip = TestClip(width: Self.size.width, height: Self.size.height)
    let samples = try encode(session, clip, count: 60) { index in
      if index == 20 || index == 50 {
        let status = VTSessionSetProperty(session, key: key, value: (index == 20 ? 6 : 0) as CFNumber)
        #expect(status == noErr)
      }
      return nil
    }
    #expect(try property(session, key) as? Int == 0)
    let points = samples.indices.filter { Self.isRecoveryPoint(samples[$0], codec) }
    #expect(points.count > 3 && points.allSatisfy { (20..<50).contains($0) }, "\(points)")
    // H.264 has another picture parameter set with a refresh than without.
    #expect(samples.count(where: \.isSync) == (codec == kCMVideoCodecType_HEVC ? 1 : 3))
  }
}
