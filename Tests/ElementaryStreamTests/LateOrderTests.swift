// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing
import VideoBitstream

@testable import ElementaryStream

/// Streams that no encoder makes: pictures in a strange order, and parameter sets that are
/// activated late.
@Suite struct LateOrderTests {
  /// A NAL unit, after a start code.
  private func unit(_ header: [UInt8], _ write: (inout BitWriter) -> Void) -> Data {
    let payload = BitWriter.bytes {
      write(&$0)
      $0.trailingBits()
      $0.flush()
    }
    return AnnexB.stream(of: [Data(EmulationPrevention.adding(header: header, payload: payload))])
  }

  private func sequence(_ id: Int, width: Int, height: Int) throws -> H264SequenceParameterSet {
    let level = try #require(H264Level.numbered(30))
    var set = H264SequenceParameterSet(profile: .high, level: level, width: width, height: height)
    set.id = id
    set.pictureOrderCountType = 0
    set.log2MaxPictureOrderCountLSB = 16
    return set
  }

  private func pictureSet(_ id: Int, offset: Int = 0) -> H264PictureParameterSet {
    var set = H264PictureParameterSet()
    set.id = id
    set.sequenceParameterSetID = id
    set.chromaQPOffset = offset
    return set
  }

  private func slice(
    _ sps: H264SequenceParameterSet, _ pps: H264PictureParameterSet, isIDR: Bool, order: Int = 0,
    isReference: Bool = true, idrPictureID: Int = 0
  ) -> Data {
    var header = H264SliceHeader()
    header.isIDR = isIDR
    header.refIDC = isReference ? 3 : 0
    header.pictureOrderCountLSB = order
    header.idrPictureID = idrPictureID
    header.frameNum = isIDR ? 0 : 1
    let type: H264NALUnitType = isIDR ? .idrSlice : .slice
    return unit([H264NALUnitHeader(refIDC: UInt8(header.refIDC), type: type).byte]) {
      header.write(to: &$0, sps: sps, pps: pps)
    }
  }

  /// Seconds that this thread has worked: other tests run at the same time.
  private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// One picture with a late order holds back those after it, but not forever, and none is looked
  /// for again and again.
  @Test func aPictureOfLateOrder() throws {
    let (sps, pps) = (try sequence(0, width: 176, height: 144), pictureSet(0))
    func late(_ order: Int) -> Data { slice(sps, pps, isIDR: false, order: order, isReference: false) }
    var stream = AnnexB.stream(of: [Data(sps.nalUnit), Data(pps.nalUnit())])
    stream += slice(sps, pps, isIDR: true) + late(30_000)
    let pair = late(2) + late(4)
    let count = 100_000
    var parser = try ElementaryStreamParser(codec: .h264)
    let begin = processorTime()
    var samples = try parser.append(stream)
    for _ in 0..<count / 2 {
      let ready = try parser.append(pair)
      samples += ready
      // Nothing waits for longer than the limit says.
      #expect(ready.count <= OutputOrder<Int>.maxWaitingPackets + 2)
    }
    #expect(samples.count >= count - OutputOrder<Int>.maxWaitingPackets, "\(samples.count)")
    samples += try parser.finish()
    #expect(samples.count == count + 2)
    // More than a minute when each was looked for among all.
    let seconds = processorTime() - begin
    #expect(seconds < 30, "\(seconds) s")
  }

  /// Places are given once each, and decoding order is kept, by count and by size.
  @Test func limitsOfWhatWaits() {
    for (size, maximum) in [
      (0, OutputOrder<Int>.maxWaitingPackets), (OutputOrder<Int>.maxWaitingSize / 8, 8),
    ] {
      var order = OutputOrder<Int>()
      var places: [Int] = []
      var items: [Int] = []
      for index in 0..<5000 {
        let ready = order.add(
          index, size: size, order: index == 0 ? 1 << 20 : index, startsSequence: index == 0, maxReorder: 4)
        items += ready.map(\.item)
        places += ready.map(\.outputIndex)
        #expect(index + 1 - items.count <= maximum)
      }
      let rest = order.finish()
      items += rest.map(\.item)
      places += rest.map(\.outputIndex)
      #expect(items == Array(0..<5000) && places.sorted() == items)
      // The late one goes after those that waited with it.
      #expect(places[0] == maximum && Array(places[1...maximum]) == Array(0..<maximum))
    }
  }

