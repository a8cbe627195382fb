// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import Foundation

/// The command-line options.
struct Options {
  var clips: [String] = []
  var frames = 150
  var modes: [Mode] = [.fixedQP, .delay(0.5)]
  var sets = ClipSet.allCases
  /// Whether to use only clips of screen content, in their own size.
  var onlyScreens = false
  /// How often the clips are halved.
  var halves = [0, 1]
  var cuts = true
  var encoders: [EncoderName] = EncoderName.all
  var threads = [1]
  var points = 4
  var repeats = 1
  var fresh = false
  var wallClock = false
  var csv: String?
  var trace: String?
  var markdown: String?
  var svg: String?
  var cache = ".build/reference-results-5.jsonl"
  var help = false

  static let usage = """
    Usage: bench [options] <clip>...

    A clip is any file that libavformat reads (Y4M too), or a folder of such files.

      --encoders LIST   encoders by the beginning of their names, separated by commas:
                        \(EncoderName.all.map(\.name).joined(separator: " "))
                        (all if not given; BD-rates need x264-superfast, and openh264-0 for the second column)
      --frames N        frames of each clip (150)
      --modes LIST      qp (QP 22, 27, 32, 37), delay:S (a rate; S seconds of it in x264's VBV), general
                        (a rate; a second in the VBV), files and files:ssim (an average rate with B pictures and
                        a look-ahead, presets as they are, tuned for PSNR or SSIM); separated by commas
                        (qp,delay:0.5)
      --set NAME        only the clips to tune on (tuning) or those that no decision was taken on (validation); screens:
                        of either only screens (names that begin with "screen", as scripts/render-screens gives them),
                        at their own size; may be given twice
      --own-size        not each clip at half its size too
      --half-size       at half its size alone
      --no-cuts         not the clip made of pieces of the others
      --threads LIST    thread counts (1)
      --points N        bit rates for each clip, 1 to 4 (4)
      --repeat N        runs of each; the fastest counts (1)
      --quick           x264-superfast, openh264-0 and the engine, 60 frames
      --fresh           measure the other encoders again, instead of taking what was measured before
      --wall            wall-clock time with one thread too (else the process's CPU time, which a busy
                        machine disturbs less)
      --csv FILE        every single result
      --trace FILE      every frame of what is measured again: bits, wait before the line, PSNR, SSIM
      --markdown FILE   the tables
      --svg FILE        a chart of speed against bits, one for each mode and set: FILE-MODE-SET.svg
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(_ option: String) throws -> String {
      guard let value = rest.popFirst() else { throw BenchmarkError(description: "\(option) needs a value") }
      return value
    }
    func number(_ option: String, _ range: ClosedRange<Int>) throws -> Int {
      let text = try value(option)
      guard let number = Int(text), range.contains(number) else {
        throw BenchmarkError(description: "\(option) \(text): not a number in \(range)")
      }
      return number
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h": help = true
      case "--frames": frames = try number(argument, 2...100_000)
      case "--modes":
        modes = try value(argument).split(separator: ",").map {
          guard let mode = Mode(name: String($0)) else {
            throw BenchmarkError(description: "no mode is called \($0)")
          }
          return mode
        }
      case "--set":
        let name = try value(argument)
        if name == "screens" {
          onlyScreens = true
          halves = [0]
        } else if let set = ClipSet(rawValue: name) {
          sets = [set]
        } else {
          throw BenchmarkError(description: "no set is called \(name)")
        }
      case "--own-size": halves = [0]
      case "--half-size": halves = [1]
      case "--no-cuts": cuts = false
      case "--svg": svg = try value(argument)
      case "--points": points = try number(argument, 1...4)
      case "--repeat": repeats = try number(argument, 1...100)
      case "--threads":
        threads = try value(argument).split(separator: ",").map {
          guard let n = Int($0), (1...16).contains(n) else {
            throw BenchmarkError(description: "--threads \($0): not in 1...16")
          }
          return n
        }
      case "--encoders":
        let wanted = try value(argument).split(separator: ",").map(String.init)
        encoders = EncoderName.all.filter { name in wanted.contains { name.name.hasPrefix($0) } }
        if encoders.isEmpty { throw BenchmarkError(description: "no encoder is called \(wanted)") }
      case "--quick":
        frames = 60
        modes = [.fixedQP]
        encoders = EncoderName.all.filter {
          $0.isEngine || $0 == .x264(preset: "superfast") || $0 == .openH264(complexity: 0)
        }
      case "--fresh": fresh = true
      case "--wall": wallClock = true
      case "--trace": trace = try value(argument)
      case "--csv": csv = try value(argument)
      case "--markdown": markdown = try value(argument)
      case "--cache": cache = try value(argument)
      default:
        if argument.hasPrefix("-") {
          throw BenchmarkError(description: "unknown option \(argument)\n\(Self.usage)")
        }
        clips += try ClipFiles.list(argument)
      }
    }
    if clips.isEmpty && !help { throw BenchmarkError(description: "no clip given\n\(Self.usage)") }
  }
}

/// An encoder to measure.
enum EncoderName: Hashable, Codable {
  case x264(preset: String)
  case openH264(complexity: Int)
  /// The usage type for screen content, with low complexity.
  case openH264Screen
  case engine(effort: Int)

  var name: String {
    switch self {
    case .x264(let preset): "x264-\(preset)"
    case .openH264(let complexity): "openh264-\(complexity)"
    case .openH264Screen: "openh264-screen"
    case .engine(let effort): "engine-\(effort)"
    }
  }

  var family: String {
    switch self {
    case .x264: "x264"
    case .openH264, .openH264Screen: "openh264"
    case .engine: "engine"
    }
  }

  var isEngine: Bool { if case .engine = self { true } else { false } }
}
