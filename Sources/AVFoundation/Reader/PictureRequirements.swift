// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The properties of the pictures that a program asks for in an output's settings.
struct PictureRequirements: Sendable {
  /// The pixel formats that the program accepts, in order of preference; empty for the decoder's
  /// own.
  var formats: [OSType] = []
  /// Nil for the size of the stored pictures.
  var width: Int?
  var height: Int?
  /// The number of the decoder's threads; 0 for as many as there are processors.
  var threads = 0
  /// The colour properties to convert to; nil for those of the stream.
  var color: ColorRequirements?
  /// The treatment of the fields of interlaced pictures.
  var fields = FieldRequirements()
  /// Whether pictures are cropped to the clean aperture.
  var crops = false
  /// Further properties of the decompression session.
  var decompression = RequestedDecompressionProperties()

  init(_ settings: [String: Any]) throws {
    decompression = try RequestedDecompressionProperties(settings[AVVideoDecompressionPropertiesKey])
    let settings = settings.merging(decompression.forReader) { own, _ in own }
    func configurationError(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Ask for a pixel format of Core Video and a size from 1 to 16384.")
    }
    switch settings[kCVPixelBufferPixelFormatTypeKey as String] {
    case nil: break
    case let number as NSNumber: formats = [number.uint32Value]
    case let list as [NSNumber]: formats = list.map(\.uint32Value)
    case let format as OSType: formats = [format]
    case let list as [OSType]: formats = list
    default: throw configurationError("The pixel format is not a number.")
    }
    let known = formats.filter { PixelConverter.canWrite($0) }
    guard formats.isEmpty || !known.isEmpty else {
      throw configurationError("No picture can be converted to this pixel format.")
    }
    formats = known
    func size(_ key: CFString, _ other: String) throws -> Int? {
      guard let value = settings[key as String] ?? settings[other] else { return nil }
      guard let number = value as? NSNumber, (1...16384).contains(number.intValue) else {
        throw configurationError("The width or height is out of range.")
      }
      return number.intValue
    }
    width = try size(kCVPixelBufferWidthKey, AVVideoWidthKey)
    height = try size(kCVPixelBufferHeightKey, AVVideoHeightKey)
    color = try settings[AVVideoColorPropertiesKey].map { try ColorRequirements($0) }
    fields = try FieldRequirements(settings)
    if let value = settings[OVTVideoCropsToCleanApertureKey] {
      guard let flag = value as? NSNumber else {
        throw AVError(
          .unsupportedOutputSettings,
          reason: "The value of OVTVideoCropsToCleanApertureKey is not a Boolean.")
      }
      crops = flag.boolValue
    }
    if fields.temporal != nil, width != nil || height != nil {
      throw AVError(
        .unsupportedOutputSettings, reason: "Pictures cannot be scaled before they are deinterlaced.",
        advice: "Read them at their own size, and scale them then.")
    }
    if let value = settings[kVTDecompressionPropertyKey_ThreadCount as String] {
      guard let number = value as? NSNumber, (0...64).contains(number.intValue) else {
        throw AVError(
          .unsupportedOutputSettings, reason: "The number of threads is out of range.",
          advice: "Give 0 to 64.")
      }
      threads = number.intValue
    }
  }
}

extension PictureRequirements {
  /// A session that produces such pictures.
  /// - Throws: `AVError` if there is no decoder for the format or it does not take a property.
  func makeSession(_ description: CMFormatDescription, codecName: String) throws -> VTDecompressionSession {
    let attributes = NSMutableDictionary()
    if !formats.isEmpty {
      attributes[kCVPixelBufferPixelFormatTypeKey] = formats.map { NSNumber(value: $0) } as NSArray
    }
    // Cropped pictures are scaled after cropping, and not by the session.
    let isCropped = cropper(description) != nil
    if let width, !isCropped { attributes[kCVPixelBufferWidthKey] = NSNumber(value: width) }
    if let height, !isCropped { attributes[kCVPixelBufferHeightKey] = NSNumber(value: height) }
    var options = color?.options ?? DecompressionOptions()
    options.threads = threads
    let made = VTDecompressionSession.make(description, attributes: attributes, options: options)
    if let session = made.session {
      try fields.apply(to: session)
      try decompression.apply(to: session, description)
      return session
    }
    let advice = "Convert the movie to H.264 or HEVC first."
    guard made.status != kVTCouldNotFindVideoDecoderErr else {
      throw AVError(.decoderNotFound, reason: "There is no decoder for \(codecName).", advice: advice)
    }
    throw AVError(
      .decoderNotFound, reason: "The decoder for \(codecName) cannot be started (\(made.status)).",
      advice: advice, underlying: NSError(domain: NSOSStatusErrorDomain, code: Int(made.status)))
  }
}
