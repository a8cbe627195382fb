// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The state and memory of a picture from its plan to the output of its frame. Objects are reused
/// for later pictures.
final class PictureInFlight {
  /// Codes the picture.
  let coder: PictureCoder
  /// The picture's slot in the scheduler; nil with one thread.
  let slot: PictureScheduler.PictureSlot?
  /// Searches for a scroll since the first reference picture.
  let scrollDetector: ScrollDetector
  /// For each macroblock, the offset from the QP of the picture, in QP steps.
  let qpOffsets: UnsafeMutablePointer<Int8>
  /// The access unit. Threads write to it until the picture is coded.
  let output: UnsafeMutablePointer<AccessUnitWriter>
  private let memory: EncoderMemory

  /// The decisions for the picture before it is coded.
  var plan = PicturePlan()
  /// The source picture; nil while the object is idle.
  var picture: QueuedPicture?
  /// The index in the pool of the picture's reconstruction, and the indices of all pictures of the
  /// pool that it needs: the reconstruction and its references.
  var target = 0
  var requiredPictures: [Int] = []
  /// The number of pictures that it refers to.
  var references = 0
  /// The planned QP, and the part of it that is the offset of the picture type and the quality
  /// cascade.
  var qp = 0.0
  var offset = 0.0
  /// The part of `offset` that is the quality cascade's.
  var cascaded = 0.0
  /// Whether the QP is constant and the rate control therefore learns nothing from the picture.
  var isExact = false
  /// Whether there is a buffer or a hard limit; the bits that these leave for the picture, nil
  /// without them; and whether it is the last picture of the stream.
  var isLimited = false
  var room: Double?
  var isLast = false
  /// The class of a B picture for the choice of direct prediction.
  var directKind = DirectChoice.Kind.reference
  /// The number of NAL units and bytes in `output` before the slices.
  var leading = (units: 0, count: 0)
  /// The statistics and costs of the coded picture. Nil: `coder` still has them, as it has coded no
  /// other picture since.
  var results: (statistics: PictureStatistics, directCosts: DirectCosts)?
  /// Whether the picture's results have been passed to the rate control (`account`).
  var isAccounted = false
  /// The seconds that the calling thread spent to begin the picture.
  var time = 0.0

  /// Allocates the memory of a picture.
  /// - Parameters:
  ///   - coder: codes the picture.
  ///   - slot: its slot in the scheduler; nil with one thread.
  ///   - output: the access unit to write to.
  init(_ coder: PictureCoder, slot: PictureScheduler.PictureSlot?, output: consuming AccessUnitWriter) {
    self.coder = coder
    self.slot = slot
    var memory = EncoderMemory()
    scrollDetector = ScrollDetector(coder.geometry, memory: &memory)
    qpOffsets = memory.allocate(Int8.self, count: coder.geometry.macroblockCount)
    self.memory = memory
    self.output = .allocate(capacity: 1)
    self.output.initialize(to: output)
    requiredPictures.reserveCapacity(40)
  }

  deinit {
    output.deinitialize(count: 1)
    output.deallocate()
  }

  /// The statistics of the coded picture.
  var statistics: PictureStatistics { results?.statistics ?? coder.statistics }
  /// The costs of both kinds of direct prediction in the coded picture.
  var directCosts: DirectCosts { results?.directCosts ?? coder.directCosts }
}

extension H264EncoderConfiguration {
  /// The most pictures that are coded at the same time. It does not depend on the number of
  /// threads: each picture is planned before the sizes of this many pictures less one before it are
  /// known, so the value changes the stream.
  ///
  /// It is the size of a group with B pictures. It is 1 where each plan needs the sizes of all
  /// earlier pictures (a buffer or hard limits) or their encoding time, without B pictures, and
  /// where the look-ahead is too short to give up pictures for it.
  var picturesInFlight: Int {
    let isLimited = lookAhead.buffer != nil || !dataRateLimits.isEmpty
    if isLimited || encodeTimeShare != nil || bidirectionalLimit == 0 { return 1 }
    return lookAhead.frames >= 24 ? 6 : lookAhead.frames >= 12 ? 4 : 1
  }
}
