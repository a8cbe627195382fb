// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Stand-ins for the subcommands that use the network, in builds with `OVT_WITHOUT_LIVE=1`. The
/// help does not list them; they say how to get the real ones.
let liveCommands: [any ParsableCommand.Type] = [
  MissingSend.self, MissingReceive.self, MissingServe.self,
]

private protocol MissingLiveCommand: ParsableCommand {}

extension MissingLiveCommand {
  func run() throws {
    throw Failure(
      "this vtencode was built without the live part (OVT_WITHOUT_LIVE=1), as 'make demo' does; "
        + "'make build' builds one with send, receive and serve", status: 64)
  }
}

struct MissingSend: MissingLiveCommand {
  static let configuration = CommandConfiguration(commandName: "send", shouldDisplay: false)
  @Argument(parsing: .allUnrecognized) var arguments: [String] = []
}

struct MissingReceive: MissingLiveCommand {
  static let configuration = CommandConfiguration(commandName: "receive", shouldDisplay: false)
  @Argument(parsing: .allUnrecognized) var arguments: [String] = []
}

struct MissingServe: MissingLiveCommand {
  static let configuration = CommandConfiguration(commandName: "serve", shouldDisplay: false)
  @Argument(parsing: .allUnrecognized) var arguments: [String] = []
}
