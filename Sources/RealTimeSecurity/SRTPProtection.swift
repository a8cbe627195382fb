// SPDX-License-Identifier: Apache-2.0
import CSRTP
import RealTimeTransport

/// SRTP and SRTCP with AES-256-GCM (RFC 3711, RFC 7714), over libsrtp: encryption, authentication
/// and replay protection.
final class SRTPProtection: PacketProtection {
  /// The size of a key and its salt in bytes.
  static let keySize = 44
  /// The number of bytes by which a packet may grow: the authentication tag, and SRTCP's index.
  static let mostGrowth = 64
  /// The longest packet in bytes.
  private static let capacity = 65_536
  private static let isReady = srtp_init() == srtp_err_status_ok

  private var outbound: srtp_t?
  private var inbound: srtp_t?
  /// The library works in place, on aligned memory with room at the end.
  private let scratch = UnsafeMutableRawPointer.allocate(byteCount: capacity + mostGrowth, alignment: 16)

  /// - Parameters:
  ///   - outbound: the key for sent packets, of ``keySize`` bytes.
  ///   - inbound: the key for received packets, of ``keySize`` bytes.
  /// - Throws: `PresharedKey.Failure.unavailable`. The library copies the keys, and overwrites its
  ///   copies when it is deallocated.
  init(outbound: KeyBytes, inbound: KeyBytes) throws {
    guard Self.isReady, outbound.count == Self.keySize, inbound.count == Self.keySize else {
      throw PresharedKey.Failure.unavailable
    }
    guard outbound.withBytes({ ovt_srtp_create(&self.outbound, 0, $0) }) == 0,
      inbound.withBytes({ ovt_srtp_create(&self.inbound, 1, $0) }) == 0
    else {
      throw PresharedKey.Failure.unavailable
    }
  }

  deinit {
    if let outbound { _ = srtp_dealloc(outbound) }
    if let inbound { _ = srtp_dealloc(inbound) }
    scratch.deallocate()
  }

  func protect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    inPlace(packet) { isControl ? srtp_protect_rtcp(outbound, $0, &$1) : srtp_protect(outbound, $0, &$1) }
  }

  func unprotect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    inPlace(packet) { isControl ? srtp_unprotect_rtcp(inbound, $0, &$1) : srtp_unprotect(inbound, $0, &$1) }
  }

  private func inPlace(
    _ packet: [UInt8], _ work: (UnsafeMutableRawPointer, inout Int32) -> srtp_err_status_t
  ) -> [UInt8]? {
    // The library reads the fixed headers without checking the length first.
    guard packet.count >= 12, packet.count <= Self.capacity else { return nil }
    packet.withUnsafeBytes {
      scratch.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(scratch), byteCount: $0.count)
    }
    var length = Int32(packet.count)
    guard work(scratch, &length) == srtp_err_status_ok, length > 0 else { return nil }
    return Array(UnsafeRawBufferPointer(start: scratch, count: Int(length)))
  }
}
