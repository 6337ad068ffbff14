import type { ClientEvmSigner } from "@x402/evm"
import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  type LocalAccount,
  parseAbi,
  serializeErc6492Signature,
  type TypedDataDefinition,
  zeroHash
} from "viem"
import { creationCode } from "./CreationCode.ts"

/** The factory of smart accounts on every sandbox chain. */
export const sandboxAccountFactory: Address = "0x5a00000000000000000000000000000000006492"

/** The interface of `SandboxAccount` and `SandboxAccountFactory` in `contracts/SandboxAccount.sol`. */
export const sandboxAccountAbi = parseAbi([
  "constructor(address first)",
  "function owner() view returns (address)",
  "function setOwner(address next)",
  "function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)",
  "event OwnerChanged(address owner)"
])
export const sandboxAccountFactoryAbi = parseAbi([
  "function createAccount(address owner, bytes32 salt) returns (address account)",
  "function accountOf(address owner, bytes32 salt) view returns (address)"
])

/** A smart account of the sandbox chain, which signs by the key of its owner. It exists once it is deployed. */
export interface SandboxAccount extends ClientEvmSigner {
  readonly owner: LocalAccount
  /** The call of the factory that deploys the account. */
  readonly deployment: { readonly factory: Address; readonly factoryData: Hex }
  readonly signMessage: (message: { readonly message: string }) => Promise<Hex>
}

/**
 * - `account`: only the account can read the signature (ERC-1271);
 * - `packed`: r, s and v alone, as an owner that is not aware of the account signs;
 * - `undeployed`: the first with the call of the factory (ERC-6492).
 */
export type SandboxSignature = "account" | "packed" | "undeployed"

/** The first byte of a signature for the account alone. */
const VERSION: Hex = "0x01"

/** Returns the account of an owner. Each salt gives another one. */
export const sandboxAccount = (
  owner: LocalAccount,
  { kind = "account", salt = zeroHash }: { readonly kind?: SandboxSignature; readonly salt?: Hex } = {}
): SandboxAccount => {
  const bytecode = concat([creationCode("SandboxAccount"), encodeAbiParameters([{ type: "address" }], [owner.address])])
  const factory = sandboxAccountFactory
  const factoryData = encodeFunctionData({
    abi: sandboxAccountFactoryAbi,
    functionName: "createAccount",
    args: [owner.address, salt]
  })
  const wrap = (signature: Hex): Hex => {
    if (kind === "packed") return signature
    const own = concat([VERSION, signature])
    return kind === "account" ? own : serializeErc6492Signature({ address: factory, data: factoryData, signature: own })
  }
  return {
    address: getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecode }),
    owner,
    deployment: { factory, factoryData },
    signTypedData: async (typed) => wrap(await owner.signTypedData(typed as TypedDataDefinition)),
    signMessage: async (message) => wrap(await owner.signMessage(message))
  }
}
