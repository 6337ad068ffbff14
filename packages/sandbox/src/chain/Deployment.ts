import { type Address, type Hex, createWalletClient, encodeFunctionData, http, parseEther } from "viem"
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import type { ChainDescription } from "./ChainDescription.ts"
import { creationCode } from "./CreationCode.ts"
import { sandboxAccountFactory } from "./SandboxAccount.ts"
import { type SandboxClient, multicall3Address, sandboxChain, sandboxUsdtAbi, usdt } from "./SandboxNetwork.ts"

const walletFunds = usdt(10_000)
const faucetFunds = usdt(1_000_000_000)
const refundFunds = usdt(1_000)
/** Enough for hundreds of millions of settlements at the gas price of nearly empty blocks. */
const gasFunds = parseEther("10000")

/** Enough for each transaction below. A fixed limit saves a gas estimate for each. */
const gas = 2_000_000n
const maxFeePerGas = 10_000_000_000n

/** Sets up a new chain: gas for the accounts that send transactions, the installed contracts, the token and its holders. */
export const deploy = async (chain: ChainDescription, client: SandboxClient): Promise<void> => {
  const senders = [chain.deployerKey, chain.facilitatorKey, chain.faucetKey, chain.refundKey].map(privateKeyToAddress)
  await Promise.all([
    ...senders.map((address) => client.setBalance({ address, value: gasFunds })),
    installContracts(client)
  ])

  const deployer = createWalletClient({
    account: privateKeyToAccount(chain.deployerKey),
    chain: sandboxChain(chain.rpcUrl),
    transport: http(chain.rpcUrl, { retryCount: 0 })
  })
  const send = (nonce: number, data: Hex) =>
    deployer.sendTransaction({
      ...(nonce === 0 ? {} : { to: chain.asset }),
      data,
      nonce,
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas: 0n
    })
  const holders = [
    ...chain.wallets.map((wallet) => ({ to: wallet.address, value: walletFunds })),
    { to: privateKeyToAddress(chain.faucetKey), value: faucetFunds },
    ...[chain.refundKey, chain.host.refundKey].map((key) => ({ to: privateKeyToAddress(key), value: refundFunds }))
  ]
  const hashes = [await send(0, creationCode("SandboxUsdt"))]
  for (const { to, value } of holders) {
    const data = encodeFunctionData({ abi: sandboxUsdtAbi, functionName: "mint", args: [to, value] })
    hashes.push(await send(hashes.length, data))
  }
  for (const hash of hashes) {
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== "success") throw new Error(`Token deployment failed: transaction ${hash} reverted`)
  }
}

/** Contracts at addresses that are the same on every sandbox chain. */
const INSTALLED = [
  ["Multicall3", multicall3Address],
  ["SandboxAccountFactory", sandboxAccountFactory]
] as const satisfies ReadonlyArray<readonly [contract: string, address: Address]>

/** Installs the contracts that a chain lacks. An eth_call of creation code returns the code that it would deploy. */
export const installContracts = async (client: SandboxClient): Promise<void> => {
  for (const [contract, address] of INSTALLED) {
    if ((await client.getCode({ address })) !== undefined) continue
    const { data } = await client.call({ data: creationCode(contract) })
    if (data === undefined) throw new Error(`${contract} has no code`)
    await client.setCode({ address, bytecode: data })
  }
}
