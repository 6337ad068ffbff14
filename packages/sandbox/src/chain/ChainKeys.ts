import { join } from "node:path"
import * as Schema from "effect/Schema"
import type { Hex } from "viem"
import { generatePrivateKey } from "viem/accounts"
import { readFileIfAny, replaceFile } from "./AtomicFile.ts"

const PrivateKey = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-f]{64}$/))

/** The private keys of everybody on a sandbox chain. They are made once for each data directory. */
export const ChainKeys = Schema.Struct({
  /** Owns the token: the one account that can mint. */
  deployer: PrivateKey,
  /** Pays the gas of settlements. */
  facilitator: PrivateKey,
  /** Receives payments. Nothing in the sandbox spends from it. */
  treasury: PrivateKey,
  /** Pays customers back. */
  refund: PrivateKey,
  /** Customers. */
  wallets: Schema.Array(PrivateKey)
})
export type ChainKeys = typeof ChainKeys.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(ChainKeys))

const keysPath = (dataDir: string): string => join(dataDir, "keys.json")

/** The keys of a data directory, or undefined where it has none yet. */
export const readChainKeys = async (dataDir: string): Promise<ChainKeys | undefined> => {
  const text = await readFileIfAny(keysPath(dataDir))
  return text === undefined ? undefined : decode(text.toString())
}

/** Makes fresh keys, and keeps them in a file that only its owner can read. */
export const createChainKeys = async (dataDir: string, walletCount: number): Promise<ChainKeys> => {
  const key = (): Hex => generatePrivateKey()
  const keys: ChainKeys = {
    deployer: key(),
    facilitator: key(),
    treasury: key(),
    refund: key(),
    wallets: Array.from({ length: walletCount }, key)
  }
  await replaceFile(keysPath(dataDir), `${JSON.stringify(keys, undefined, 2)}\n`, 0o600)
  return keys
}
