import {
  type ArgumentSpec,
  type FlagSpec,
  type FlagValues,
  HELP_FLAG,
  JSON_FLAG,
  OUTPUT_FLAGS,
  usageError
} from "@agentos/node/command-line"
import { TIME } from "../output/Wording.ts"

/** The flags of every command. */
export const GLOBAL_FLAGS = [
  HELP_FLAG,
  JSON_FLAG,
  {
    name: "profile",
    type: "text",
    value: "NAME",
    summary: "Use this profile.",
    env: "AGENTOS_PROFILE",
    completes: "profile"
  },
  { name: "base-url", type: "text", value: "URL", summary: "URL of the server.", env: "AGENTOS_BASE_URL" },
  ...OUTPUT_FLAGS
] as const satisfies ReadonlyArray<FlagSpec>
export type GlobalValues = FlagValues<typeof GLOBAL_FLAGS>

/** The flags of lists. Pages are fetched until the limit is reached. */
export const LIMIT_FLAG = {
  name: "limit",
  type: "integer",
  value: "N",
  summary: "Maximum number of items.",
  default: 50,
  minimum: 1,
  maximum: 10_000
} as const satisfies FlagSpec

export const CURSOR_FLAG = {
  name: "cursor",
  type: "text",
  value: "CURSOR",
  summary: "Continue after a previous list: its nextCursor."
} as const satisfies FlagSpec

/** The argument of every command about one message. */
export const MESSAGE_ARGUMENT = {
  name: "message",
  summary: "Id of a message, a part of it, or latest.",
  presence: "required",
  completes: "message"
} as const satisfies ArgumentSpec

export const ATTACH_FLAG = {
  name: "attach",
  type: "list",
  value: "FILE",
  summary: "Attach this file. At most 10 MiB together.",
  completes: "file"
} as const satisfies FlagSpec

export const DATA_FLAG = {
  name: "data",
  type: "text",
  value: "DIR",
  summary:
    "Data folder of the sandbox, or its sandbox.json. By default that of the profile, else .agentos in the repository, or a folder of agentctl.",
  completes: "file"
} as const satisfies FlagSpec

export const TYPES_FLAG = {
  name: "types",
  type: "list",
  value: "TYPE",
  summary: "Only these types, for example email.received. Comma-separated."
} as const satisfies FlagSpec

export const typesOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.flatMap((text) => text.split(",").map((type) => type.trim())).filter((type) => type !== "")

export const WALLET_FILE_FLAG = {
  name: "wallet-file",
  type: "text",
  value: "FILE",
  summary: "Wallet file: a keystore, or a private key that only you can read.",
  env: "AGENTOS_WALLET_FILE",
  completes: "file"
} as const satisfies FlagSpec

export const PASSWORD_FILE_FLAG = {
  name: "password-file",
  type: "text",
  value: "FILE",
  summary: "Read the password of the keystore from the first line of this file (- for standard input).",
  env: "AGENTOS_PASSWORD_FILE",
  completes: "file"
} as const satisfies FlagSpec

export const RPC_URL_FLAG = {
  name: "rpc-url",
  type: "text",
  value: "URL",
  summary: "JSON-RPC URL of the network, used to read the balance.",
  env: "AGENTOS_RPC_URL"
} as const satisfies FlagSpec

/** Returns the values of the flags that choose the wallet and the RPC. */
export const walletFlagsOf = (flags: {
  readonly "wallet-file": string | undefined
  readonly "password-file": string | undefined
  readonly "rpc-url"?: string | undefined
}) => ({ walletFile: flags["wallet-file"], passwordFile: flags["password-file"], rpcUrl: flags["rpc-url"] })

/** The flag that skips the question of a free command. */
export const yesFlag = <const Verb extends string>(verb: Verb) =>
  ({
    name: "yes",
    short: "y",
    type: "boolean",
    summary: `${verb} without confirmation.`
  }) as const satisfies FlagSpec

/** The flags that select items by their time. */
export const timeFlags = (verb: string) =>
  [
    { name: "since", type: "text", value: "TIME", summary: `${verb} at or after: ${TIME}.` },
    { name: "until", type: "text", value: "TIME", summary: `${verb} before: ${TIME}.` }
  ] as const satisfies ReadonlyArray<FlagSpec>

export const directionFlag = (noun: string) =>
  ({
    name: "direction",
    type: "text",
    value: "DIRECTION",
    summary: `Only ${noun} in this direction.`,
    choices: ["inbound", "outbound"]
  }) as const satisfies FlagSpec

export const NETWORK_FLAG = {
  name: "network",
  type: "text",
  value: "ID",
  summary: "Pay on this network (for example eip155:196) if the server accepts several."
} as const satisfies FlagSpec

/** The flags of every command that pays. */
export const PAY_FLAGS = [
  {
    name: "yes",
    short: "y",
    type: "boolean",
    summary: "Pay without confirmation. Requires --max-amount."
  },
  {
    name: "max-amount",
    type: "text",
    value: "AMOUNT",
    summary: "Maximum price in USDT. If the price is higher, nothing is signed."
  },
  NETWORK_FLAG,
  WALLET_FILE_FLAG,
  PASSWORD_FILE_FLAG,
  RPC_URL_FLAG
] as const satisfies ReadonlyArray<FlagSpec>
export type PayFlagValues = FlagValues<typeof PAY_FLAGS>

/** The exit codes that paying adds: cancelled, authentication, not found, conflict, declined, outcome unknown, provider. */
export const PAY_EXITS = [2, 4, 5, 6, 7, 8, 9] as const

/** Returns the properties with a value. */
export const given = <const Values extends Readonly<Record<string, unknown>>>(
  values: Values
): { -readonly [Name in keyof Values]?: Exclude<Values[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    -readonly [Name in keyof Values]?: Exclude<Values[Name], undefined>
  }

export const required = (value: string | undefined, flag: string): string => {
  if (value !== undefined && value !== "") return value
  throw usageError(`Missing flag --${flag}.`)
}
