// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

extension ArgumentVisibility {
  /// The visibility of option groups that only `--help-all` shows.
  ///
  /// ArgumentParser leaves hidden options out of completion scripts too, and a shell should complete
  /// every option, so nothing is hidden while a script is generated.
  static var helpAll: ArgumentVisibility {
    CommandLine.arguments.contains { $0.hasPrefix("--generate-completion-script") } ? .default : .hidden
  }
}
