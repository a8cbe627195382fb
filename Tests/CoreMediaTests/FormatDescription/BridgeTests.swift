// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

/// A movie made by ffmpeg's own muxer.
private func makeMovie(_ fileType: String, codec: String, options: [String]) -> Data? {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).\(fileType)")
  defer { try? FileManager.default.removeItem(at: url) }
  let made = run(
    "ffmpeg",
    [
      "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "2", "-c:v", codec,
      "-pix_fmt",
      "yuv420p", "-preset", "ultrafast", "-tag:v", codec == "libx264" ? "avc1" : "hvc1",
    ] + options + [url.path])
  return made == nil ? nil : try? Data(contentsOf: url)
}

/// The first entry of the first `stsd` box.
private func sampleEntry(_ movie: Data) -> Data? {
  guard let range = movie.range(of: Data("stsd".utf8)) else { return nil }
  let start = range.upperBound + 8
  let size = movie[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
  return movie[start..<start + size]
}

/// The atoms of an entry, found in the plainest way.
private func atoms(_ entry: Data) -> [String: Data] {
  let bytes = [UInt8](entry)
  var result: [String: Data] = [:]
  var position = 86
  while position + 8 <= bytes.count {
    let size = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    guard size >= 8, position + size <= bytes.count else { break }
    result[String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)] = Data(
      bytes[position + 8..<position + size])
    position += size
  }
  return result
}

private func read(_ entry: Data, _ flavor: CMImageDescriptionFlavor?) -> (CMFormatDescription?, OSStatus) {
  var description: CMFormatDescription?
  let status = [UInt8](entry).withUnsafeBufferPointer {
    CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData(
      allocator: nil, bigEndianImageDescriptionData: $0.baseAddress ?? UnsafePointer(bitPattern: 16)!,
      size: $0.count,
      stringEncoding: CFStringBuiltInEncodings.UTF8.rawValue, flavor: flavor,
      formatDescriptionOut: &description)
  }
  return (description, status)
}

private func write(_ description: CMFormatDescription, _ flavor: CMImageDescriptionFlavor?) throws -> Data {
  var block: CMBlockBuffer?
  let status = CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
    allocator: nil, videoFormatDescription: description,
    stringEncoding: CFStringBuiltInEncodings.UTF8.rawValue, flavor: flavor, blockBufferOut: &block)
  #expect(status == noErr)
  return try #require(block).dataBytes()
}

private let colour = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"]

@Suite struct BridgeTests {
  @Test(.enabled(if: hasFFmpeg), arguments: ["mov", "mp4"], ["libx264", "libx265"])
  func sampleDescriptionsOfMoviesAreReadAndWritten(_ fileType: String, _ codec: String) throws {
    let flavor: CMImageDescriptionFlavor = fileType == "mov" ? .quickTimeMovie : .isoFamily
    let movie = try #require(
      makeMovie(fileType, codec: codec, options: ["-vf", "setsar=4/3", "-movflags", "write_colr"] + colour))
    let entry = try #require(sampleEntry(movie))
    let description = try #require(read(entry, flavor).0)
    #expect(description.mediaSubType == (codec == "libx264" ? .h264 : .hevc))
    #expect(description.dimensions.width == 320 && description.dimensions.height == 240)
    #expect(description.presentationDimensions() == CGSize(width: 320 * 4 / 3.0, height: 240))
    #expect(description.parameterSets.count >= 2 && description.nalUnitHeaderLength == 4)
    #expect(description.extensions[.colorPrimaries]?.propertyListRepresentation as? String == "ITU_R_709_2")
    #expect(description.extensions[.yCbCrMatrix]?.propertyListRepresentation as? String == "ITU_R_709_2")
    // The description is written byte for byte.
    #expect(try write(description, flavor) == Data(entry))

