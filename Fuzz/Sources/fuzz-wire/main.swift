// SPDX-License-Identifier: Apache-2.0
import CallTransport
import Foundation
import FuzzDriver

/// Datagrams of a call: RTP through the reorder buffer and the depacketiser, RTCP, and packets' way there and back.
private func fuzzDatagrams(_ input: inout FuzzInput) {
  var buffer = ReorderBuffer(patience: Double(input.byte()) / 100)
  var depacketiser = H264Depacketiser()
  var statistics = ReceptionStatistics(source: 1, clockRate: 90_000)
  var time = 0.0
  var bytesIn = 0
  func take(_ packets: [(packet: RTPPacket, sequence: Int64)]) {
    var last: Int64?
    for (packet, sequence) in packets {
      require(last.map { $0 < sequence } ?? true, "packets out of order")
      last = sequence
      for frame in depacketiser.add(packet, sequence: sequence) {
        let size = frame.units.reduce(0) { $0 + $1.count }
        require(size <= bytesIn, "\(size) bytes out of \(bytesIn)")
      }
    }
  }
  while !input.isEmpty {
    let kind = input.byte()
    let data = [UInt8](input.piece())
    bytesIn += data.count
    time += Double(kind & 31) / 1000
    if let packets = RTCPPacket.parse(data) {
      for packet in packets {
        let again = RTCPPacket.parse(packet.bytes)
        require(again != nil, "a packet that was written cannot be read: \(packet)")
        if case .receiverReport(_, let blocks) = packet { _ = blocks.count }
      }
    }
    if var packet = RTPPacket(data) {
      // Mostly near one another, as numbers of one sender are.
      if kind & 0x80 == 0 { packet.sequenceNumber = packet.sequenceNumber & 63 }
      let again = RTPPacket(packet.bytes)
      require(again == packet, "another packet after a round")
      _ = FrameDescriptor(packet.headerExtension)
      statistics.add(packet, at: time)
      take(buffer.add(packet, at: time))
    }
    take(buffer.release(at: time))
  }
  take(buffer.release(at: time + 1e9))
  require(buffer.deadline == nil, "packets wait for ever")
}

runFuzzer { data, size in
  var input = FuzzInput(UnsafeBufferPointer(start: data, count: size))
  fuzzDatagrams(&input)
  return 0
}
