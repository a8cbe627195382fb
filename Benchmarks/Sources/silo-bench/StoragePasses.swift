// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation
import Synchronization
import VideoToolbox

/// Encodes small pictures in two passes with the encoder of this package and a multi-pass storage.
final class StoragePasses {
  static let frameRate = 25.0
  private static let (width, height) = (96, 64)

  /// The number of frames in one hundredth of the work.
  let share: Int
  private let session: VTCompressionSession
  private let storage: VTMultiPassStorage
  private let pictures: [CVPixelBuffer]
  private let found = Mutex((frames: 0, bytes: 0))
  private var isSecond = false

  /// The total size of the frames that were output.
  var bytes: Int { found.withLock { $0.bytes } }

  init(frames: Int) throws {
    share = max(frames / 100, 1)
    var session: VTCompressionSession?
    VTCompressionSessionCreate(
      allocator: nil, width: Int32(Self.width), height: Int32(Self.height), codecType: kCMVideoCodecType_H264,
      encoderSpecification: [
        kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.h264"
      ] as CFDictionary,
      imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &session)
    var storage: VTMultiPassStorage?
    VTMultiPassStorageCreate(
      allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, multiPassStorageOut: &storage)
    guard let session, let storage else {
      throw BenchmarkError(description: "There is no session of passes.")
    }
    (self.session, self.storage) = (session, storage)
    pictures = try (0..<8).map { try Self.picture($0) }
    let properties: [(CFString, Any)] = [
      (kVTCompressionPropertyKey_AverageBitRate, 100_000), (kVTCompressionPropertyKey_ExpectedFrameRate, 25),
      (kVTCompressionPropertyKey_MultiPassStorage, storage),
    ]
    for (key, value) in properties {
      try Self.check(VTSessionSetProperty(session, key: key, value: value as CFTypeRef))
    }
  }

  deinit {
    VTCompressionSessionInvalidate(session)
    VTMultiPassStorageClose(storage)
  }

  private static func check(_ status: OSStatus) throws {
    if status != noErr { throw BenchmarkError(description: "The session answered \(status).") }
  }

  private static func picture(_ number: Int) throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
    guard let made, CVPixelBufferLockBaseAddress(made, []) == kCVReturnSuccess,
      let luma = CVPixelBufferGetBaseAddressOfPlane(made, 0),
      let chroma = CVPixelBufferGetBaseAddressOfPlane(made, 1)
    else { throw BenchmarkError(description: "There is no picture.") }
    defer { CVPixelBufferUnlockBaseAddress(made, []) }
    for row in 0..<height {
      let line = (luma + row * CVPixelBufferGetBytesPerRowOfPlane(made, 0)).assumingMemoryBound(
        to: UInt8.self)
      for column in 0..<width {
        line[column] = UInt8(truncatingIfNeeded: (column + 3 * number) * (row + number) / 4)
      }
    }
    memset(chroma, 128, CVPixelBufferGetBytesPerRowOfPlane(made, 1) * (height / 2))
    return made
  }

  func begin() throws {
    found.withLock { $0 = (0, 0) }
    try Self.check(
      VTCompressionSessionBeginPass(session, flags: isSecond ? .beginFinalPass : [], nil))
  }

  /// Encodes one hundredth of the pictures.
  func encode(_ part: Int) throws {
    for index in part * share..<(part + 1) * share {
      try Self.check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: pictures[index / 3 % pictures.count],
          presentationTimeStamp: CMTime(value: Int64(index), timescale: 25), duration: .invalid,
          frameProperties: nil, infoFlagsOut: nil
        ) { [self] status, _, sample in
          guard status == noErr, let sample else { return }
          found.withLock { $0 = ($0.frames + 1, $0.bytes + CMSampleBufferGetTotalSampleSize(sample)) }
        })
    }
  }

  func end() throws {
    try Self.check(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: nil, nil))
    let frames = found.withLock { $0.frames }
    guard frames == share * 100 else {
      throw BenchmarkError(description: "\(frames) frames of \(share * 100) came out of a pass.")
    }
    isSecond = true
  }
}
