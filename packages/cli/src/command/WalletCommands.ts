import { defineCommand, type FlagSpec } from "./Command.ts"

/** Which wallet, for commands that use one. */
export const WALLET_FILE_FLAG = {
  name: "wallet-file",
  type: "text",
  value: "FILE",
  summary: "A wallet file: a keystore, or a private key that only you can read.",
  env: "AGENTOS_WALLET_FILE",
  completes: "file"
} as const satisfies FlagSpec

/** Where the password of a keystore comes from, for commands that open or close one. */
export const PASSWORD_FILE_FLAG = {
  name: "password-file",
  type: "text",
  value: "FILE",
  summary: "Read the keystore's password from the first line of this file; - for standard input.",
  env: "AGENTOS_PASSWORD_FILE",
  completes: "file"
} as const satisfies FlagSpec

const NEW_WALLET_FLAGS = [
  {
    name: "output",
    type: "text",
    value: "FILE",
    summary: "Write the wallet here, and not to the home folder. An existing file is never overwritten.",
    completes: "file"
  },
  {
    name: "plain",
    type: "boolean",
    summary: "Write the key itself, without a password. Whoever reads the file has the money."
  },
  PASSWORD_FILE_FLAG
] as const satisfies ReadonlyArray<FlagSpec>

export const WALLET_CREATE = defineCommand({
  name: "wallet create",
  summary: "Make a new wallet, and use it in this profile",
  description:
    "The private key is made here and encrypted with a password, as a standard Ethereum keystore (version 3, scrypt).\nThe password comes from AGENTOS_PASSWORD, a file, standard input or a prompt. Nobody can recover it.",
  arguments: [],
  flags: NEW_WALLET_FLAGS,
  examples: [
    { line: "agentctl wallet create", does: "Asks for a password, and makes the profile's wallet" },
    {
      line: "agentctl wallet create --plain --output ./agent.key",
      does: "For an agent that nobody types a password for"
    }
  ],
  output: "record",
  json: "{address, walletFile, encrypted}",
  exits: [2, 6]
})

export const WALLET_IMPORT = defineCommand({
  name: "wallet import",
  summary: "Bring a private key or a keystore, and use it in this profile",
  description:
    "Reads 64 hexadecimal digits, or a keystore (version 3), from a file or standard input: never from the command line.\nA keystore is opened once, to see that the password fits, and kept as it is.",
  arguments: [
    {
      name: "file",
      summary: "The file to read; - or nothing for standard input.",
      presence: "optional",
      completes: "file"
    }
  ],
  flags: NEW_WALLET_FLAGS,
  examples: [
    { line: "agentctl wallet import ./UTC--2026-01-31.json", does: "Takes over a keystore of another program" },
    { line: "pass show agent-key | agentctl wallet import --plain", does: "Takes a key out of a password manager" }
  ],
  output: "record",
  json: "{address, walletFile, encrypted}",
  exits: [2, 4, 6]
})

export const WALLET_ADDRESS = defineCommand({
  name: "wallet address",
  summary: "Show the wallet's address",
  description: "No password is needed where the keystore says its address.",
  arguments: [],
  flags: [WALLET_FILE_FLAG, PASSWORD_FILE_FLAG],
  examples: [{ line: "agentctl wallet address", does: "The address to send USDT to" }],
  output: "record",
  json: "{address, source}",
  exits: [2, 4, 5]
})

export const WALLET_BALANCE = defineCommand({
  name: "wallet balance",
  summary: "Show what the wallet holds of what the server takes",
  description:
    "Asks the server which networks and tokens it takes, and each network's RPC what the wallet holds there.\nThe RPC is --rpc-url, AGENTOS_RPC_URL, the profile's rpcUrl, or the network's public one. Nothing is paid.",
  arguments: [],
  flags: [
    WALLET_FILE_FLAG,
    PASSWORD_FILE_FLAG,
    { name: "rpc-url", type: "text", value: "URL", summary: "The RPC of the network.", env: "AGENTOS_RPC_URL" }
  ],
  examples: [{ line: "agentctl wallet balance", does: "What is there to pay with" }],
  output: "rows",
  json: "{address, items: [{network, asset, baseUnits, amount}]}",
  exits: [2, 4, 5, 9]
})
