// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

/// How a stream is made, by ffmpeg's command line.
struct StreamCase: CustomTestStringConvertible, Sendable {
  var codec: String
  var size: String
  var pixelFormat = "yuv420p"
  var options: [String] = []
  var testDescription: String { "\(codec) \(size) \(pixelFormat) \(options.joined(separator: " "))" }
}

private let colour709 = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"]
private let colour2020 = [
  "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
]
private let colourHLG = [
  "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc",
]
private let colour601 = [
  "-color_primaries", "smpte170m", "-color_trc", "smpte170m", "-colorspace", "smpte170m",
]

private let cases: [StreamCase] =
  ["libx264", "libx265"].flatMap { codec in
    [
      StreamCase(codec: codec, size: "1280x720"),
      StreamCase(codec: codec, size: "1920x1080", options: colour709),
      StreamCase(codec: codec, size: "854x482", options: ["-vf", "setsar=4/3"]),
      StreamCase(codec: codec, size: "322x178", options: ["-color_range", "pc"] + colour601),
      StreamCase(codec: codec, size: "720x576", options: ["-vf", "setsar=12/11", "-bf", "2"]),
      StreamCase(codec: codec, size: "640x360", options: ["-vf", "setsar=117/100"] + colour2020),
      StreamCase(codec: codec, size: "320x240", pixelFormat: "yuv422p", options: colourHLG),
      StreamCase(codec: codec, size: "320x240", pixelFormat: "yuv444p"),
      StreamCase(codec: codec, size: "320x240", pixelFormat: "yuv420p10le", options: colour2020),
    ]
  } + [
    StreamCase(
      codec: "libx264", size: "720x480", options: ["-flags", "+ildct+ilme", "-x264-params", "tff=1"]),
    StreamCase(
      codec: "libx264", size: "320x240",
      options: ["-profile:v", "baseline", "-x264-params", "nal-hrd=vbr:vbv-maxrate=1000:vbv-bufsize=1000"]),
    StreamCase(codec: "libx264", size: "320x240", options: ["-x264-params", "cqm=jvt"]),
    StreamCase(
      codec: "libx265", size: "320x240", options: ["-x265-params", "hrd=1:vbv-maxrate=1000:vbv-bufsize=1000"]),
  ]

