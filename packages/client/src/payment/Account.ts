import { AgentOsError, messageOf } from "../AgentOsError.ts"

export interface TypedData {
  readonly domain: {
    readonly name: string
    readonly version?: string
    readonly chainId: number
    readonly verifyingContract: `0x${string}`
  }
  readonly types: Record<string, ReadonlyArray<{ readonly name: string; readonly type: string }>>
  readonly primaryType: string
  readonly message: Record<string, unknown>
}

/** A wallet that signs, for example viem's `privateKeyToAccount(key)`. */
export interface WalletAccount {
  /** With its checksum (EIP-55). */
  readonly address: `0x${string}`
  signTypedData(typedData: TypedData): Promise<`0x${string}`>
  signMessage(message: { readonly message: string }): Promise<`0x${string}`>
}

/**
 * A wallet of ethers version 6, for example `new Wallet(key)`. It is recognized by the three parameters of `signTypedData`.
 * The types of its functions are left out, so that those of an object literal are the ones of WalletAccount.
 */
export interface EthersWallet {
  readonly address: string
  getAddress(): Promise<string>
  readonly signTypedData: CallableFunction
  readonly signMessage: CallableFunction
}

/** Returns an error of the wallet before anything was sent, for a value that it threw. */
export const walletFailed = (problem: string, cause: unknown): AgentOsError => {
  if (cause instanceof AgentOsError) return cause
  return new AgentOsError({
    code: "WALLET_FAILED",
    message: `${problem}: ${messageOf(cause)}. Nothing was charged.`,
    cause
  })
}

/** Returns a signature, with that of 64 bytes (EIP-2098) as 65. Those of smart accounts are longer. */
const signatureOf = (value: unknown): `0x${string}` => {
  const hex = typeof value === "string" ? (/^0x((?:[0-9a-f]{2}){64,})$/i.exec(value)?.[1] ?? "") : ""
  if (hex === "") throw new TypeError("it returned no signature, which is hex of 65 bytes or more")
  if (hex.length > 128) return `0x${hex}`
  const high = Number.parseInt(hex.slice(64, 66), 16)
  const s = (high & 0x7f).toString(16).padStart(2, "0") + hex.slice(66)
  return `0x${hex.slice(0, 64)}${s}${high < 0x80 ? "1b" : "1c"}`
}

/** The functions of ethers' wallet. */
interface EthersSigner {
  signTypedData(domain: TypedData["domain"], types: TypedData["types"], value: TypedData["message"]): Promise<string>
  signMessage(message: string): Promise<string>
}

/** Returns a wallet with one interface, whose failures are AgentOsErrors. Throws INVALID_OPTION if it is no wallet. */
export const accountOf = (wallet: WalletAccount | EthersWallet): WalletAccount => {
  const { address, signMessage, signTypedData } = wallet as Partial<WalletAccount>
  // Some addresses with a checksum (EIP-55) have letters of one case, so that the case proves nothing.
  const isAddress = typeof address === "string" && /^0x[0-9a-fA-F]{40}$/.test(address)
  if (!isAddress || typeof signMessage !== "function" || typeof signTypedData !== "function")
    throw new AgentOsError({
      code: "INVALID_OPTION",
      message: `wallet must have ${isAddress ? "signMessage and signTypedData" : "address, an EVM address"}. Pass for example privateKeyToAccount(key) of viem, or new Wallet(key) of ethers 6.`
    })
  const sign = async (request: () => Promise<unknown>) => {
    try {
      return signatureOf(await request())
    } catch (error) {
      throw walletFailed("The wallet did not sign", error)
    }
  }
  if (signTypedData.length >= 3) {
    const ethers = wallet as unknown as EthersSigner
    return {
      address,
      signTypedData: ({ domain, message, types }) => sign(() => ethers.signTypedData(domain, types, message)),
      signMessage: ({ message }) => sign(() => ethers.signMessage(message))
    }
  }
  const signer = wallet as WalletAccount
  return {
    address,
    signTypedData: (typedData) => sign(() => signer.signTypedData(typedData)),
    signMessage: (message) => sign(() => signer.signMessage(message))
  }
}
