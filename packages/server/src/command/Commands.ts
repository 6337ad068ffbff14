import { CommandTree, HELP_FLAG, JSON_FLAG, OUTPUT_FLAGS, type ProgramSpec } from "@agentos/command-line"
import { VERSION } from "../Version.ts"
import { CHECK_CONFIG } from "./CheckConfigCommand.ts"
import { LEDGER } from "./LedgerCommand.ts"
import { START } from "./StartCommand.ts"

/** All commands, in the order of help. */
export const COMMANDS = [START, CHECK_CONFIG, LEDGER] as const

const PROGRAM: ProgramSpec = {
  name: "agentos-server",
  version: VERSION,
  summary: "Runs an AgentOS server, which is configured by environment variables.",
  globalFlags: [HELP_FLAG, JSON_FLAG, ...OUTPUT_FLAGS],
  start: ["start"],
  titles: { start: "GETTING STARTED", rest: "COMMANDS" }
}

export const COMMAND_TREE = new CommandTree(PROGRAM, COMMANDS, {})
