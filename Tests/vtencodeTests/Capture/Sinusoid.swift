// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Looks for a tone.
enum Sinusoid {
  /// The share of the energy of samples of 48 kHz that is a sinusoid of a frequency, by
  /// correlation.
  static func share(of frequency: Double, in samples: some Collection<Float>) -> Double {
    var (real, imaginary, energy) = (0.0, 0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let angle = 2 * Double.pi * frequency * Double(index) / 48_000
      real += Double(sample) * cos(angle)
      imaginary += Double(sample) * sin(angle)
      energy += Double(sample) * Double(sample)
    }
    guard energy > 0 else { return 0 }
    return 2 * (real * real + imaginary * imaginary) / Double(samples.count) / energy
  }

  /// The seconds of a tone, in pieces of a tenth. A machine that stalls loses audio, as it
  /// does with a microphone; the rest is the tone.
  static func seconds(of frequency: Double, in samples: [Float]) -> Double {
    var count = 0
    for start in stride(from: 0, to: samples.count - 4800, by: 4800)
    where share(of: frequency, in: samples[start..<start + 4800]) > 0.98 { count += 1 }
    return Double(count) / 10
  }
}
