import {
  type ChainDescription,
  type SandboxAccount,
  sandboxAccountAbi,
  sandboxChain,
  sandboxClient,
  sandboxUsdtAbi,
  usdt
} from "@agentos/sandbox"
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  http,
  keccak256,
  parseEther,
  publicActions,
  type TransactionReceipt
} from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"

/** More than any of its transactions needs. */
const GAS = 600_000n
const GAS_PRICE = 10_000_000_000n
const SENDS_MAX = 5
const MINED_WITHIN_MILLIS = 10_000

/** An EIP-3009 authorization with its signature, ready to submit. */
export interface SignedAuthorization {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: `0x${string}`
  readonly signature: `0x${string}`
}

/** The owner of a sandbox's token: mints, and submits authorizations of other accounts. */
export class Treasury {
  private readonly client
  private readonly chain: ChainDescription
  private next: Promise<number> | undefined

  constructor(chain: ChainDescription) {
    this.chain = chain
    this.client = createWalletClient({
      account: privateKeyToAccount(chain.deployerKey),
      chain: sandboxChain(chain.rpcUrl),
      transport: http(chain.rpcUrl, { retryCount: 0 }),
      pollingInterval: 20
    }).extend(publicActions)
  }

  /** Mints an amount of whole USDT for each wallet. */
  async fund(wallets: ReadonlyArray<Address>, amount: number): Promise<void> {
    const sent = wallets.map((to) =>
      this.transact(encodeFunctionData({ abi: sandboxUsdtAbi, functionName: "mint", args: [to, usdt(amount)] }))
    )
    await Promise.all(sent)
  }

  /** Submits an authorization between two other accounts. */
  async submit(signed: SignedAuthorization): Promise<void> {
    const { from, nonce, signature, to, validAfter, validBefore, value } = signed
    const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
    await this.transact(encodeFunctionData({ abi: sandboxUsdtAbi, functionName: "transferWithAuthorization", args }))
  }

  /** Signs and submits the cancellation of an unused authorization. */
  async cancel(payer: PrivateKeyAccount, { nonce }: SignedAuthorization): Promise<void> {
    const { assetName: name, assetVersion: version, chainId } = this.chain
    const signature = await payer.signTypedData({
      domain: { name, version, chainId, verifyingContract: this.chain.asset },
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" }
        ]
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: payer.address, nonce }
    })
    const args = [payer.address, nonce, signature] as const
    await this.transact(encodeFunctionData({ abi: sandboxUsdtAbi, functionName: "cancelAuthorization", args }))
  }

  async deploy({ deployment: { factory, factoryData } }: SandboxAccount): Promise<void> {
    await this.transact(factoryData, factory)
  }

  /** Replaces the owner of a smart account by the token's owner. */
  async takeOver({ address, owner }: SandboxAccount): Promise<void> {
    const client = sandboxClient(this.chain.rpcUrl)
    await client.setBalance({ address: owner.address, value: parseEther("1") })
    const wallet = createWalletClient({ account: owner, chain: client.chain, transport: http(this.chain.rpcUrl) })
    const hash = await wallet.writeContract({
      address,
      abi: sandboxAccountAbi,
      functionName: "setOwner",
      args: [this.client.account.address]
    })
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== "success") throw new Error(`the account refused ${hash}`)
  }

  /** Sends a transaction, by default to the token, and waits for its receipt. May be called concurrently. */
  private async transact(data: `0x${string}`, to: Address = this.chain.asset): Promise<void> {
    const { account } = this.client
    const nonce = this.next ?? this.client.getTransactionCount({ address: account.address })
    this.next = nonce.then((taken) => taken + 1)
    const serializedTransaction = await account.signTransaction({
      chainId: this.chain.chainId,
      to,
      data,
      nonce: await nonce,
      gas: GAS,
      maxFeePerGas: GAS_PRICE,
      maxPriorityFeePerGas: 0n,
      type: "eip1559"
    })
    const { status } = await this.send(serializedTransaction)
    if (status !== "success") throw new Error(`${to} refused ${keccak256(serializedTransaction)}`)
  }

  /** Sends a transaction until it is mined. If it were lost, all later ones would wait for its nonce. */
  private async send(serializedTransaction: `0x${string}`): Promise<TransactionReceipt> {
    const hash = keccak256(serializedTransaction)
    for (let attempt = 1; ; attempt++) {
      // The chain refuses a transaction that it has already.
      const refusal = await this.client.sendRawTransaction({ serializedTransaction }).then(
        () => undefined,
        (error: unknown) => error
      )
      try {
        return await this.client.waitForTransactionReceipt({ hash, timeout: MINED_WITHIN_MILLIS })
      } catch (error) {
        if (attempt === SENDS_MAX) throw new Error(`${hash} was not mined`, { cause: refusal ?? error })
      }
    }
  }
}
