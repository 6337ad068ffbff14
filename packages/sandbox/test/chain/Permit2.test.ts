import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types"
import {
  createPermit2ApprovalTx,
  type ExactPermit2Payload,
  PERMIT2_ADDRESS,
  x402ExactPermit2ProxyABI,
  x402ExactPermit2ProxyAddress
} from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import {
  type Abi,
  type Address,
  createWalletClient,
  domainSeparator,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  http,
  keccak256,
  parseAbi,
  parseEventLogs,
  toHex,
  zeroAddress,
  zeroHash
} from "viem"
import { formatAbiItem } from "viem/utils"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { artifactUrl } from "../../contracts/ContractCompiler.ts"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { sandboxAccount } from "../../src/chain/SandboxAccount.ts"
import {
  permit2Address,
  permit2ProxyAddress,
  sandboxChain,
  sandboxClient,
  tetherNetwork,
  usdt
} from "../../src/chain/SandboxNetwork.ts"
import { makeGasWallet } from "../../src/facilitator/GasWallet.ts"
import { pay, requirementsOf } from "../facilitator/Buyer.ts"

const permit2Abi = parseAbi([
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function nonceBitmap(address owner, uint256 word) view returns (uint256)",
  "function invalidateUnorderedNonces(uint256 word, uint256 mask)",
  "error InvalidNonce()",
  "error InvalidSigner()",
  "error SignatureExpired(uint256 signatureDeadline)"
])

