import { EXIT, Failure } from "@agentos/node/command-line"
import { ENVIRONMENT_TOKEN, type Token } from "../config/Credentials.ts"
import type { Server } from "../server/Server.ts"
import { variableOf, type Wallet } from "./Wallet.ts"

/** Whether the wallet is known to be another one than the owner of the token, whose address is in lower case. */
export const isOtherWallet = (wallet: Wallet | undefined, owner: string): boolean =>
  typeof wallet?.address === "string" && wallet.address.toLowerCase() !== owner

/**
 * Returns how the wallet that pays and the token become those of one owner: without the variable that replaces the wallet of
 * the profile, or with the token of the wallet, which has one once it has bought something.
 */
export const tokenOfWallet = ({ source }: Token, wallet: Wallet | undefined): string => {
  const variable = wallet && variableOf(wallet)
  const login = "then agentctl login --wallet if the wallet has bought here"
  if (source === ENVIRONMENT_TOKEN) return `unset ${ENVIRONMENT_TOKEN}, ${login}`
  const ofProfile = variable === undefined ? "" : `unset ${variable} for the wallet of the profile, or `
  return `${ofProfile}agentctl logout, ${login}`
}

/** Returns the wallet of the access token, or undefined if the server rejects the token. */
export const ownerOf = async (client: Server): Promise<string | undefined> => {
  try {
    return (await client.call("listLimits")).wallet
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.authentication) return undefined
    throw error
  }
}
