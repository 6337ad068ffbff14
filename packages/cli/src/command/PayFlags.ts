import type { FlagSpec, InputOf } from "./Command.ts"
import { PASSWORD_FILE_FLAG, WALLET_FILE_FLAG } from "./WalletCommands.ts"

/** What every command takes that pays. */
export const PAY_FLAGS = [
  {
    name: "yes",
    short: "y",
    type: "boolean",
    summary: "Pay without being asked; needs --max-amount."
  },
  {
    name: "max-amount",
    type: "text",
    value: "AMOUNT",
    summary: "Most that this may cost, in USDT. Above it nothing is signed."
  },
  {
    name: "network",
    type: "text",
    value: "ID",
    summary: "Pay on this network, as eip155:196, where the server takes several."
  },
  WALLET_FILE_FLAG,
  PASSWORD_FILE_FLAG,
  {
    name: "rpc-url",
    type: "text",
    value: "URL",
    summary: "The RPC of the network, for the balance.",
    env: "AGENTOS_RPC_URL"
  }
] as const satisfies ReadonlyArray<FlagSpec>

/** Exit codes that paying adds: cancelled, authentication, conflict, declined, outcome unknown, provider. */
export const PAY_EXITS = [2, 4, 5, 6, 7, 8, 9] as const

/** What a paying command is told about paying. */
export type PayFlagValues = InputOf<{
  readonly name: ""
  readonly summary: ""
  readonly description: ""
  readonly arguments: readonly []
  readonly flags: typeof PAY_FLAGS
  readonly examples: readonly []
  readonly output: "nothing"
  readonly json: ""
  readonly exits: readonly []
}>["flags"]
