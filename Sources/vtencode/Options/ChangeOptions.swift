// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// The options that change the pictures and the audio of a movie before they are encoded.
struct ChangeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Keep only this part of the picture as displayed, in samples: its width, its height, and its distance "
        + "from the left and the upper edge. All four are even.", valueName: "WxH+X+Y"),
    transform: CropRect.reading(or: CropRect.advice))
  var crop: CropRect?

  @Option(
    help: ArgumentHelp("Rotate the picture clockwise by 90, 180 or 270 degrees.", valueName: "degrees"),
    transform: Rotation.reading(or: Rotation.advice))
  var rotate: Rotation?

  @Option(
    help: ArgumentHelp(
      "Take noise out of the pictures, by averaging along their motion: from 0 (nothing) to 1. 0.4 suits a "
        + "camera in weak light.", valueName: "strength"),
    transform: NoiseStrength.reading(or: NoiseStrength.advice))
  var denoise: NoiseStrength?

  @Option(
    help: ArgumentHelp(
      "Draw a picture (PNG, JPEG or WebP, with its transparency) over the movie.", valueName: "file"),
    completion: .file())
  var overlay: String?

  @Option(
    help: ArgumentHelp(
      "The place of the upper left corner of --overlay in the encoded picture, in samples; negative numbers "
        + "count from the right and the lower edge. (default: 0,0)", valueName: "X,Y"),
    transform: PicturePosition.reading(or: PicturePosition.advice))
  var overlayAt: PicturePosition?

  @Option(
    help: ArgumentHelp(
      "Draw subtitles into the picture: a .srt, .vtt or .ass file, or the number of the movie's own subtitle "
        + "track, from 1. The movie's subtitle tracks are then left out.", valueName: "file|n"),
    completion: .file())
  var burnSubtitles: String?

  @Option(
    help: ArgumentHelp(
      "The volume of the audio, as a factor (0.5), per cent (150%) or decibels (-6dB); it is then encoded.",
      valueName: "volume"),
    transform: Volume.reading(or: Volume.advice))
  var volume: Volume?

  @Option(
    help: ArgumentHelp("Keep only this audio track, counted from 1. (default: all)", valueName: "n"))
  var audioTrack: Int?

  func validate() throws {
    if overlayAt != nil, overlay == nil {
      throw ValidationError("--overlay-at requires --overlay.")
    }
    if let audioTrack, audioTrack < 1 { throw ValidationError("--audio-track must be at least 1.") }
  }

  /// Whether the pictures are changed, which needs them as they are displayed.
  var changesPictures: Bool {
    crop != nil || rotate != nil || overlay != nil || burnSubtitles != nil
  }

  /// The paths of the files that the options name: a picture and subtitles.
  var files: [String] {
    [overlay, burnSubtitles.flatMap { Int($0) == nil ? $0 : nil }].compactMap(\.self)
  }

  /// The first of the options that was given; nil if none was.
  var givenName: String? {
    let names: [(String, Bool)] = [
      ("--crop", crop != nil), ("--rotate", rotate != nil), ("--denoise", denoise != nil),
      ("--overlay", overlay != nil),
      ("--burn-subtitles", burnSubtitles != nil), ("--volume", volume != nil),
      ("--audio-track", audioTrack != nil),
    ]
    return names.first(where: \.1)?.0
  }

  func validate(with options: EncodingOptions) throws {
    let isSilent = options.audio.noAudio || options.audio.audio == .none
    if isSilent, let name = volume != nil ? "--volume" : audioTrack != nil ? "--audio-track" : nil {
      throw ValidationError("\(name) cannot be combined with --no-audio or --audio none.")
    }
    if volume != nil, options.audio.audio == .copy {
      throw ValidationError("--volume changes the audio, and --audio copy does not; give one of them.")
    }
    if let what = options.streamDescription,
      let name = volume != nil ? "--volume" : audioTrack != nil ? "--audio-track" : nil
    {
      throw ValidationError("\(what) cannot contain audio; omit \(name), or name --out .mov or .mp4.")
    }
    if burnSubtitles != nil, options.sandboxing.sandbox {
      throw ValidationError(
        "--burn-subtitles needs the system's fonts, which --sandbox makes inaccessible; omit one.")
    }
    if changesPictures || denoise != nil, options.picture.noDeinterlace {
      throw ValidationError(
        "--no-deinterlace keeps the fields of a picture, which cropping, rotating and drawing would mix; omit "
          + "it or \(givenName ?? "the change").")
    }
  }
}

/// A part of a picture in samples, written `640x360+100+50`.
struct CropRect: ExpressibleByArgument, Sendable, Equatable {
  static let advice =
    "it takes width, height, and the distances from the left and the upper edge, such as 640x360+100+50, all "
    + "even"

  var width: Int
  var height: Int
  var x: Int
  var y: Int

  init?(argument: String) {
    let parts = argument.split(separator: "+", omittingEmptySubsequences: false)
    guard parts.count == 3, let size = Dimensions(argument: String(parts[0])),
      Dimensions.allowed.contains(size.width), Dimensions.allowed.contains(size.height),
      let x = Int(parts[1]), let y = Int(parts[2]),
      (0...Dimensions.allowed.upperBound).contains(x), (0...Dimensions.allowed.upperBound).contains(y),
      [size.width, size.height, x, y].allSatisfy({ $0 % 2 == 0 })
    else { return nil }
    (width, height, self.x, self.y) = (size.width, size.height, x, y)
  }
}

/// A clockwise rotation.
struct Rotation: ExpressibleByArgument, Sendable, Equatable {
  static let advice = "it takes 90, 180 or 270 degrees, clockwise"

  var quarters: Int

  init?(argument: String) {
    guard let degrees = Int(argument), [90, 180, 270].contains(degrees) else { return nil }
    quarters = degrees / 90
  }
}

/// A position in a picture, written `20,10`.
struct PicturePosition: ExpressibleByArgument, Sendable, Equatable {
  static let advice = "it takes two distances in samples, such as 20,10, or -20,10 from the right edge"

  var x: Int
  var y: Int

  init(x: Int, y: Int) { (self.x, self.y) = (x, y) }

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    let allowed = -Dimensions.allowed.upperBound...Dimensions.allowed.upperBound
    guard parts.count == 2, let x = parts[0], let y = parts[1], allowed.contains(x), allowed.contains(y)
    else { return nil }
    self.init(x: x, y: y)
  }
}

/// A factor for audio, written as `0.5`, `150%` or `-6dB`.
struct Volume: ExpressibleByArgument, Sendable, Equatable {
  static let advice = "it takes a factor from 0 to 16, such as 0.5, 150% or -6dB"

  var factor: Double

  init?(argument: String) {
    let text = argument.lowercased()
    let value: Double?
    if text.hasSuffix("db") {
      value = Double(text.dropLast(2)).map { pow(10, $0 / 20) }
    } else if text.hasSuffix("%") {
      value = Double(text.dropLast()).map { $0 / 100 }
    } else {
      value = Double(text)
    }
    guard let value, value.isFinite, (0...16).contains(value) else { return nil }
    factor = value
  }
}
