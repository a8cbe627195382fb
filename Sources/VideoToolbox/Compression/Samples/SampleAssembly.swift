// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Makes sample buffers of coded frames.
struct SampleAssembly {
  private let codec: CodecType
  /// Of the pictures: for the format description of a codec whose header does not say it, and to tell what of a coded
  /// picture is none of theirs.
  private let width: Int
  private let height: Int
  /// For the format description, beside what the parameter sets say.
  var cleanAperture: [String: Double]? { didSet { if cleanAperture != oldValue { isOutdated = true } } }
  /// Static HDR metadata that the stream carries.
  var hdr = HDRMetadata() { didSet { if hdr != oldValue { isOutdated = true } } }
  /// The description is to be made anew for the next key frame.
  private var isOutdated = false
  private var header: StreamHeader?
  private var formatDescription: CMVideoFormatDescription?

  init(codec: CodecType, width: Int, height: Int) {
    self.codec = codec
    self.width = width
    self.height = height
  }

  /// - Parameters:
  ///   - decodeTime: invalid if the frames of the stream never change their order.
  mutating func sample(
    of data: consuming CompressedData, header: StreamHeader?, facts: CompressedFrame.Facts,
    presentationTime: CMTime, decodeTime: CMTime, duration: CMTime
  ) throws(StatusError) -> CMSampleBuffer {
    let format = try describe(header, isKeyFrame: facts.isKeyFrame)
    // Empty frames are not what a block buffer can hold.
    guard data.count > 0 else { throw StatusError(kVTVideoEncoderMalfunctionErr) }
    let taken = data.release()
    var block: CMBlockBuffer?
    // The block buffer takes the memory over and gives it back in the end.
    var source = CMBlockBufferCustomBlockSource(
      version: kCMBlockBufferCustomBlockSourceVersion, AllocateBlock: nil, FreeBlock: taken.giveBack,
      refCon: taken.context)
    var status = CMBlockBufferCreateWithMemoryBlock(
      allocator: nil, memoryBlock: taken.memory, blockLength: taken.capacity, blockAllocator: nil,
      customBlockSource: &source, offsetToData: 0, dataLength: taken.count, flags: 0, blockBufferOut: &block)
    guard status == noErr, let block else {
      taken.giveBack(taken.context, taken.memory, taken.capacity)
      throw StatusError(kVTAllocationFailedErr)
    }
    var timing = CMSampleTimingInfo(
      duration: duration, presentationTimeStamp: presentationTime, decodeTimeStamp: decodeTime)
    var size = taken.count
    var sample: CMSampleBuffer?
    status = CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: 1, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &sample)
    guard status == noErr, let sample else { throw StatusError(status) }
    sample.setAttachments(SampleAttachments.values(of: facts, codec: codec))
    return sample
  }

  // MARK: -

  /// One description serves all samples until the stream's header changes.
  private mutating func describe(
    _ new: StreamHeader?, isKeyFrame: Bool
  ) throws(StatusError) -> CMVideoFormatDescription {
    if let formatDescription, new == nil || new == header, !(isOutdated && isKeyFrame) {
      return formatDescription
    }
    guard let new = new ?? header else { throw StatusError(kVTVideoEncoderMalfunctionErr) }
    var made: CMVideoFormatDescription
    switch new {
    case .parameterSets(let sets): made = try description(of: sets.all)
    case .configurationRecord(let atom, let record):
      made = try description(atoms: [atom as NSString: Data(record) as NSData])
    case .nothing: made = try description(atoms: nil)
    }
    let aperture = aperture(of: CMVideoFormatDescriptionGetDimensions(made))
    if aperture != nil || hdr != HDRMetadata() { made = try extended(made, aperture) }
    header = new
    formatDescription = made
    isOutdated = false
    return made
  }

  private func description(of sets: [[UInt8]]) throws(StatusError) -> CMVideoFormatDescription {
    var description: CMFormatDescription?
    let status = Self.withPointers(to: sets) { pointers, sizes in
      if codec == .hevc {
        return CMVideoFormatDescriptionCreateFromHEVCParameterSets(
          allocator: nil, parameterSetCount: sets.count, parameterSetPointers: pointers,
          parameterSetSizes: sizes, nalUnitHeaderLength: 4, extensions: nil,
          formatDescriptionOut: &description)
      }
      return CMVideoFormatDescriptionCreateFromH264ParameterSets(
        allocator: nil, parameterSetCount: sets.count, parameterSetPointers: pointers,
        parameterSetSizes: sizes, nalUnitHeaderLength: 4, formatDescriptionOut: &description)
    }
    guard status == noErr, let description else { throw StatusError(status) }
    return description
  }

  /// Of a codec that this package knows nothing else of.
  private func description(atoms: NSDictionary?) throws(StatusError) -> CMVideoFormatDescription {
    let extensions = atoms.map {
      NSDictionary(dictionary: [kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: $0])
    }
    var description: CMVideoFormatDescription?
    let status = CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: codec.rawValue, width: Int32(width), height: Int32(height),
      extensions: extensions, formatDescriptionOut: &description)
    guard status == noErr, let description else { throw StatusError(status) }
    return description
  }

  /// The part of the coded pictures that is meant to be seen; nil for all of it. Of odd sizes a stream shows a sample
  /// more at the right or at the bottom, for it crops in pairs of samples.
  private func aperture(of coded: CMVideoDimensions) -> [String: Double]? {
    let extra = (x: Int(coded.width) - width, y: Int(coded.height) - height)
    guard extra != (0, 0), (0...1).contains(extra.x), (0...1).contains(extra.y) else { return cleanAperture }
    let horizontal = kCMFormatDescriptionKey_CleanApertureHorizontalOffset as String
    let vertical = kCMFormatDescriptionKey_CleanApertureVerticalOffset as String
    var aperture =
      cleanAperture
      ?? [
        kCMFormatDescriptionKey_CleanApertureWidth as String: Double(width),
        kCMFormatDescriptionKey_CleanApertureHeight as String: Double(height),
      ]
    // Offsets count from the centre, which the sample more has moved.
    for (key, extra) in [(horizontal, extra.x), (vertical, extra.y)] {
      aperture[key] = (aperture[key] ?? 0) - Double(extra) / 2
    }
    return aperture
  }

  /// With what the parameter sets do not say.
  private func extended(
    _ made: CMVideoFormatDescription, _ aperture: [String: Double]?
  ) throws(StatusError) -> CMVideoFormatDescription {
    let extensions = NSMutableDictionary()
    for (key, value) in CMFormatDescriptionGetExtensions(made)?.entries ?? [:] { extensions[key] = value }
    if let aperture {
      extensions[kCMFormatDescriptionExtension_CleanAperture] = PropertyValue.dictionary(aperture).object
    }
    if let bytes = hdr.masteringDisplay {
      extensions[kCMFormatDescriptionExtension_MasteringDisplayColorVolume] = NSData(data: Data(bytes))
    }
    if let bytes = hdr.contentLightLevel {
      extensions[kCMFormatDescriptionExtension_ContentLightLevelInfo] = NSData(data: Data(bytes))
    }
    let size = CMVideoFormatDescriptionGetDimensions(made)
    var extended: CMVideoFormatDescription?
    let status = CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: CMFormatDescriptionGetMediaSubType(made), width: size.width,
      height: size.height, extensions: extensions, formatDescriptionOut: &extended)
    guard status == noErr, let extended else { throw StatusError(status) }
    return extended
  }

  private static func withPointers(
    to sets: [[UInt8]], _ body: (UnsafePointer<UnsafePointer<UInt8>>, UnsafePointer<Int>) -> OSStatus
  ) -> OSStatus {
    let bytes = sets.flatMap { $0 }
    return bytes.withUnsafeBufferPointer { all -> OSStatus in
      guard let base = all.baseAddress else { return kVTVideoEncoderMalfunctionErr }
      var offset = 0
      var pointers: [UnsafePointer<UInt8>] = []
      for set in sets {
        pointers.append(base + offset)
        offset += set.count
      }
      let sizes = sets.map(\.count)
      return pointers.withUnsafeBufferPointer { pointers in
        sizes.withUnsafeBufferPointer { sizes in
          guard let first = pointers.baseAddress, let size = sizes.baseAddress else {
            return kVTVideoEncoderMalfunctionErr
          }
          return body(first, size)
        }
      }
    }
  }
}
