// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import FuzzDriver

/// Reads everything that a video format description computes from its parameter sets.
func inspect(_ description: CMFormatDescription) {
  let dimensions = CMVideoFormatDescriptionGetDimensions(description)
  require(dimensions.width >= 0 && dimensions.height >= 0, "dimensions below zero")
  for flag in [false, true] {
    _ = CMVideoFormatDescriptionGetPresentationDimensions(
      description, usePixelAspectRatio: flag, useCleanAperture: flag)
    _ = CMVideoFormatDescriptionGetCleanAperture(description, originIsAtTopLeft: flag)
  }
  _ = CMFormatDescriptionGetExtensions(description)
  require(CMFormatDescriptionEqual(description, otherFormatDescription: description), "not equal to itself")
  for isHEVC in [false, true] {
    var count = 0
    var lengthSize: Int32 = 0
    func get(
      _ i: Int, _ pointer: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ size: UnsafeMutablePointer<Int>?
    ) -> OSStatus {
      isHEVC
        ? CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
          description, parameterSetIndex: i, parameterSetPointerOut: pointer, parameterSetSizeOut: size,
          parameterSetCountOut: &count, nalUnitHeaderLengthOut: &lengthSize)
        : CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
          description, parameterSetIndex: i, parameterSetPointerOut: pointer, parameterSetSizeOut: size,
          parameterSetCountOut: &count, nalUnitHeaderLengthOut: &lengthSize)
    }
    guard get(0, nil, nil) == noErr else { continue }
    require([1, 2, 3, 4].contains(lengthSize), "lengths of \(lengthSize) bytes")
    var sum = 0
    for i in 0..<count {
      var pointer: UnsafePointer<UInt8>?
      var size = 0
      require(get(i, &pointer, &size) == noErr, "no parameter set \(i)")
      if let pointer { for k in 0..<size { sum += Int(pointer[k]) } }
    }
    require(sum >= 0 && get(count, nil, nil) != noErr && get(-1, nil, nil) != noErr, "a set too many")
  }
}

/// Creates format descriptions from arbitrary H.264 and HEVC parameter sets.
@Sendable func fuzzParameterSets(_ input: inout FuzzInput) {
  let lengthSize = Int32(truncatingIfNeeded: input.number())
  var sets: [Data] = []
  while !input.isEmpty && sets.count < 40 { sets.append(input.piece()) }
  // Each set has memory of its own, so that AddressSanitizer finds reads beyond it.
  let memory = sets.map { set in
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, set.count))
    set.copyBytes(to: copy, count: set.count)
    return copy
  }
  defer { for copy in memory { copy.deallocate() } }
  let pointers = memory.map { UnsafePointer($0) } + [UnsafePointer(bitPattern: 1)].compactMap { $0 }
  let sizes = sets.map(\.count) + [0]
  for isHEVC in [false, true] {
    var description: CMFormatDescription?
    let status =
      isHEVC
      ? CMVideoFormatDescriptionCreateFromHEVCParameterSets(
        allocator: nil, parameterSetCount: sets.count, parameterSetPointers: pointers,
        parameterSetSizes: sizes, nalUnitHeaderLength: lengthSize, extensions: nil,
        formatDescriptionOut: &description)
      : CMVideoFormatDescriptionCreateFromH264ParameterSets(
        allocator: nil, parameterSetCount: sets.count, parameterSetPointers: pointers,
        parameterSetSizes: sizes, nalUnitHeaderLength: lengthSize, formatDescriptionOut: &description)
    require((status == noErr) == (description != nil), "status \(status)")
    if let description { inspect(description) }
  }
}

/// Creates format descriptions from avcC and hvcC atoms, and from whole image descriptions.
@Sendable func fuzzAtoms(_ input: inout FuzzInput) {
  let kind = input.byte()
  let data = input.rest()
  if kind % 3 == 2 {
    data.withUnsafeBytes { bytes in
      guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
      var description: CMFormatDescription?
      CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData(
        allocator: nil, bigEndianImageDescriptionData: base, size: bytes.count,
        stringEncoding: CFStringEncoding(String.Encoding.ascii.rawValue), flavor: nil,
        formatDescriptionOut: &description)
      if let description { inspect(description) }
    }
    return
  }
  let isHEVC = kind % 3 == 1
  let atoms = [isHEVC ? "hvcC" : "avcC": data]
  let extensions = [kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms as String: atoms]
  var description: CMFormatDescription?
  CMVideoFormatDescriptionCreate(
    allocator: nil, codecType: isHEVC ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264, width: 640,
    height: 360, extensions: extensions as NSDictionary, formatDescriptionOut: &description)
  if let description { inspect(description) }
}
