import { defineCommand } from "./Command.ts"
import { WALLET_FILE_FLAG } from "./WalletCommands.ts"

const KEY = {
  name: "key",
  summary: "The setting.",
  presence: "required",
  choices: ["base-url", "wallet-file", "rpc-url", "profile"]
} as const

export const CONFIG_LIST = defineCommand({
  name: "config list",
  summary: "List the settings in force, and where each comes from",
  description: "A flag is stronger than the environment, that than ./agentctl.json, and that than the profile.",
  arguments: [],
  flags: [],
  examples: [{ line: "agentctl config list", does: "Why does it talk to that server?" }],
  output: "rows",
  json: "{profile, profiles, items: [{key, value, source}]}",
  exits: []
})

export const CONFIG_GET = defineCommand({
  name: "config get",
  summary: "Print one setting as it is in force",
  description: "Exit code 5 where it is not set.",
  arguments: [KEY],
  flags: [],
  examples: [{ line: "agentctl config get base-url", does: "The server's address, for a script" }],
  output: "record",
  json: "{key, value, source}",
  exits: [5]
})

export const CONFIG_SET = defineCommand({
  name: "config set",
  summary: "Change a setting of this profile",
  description:
    "`profile` chooses the profile that is used where none is named; the others belong to the profile. An empty text takes a setting away. Keys and tokens are no settings: see wallet and login.",
  arguments: [KEY, { name: "value", summary: "The new value.", presence: "required" }],
  flags: [],
  examples: [
    { line: "agentctl config set base-url https://agentos.example", does: "Where the server is" },
    { line: "agentctl config set profile staging", does: "Uses another profile from now on" }
  ],
  output: "record",
  json: "{key, value, source}",
  exits: []
})

export const CONFIG_PATH = defineCommand({
  name: "config path",
  summary: "Print where the settings are",
  description: "The folder holds config.json, credentials.json, wallets and the journal.",
  arguments: [],
  flags: [],
  examples: [{ line: 'ls "$(agentctl config path)"', does: "What is kept on this machine" }],
  output: "text",
  json: "a line of text",
  exits: []
})

export const COMPLETION = defineCommand({
  name: "completion",
  summary: "Print the completion script of a shell",
  description:
    "Commands, flags and values are completed; ids of mailboxes, messages and the like by asking the server.",
  arguments: [{ name: "shell", summary: "The shell.", presence: "required", choices: ["bash", "zsh", "fish"] }],
  flags: [],
  examples: [
    { line: 'eval "$(agentctl completion bash)"', does: "In ~/.bashrc" },
    { line: "agentctl completion zsh > ~/.zfunc/_agentctl", does: "In a folder of zsh's fpath" },
    { line: "agentctl completion fish | source", does: "In ~/.config/fish/config.fish" }
  ],
  output: "text",
  json: "a script",
  exits: []
})

export const API = defineCommand({
  name: "api",
  summary: "Make any request to the API, and print its answer",
  description:
    "Prints the body of the answer as it came. Fields become the query of a GET and the JSON body of a POST; --input sends a file instead. It never pays: a 402 is shown, and is a failure.",
  arguments: [
    { name: "method", summary: "The method.", presence: "required", choices: ["GET", "POST"] },
    { name: "path", summary: "The path, as /api/v1/services.", presence: "required" },
    { name: "fields", summary: "NAME=TEXT or NAME:=JSON.", presence: "several" }
  ],
  flags: [
    {
      name: "input",
      type: "text",
      value: "FILE",
      summary: "Send this file as the body; - for standard input.",
      completes: "file"
    },
    {
      name: "header",
      short: "H",
      type: "list",
      value: "NAME:VALUE",
      summary: "Send this header too. Not for secrets."
    },
    {
      name: "include",
      short: "i",
      type: "boolean",
      summary: "Print status and headers of the answer on standard error."
    }
  ],
  examples: [
    { line: "agentctl api GET /api/v1/events limit:=5", does: "A GET with a query" },
    { line: "agentctl api POST /api/v1/events/list --input query.json", does: "A POST from a file" }
  ],
  output: "text",
  json: "the answer's own body",
  exits: [4, 5, 6, 7, 9]
})

export const SCHEMA = defineCommand({
  name: "schema",
  summary: "Print commands as JSON, for programs that drive this one",
  description: "Arguments, flags with types, bounds and defaults, examples, output and exit codes.",
  arguments: [
    {
      name: "command",
      summary: "Words of a command or of a group; without them, every command.",
      presence: "several",
      completes: "command"
    }
  ],
  flags: [],
  examples: [{ line: "agentctl schema mail list", does: "One command" }],
  output: "text",
  json: "{version, globalFlags, exitCodes, commands}",
  exits: []
})

export const HELP = defineCommand({
  name: "help",
  summary: "Show help for a command",
  description: "The same as --help after the command.",
  arguments: [
    { name: "command", summary: "Words of a command, or of a group.", presence: "several", completes: "command" }
  ],
  flags: [],
  examples: [{ line: "agentctl help mail list", does: "Help for one command" }],
  output: "text",
  json: "help for people",
  exits: []
})

export const DOCTOR = defineCommand({
  name: "doctor",
  summary: "Check what agentctl needs, and say what to mend",
  description:
    "Looks at Node, the settings, the server and the way to it, this machine's clock, the token, the WebSocket, the wallet and what it holds. Changes nothing and pays nothing. Exit code 1 where something is broken; what is only missing is told, and is no failure.",
  arguments: [],
  flags: [WALLET_FILE_FLAG],
  examples: [
    { line: "agentctl doctor", does: "Why does it not work?" },
    { line: "agentctl doctor --json | jq .healthy", does: "For a script" }
  ],
  output: "rows",
  json: "{healthy, checks: [{name, status: ok|missing|broken|skipped, detail, mend}]}",
  exits: []
})

export const DEV = defineCommand({
  name: "dev",
  summary: "Run the whole service on this machine, with play money, and a profile for it",
  description:
    "Starts the sandbox of the AgentOS repository (found from the current folder upwards) and makes a profile that points at it, with a funded wallet: `dev`, or what --profile says. Where no other profile exists it becomes the one in use. Ctrl-C ends both; what is in the sandbox stays for the next time.",
  arguments: [],
  flags: [
    {
      name: "port",
      type: "integer",
      value: "N",
      summary: "Port of the server; 0 takes a free one.",
      default: 8402,
      maximum: 65_535
    },
    {
      name: "data",
      type: "text",
      value: "DIR",
      summary: "Where the sandbox keeps its data; .agentos in the repository otherwise.",
      completes: "file"
    }
  ],
  examples: [
    { line: "agentctl dev", does: "In a terminal of its own" },
    { line: "agentctl dev --port 0 --data ./sandbox", does: "Beside another, with data of its own" }
  ],
  output: "record",
  json: "{profile, baseUrl, address, walletFile, rpcUrl, mail: {host, port, domain}}, once it is ready",
  exits: [5, 6]
})
