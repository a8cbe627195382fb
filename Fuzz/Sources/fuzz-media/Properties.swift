// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import FuzzDriver
import VideoToolbox

/// Sets any properties to any values on a compression session, between other calls in any order, on
/// up to two threads.
@Sendable func fuzzProperties(_ input: inout FuzzInput) {
  let flags = input.byte()
  let width = Int32(input.byte() % 96) + 16
  let height = Int32(input.byte() % 64) + 16
  let specification: NSDictionary? =
    flags & 2 != 0 ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: NSNumber(value: true)] : nil
  var made: VTCompressionSession?
  VTCompressionSessionCreate(
    allocator: nil, width: width, height: height,
    codecType: flags & 1 == 0 ? kCMVideoCodecType_H264 : kCMVideoCodecType_HEVC,
    encoderSpecification: specification,
    imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
    compressionSessionOut: &made)
  guard let session = made else { return }
  var supported: CFDictionary?
  VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &supported)
  let keys = (supported?.allKeys ?? []).compactMap { $0 as? NSString }.sorted {
    ($0 as String) < ($1 as String)
  }
  guard !keys.isEmpty else { return }
  var picture: CVPixelBuffer?
  CVPixelBufferCreate(
    nil, Int(width), Int(height), kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &picture)
  guard let picture else { return }

  // Distributes the steps among the threads.
  let threads = Int(flags >> 2 & 1) + 1
  var shares = [[Step]](repeating: [], count: threads)
  var count = 0
  while !input.isEmpty, count < 48 {
    shares[count % threads].append(Step(&input, keys))
    count += 1
  }
  let clock = NSLock()
  nonisolated(unsafe) var now: Int64 = 0
  let ready = shares
  DispatchQueue.concurrentPerform(iterations: threads) { thread in
    for step in ready[thread] {
      switch step {
      case .set(let key, let value): VTSessionSetProperty(session, key: key, value: value)
      case .setAll(let values): VTSessionSetProperties(session, propertyDictionary: values)
      case .copy(let key):
        var value: CFTypeRef?
        VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: &value)
      case .serialize:
        var values: CFDictionary?
        VTSessionCopySerializableProperties(session, allocator: nil, dictionaryOut: &values)
      case .encode(let time, let duration, let options):
        let regular = clock.withLock {
          now += 1
          return CMTime(value: now, timescale: 30)
        }
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: picture, presentationTimeStamp: time ?? regular, duration: duration,
          frameProperties: options,
          infoFlagsOut: nil
        ) { _, _, _ in }
      case .complete(let time): VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: time)
      case .prepare: VTCompressionSessionPrepareToEncodeFrames(session)
      case .pass(let begins):
        if begins {
          VTCompressionSessionBeginPass(session, flags: [], nil)
        } else {
          VTCompressionSessionEndPass(session, furtherPassesRequestedOut: nil, nil)
        }
      case .invalidate: VTCompressionSessionInvalidate(session)
      }
    }
  }
  VTCompressionSessionInvalidate(session)
}

private enum Step: @unchecked Sendable {
  case set(NSString, AnyObject?)
  case setAll(NSDictionary)
  case copy(NSString)
  case serialize
  case encode(CMTime?, CMTime, NSDictionary?)
  case complete(CMTime)
  case prepare
  case pass(begins: Bool)
  case invalidate

  init(_ input: inout FuzzInput, _ keys: [NSString]) {
    func key(_ input: inout FuzzInput) -> NSString { keys[Int(input.byte()) % keys.count] }
    switch input.byte() {
    case 0..<110: self = .set(key(&input), Self.value(&input, depth: 0))
    case 110..<120:
      self = .setAll([key(&input): Self.value(&input, depth: 0), key(&input): Self.value(&input, depth: 0)])
    case 120..<130: self = .copy(key(&input))
    case 130..<135: self = .serialize
    case 135..<215:
      let options: NSDictionary? =
        input.byte() < 200
        ? nil
        : [
          kVTEncodeFrameOptionKey_ForceKeyFrame: Self.value(&input, depth: 0),
          kVTEncodeFrameOptionKey_BaseFrameQP: Self.value(&input, depth: 0),
        ]
      self = .encode(input.byte() < 200 ? nil : Self.time(&input), Self.time(&input), options)
    case 215..<235: self = .complete(Self.time(&input))
    case 235..<240: self = .prepare
    case 240..<250: self = .pass(begins: input.byte() & 1 == 0)
    default: self = .invalidate
    }
  }

  private static func time(_ input: inout FuzzInput) -> CMTime {
    switch input.byte() {
    case 0..<120: .invalid
    case 120..<180: CMTime(value: Int64(input.byte()), timescale: 30)
    default:
      CMTime(
        value: Int64(input.number()), timescale: Int32(truncatingIfNeeded: input.number()),
        flags: CMTimeFlags(rawValue: UInt32(input.byte() & 31)), epoch: Int64(input.byte() & 1))
    }
  }

  private static func value(_ input: inout FuzzInput, depth: Int) -> AnyObject {
    switch input.byte() {
    case 0..<100: return NSNumber(value: input.real())
    case 100..<130: return NSNumber(value: input.number())
    case 130..<150: return NSNumber(value: input.byte() & 1 == 0)
    case 150..<165: return String(decoding: input.piece().prefix(40), as: UTF8.self) as NSString
    case 165..<175: return input.piece().prefix(64) as NSData
    case 175..<180: return NSNull()
    case 180..<215:
      guard depth < 4 else { return NSArray() }
      return NSArray(array: (0..<Int(input.byte() % 5)).map { _ in value(&input, depth: depth + 1) })
    case 215..<235:
      guard depth < 4 else { return NSDictionary() }
      let keys = [
        "Width", "Height", "HorizontalSpacing", "VerticalSpacing", "x", "CleanApertureWidth",
        "CleanApertureHeight",
      ]
      let result = NSMutableDictionary()
      for _ in 0..<Int(input.byte() % 4) {
        result[keys[Int(input.byte()) % keys.count] as NSString] = value(&input, depth: depth + 1)
      }
      return result
    default:
      let texts = [
        "H264_Baseline_AutoLevel", "H264_High_AutoLevel", "HEVC_Main10_AutoLevel", "H264_High_5_2", "CABAC",
        "CAVLC",
        "ITU_R_709_2", "SMPTE_ST_2084_PQ", "ITU_R_2020", "",
      ]
      return texts[Int(input.byte()) % texts.count] as NSString
    }
  }
}
