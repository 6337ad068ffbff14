import { sandboxAccount, type SandboxSignature, sandboxUsdtAbi, usdt } from "@agentos/sandbox"
import type { ClientEvmSigner } from "@x402/evm"
import { Effect } from "effect"
import { createWalletClient, encodeFunctionData, type Hex, http, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { PaymentRig } from "./PaymentRig.ts"

/** Sends a transaction of the chain's deployer, or of another account that then has gas. */
export const send = Effect.fnUntraced(function* (to: Hex, data: Hex, sender?: Hex) {
  const { chain, client } = yield* PaymentRig
  const account = privateKeyToAccount(sender ?? chain.deployerKey)
  yield* Effect.promise(async () => {
    await client.setBalance({ address: account.address, value: parseEther("1") })
    const wallet = createWalletClient({ account, chain: client.chain, transport: http(chain.rpcUrl) })
    const receipt = await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to, data }) })
    if (receipt.status !== "success") throw new Error(`${receipt.transactionHash} reverted`)
  })
})

const fund = Effect.fnUntraced(function* (account: Hex) {
  const { chain } = yield* PaymentRig
  yield* send(chain.asset, encodeFunctionData({ abi: sandboxUsdtAbi, functionName: "mint", args: [account, usdt(10)] }))
})

/** A smart account with money, deployed unless its signatures say otherwise, and the key of its owner. */
export const newAccount = Effect.fnUntraced(function* (kind: SandboxSignature) {
  const ownerKey = generatePrivateKey()
  const account = sandboxAccount(privateKeyToAccount(ownerKey), { kind })
  yield* fund(account.address)
  if (kind !== "undeployed") yield* send(account.deployment.factory, account.deployment.factoryData)
  return { account, ownerKey }
})

/** A contract with money that answers every call with this code, and a signature for it to judge. */
export const newContract = Effect.fnUntraced(function* (bytecode: Hex) {
  const { client } = yield* PaymentRig
  const { address } = privateKeyToAccount(generatePrivateKey())
  yield* Effect.promise(() => client.setCode({ address, bytecode }))
  yield* fund(address)
  const signer: ClientEvmSigner = { address, signTypedData: async () => `0x${"ab".repeat(100)}` }
  return signer
})

/** Returns the magic value of ERC-1271. */
export const ACCEPTS: Hex = "0x631626ba7e60e01b60005260206000f3"
/** Does the same if gas is free, as in a simulation. Reverts in a transaction. */
export const ACCEPTS_IN_SIMULATIONS: Hex = "0x3a15600a5760006000fd5b631626ba7e60e01b60005260206000f3"

export const codeAt = (address: Hex) =>
  Effect.flatMap(PaymentRig, ({ client }) => Effect.promise(() => client.getCode({ address })))

export const balanceOf = Effect.fnUntraced(function* (account: Hex) {
  const { chain, client } = yield* PaymentRig
  return yield* Effect.promise(() =>
    client.readContract({ address: chain.asset, abi: sandboxUsdtAbi, functionName: "balanceOf", args: [account] })
  )
})
