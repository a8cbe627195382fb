// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import RealTimeTransport
import VideoToolbox

struct Send: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sends a movie or a test picture live to vtencode receive: H.264 in RTP over UDP.",
    discussion: """
      The encoder works in its low-latency mode. Nothing but a greeting is sent before the receiver has answered it. \
      Lost packets are sent again, and what cannot be repaired so is repaired as --recovery says. Ends with the source, \
      when the receiver leaves, or with Ctrl-C.

      Examples:
        vtencode receive --listen 5004 --out call.mp4 & vtencode send talk.mp4 --to 127.0.0.1:5004
        vtencode send test:1280x720@30 --to 127.0.0.1:5004 --frames 300
        vtencode send talk.mp4 --loop --to 192.168.1.5:5004 --secret 'correct horse battery' --bitrate 1500k
        vtencode send talk.mp4 --to pc.local:5004 --key-file call.key
        vtencode send talk.mp4 --to 127.0.0.1:5004 --sdp call.sdp & sleep 1; ffplay -protocol_whitelist file,udp,rtp call.sdp
      """)

  @OptionGroup var options: SendOptions

  func run() async throws {
    let secret = try options.wire.sharedSecret()
    let address = try options.to.resolve()
    try options.wire.check(address, isSecured: secret != nil)
    try OutputCheck.check(options.sdp, option: "--sdp", others: [options.source])
    Interrupt.shared.watch()
    let source = try await SendSource.open(options)
    let (summary, damage) = try await onThread("send") { [options] in
      let pictures = try source.pictures()
      let run = try SendRun(options, source: source, pictures: pictures, address: address, secret: secret)
      return (try run.run(), pictures.damage.summary)
    }
    try summary.print(asJSON: options.wire.json)
    if let damage {
      throw Failure("'\(source.name)' is damaged: \(damage)", status: SourceDamage.exitStatus)
    }
  }
}