let dataDir: string
let chain: Chain
let allowed: Promise<void> | undefined
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "agentos-permit2-"))
  chain = await startChain({ dataDir, network: tetherNetwork })
})
afterAll(async () => {
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const client = () => sandboxClient(chain.rpcUrl, chain.chainId)
const payer = () => chain.wallets[0]!
const terms = (change: Partial<PaymentRequirements> = {}) => requirementsOf(chain, change)
const scheme = () =>
  new ExactEvmScheme(makeGasWallet({ ...chain, privateKey: chain.facilitatorKey }).signer(() => undefined))
const wallet = (key: Hex) =>
  createWalletClient({
    account: privateKeyToAccount(key),
    chain: sandboxChain(chain.rpcUrl, chain.chainId),
    transport: http(chain.rpcUrl)
  })
const mined = async (hash: Hex) => client().waitForTransactionReceipt({ hash })
const received = () =>
  client().readContract({ address: chain.asset, abi: erc20Abi, functionName: "balanceOf", args: [chain.payTo] })

/** Lets Permit2 move the tokens of the first wallet, by the transaction that the standard client proposes. */
const allow = () =>
  (allowed ??= (async () => {
    const { status } = await mined(
      await wallet(payer().privateKey).sendTransaction(createPermit2ApprovalTx(chain.asset))
    )
    expect(status).toBe("success")
  })())

const paid = async (requirements = terms(), key = payer().privateKey) => ({
  requirements,
  payload: await pay(key, requirements)
})
const authorizationOf = (payload: PaymentPayload) => payload.payload as unknown as ExactPermit2Payload

/** The arguments of the proxy's `settle`. */
const settlementOf = (payload: PaymentPayload) => {
  const { permit2Authorization: signed, signature } = authorizationOf(payload)
  const { deadline, from, nonce, permitted, witness } = signed
  return [
    {
      permitted: { token: permitted.token, amount: BigInt(permitted.amount) },
      nonce: BigInt(nonce),
      deadline: BigInt(deadline)
    },
    from,
    { to: witness.to, validAfter: BigInt(witness.validAfter) },
    signature
  ] as const
}
const proxy = { address: permit2ProxyAddress, abi: [...x402ExactPermit2ProxyABI, ...permit2Abi] } as const
const simulate = (args: ReturnType<typeof settlementOf>) =>
  client().simulateContract({ ...proxy, functionName: "settle", args })

const isUsed = async (payload: PaymentPayload) => {
  const { from, nonce } = authorizationOf(payload).permit2Authorization
  const word = await client().readContract({
    address: permit2Address,
    abi: permit2Abi,
    functionName: "nonceBitmap",
    args: [from, BigInt(nonce) >> 8n]
  })
  return ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n
}

describe("Permit2", () => {
  it("is at its address, with the EIP-712 domain of this chain", async () => {
    expect(permit2Address).toBe(PERMIT2_ADDRESS)
    expect(
      await client().readContract({ address: permit2Address, abi: permit2Abi, functionName: "DOMAIN_SEPARATOR" })
    ).toBe(domainSeparator({ domain: { name: "Permit2", chainId: chain.chainId, verifyingContract: permit2Address } }))
  })

  it("has the code of the contract on public chains, but for the stored chain and domain", async () => {
    const code = (await client().getCode({ address: permit2Address }))!
    expect(code.length / 2 - 1).toBe(9_152)
    // Of what solc 0.8.17 compiles from Uniswap's source by the settings in its foundry.toml.
    expect(keccak256(code)).toBe("0x463331fa7a0d5f07488e42c37b461bb56a822145c161a821fbafe7d4e916b546")
  })
})

describe("the proxy of x402", () => {
  it("has the address and the interface that the standard client and facilitator use", async () => {
    expect(permit2ProxyAddress).toBe(getAddress(x402ExactPermit2ProxyAddress))
    const { abi } = JSON.parse(await readFile(artifactUrl("SandboxPermit2Proxy"), "utf8")) as { readonly abi: Abi }
    const items = (list: Abi) =>
      list.flatMap((item) =>
        item.type === "constructor"
          ? []
          : [`${item.type} ${formatAbiItem(item as Parameters<typeof formatAbiItem>[0])}`]
      )
    const [own, used] = [items(abi), items(x402ExactPermit2ProxyABI)]
    expect(used.filter((item) => !own.includes(item))).toEqual(["error InvalidPermit2Address()"])
  })

  it("names the signed type and Permit2", async () => {
    const read = (functionName: "WITNESS_TYPEHASH" | "PERMIT2") => client().readContract({ ...proxy, functionName })
    expect(await read("WITNESS_TYPEHASH")).toBe(keccak256(toHex("Witness(address to,uint256 validAfter)")))
    expect(await read("PERMIT2")).toBe(PERMIT2_ADDRESS)
  })

  it("settles a payment of the standard client by the standard facilitator, once", async () => {
    await allow()
    const [{ payload, requirements }, before] = [await paid(), await received()]
    expect(await isUsed(payload)).toBe(false)
    expect(await scheme().verify(payload, requirements)).toMatchObject({ isValid: true, payer: payer().address })
    const settled = await scheme().settle(payload, requirements)
    expect(settled).toMatchObject({ success: true, network: chain.network, payer: payer().address })
    expect(await received()).toBe(before + 250_000n)
    expect(await isUsed(payload)).toBe(true)
    const { logs } = await mined(settled.transaction as Hex)
    expect(logs.map(({ address }) => getAddress(address))).toEqual([chain.asset, permit2ProxyAddress])
    expect(await scheme().verify(payload, requirements)).toMatchObject({ isValid: false })
    await expect(simulate(settlementOf(payload))).rejects.toThrow("InvalidNonce")
    expect(await received()).toBe(before + 250_000n)
  })

  it("settles nothing without an allowance, which the standard facilitator asks for", async () => {
    const { payload, requirements } = await paid(terms(), chain.wallets[1]!.privateKey)
    expect(await scheme().verify(payload, requirements)).toMatchObject({
      isValid: false,
      invalidReason: "permit2_allowance_required"
    })
    await expect(simulate(settlementOf(payload))).rejects.toThrow("TRANSFER_FROM_FAILED")
  })

  it("moves only the amount that the owner signed, to the recipient that the owner signed, in time", async () => {
    await allow()
    const [permit, owner, witness, signature] = settlementOf((await paid()).payload)
    const [token, now] = [permit.permitted, BigInt(Math.floor(Date.now() / 1_000))]
    const other = chain.wallets[2]!.address
    const rejected: ReadonlyArray<readonly [ReturnType<typeof settlementOf>, string]> = [
      [[{ ...permit, permitted: { ...token, amount: 250_001n } }, owner, witness, signature], "InvalidSigner"],
      [[permit, owner, { ...witness, to: other }, signature], "InvalidSigner"],
      [[permit, owner, { ...witness, validAfter: 1n }, signature], "InvalidSigner"],
      [[permit, other, witness, signature], "InvalidSigner"],
      [[{ ...permit, permitted: { ...token, amount: 0n } }, owner, witness, signature], "InvalidAmount"],
      [[permit, zeroAddress, witness, signature], "InvalidOwner"],
      [[permit, owner, { ...witness, to: zeroAddress }, signature], "InvalidDestination"],
      [[permit, owner, { ...witness, validAfter: now + 600n }, signature], "PaymentTooEarly"],
      [[{ ...permit, deadline: now - 60n }, owner, witness, signature], "SignatureExpired"]
    ]
    for (const [args, error] of rejected) await expect(simulate(args)).rejects.toThrow(error)
    await expect(simulate([permit, owner, witness, signature])).resolves.toBeDefined()
  })

  it("settles nothing after the owner has invalidated the nonce", async () => {
    await allow()
    const { payload } = await paid()
    const nonce = BigInt(authorizationOf(payload).permit2Authorization.nonce)
    const data = encodeFunctionData({
      abi: permit2Abi,
      functionName: "invalidateUnorderedNonces",
      args: [nonce >> 8n, 1n << (nonce & 0xffn)]
    })
    await mined(await wallet(payer().privateKey).sendTransaction({ to: permit2Address, data }))
    expect(await isUsed(payload)).toBe(true)
    await expect(simulate(settlementOf(payload))).rejects.toThrow("InvalidNonce")
  })

  it("settles by an earlier allowance if the token refuses the one of EIP-2612", async () => {
    await allow()
    const args = settlementOf((await paid()).payload)
    const permit2612 = { value: 250_000n, deadline: args[0].deadline, v: 27, r: zeroHash, s: zeroHash }
    const call = { ...proxy, functionName: "settleWithPermit" } as const
    const mismatch = client().simulateContract({ ...call, args: [{ ...permit2612, value: 1n }, ...args] })
    await expect(mismatch).rejects.toThrow("Permit2612AmountMismatch")
    const { logs } = await mined(
      await wallet(chain.facilitatorKey).writeContract({ ...call, args: [permit2612, ...args] })
    )
    const { abi } = JSON.parse(await readFile(artifactUrl("SandboxPermit2Proxy"), "utf8")) as { readonly abi: Abi }
    expect(parseEventLogs({ abi, logs }).map(({ eventName }) => eventName)).toEqual([
      "EIP2612PermitFailedWithData",
      "SettledWithPermit"
    ])
  })

  it("takes the signature of a smart account", async () => {
    const account = sandboxAccount(privateKeyToAccount(payer().privateKey))
    const { factory, factoryData } = account.deployment
    await mined(await wallet(payer().privateKey).sendTransaction({ to: factory, data: factoryData }))
    await client().setBalance({ address: account.address, value: 10n ** 18n })
    await fund(account.address)
    await client().impersonateAccount({ address: account.address })
    const { data } = createPermit2ApprovalTx(chain.asset)
    await mined(
      await createWalletClient({
        account: account.address,
        chain: sandboxChain(chain.rpcUrl, chain.chainId),
        transport: http(chain.rpcUrl)
      }).sendTransaction({ to: chain.asset, data })
    )
    const requirements = terms()
    const payload = await pay(account, requirements)
    const before = await received()
    expect(await scheme().settle(payload, requirements)).toMatchObject({ success: true, payer: account.address })
    expect(await received()).toBe(before + 250_000n)
  })
})

const fund = async (to: Address) => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, usdt(1)] })
  await mined(await wallet(chain.faucetKey).sendTransaction({ to: chain.asset, data }))
}
