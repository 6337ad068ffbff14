import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  maxUint256,
  parseAbi,
  parseEther
} from "viem"
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import type { ChainDescription } from "./ChainDescription.ts"
import { type Contract, creationCode } from "./CreationCode.ts"
import { sandboxAccountFactory } from "./SandboxAccount.ts"
import {
  multicall3Address,
  permit2Address,
  permit2ProxyAddress,
  sandboxChain,
  type SandboxClient,
  sandboxClient,
  type SandboxNetwork,
  tetherNetwork,
  usdt
} from "./SandboxNetwork.ts"
import { startAnvil } from "./Anvil.ts"

const walletFunds = usdt(10_000)
const faucetFunds = usdt(1_000_000_000)
const refundFunds = usdt(1_000)
/** Enough for hundreds of millions of settlements at the gas price of nearly empty blocks. */
const gasFunds = parseEther("10000")

/** Enough for each transaction below. A fixed limit saves a gas estimate for each. */
const gas = 2_000_000n
const maxFeePerGas = 10_000_000_000n

/** Gas of a customer: enough to approve Permit2 thousands of times. */
const customerGas = parseEther("1")

/**
 * Sets up a token and its chain: gas for the accounts that send transactions, the installed contracts, the token and its
 * holders.
 */
export const deploy = async (chain: ChainDescription, client: SandboxClient): Promise<void> => {
  const { contract, deployerKey, facilitatorKey, faucetKey, host, refundKey, wallets } = chain
  const refundKeys = [refundKey, host.refundKey]
  const isPermit2 = chain.transferMethod === "permit2"
  const senders = [deployerKey, facilitatorKey, faucetKey, ...refundKeys].map(privateKeyToAddress)
  const customers = isPermit2 ? wallets.map(({ address }) => address) : []
  await Promise.all([
    ...senders.map((address) => client.setBalance({ address, value: gasFunds })),
    ...customers.map((address) => client.setBalance({ address, value: customerGas })),
    installContracts(client, chain)
  ])

  const holders = [
    ...wallets.map(({ address }) => ({ to: address, value: walletFunds })),
    { to: privateKeyToAddress(faucetKey), value: faucetFunds },
    ...refundKeys.map((key) => ({ to: privateKeyToAddress(key), value: refundFunds }))
  ]
  const mints = holders.map(({ to, value }) =>
    encodeFunctionData({ abi: tokenAbi, functionName: "mint", args: [to, value] })
  )
  const approval = encodeFunctionData({ abi: tokenAbi, functionName: "approve", args: [permit2Address, maxUint256] })
  const deploying = await send(chain, deployerKey, [{ data: creationCode(contract) }])
  const calling = (data: Hex) => ({ to: chain.asset, data })
  // A refund wallet may have approved another token of the chain.
  const approve = async (key: Hex) =>
    send(chain, key, [calling(approval)], await client.getTransactionCount({ address: privateKeyToAddress(key) }))
  const hashes = await Promise.all([
    send(chain, deployerKey, mints.map(calling), 1),
    ...(isPermit2 ? refundKeys.map((key) => approve(key)) : [])
  ])
  for (const hash of [...deploying, ...hashes.flat()]) {
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== "success") throw new Error(`Token deployment failed: transaction ${hash} reverted`)
  }
}

/** The functions that the deployment calls. Both tokens have them; a return value does not matter. */
const tokenAbi = parseAbi([
  "function mint(address to, uint256 value)",
  "function approve(address spender, uint256 value)"
])

/** Sends the transactions of an account, one after another, and returns their hashes. */
const send = async (
  { chainId, rpcUrl }: ChainDescription,
  key: Hex,
  calls: ReadonlyArray<{ readonly to?: Address; readonly data: Hex }>,
  firstNonce = 0
): Promise<ReadonlyArray<Hex>> => {
  const wallet = createWalletClient({
    account: privateKeyToAccount(key),
    chain: sandboxChain(rpcUrl, chainId),
    transport: http(rpcUrl, { retryCount: 0 })
  })
  const hashes: Array<Hex> = []
  for (const call of calls) {
    const nonce = firstNonce + hashes.length
    hashes.push(await wallet.sendTransaction({ ...call, nonce, gas, maxFeePerGas, maxPriorityFeePerGas: 0n }))
  }
  return hashes
}

/** Contracts at addresses that are the same on every sandbox chain. */
const INSTALLED: ReadonlyArray<readonly [contract: Contract, address: Address]> = [
  ["Multicall3", multicall3Address],
  ["SandboxAccountFactory", sandboxAccountFactory]
]

/** Installs the contracts that a chain lacks. */
export const installContracts = async (client: SandboxClient, { transferMethod }: SandboxNetwork): Promise<void> => {
  const isPermit2 = transferMethod === "permit2"
  const compiled = isPermit2 ? [...INSTALLED, ["SandboxPermit2Proxy", permit2ProxyAddress] as const] : INSTALLED
  const install = async (address: Address, read: () => Promise<Hex>) => {
    if ((await client.getCode({ address })) !== undefined) return
    await client.setCode({ address, bytecode: await read() })
  }
  await Promise.all([
    ...compiled.map(([contract, address]) => install(address, () => deployedCode(client, contract))),
    ...(isPermit2 ? [install(permit2Address, permit2Code)] : [])
  ])
}

/** An eth_call of creation code returns the code that it would deploy. */
const deployedCode = async (client: SandboxClient, contract: Contract): Promise<Hex> => {
  const { data } = await client.call({ data: creationCode(contract) })
  if (data === undefined) throw new Error(`${contract} has no code`)
  return data
}

/**
 * Reads the code of Permit2, which comes with anvil: the genesis block of a Tempo chain has it. Takes 0.1 s.
 *
 * A chain's own id and EIP-712 domain, which a deployment stores in the code, are 0 in this one. The contract computes the
 * domain for each signature where the stored id is not that of the chain, so the same code is right on every chain.
 */
export const permit2Code = async (): Promise<Hex> => {
  const { chainId } = tetherNetwork
  const anvil = await startAnvil({ chainId, family: "tempo", port: 0, mining: "manual" })
  try {
    const code = await sandboxClient(anvil.rpcUrl, chainId).getCode({ address: permit2Address })
    if (code === undefined) throw new Error("This version of anvil has no Permit2")
    return code
  } finally {
    anvil.process.kill("SIGKILL")
    await anvil.process.exited
  }
}