  /// An IDR picture takes parameter sets that came before another one: they are not said again.
  @Test func anotherSequence() throws {
    let sets = (try sequence(0, width: 176, height: 144), try sequence(1, width: 352, height: 288))
    let pictures = (pictureSet(0), pictureSet(1))
    var stream = AnnexB.stream(of: [
      Data(sets.0.nalUnit), Data(sets.1.nalUnit), Data(pictures.0.nalUnit()), Data(pictures.1.nalUnit()),
    ])
    for index in 0..<6 {
      let isFirst = index % 3 == 0
      stream += slice(
        isFirst ? sets.0 : sets.1, isFirst ? pictures.0 : pictures.1, isIDR: true, idrPictureID: index % 2)
    }
    var parser = try ElementaryStreamParser(codec: .h264)
    let samples = try parser.append(stream) + parser.finish()
    let formats = try samples.map { try #require($0.formatDescription) }
    #expect(
      formats.map { CMVideoFormatDescriptionGetDimensions($0).width } == [176, 352, 352, 176, 352, 352])
    // Made once each.
    #expect(formats[0] === formats[3] && formats[1] === formats[2] && formats[1] === formats[4])
  }

  /// A parameter set that changes before a picture in which decoding cannot begin is in that
  /// sample, and from the next IDR picture on in the format.
  @Test func aSetBeforeAnotherPicture() throws {
    let sps = try sequence(0, width: 176, height: 144)
    let (old, new) = (pictureSet(0), pictureSet(0, offset: 3))
    var stream = AnnexB.stream(of: [Data(sps.nalUnit), Data(old.nalUnit())])
    stream += slice(sps, old, isIDR: true)
    stream += AnnexB.stream(of: [Data(new.nalUnit())]) + slice(sps, new, isIDR: false, order: 2)
    stream += slice(sps, new, isIDR: true, idrPictureID: 1)
    var parser = try ElementaryStreamParser(codec: .h264)
    let samples = try parser.append(stream) + parser.finish()
    let sets = try samples.map { try #require($0.formatDescription).parameterSets }
    #expect(sets.map { $0.contains(Data(new.nalUnit())) } == [false, false, true])
    #expect(sets.map { $0.contains(Data(old.nalUnit())) } == [true, true, false])
    let units = try samples.map { try AnnexB.units(inLengthPrefixed: #require($0.dataBuffer).dataBytes()) }
    #expect(units.map(\.count) == [1, 2, 1] && units[1].first == Data(new.nalUnit()))
  }

  // MARK: - Many large parameter sets

  /// A set with bytes after it that say nothing.
  private func largeSet(_ id: Int, filler: Data) -> Data {
    var set = pictureSet(0)
    set.id = id
    set.high = H264PictureParameterSet.High()
    return Data(set.nalUnit()) + filler
  }

  /// Two sets by turns make two format descriptions, of no more than a stream needs.
  @Test func largeSetsThatNobodyNeeds() throws {
    let sps = try sequence(0, width: 176, height: 144)
    let variants = [pictureSet(0), pictureSet(0, offset: 3)]
    let tooLarge = largeSet(60, filler: Data(repeating: 0xAA, count: 70_000))
    var stream = AnnexB.stream(of: [Data(sps.nalUnit)])
    for id in 1..<60 {
      stream += AnnexB.stream(of: [largeSet(id, filler: Data(repeating: 0xAA, count: 10_000))])
    }
    stream += AnnexB.stream(of: [tooLarge])
    for index in 0..<40 {
      let pps = variants[index % 2]
      stream += AnnexB.stream(of: [Data(pps.nalUnit())])
      stream += slice(sps, pps, isIDR: true, idrPictureID: index % 2)
    }
    var parser = try ElementaryStreamParser(codec: .h264)
    let samples = try parser.append(stream) + parser.finish()
    try #require(samples.count == 40)
    let formats = try samples.map { try #require($0.formatDescription) }
    try #require(Set(formats.map { ObjectIdentifier($0) }).count == 2)
    for (index, format) in formats.enumerated() {
      #expect(format.parameterSets.first == Data(sps.nalUnit))
      #expect(format.parameterSets.contains(Data(variants[index % 2].nalUnit())))
      #expect(format.parameterSets.reduce(0) { $0 + $1.count } <= ParameterSetStore.maxBytes)
    }
    // Parameter sets missing in the description are in the sample.
    let units = try samples.map { try AnnexB.units(inLengthPrefixed: #require($0.dataBuffer).dataBytes()) }
    #expect(units[0].contains(tooLarge) && units.dropFirst().allSatisfy { $0.count == 1 })
  }

  /// A new set with each picture makes no new format description of many bytes with each of them.
  @Test func newSetsWithEachPicture() throws {
    let sps = try sequence(0, width: 176, height: 144)
    let pps = pictureSet(0)
    var stream = AnnexB.stream(of: [Data(sps.nalUnit)])
    for id in 1...5 {
      stream += AnnexB.stream(of: [largeSet(id, filler: Data(repeating: 0xAA, count: 20_000))])
    }
    let sets = (0..<300).map { index in
      largeSet(0, filler: Data([0x80 | UInt8(index & 127), 0x80 | UInt8(index >> 7)]))
    }
    for (index, set) in sets.enumerated() {
      stream += AnnexB.stream(of: [set]) + slice(sps, pps, isIDR: true, idrPictureID: index % 2)
    }
    var parser = try ElementaryStreamParser(codec: .h264)
    parser.maxDescriptionSize = 1 << 18
    let samples = try parser.append(stream) + parser.finish()
    try #require(samples.count == 300)
    let formats = try samples.map { try #require($0.formatDescription) }
    // The meaning of the stream's bytes.
    #expect(Set(formats.map { ObjectIdentifier($0) }).count < 8)
    for (index, sample) in samples.enumerated() {
      let units = try AnnexB.units(inLengthPrefixed: #require(sample.dataBuffer).dataBytes())
      #expect(formats[index].parameterSets.contains(sets[index]) || units.contains(sets[index]))
    }
  }

  // MARK: - HEVC

  private func hevcSets(_ id: Int, width: Int, height: Int, offset: Int = 0) -> (
    sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet
  ) {
    var sps = HEVCSequenceParameterSet()
    sps.id = id
    (sps.codedWidth, sps.codedHeight) = (width, height)
    var pps = HEVCPictureParameterSet()
    pps.id = id
    pps.sequenceParameterSetID = id
    pps.cbQPOffset = offset
    return (sps, pps)
  }

  /// An IDR picture, or one with an order that refers to none.
  private func slice(_ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet, order: Int? = nil)
    -> Data
  {
    var header = HEVCSliceHeader()
    header.nal = HEVCNALUnitHeader(type: order == nil ? .idrWithoutLeading : .trailR)
    header.pictureParameterSetID = pps.id
    header.pictureOrderCountLSB = order ?? 0
    return unit(header.nal.bytes) { header.write(to: &$0, sps: sps, pps: pps) }
  }

  @Test func anotherSequenceOfHEVC() throws {
    let (one, two) = (hevcSets(0, width: 176, height: 144), hevcSets(1, width: 352, height: 288))
    var stream = AnnexB.stream(of: [
      Data(HEVCVideoParameterSet().nalUnit), Data(one.sequence.nalUnit), Data(two.sequence.nalUnit),
      Data(one.picture.nalUnit), Data(two.picture.nalUnit),
    ])
    for set in [one, two, two, one] { stream += slice(set.sequence, set.picture) }
    var parser = try ElementaryStreamParser(codec: .hevc)
    let samples = try parser.append(stream) + parser.finish()
    let formats = try samples.map { try #require($0.formatDescription) }
    #expect(formats.map { CMVideoFormatDescriptionGetDimensions($0).width } == [176, 352, 352, 176])
  }

  @Test func aSetBeforeAnotherPictureOfHEVC() throws {
    let (old, new) = (hevcSets(0, width: 176, height: 144), hevcSets(0, width: 176, height: 144, offset: 3))
    var stream = AnnexB.stream(of: [
      Data(HEVCVideoParameterSet().nalUnit), Data(old.sequence.nalUnit), Data(old.picture.nalUnit),
    ])
    stream += slice(old.sequence, old.picture)
    stream += AnnexB.stream(of: [Data(new.picture.nalUnit)]) + slice(old.sequence, new.picture, order: 1)
    stream += slice(old.sequence, new.picture)
    var parser = try ElementaryStreamParser(codec: .hevc)
    let samples = try parser.append(stream) + parser.finish()
    let sets = try samples.map { try #require($0.formatDescription).parameterSets }
    #expect(sets.map { $0.contains(Data(new.picture.nalUnit)) } == [false, false, true])
    #expect(sets.map { $0.contains(Data(old.picture.nalUnit)) } == [true, true, false])
  }
}
