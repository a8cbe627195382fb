// SPDX-License-Identifier: Apache-2.0

/// A picture from its plan until its frame is given out, and the memory that one needs meanwhile; used again and again.
final class PictureInFlight {
  let coder: PictureCoder
  /// Nil where one thread codes pictures, each as a whole.
  let place: PictureScheduler.Place?
  let scrollDetector: ScrollDetector
  let qpOffsets: UnsafeMutablePointer<Int8>
  let output: UnsafeMutablePointer<AccessUnit>
  private let memory: EncoderMemory

  var plan = PicturePlan()
  /// What is coded; nil: there is none.
  var picture: QueuedPicture?
  /// Where in the pool it is coded to, and all that it needs there, itself included.
  var target = 0
  var pins: [Int] = []
  var references = 0
  /// QP that was planned, and what its kind and the cascade of qualities have added.
  var qp = 0.0
  var offset = 0.0
  var cascaded = 0.0
  var isExact = false
  /// The rate control had a buffer or a hard limit; bits that they have for the picture, and whether that is the stream's last.
  var isLimited = false
  var room: Double?
  var isLast = false
  var directKind = DirectChoice.Kind.reference
  /// NAL units and bytes before the slices.
  var leading = (units: 0, count: 0)
  /// What came of it. Nil: the coder knows, and no other picture has been there since.
  var results: (statistics: PictureStatistics, directCosts: DirectCosts)?
  /// The rate control knows what it took.
  var isAccounted = false
  /// Seconds of the caller's.
  var time = 0.0

  init(_ coder: PictureCoder, place: PictureScheduler.Place?, output: consuming AccessUnit) {
    self.coder = coder
    self.place = place
    var memory = EncoderMemory()
    scrollDetector = ScrollDetector(coder.geometry, memory: &memory)
    qpOffsets = memory.allocate(Int8.self, count: coder.geometry.macroblockCount)
    self.memory = memory
    self.output = .allocate(capacity: 1)
    self.output.initialize(to: output)
    pins.reserveCapacity(40)
  }

  deinit {
    output.deinitialize(count: 1)
    output.deallocate()
  }

  var statistics: PictureStatistics { results?.statistics ?? coder.statistics }
  var directCosts: DirectCosts { results?.directCosts ?? coder.directCosts }
}

extension H264EncoderConfiguration {
  /// Pictures that are coded beside each other at the most, whatever the number of threads: a picture is planned before as
  /// many less one are known that precede it, so that this changes the stream, and threads do not.
  ///
  /// Those of a group with B pictures. One at a time where each must know what those before it took, since a buffer holds no
  /// more, or how long they took; and where so short a look-ahead would miss those that it is short of.
  var picturesInFlight: Int {
    let isLimited = lookAhead.buffer != nil || !dataRateLimits.isEmpty
    if isLimited || encodeTimeShare != nil || bidirectionalLimit == 0 { return 1 }
    return lookAhead.frames >= 24 ? 6 : lookAhead.frames >= 12 ? 4 : 1
  }
}
