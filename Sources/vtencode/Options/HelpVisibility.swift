// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

extension ArgumentVisibility {
  /// The visibility of options that only `--help-all` shows.
  ///
  /// ArgumentParser leaves hidden options out of completion scripts and of the description from
  /// which the manual pages are made. Both have every option, so nothing is hidden while they are
  /// made.
  static var helpAll: ArgumentVisibility {
    let describesAll = CommandLine.arguments.contains {
      $0.hasPrefix("--generate-completion-script") || $0 == "--experimental-dump-help"
    }
    return describesAll ? .default : .hidden
  }

  /// The visibility of an option that a subcommand shares with others and refuses: its help does
  /// not show it.
  /// - Parameter subcommand: the name of the subcommand.
  static func refused(by subcommand: String) -> ArgumentVisibility {
    // Help comes by "vtencode split --help" and by "vtencode help split".
    let words = CommandLine.arguments.dropFirst()
    return (words.first == "help" ? words.dropFirst().first : words.first) == subcommand ? .private : .default
  }
}
