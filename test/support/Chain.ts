import { createPublicClient, erc20Abi, http } from "viem"
import type { SandboxDescription } from "@agentos/sandbox"

interface ChainUnderTest {
  readonly chain: Pick<SandboxDescription["chain"], "rpcUrl" | "asset" | "payTo">
}

/** Token balances on the chain, in base units. */
export class Chain {
  private readonly client
  private readonly sandbox: ChainUnderTest

  constructor(sandbox: ChainUnderTest) {
    this.sandbox = sandbox
    this.client = createPublicClient({ transport: http(sandbox.chain.rpcUrl), cacheTime: 0 })
  }

  balanceOf(address: `0x${string}`): Promise<bigint> {
    return this.client.readContract({
      address: this.sandbox.chain.asset,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [address]
    })
  }

  /** Returns the amount that `work` moved from the payer to the service; fails if their balances disagree. */
  async charged<A>(
    payer: `0x${string}`,
    work: () => Promise<A>
  ): Promise<{ readonly amount: bigint; readonly result: A }> {
    const before = await Promise.all([this.balanceOf(payer), this.balanceOf(this.sandbox.chain.payTo)])
    const result = await work()
    const after = await Promise.all([this.balanceOf(payer), this.balanceOf(this.sandbox.chain.payTo)])
    const amount = before[0] - after[0]
    if (after[1] - before[1] !== amount) throw new Error(`paid ${amount}, but received ${after[1] - before[1]}`)
    return { amount, result }
  }
}