@Suite struct ParameterSetTests {
  @Test(.enabled(if: hasFFmpeg), arguments: cases)
  func descriptionsSayWhatFFprobeSays(_ stream: StreamCase) throws {
    let isH264 = stream.codec == "libx264"
    let data = try #require(
      makeStream(
        codec: stream.codec, size: stream.size, pixelFormat: stream.pixelFormat, options: stream.options))
    let properties = try #require(probe(data, format: isH264 ? "h264" : "hevc"))
    let units = splitAnnexB(data)
    let description =
      isH264
      ? try CMFormatDescription(h264ParameterSets: h264Sets(units))
      : try CMFormatDescription(hevcParameterSets: hevcSets(units))
    try expect(description, agreesWith: properties)
    #expect(description.mediaSubType == (isH264 ? .h264 : .hevc))
    #expect(description.nalUnitHeaderLength == 4)
    #expect(Array(description.parameterSets) == (isH264 ? h264Sets(units) : hevcSets(units)))
  }

  @Test(.enabled(if: conformanceFolder != nil && hasFFmpeg))
  func conformanceStreamsAreDescribed() throws {
    let folder = try #require(conformanceFolder)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension != "tsv" }
    #expect(files.count > 30)
    for file in files {
      let units = splitAnnexB(try Data(contentsOf: file))
      let description = try CMFormatDescription(h264ParameterSets: h264Sets(units), nalUnitHeaderLength: 2)
      let properties = try #require(probe(file, format: "h264"))
      #expect(
        description.dimensions.width == Int32(properties["width"] as? Int ?? 0), "\(file.lastPathComponent)")
      #expect(
        description.dimensions.height == Int32(properties["height"] as? Int ?? 0), "\(file.lastPathComponent)"
      )
      #expect(Array(description.parameterSets).count == h264Sets(units).count)
    }
  }

  private func expect(_ description: CMFormatDescription, agreesWith properties: [String: Any]) throws {
    #expect(description.mediaType == .video)
    #expect(description.dimensions.width == Int32(properties["width"] as? Int ?? 0))
    #expect(description.dimensions.height == Int32(properties["height"] as? Int ?? 0))
    let ratio = (properties["sample_aspect_ratio"] as? String ?? "1:1").split(separator: ":").compactMap {
      Double($0)
    }
    let shown = description.presentationDimensions()
    let expected = Double(description.dimensions.width) * (ratio[0] > 0 ? ratio[0] / ratio[1] : 1)
    #expect(abs(shown.width - expected) < 0.01 && shown.height == Double(description.dimensions.height))
    #expect((description.extensions[.pixelAspectRatio] != nil) == (ratio[0] != ratio[1]))

    func string(_ key: CMFormatDescription.Extensions.Key) -> String? {
      description.extensions[key]?.propertyListRepresentation as? String
    }
    let primaries = ["bt709": "ITU_R_709_2", "bt2020": "ITU_R_2020", "smpte170m": "SMPTE_C"]
    #expect(string(.colorPrimaries) == (properties["color_primaries"] as? String).flatMap { primaries[$0] })
    let transfers = [
      "bt709": "ITU_R_709_2", "smpte170m": "ITU_R_709_2", "smpte2084": "SMPTE_ST_2084_PQ",
      "arib-std-b67": "ITU_R_2100_HLG",
    ]
    #expect(string(.transferFunction) == (properties["color_transfer"] as? String).flatMap { transfers[$0] })
    let matrices = ["bt709": "ITU_R_709_2", "bt2020nc": "ITU_R_2020", "smpte170m": "ITU_R_601_4"]
    #expect(string(.yCbCrMatrix) == (properties["color_space"] as? String).flatMap { matrices[$0] })
    let isFull = description.extensions[.fullRangeVideo]?.propertyListRepresentation as? Bool
    #expect(isFull == ((properties["color_range"] as? String) == "pc"))
    let fields = description.extensions[.fieldCount]?.propertyListRepresentation as? Int
    #expect(
      fields == (["tt", "bb", "tb", "bt"].contains(properties["field_order"] as? String ?? "") ? 2 : 1))
    let location = properties["chroma_location"] as? String
    if location != nil, (properties["pix_fmt"] as? String)?.contains("420") == true {
      #expect(string(.chromaLocationTopField)?.lowercased() == location)
    }
  }

  @Test(.enabled(if: hasFFmpeg), arguments: ["libx264", "libx265"])
  func functionsAndAtomsDescribeTheSame(_ codec: String) throws {
    let isH264 = codec == "libx264"
    let units = splitAnnexB(try #require(makeStream(codec: codec, size: "640x360")))
    let sets = isH264 ? h264Sets(units) : hevcSets(units)
    var description: CMFormatDescription?
    let pointers = sets.map { set -> UnsafePointer<UInt8> in
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: set.count)
      set.copyBytes(to: copy, count: set.count)
      return UnsafePointer(copy)
    }
    defer { pointers.forEach { $0.deallocate() } }
    let sizes = sets.map(\.count)
    for length: Int32 in [1, 2, 4] {
      // In any order.
      let order = Array(sets.indices.reversed())
      let status =
        isH264
        ? CMVideoFormatDescriptionCreateFromH264ParameterSets(
          allocator: kCFAllocatorDefault, parameterSetCount: sets.count,
          parameterSetPointers: order.map { pointers[$0] }, parameterSetSizes: order.map { sizes[$0] },
          nalUnitHeaderLength: length, formatDescriptionOut: &description)
        : CMVideoFormatDescriptionCreateFromHEVCParameterSets(
          allocator: kCFAllocatorDefault, parameterSetCount: sets.count,
          parameterSetPointers: order.map { pointers[$0] }, parameterSetSizes: order.map { sizes[$0] },
          nalUnitHeaderLength: length, extensions: nil, formatDescriptionOut: &description)
      #expect(status == noErr)
      let made = try #require(description)
      let get =
        isH264
        ? CMVideoFormatDescriptionGetH264ParameterSetAtIndex
        : CMVideoFormatDescriptionGetHEVCParameterSetAtIndex
      for (index, set) in sets.enumerated() {
        var pointer: UnsafePointer<UInt8>?
        var size = 0
        var count = 0
        var lengthSize: Int32 = 0
        #expect(get(made, index, &pointer, &size, &count, &lengthSize) == noErr)
        #expect(count == sets.count && lengthSize == length)
        #expect(Data(bytes: try #require(pointer), count: size) == set)
      }
      #expect(get(made, sets.count, nil, nil, nil, nil) == kCMFormatDescriptionBridgeError_InvalidParameter)
      #expect(get(made, -1, nil, nil, nil, nil) == kCMFormatDescriptionBridgeError_InvalidParameter)

      // The atom alone is enough to have the parameter sets back.
      let atoms = made.extensions[.sampleDescriptionExtensionAtoms]
      let again = try CMFormatDescription(
        videoCodecType: isH264 ? .h264 : .hevc, width: 640, height: 360,
        extensions: [.sampleDescriptionExtensionAtoms: try #require(atoms)])
      #expect(Array(again.parameterSets) == sets && again.nalUnitHeaderLength == Int(length))
    }
    let other =
      isH264
      ? CMVideoFormatDescriptionGetHEVCParameterSetAtIndex
      : CMVideoFormatDescriptionGetH264ParameterSetAtIndex
    #expect(other(try #require(description), 0, nil, nil, nil, nil) != noErr)
  }

  /// The record that a muxer writes is the one that is made here.
  @Test(.enabled(if: hasFFmpeg), arguments: ["libx264", "libx265"])
  func recordsAreThoseOfAMuxer(_ codec: String) throws {
    let isH264 = codec == "libx264"
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mp4")
    defer { try? FileManager.default.removeItem(at: url) }
    _ = try #require(
      run(
        "ffmpeg",
        [
          "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240", "-frames:v", "2", "-c:v", codec,
          "-pix_fmt",
          "yuv420p", "-tag:v", isH264 ? "avc1" : "hvc1", url.path,
        ]))
    let movie = try Data(contentsOf: url)
    let name = isH264 ? "avcC" : "hvcC"
    let range = try #require(movie.range(of: Data(name.utf8)))
    let size = movie[range.lowerBound - 4..<range.lowerBound].reduce(0) { $0 << 8 | Int($1) }
    let record = movie[range.upperBound..<range.lowerBound - 4 + size]
    let read = try CMFormatDescription(
      videoCodecType: isH264 ? .h264 : .hevc, width: 320, height: 240,
      extensions: [.sampleDescriptionExtensionAtoms: .init([name: Data(record)] as NSDictionary)])
    #expect(read.nalUnitHeaderLength == 4 && read.parameterSets.count >= (isH264 ? 2 : 3))
    let made =
      isH264
      ? try CMFormatDescription(h264ParameterSets: Array(read.parameterSets))
      : try CMFormatDescription(hevcParameterSets: Array(read.parameterSets))
    let atoms = try #require(
      made.extensions[.sampleDescriptionExtensionAtoms]?.propertyListRepresentation as? [String: Data])
    if isH264 {
      #expect(atoms[name] == Data(record))
    } else {
      // Some fields say "unknown" in one and are derived in the other: profile, level, depths and
      // parameter sets agree.
      let ours = try #require(atoms[name])
      #expect(ours.prefix(13) == Data(record).prefix(13))
      #expect(ours.dropFirst(16).prefix(3) == Data(record).dropFirst(16).prefix(3))
      #expect(Array(made.parameterSets) == Array(read.parameterSets).sorted { $0[0] < $1[0] })
    }
  }

  @Test func badParameterSetsAreErrors() {
    func status(_ sets: [[UInt8]], _ length: Int = 4) -> Int {
      do {
        _ = try CMFormatDescription(h264ParameterSets: sets.map { Data($0) }, nalUnitHeaderLength: length)
        return 0
      } catch { return (error as NSError).code }
    }
    let bad = Int(kCMFormatDescriptionBridgeError_InvalidParameter)
    let parameter = Int(kCMFormatDescriptionError_InvalidParameter)
    #expect(status([]) == parameter)
    #expect(status([[0x67, 66, 0, 30]]) == parameter)
    #expect(status([[0x67, 66, 0, 30], [0x68]], 3) == parameter)
    #expect(status([[0x67, 66, 0, 30], [0x68]]) == bad)
    #expect(status([[], [0x68]]) == bad)
    #expect(status([[0x65, 1], [0x68, 1]]) == bad)
    #expect(status([[0x68, 1], [0x68, 1]]) == bad)
    #expect(
      (try? CMFormatDescription(hevcParameterSets: [Data([0x40, 1]), Data([0x42, 1]), Data([0x44, 1])]))
        == nil)
  }

  /// Cut, changed and random bytes: whatever they are, there is a description or an error.
  @Test(.enabled(if: hasFFmpeg), arguments: ["libx264", "libx265"])
  func damagedParameterSetsDoNotTrap(_ codec: String) throws {
    let isH264 = codec == "libx264"
    let options =
      isH264
      ? ["-x264-params", "nal-hrd=vbr:vbv-maxrate=1000:vbv-bufsize=1000:cqm=jvt"]
      : ["-x265-params", "hrd=1:vbv-maxrate=1000:vbv-bufsize=1000"]
    let units = splitAnnexB(try #require(makeStream(codec: codec, size: "320x178", options: options)))
    let sets = isH264 ? h264Sets(units) : hevcSets(units)
    var generator = SplitMix(seed: 7)
    var made = 0
    for round in 0..<6_000 {
      var damaged = sets
      let index = damaged.indices.randomElement(using: &generator)!
      switch round % 4 {
      case 0:
        damaged[index] = damaged[index].prefix(Int.random(in: 0...damaged[index].count, using: &generator))
      case 1:
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          let position = Int.random(in: 0..<damaged[index].count, using: &generator)
          damaged[index][position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
      case 2:
        let header = damaged[index].prefix(isH264 ? 1 : 2)
        damaged[index] =
          header
          + Data(
            (0..<Int.random(in: 0..<64, using: &generator)).map { _ in
              UInt8.random(in: 0...255, using: &generator)
            })
      default:
        let position = Int.random(in: 0..<damaged[index].count, using: &generator)
        damaged[index].insert(UInt8.random(in: 0...3, using: &generator), at: position)
      }
      let description =
        isH264
        ? try? CMFormatDescription(h264ParameterSets: damaged)
        : try? CMFormatDescription(hevcParameterSets: damaged)
      if let description {
        made += 1
        #expect(description.dimensions.width > 0 && description.dimensions.height > 0)
      }
    }
    #expect(made > 100 && made < 6_000)
  }

  /// Damaged `avcC` and `hvcC` atoms: parameter sets or none, never a trap.
  @Test(.enabled(if: hasFFmpeg), arguments: ["libx264", "libx265"])
  func damagedAtomsDoNotTrap(_ codec: String) throws {
    let isH264 = codec == "libx264"
    let units = splitAnnexB(try #require(makeStream(codec: codec, size: "320x178")))
    let description =
      isH264
      ? try CMFormatDescription(h264ParameterSets: h264Sets(units))
      : try CMFormatDescription(hevcParameterSets: hevcSets(units))
    let name = isH264 ? "avcC" : "hvcC"
    let atoms =
      description.extensions[.sampleDescriptionExtensionAtoms]?.propertyListRepresentation as? [String: Data]
    let record = try #require(atoms?[name])
    var generator = SplitMix(seed: 9)
    for round in 0..<5_000 {
      var damaged = record
      if round % 2 == 0 {
        damaged = damaged.prefix(Int.random(in: 0...damaged.count, using: &generator))
      } else {
        for _ in 0..<3 {
          damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(
            in: 0...255, using: &generator)
        }
      }
      let read = try CMFormatDescription(
        videoCodecType: isH264 ? .h264 : .hevc, width: 1, height: 1,
        extensions: [.sampleDescriptionExtensionAtoms: .init([name: damaged] as NSDictionary)])
      #expect(read.parameterSets.reduce(0) { $0 + $1.count } <= damaged.count)
    }
  }
}
