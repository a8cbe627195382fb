// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// libavdevice, which is loaded with the first device.
enum DeviceLibrary {
  private static let message: String? = {
    LibavLog.takeOver()
    return ovt_load_device_library().map { String(cString: $0) }
  }()

  /// Loads the library.
  /// - Parameter devices: The kind of devices that need it, for the message.
  /// - Returns: An error of the kind `unsupportedFormat` if it is missing; nil otherwise.
  static func failure(of devices: String) -> MediaFileError? {
    message.map {
      MediaFileError(
        .unsupportedFormat,
        "\(devices) need FFmpeg's devices (libavdevice \(LIBAVFORMAT_VERSION_MAJOR)): \($0)")
    }
  }

  /// Lists the devices of an input format.
  /// - Parameter format: The format's name, such as `alsa`.
  /// - Returns: Their names; empty if there are none, or they cannot be listed.
  static func devices(of format: String) -> [String] {
    guard message == nil, let input = av_find_input_format(format) else { return [] }
    let (list, _) = LibavLog.collect { ovt_list_devices(input) }
    guard let list else { return [] }
    defer { ovt_free_devices(list) }
    guard let devices = list.pointee.devices else { return [] }
    return (0..<Int(list.pointee.count)).compactMap { index in
      devices[index]?.pointee.name.map { String(cString: $0) }
    }
  }
}