    // Written again, the atoms are those of the other muxer.
    var extensions = description.extensions
    extensions[.verbatimSampleDescription] = nil
    extensions[.verbatimISOSampleEntry] = nil
    let plain = try CMFormatDescription(
      videoCodecType: description.mediaSubType, width: 320, height: 240, extensions: extensions)
    let written = try write(plain, flavor)
    let (ours, theirs) = (atoms(written), atoms(entry))
    for name in ["avcC", "hvcC", "pasp", "colr", "fiel"] { #expect(ours[name] == theirs[name], "\(name)") }
    #expect(written.dropFirst(32).prefix(4) == entry.dropFirst(32).prefix(4))
    // And read again it says the same.
    let again = try #require(read(written, flavor).0)
    #expect(
      again.equalTo(plain, extensionKeysToIgnore: [.verbatimSampleDescription, .verbatimISOSampleEntry]))
  }

  @Test func everyExtensionSurvives() throws {
    let description = try CMFormatDescription(
      videoCodecType: .jpeg, width: 720, height: 576,
      extensions: [
        .formatName: .string("Prüfung mit einem sehr langen Namen, der nicht passt"), .depth: .number(24),
        .cleanAperture: .cleanAperture(
          width: (1407, 2), height: (570, 1), horizontalOffet: (-1, 4), verticalOffset: (3, 1)),
        .pixelAspectRatio: .pixelAspectRatio(horizontalSpacing: 59, verticalSpacing: 54),
        .fieldCount: .number(2), .fieldDetail: .fieldDetail(.spatialFirstLineLate),
        .colorPrimaries: .colorPrimaries(.ebu_3213), .transferFunction: .transferFunction(.itu_R_709_2),
        .yCbCrMatrix: .yCbCrMatrix(.itu_R_601_4), .gammaLevel: .number(2.25),
        .contentLightLevelInfo: .init(Data([1, 2, 3, 4]) as NSData),
        .masteringDisplayColorVolume: .init(Data(0..<24) as NSData),
        .iccProfile: .init(Data(repeating: 5, count: 99) as NSData),
        .sampleDescriptionExtensionAtoms: .init(
          ["abcd": [Data([1]), Data([2, 3])], "efgh": Data()] as NSDictionary),
        .temporalQuality: .number(300), .spatialQuality: .number(512), .version: .number(1),
        .revisionLevel: .number(2),
        .vendor: .vendor(.apple),
      ])
    let again = try #require(read(try write(description, nil), nil).0)
    for (key, value) in description.extensions where key != .formatName && key != .cleanAperture {
      #expect(
        (again.extensions[key]?.propertyListRepresentation as? NSObject)?.isEqual(
          value.propertyListRepresentation) == true,
        "\(key.rawValue)")
    }
    #expect(
      again.cleanAperture(originIsAtTopLeft: true) == description.cleanAperture(originIsAtTopLeft: true))
    let name = try #require(again.extensions[.formatName]?.propertyListRepresentation as? String)
    #expect(name.utf8.count <= 31 && !name.isEmpty)
    let full = try CMFormatDescription(
      videoCodecType: .jpeg, width: 8, height: 8,
      extensions: [
        .fullRangeVideo: .init(kCFBooleanTrue), .colorPrimaries: .colorPrimaries(.itu_R_2020),
      ])
    let iso = try #require(read(try write(full, .isoFamily), .isoFamily).0)
    #expect(iso.extensions[.fullRangeVideo]?.propertyListRepresentation as? Bool == true)
    // Uncompressed pixels have their old name in movies.
    let argb = try CMFormatDescription(videoCodecType: .pixelFormat_32ARGB, width: 8, height: 8)
    let old = try write(argb, nil)
    #expect(old[4..<8] == Data("raw ".utf8) && read(old, nil).0?.mediaSubType == .pixelFormat_32ARGB)
  }

  @Test func whatCannotBeWrittenIsAnError() throws {
    var block: CMBlockBuffer?
    func status(_ description: CMFormatDescription, _ flavor: CMImageDescriptionFlavor?) -> OSStatus {
      CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
        allocator: nil, videoFormatDescription: description, stringEncoding: 0, flavor: flavor,
        blockBufferOut: &block)
    }
    let video = try CMFormatDescription(videoCodecType: .h264, width: 8, height: 8)
    #expect(
      status(video, CMImageDescriptionFlavor("other" as CFString))
        == kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor)
    #expect(
      status(try CMFormatDescription(mediaType: .text, mediaSubType: .qt), nil)
        == kCMFormatDescriptionBridgeError_IncompatibleFormatDescription)
    #expect(
      status(try CMFormatDescription(videoCodecType: .h264, width: 40000, height: 8), nil)
        == kCMFormatDescriptionBridgeError_IncompatibleFormatDescription)
    #expect(read(Data(), nil).1 == kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription)
  }

  /// Four fractions: whole numbers, halves, thousandths, and what a dictionary leaves out.
  @Test func cleanAperturesAreExactFractions() throws {
    func content(_ aperture: [CFString: Any]) throws -> [Int32]? {
      let description = try CMFormatDescription(
        videoCodecType: .h264, width: 720, height: 576,
        extensions: [.cleanAperture: .init(aperture as NSDictionary)])
      let data = try write(description, nil)
      guard let box = data.range(of: Data("clap".utf8)) else { return nil }
      return (0..<8).map { n in
        let start = box.upperBound + 4 * n
        return Int32(bitPattern: data[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      }
    }
    let (width, height) = (
      kCMFormatDescriptionKey_CleanApertureWidth, kCMFormatDescriptionKey_CleanApertureHeight
    )
    #expect(try content([width: 700, height: 560]) == [700, 1, 560, 1, 0, 1, 0, 1])
    #expect(
      try content([
        width: 701, height: 559.123, kCMFormatDescriptionKey_CleanApertureHorizontalOffset: -0.5,
        kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational: [1, 3],
      ]) == [701, 1, 559_123, 1000, -1, 2, 1, 3])
    #expect(try content([width: 700]) == nil)
    #expect(try content([width: Double.infinity, height: 1e300]) == nil)
  }

  /// Cut, changed and random bytes: a description or an error.
  @Test func damagedSampleDescriptionsDoNotTrap() throws {
    let description = try CMFormatDescription(
      videoCodecType: .h264, width: 720, height: 576,
      extensions: [
        .formatName: .string("Name"), .colorPrimaries: .colorPrimaries(.ebu_3213),
        .pixelAspectRatio: .pixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 2),
        .cleanAperture: .cleanAperture(width: 700, height: 560, horizontalOffet: 0.5, verticalOffset: 0),
        .sampleDescriptionExtensionAtoms: .init(
          ["avcC": Data([1, 66, 0, 30, 255, 225, 0, 1, 103, 1, 0, 1, 104])] as NSDictionary),
      ])
    let good = try write(description, nil)
    var generator = SplitMix(seed: 21)
    for round in 0..<6000 {
      var data = good
      if round % 2 == 0 { data = data.prefix(Int.random(in: 0...data.count, using: &generator)) }
      for _ in 0..<Int.random(in: 0...6, using: &generator) where !data.isEmpty {
        let position =
          Bool.random(using: &generator)
          ? Int.random(in: 0..<data.count, using: &generator)
          : min(86 + 8 * Int.random(in: 0..<10, using: &generator), data.count - 1)
        data[position] = UInt8.random(in: 0...255, using: &generator)
      }
      let (made, status) = read(data, round % 3 == 0 ? .isoFamily : nil)
      #expect((made == nil) == (status != noErr))
      _ = made.map {
        CMVideoFormatDescriptionGetPresentationDimensions(
          $0, usePixelAspectRatio: true, useCleanAperture: true)
      }
      var bytes = [UInt8](data)
      if CMSwapBigEndianImageDescriptionToHost(&bytes, bytes.count) == noErr {
        #expect(CMSwapHostEndianImageDescriptionToBig(&bytes, bytes.count) == noErr)
        #expect(bytes == [UInt8](data))
      }
      CMSwapBigEndianSoundDescriptionToHost(&bytes, bytes.count)
    }
  }

  @Test func byteOrdersAreSwapped() throws {
    let description = try CMFormatDescription(
      videoCodecType: .h264, width: 0x0102, height: 0x0304,
      extensions: [.sampleDescriptionExtensionAtoms: .init(["abcd": Data([1, 2, 3])] as NSDictionary)])
    var bytes = [UInt8](try write(description, nil))
    #expect(CMSwapBigEndianImageDescriptionToHost(&bytes, bytes.count) == noErr)
    let (width, size, codec) = bytes.withUnsafeBytes {
      (
        $0.loadUnaligned(fromByteOffset: 32, as: UInt16.self), $0.loadUnaligned(as: UInt32.self),
        $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
      )
    }
    #expect(width == 0x0102 && Int(size) == bytes.count && codec == kCMVideoCodecType_H264)
    #expect(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 86, as: UInt32.self) } == 11)
    #expect(CMSwapBigEndianImageDescriptionToHost(&bytes, 10) != noErr)

    // A version 1 sound description with compression identifier -2, and one without.
    var audio = [UInt8](repeating: 0, count: 52)
    audio[3] = 52
    audio[17] = 1
    for (compression, legacy) in [(UInt8(0xFE), false), (0xFF, true)] {
      (audio[28], audio[29]) = (0xFF, compression)
      let block = try CMBlockBuffer(length: 52, flags: .assureMemoryNow)
      try audio.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
      #expect(CMDoesBigEndianSoundDescriptionRequireLegacyCBRSampleTableLayout(block, flavor: nil) == legacy)
      #expect(!CMDoesBigEndianSoundDescriptionRequireLegacyCBRSampleTableLayout(block, flavor: .isoFamily))
    }
    let original = audio
    #expect(CMSwapBigEndianSoundDescriptionToHost(&audio, 52) == noErr && audio[0] == 52 && audio[16] == 1)
    #expect(CMSwapHostEndianSoundDescriptionToBig(&audio, 52) == noErr && audio == original)
  }
}

