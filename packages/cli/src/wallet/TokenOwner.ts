import { EXIT, Failure } from "@agentos/node/command-line"
import { ENVIRONMENT_TOKEN, type Token } from "../config/Credentials.ts"
import type { Server } from "../server/Server.ts"
import type { Wallet } from "./Wallet.ts"

/** Whether the wallet is known to be another one than the owner of the token, whose address is in lower case. */
export const isOtherWallet = (wallet: Wallet | undefined, owner: string): boolean =>
  typeof wallet?.address === "string" && wallet.address.toLowerCase() !== owner

/** Returns what replaces the token by that of the wallet, which has one once it has bought something. */
export const tokenOfWallet = ({ source }: Token): string =>
  `${source === ENVIRONMENT_TOKEN ? `unset ${ENVIRONMENT_TOKEN}` : "agentctl logout"}, then agentctl login --wallet if the wallet has bought here`

/** Returns the wallet of the access token, or undefined if the server rejects the token. */
export const ownerOf = async (client: Server): Promise<string | undefined> => {
  try {
    return (await client.call("listLimits")).wallet
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.authentication) return undefined
    throw error
  }
}
