// SPDX-License-Identifier: Apache-2.0
import CSRTP
import RealTimeTransport

/// Protects packets by SRTP and SRTCP with AES-256-GCM (RFC 3711, RFC 7714): encryption,
/// authentication and replay protection. The implementation is libsrtp.
final class SRTPProtection: PacketProtection {
  /// The size of a key and its salt in bytes.
  static let keySize = 44
  /// An upper limit of the number of bytes by which a packet grows, for the authentication tag and
  /// the index of SRTCP.
  static let maxGrowth = 64
  /// The longest packet in bytes.
  private static let capacity = 65_536
  /// Whether libsrtp has been initialized.
  private static let isReady = srtp_init() == srtp_err_status_ok

  /// The libsrtp session for sent packets.
  private var outbound: srtp_t?
  /// The libsrtp session for received packets.
  private var inbound: srtp_t?
  /// Memory for one packet. libsrtp changes packets in place: it needs aligned memory, with room
  /// for what it appends.
  private let scratch = UnsafeMutableRawPointer.allocate(byteCount: capacity + maxGrowth, alignment: 16)

  /// Creates the protection of one end of a session. libsrtp copies the keys, and overwrites its
  /// copies when its sessions are deallocated.
  /// - Parameters:
  ///   - outbound: The key for sent packets, of ``keySize`` bytes.
  ///   - inbound: The key for received packets, of ``keySize`` bytes.
  /// - Throws: `PresharedKey.Failure.unavailable`.
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

  /// Calls a function of libsrtp with a copy of a packet.
  /// - Returns: The packet that the function has made of it; nil if the function fails.
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
