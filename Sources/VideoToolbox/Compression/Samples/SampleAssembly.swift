// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Makes sample buffers of coded frames, and the format descriptions that they share.
struct SampleAssembly {
  private let codec: CodecType
  /// The size of the session's pictures, in samples. It goes into the format description of a codec
  /// whose stream header does not state it, and tells which rows and columns of a coded picture are
  /// padding.
  private let width: Int
  private let height: Int
  /// The clean aperture that the client has set, for the format description; nil for none.
  var cleanAperture: [String: Double]? { didSet { if cleanAperture != oldValue { isOutdated = true } } }
  /// The static HDR metadata that the stream carries, for the format description.
  var hdr = HDRMetadata() { didSet { if hdr != oldValue { isOutdated = true } } }
  /// Whether a new format description has to be made for the next key frame.
  private var isOutdated = false
  private var header: StreamHeader?
  private var formatDescription: CMVideoFormatDescription?

  init(codec: CodecType, width: Int, height: Int) {
    self.codec = codec
    self.width = width
    self.height = height
  }

  /// Makes the sample buffer of a coded frame.
  /// - Parameters:
  ///   - data: The frame's bytes. The sample buffer takes their memory over without a copy.
  ///   - header: The stream's header, if it comes with this frame.
  ///   - properties: What the encoder reports about the frame, for the sample's attachments.
  ///   - presentationTime: The presentation time.
  ///   - decodeTime: The decode time; invalid if the stream has no reordered frames.
  ///   - duration: The duration; invalid if unknown.
  /// - Throws: `kVTVideoEncoderMalfunctionErr` for an empty frame or a stream without a header,
  ///   `kVTAllocationFailedErr`, or the error of the format description.
  mutating func sample(
    of data: consuming CompressedData, header: StreamHeader?, properties: CompressedFrame.Properties,
    presentationTime: CMTime, decodeTime: CMTime, duration: CMTime
  ) throws(StatusError) -> CMSampleBuffer {
    let format = try describe(header, isKeyFrame: properties.isKeyFrame)
    // A block buffer cannot hold an empty frame.
    guard data.count > 0 else { throw StatusError(kVTVideoEncoderMalfunctionErr) }
    let taken = data.release()
    var block: CMBlockBuffer?
    // The block buffer owns the memory from here on, and returns it to the encoder when it is
    // released.
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
    sample.setAttachments(SampleAttachments.values(of: properties, codec: codec))
    return sample
  }

  // MARK: -

  /// Returns the format description of a frame: the last one, until the stream's header changes.
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

  /// Makes the format description of a codec whose header this package cannot parse.
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

  /// Computes the clean aperture of the coded pictures; nil if all of them is meant to be seen.
  /// Where the session's width or height is odd, the stream's pictures have a column or a row more
  /// at the right or at the bottom, because 4:2:0 streams are cropped in pairs of samples.
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
    // Offsets are relative to the picture's centre, which the additional column or row has moved.
    for (key, extra) in [(horizontal, extra.x), (vertical, extra.y)] {
      aperture[key] = (aperture[key] ?? 0) - Double(extra) / 2
    }
    return aperture
  }

  /// Copies a format description and adds what the parameter sets do not contain: the clean
  /// aperture and static HDR metadata.
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
