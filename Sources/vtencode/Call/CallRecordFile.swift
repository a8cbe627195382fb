// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A call's record as JSON, written by `vtencode call --record`. Times are in seconds, quality is
/// the PSNR of the luma in decibels.
struct CallRecordFile: Encodable {
  struct Frame: Encodable {
    var time: Double
    /// The target bit rate in bits a second.
    var rate: Int
    var bytes: Int
    var isDropped: Bool
    var isKeyFrame: Bool
    var isRepair: Bool
    var layer: Int
    var averageQP: Double?
    var highestQP: Int?
  }

  struct Shown: Encodable {
    /// Nil, and absent from the JSON, if the picture was never shown.
    var time: Double?
    var quality: Double?
    var isDamaged: Bool
    var isDroppedForLink: Bool
    var queueingDelay: Double
  }

  struct Freeze: Encodable {
    var start: Double
    var length: Double
  }

  struct Receiver: Encodable {
    var name: String
    var packets: Int
    var lostPackets: Int
    var droppedPackets: Int
    var decoded: Int
    var incomplete: Int
    var unusable: Int
    var decodeErrors: Int
    var requests: Int
    var requestedPackets: Int
    var resentPackets: Int
    var recoveredPackets: Int
    var acknowledgements: Int
    var freezes: [Freeze]
    var shown: [Shown]
  }

  var encoder: String
  var frameRate: Double
  var duration: Double
  var frames: [Frame]
  var receivers: [Receiver]

  init(_ record: CallRecord) {
    encoder = record.encoderID
    frameRate = record.frameRate
    duration = record.duration
    frames = record.frames.map {
      Frame(
        time: $0.time, rate: $0.rate, bytes: $0.bytes, isDropped: $0.isDropped, isKeyFrame: $0.isKeyFrame,
        isRepair: $0.isRepair, layer: $0.layer, averageQP: $0.averageQP, highestQP: $0.highestQP)
    }
    receivers = record.receivers.map { receiver in
      Receiver(
        name: receiver.name, packets: receiver.packets, lostPackets: receiver.lostPackets,
        droppedPackets: receiver.droppedPackets, decoded: receiver.decoded, incomplete: receiver.incomplete,
        unusable: receiver.unusable, decodeErrors: receiver.decodeErrors, requests: receiver.requests,
        requestedPackets: receiver.requestedPackets, resentPackets: receiver.resentPackets,
        recoveredPackets: receiver.recoveredPackets, acknowledgements: receiver.acknowledgements,
        freezes: record.freezes(of: receiver).map { Freeze(start: $0.start, length: $0.length) },
        shown: receiver.shown.map {
          Shown(
            time: $0.time, quality: $0.quality, isDamaged: $0.isDamaged,
            isDroppedForLink: $0.isDroppedForLink,
            queueingDelay: $0.queueingDelay)
        })
    }
  }

  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return try encoder.encode(self)
  }
}
