import {
  type ChainDescription,
  permit2Address,
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
  erc20Abi,
  type Hex,
  http,
  keccak256,
  maxUint256,
  parseAbi,
  parseEther,
  parseSignature,
  publicActions,
  type TransactionReceipt
} from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { allowing, AUTHORIZATION_FORMS, type Call, invalidation, type SignedAuthorization } from "./Authorization.ts"

/** More than any of its transactions needs. */
const GAS = 600_000n
const GAS_PRICE = 10_000_000_000n
const SENDS_MAX = 5
const MINED_WITHIN_MILLIS = 10_000

/** The owner of a sandbox's token: mints, and submits authorizations of other accounts. */
export class Treasury {
  private readonly client
  private readonly chain: ChainDescription
  private next: Promise<number> | undefined

  constructor(chain: ChainDescription) {
    this.chain = chain
    this.client = createWalletClient({
      account: privateKeyToAccount(chain.deployerKey),
      chain: sandboxChain(chain.rpcUrl, chain.chainId),
      transport: http(chain.rpcUrl, { retryCount: 0 }),
      pollingInterval: 20
    }).extend(publicActions)
  }

  /** Mints an amount of whole USDT for each wallet. Each allows Permit2 to move it, if its payments do not. */
  async fund(wallets: ReadonlyArray<Address>, amount: number): Promise<void> {
    await Promise.all(wallets.map((to) => this.transact(token("mint", [to, usdt(amount)]))))
    const { gasSponsoring, transferMethod } = this.chain
    if (transferMethod === "permit2" && gasSponsoring === undefined)
      await Promise.all(wallets.map((wallet) => this.allow(wallet)))
  }

  /** Lets Permit2 move the tokens of a wallet. The token refuses to change an allowance that is not 0. */
  private async allow(wallet: Address): Promise<void> {
    const args = [wallet, permit2Address] as const
    const { asset: address } = this.chain
    const allowed = await this.client.readContract({ address, abi: erc20Abi, functionName: "allowance", args })
    if (allowed === 0n) await this.sendAs(wallet, this.toToken("approve", [permit2Address, maxUint256]))
  }

  /** Submits an authorization between two other accounts. */
  async submit(signed: SignedAuthorization): Promise<void> {
    const { asset, transferMethod } = this.chain
    const { data, to } = AUTHORIZATION_FORMS[transferMethod].call(signed, asset)
    await this.transact(data, to)
  }

  /** Uses the allowance that comes with a payment, and not the payment. */
  async allowBy(signed: Pick<SignedAuthorization, "from" | "permit">): Promise<void> {
    const { data, to } = allowing(signed, this.chain.asset)
    await this.transact(data, to)
  }

  /** Uses up the nonce of the allowance that comes with a payment, as its payer, for an allowance of nothing. */
  async outrun(
    payer: PrivateKeyAccount,
    { from, permit }: Pick<SignedAuthorization, "from" | "permit">
  ): Promise<void> {
    const { asset, assetName: name, assetVersion, chainId } = this.chain
    const nonces = parseAbi(["function nonces(address owner) view returns (uint256)"])
    const deadline = permit?.deadline ?? 0n
    const { r, s, v } = parseSignature(
      await payer.signTypedData({
        domain: { name, version: assetVersion!, chainId, verifyingContract: asset },
        types: { Permit: ["owner", "spender", "value", "nonce", "deadline"].map(typed) },
        primaryType: "Permit",
        message: {
          owner: from,
          spender: permit2Address,
          value: 0n,
          nonce: await this.client.readContract({ address: asset, abi: nonces, functionName: "nonces", args: [from] }),
          deadline
        }
      })
    )
    await this.allowBy({ from, permit: { value: 0n, deadline, r, s, v: Number(v) } })
  }

  /** Uses up the nonce of an authorization as its payer, without a transfer. */
  async cancel(payer: PrivateKeyAccount, { nonce }: Pick<SignedAuthorization, "nonce">): Promise<void> {
    const { asset, assetName: name, assetVersion: version, chainId, transferMethod } = this.chain
    if (transferMethod === "permit2") return this.sendAs(payer.address, invalidation(nonce))
    const signature = await payer.signTypedData({
      domain: { name, ...(version && { version }), chainId, verifyingContract: asset },
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

  /** Transfers an amount from a wallet as the wallet itself. */
  async transfer(from: Address, to: Address, value: bigint): Promise<void> {
    await this.sendAs(from, this.toToken("transfer", [to, value]))
  }

  async deploy({ deployment: { factory, factoryData } }: SandboxAccount): Promise<void> {
    await this.transact(factoryData, factory)
  }

  /** Replaces the owner of a smart account by the token's owner. */
  async takeOver({ address, owner }: SandboxAccount): Promise<void> {
    const client = sandboxClient(this.chain.rpcUrl, this.chain.chainId)
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

  private toToken(functionName: "approve" | "transfer", args: readonly [Address, bigint]): Call {
    return { to: this.chain.asset, data: token(functionName, args) }
  }

  /** Sends a transaction as an account whose key is not needed, with gas. */
  private async sendAs(from: Address, { data, to }: Call): Promise<void> {
    const client = sandboxClient(this.chain.rpcUrl, this.chain.chainId)
    await client.setBalance({ address: from, value: parseEther("1") })
    await client.impersonateAccount({ address: from })
    const wallet = createWalletClient({ account: from, chain: client.chain, transport: http(this.chain.rpcUrl) })
    const hash = await wallet.sendTransaction({ to, data, gas: GAS })
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== "success") throw new Error(`${to} refused ${hash}`)
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

const typed = (name: string) => ({ name, type: name === "owner" || name === "spender" ? "address" : "uint256" })

/** All tokens have these functions; a return value does not matter. */
const token = (functionName: "mint" | "approve" | "transfer", args: readonly [Address, bigint]): Hex =>
  encodeFunctionData({ abi: sandboxUsdtAbi, functionName, args })