@Suite struct AudioDescriptionTests {
  private let stereo = AudioStreamBasicDescription(
    mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
    mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 4,
    mFramesPerPacket: 1,
    mBytesPerFrame: 4, mChannelsPerFrame: 2, mBitsPerChannel: 16, mReserved: 0)

  @Test func layoutsOfAudioDecideOnEquality() throws {
    let left = AudioChannelDescription(mChannelLabel: 1, mChannelFlags: [], mCoordinates: (1, 2, 3))
    let right = AudioChannelDescription(mChannelLabel: 2, mChannelFlags: [], mCoordinates: (4, 5, 6))
    let layout = ManagedAudioChannelLayout(channelDescriptions: [left, right])
    let one = try CMFormatDescription(
      audioStreamBasicDescription: stereo, layout: layout, magicCookie: Data([1, 2]))
    let other = try CMFormatDescription(audioStreamBasicDescription: stereo, magicCookie: Data([1, 2]))
    #expect(one.audioChannelLayout?.channelDescriptions.map(\.mChannelLabel) == [1, 2])
    #expect(one.audioChannelLayout?.channelDescriptions[1].mCoordinates.2 == 6)
    #expect(one.audioChannelLayout == layout && other.audioChannelLayout == nil)
    #expect(layout.withUnsafePointer { $0.pointee.mNumberChannelDescriptions } == 2)
    #expect(one.withMagicCookie { $0.map { [UInt8]($0) } } == [1, 2])
    #expect(one.equalTo(other).0 == false)
    #expect(one.equalTo(other).equalityMask == [.streamBasicDescription, .magicCookie, .extensions])
    #expect(one.equalTo(other, equalityMask: [.magicCookie]).0 && one != other)
    #expect(other.audioFormatList.map(\.mChannelLayoutTag) == [kAudioChannelLayoutTag_Stereo])
    #expect(other.richestDecodableFormat?.mASBD == stereo && other.mostCompatibleFormat?.mASBD == stereo)
    #expect(ManagedAudioChannelLayout(tag: kAudioChannelLayoutTag_Mono).tag == kAudioChannelLayoutTag_Mono)
    let video = try CMFormatDescription(videoCodecType: .h264, width: 1, height: 1)
    #expect(video.audioFormatList.isEmpty && video.equalTo(video, equalityMask: .all) == (false, []))
    // A layout that says more descriptions than it has.
    var bad = AudioChannelLayout()
    bad.mNumberChannelDescriptions = 1000
    var made: CMAudioFormatDescription?
    var basic = stereo
    #expect(
      CMAudioFormatDescriptionCreate(
        allocator: nil, asbd: &basic, layoutSize: MemoryLayout<AudioChannelLayout>.size, layout: &bad,
        magicCookieSize: 0,
        magicCookie: nil, extensions: nil, formatDescriptionOut: &made) == noErr)
    #expect(made?.audioChannelLayout == nil)
    var size = 1
    #expect(try CMAudioFormatDescriptionGetChannelLayout(#require(made), sizeOut: &size) == nil && size == 0)
    // A whole structure can be read, however short the layout was.
    let short = try CMFormatDescription(
      audioStreamBasicDescription: stereo,
      layout: ManagedAudioChannelLayout(tag: kAudioChannelLayoutTag_Stereo))
    let read = try #require(CMAudioFormatDescriptionGetChannelLayout(short, sizeOut: &size)).pointee
    #expect(size == 12 && read.mChannelLayoutTag == kAudioChannelLayoutTag_Stereo)
    #expect(read.mNumberChannelDescriptions == 0 && read.mChannelDescriptions.mChannelLabel == 0)
    #expect(read.mChannelDescriptions.mCoordinates == (0, 0, 0))
  }

  @Test func audioIsCopiedAndDivided() throws {
    let data = try CMBlockBuffer(length: 400, flags: .assureMemoryNow)
    try data.withUnsafeMutableBytes { for index in 0..<400 { $0[index] = UInt8(index % 256) } }
    let timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 48000), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
    let sample = try CMSampleBuffer(
      dataBuffer: data, formatDescription: CMFormatDescription(audioStreamBasicDescription: stereo),
      numSamples: 100,
      sampleTimings: [timing], sampleSizes: [])
    // Without sizes, the format says them.
    let part = try CMSampleBuffer(copying: sample, forRange: 10..<12)
    #expect(try part.dataBuffer?.dataBytes() == Data(40..<48))
    #expect(part.presentationTimeStamp == CMTime(value: 10, timescale: 48000))
    #expect(try sample.audioStreamPacketDescriptions().isEmpty)

    let list = AudioBufferList.allocate(maximumBuffers: 1)
    defer { free(list.unsafeMutablePointer) }
    var memory = [UInt8](repeating: 0, count: 20)
    try memory.withUnsafeMutableBytes { bytes in
      list[0] = AudioBuffer(mNumberChannels: 2, mDataByteSize: 20, mData: bytes.baseAddress)
      try sample.copyPCMData(fromRange: 3..<8, into: list.unsafeMutablePointer)
      #expect(throws: NSError.self) {
        try sample.copyPCMData(fromRange: 3..<9, into: list.unsafeMutablePointer)
      }
      #expect(throws: NSError.self) {
        try sample.copyPCMData(fromRange: 96..<101, into: list.unsafeMutablePointer)
      }
    }
    #expect(memory == Array(12..<32))

    var separate = stereo
    separate.mFormatFlags |= kAudioFormatFlagIsNonInterleaved
    separate.mBytesPerFrame = 2
    separate.mBytesPerPacket = 2
    let planar = try CMSampleBuffer(
      dataBuffer: data, formatDescription: CMFormatDescription(audioStreamBasicDescription: separate),
      numSamples: 100,
      sampleTimings: [timing], sampleSizes: [])
    let pair = AudioBufferList.allocate(maximumBuffers: 2)
    defer { free(pair.unsafeMutablePointer) }
    var channels = [[UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: 4)]
    try channels[0].withUnsafeMutableBytes { left in
      pair[0] = AudioBuffer(mNumberChannels: 1, mDataByteSize: 4, mData: left.baseAddress)
      var second = [UInt8](repeating: 0, count: 4)
      try second.withUnsafeMutableBytes { right in
        pair[1] = AudioBuffer(mNumberChannels: 1, mDataByteSize: 4, mData: right.baseAddress)
        try planar.copyPCMData(fromRange: 1..<3, into: pair.unsafeMutablePointer)
      }
      #expect(second == [202, 203, 204, 205])
    }
    #expect(channels[0] == [2, 3, 4, 5])
    // One sample cannot be cut out of channels that follow each other.
    #expect(throws: NSError.self) { try CMSampleBuffer(copying: planar, forRange: 0..<1) }
  }

  @Test func packetsOfAudioHaveTheirDescriptions() throws {
    var aac = stereo
    aac.mFormatID = kAudioFormatMPEG4AAC
    (aac.mBytesPerPacket, aac.mFramesPerPacket, aac.mBytesPerFrame) = (0, 1024, 0)
    let sample = try CMSampleBuffer(
      dataBuffer: CMBlockBuffer(length: 60),
      formatDescription: CMFormatDescription(audioStreamBasicDescription: aac),
      numSamples: 3, sampleTimings: [], sampleSizes: [10, 20, 30])
    #expect(
      try sample.audioStreamPacketDescriptions() == [
        AudioStreamPacketDescription(mStartOffset: 0, mVariableFramesInPacket: 0, mDataByteSize: 10),
        AudioStreamPacketDescription(mStartOffset: 10, mVariableFramesInPacket: 0, mDataByteSize: 20),
        AudioStreamPacketDescription(mStartOffset: 30, mVariableFramesInPacket: 0, mDataByteSize: 30),
      ])
    #expect(sample.formatDescription?.mediaSubType == .mpeg4AAC)
  }
}
