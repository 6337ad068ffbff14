import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type Abi,
  type AbiParameter,
  type Address,
  type Hex,
  createWalletClient,
  domainSeparator,
  http,
  parseEventLogs,
  parseSignature,
  toHex
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ContractArtifact, artifactUrl, compileContract, contractNames } from "../../contracts/ContractCompiler.ts"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { sandboxAccountAbi, sandboxAccountFactoryAbi } from "../../src/chain/SandboxAccount.ts"
import { sandboxChain, sandboxClient, sandboxTetherAbi, sandboxUsdtAbi, usdt } from "../../src/chain/SandboxNetwork.ts"

describe("the compiled artifact", () => {
  it.each(contractNames)("of %s matches the compiled source", async (contract) => {
    const artifact = JSON.parse(await readFile(artifactUrl(contract), "utf8")) as ContractArtifact
    expect(artifact).toEqual(await compileContract(contract))
  })

  it.each([
    ["SandboxUsdt", sandboxUsdtAbi],
    ["SandboxTether", sandboxTetherAbi],
    ["SandboxAccount", sandboxAccountAbi],
    ["SandboxAccountFactory", sandboxAccountFactoryAbi]
  ])("of %s has the interface that is declared in TypeScript", async (contract, declared: Abi) => {
    const parameters = (list: ReadonlyArray<AbiParameter> = []) =>
      list.map((one) => `${one.type}${"indexed" in one && one.indexed === true ? " indexed" : ""}`).join(", ")
    const signatures = (abi: Abi) =>
      abi
        .map((item) => {
          const outputs = item.type === "function" ? `${item.stateMutability} (${parameters(item.outputs)})` : ""
          return `${item.type} ${"name" in item ? item.name : ""}(${"inputs" in item ? parameters(item.inputs) : ""}) ${outputs}`
        })
        .toSorted()
    const artifact = JSON.parse(await readFile(artifactUrl(contract), "utf8")) as { readonly abi: Abi }
    expect(signatures(declared)).toEqual(signatures(artifact.abi))
  })
})

describe("SandboxUsdt", () => {
  let dataDir: string
  let chain: Chain
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "agentos-usdt-"))
    chain = await startChain({ dataDir })
  })
  afterAll(async () => {
    await chain.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  const token = () => ({ address: chain.asset, abi: sandboxUsdtAbi }) as const
  const client = () => sandboxClient(chain.rpcUrl)
  const sender = (key: Hex) =>
    createWalletClient({ account: privateKeyToAccount(key), chain: sandboxChain(chain.rpcUrl), transport: http() })
  const balanceOf = (account: Address) =>
    client().readContract({ ...token(), functionName: "balanceOf", args: [account] })
  const domain = () => ({
    name: "USD₮0",
    version: "1",
    chainId: chain.chainId,
    verifyingContract: chain.asset
  })

  /** Creates an account with 5 USDT. */
  const makePayer = async () => {
    const payer = privateKeyToAccount(generatePrivateKey())
    const hash = await sender(chain.deployerKey).writeContract({
      ...token(),
      functionName: "mint",
      args: [payer.address, usdt(5)]
    })
    await client().waitForTransactionReceipt({ hash })
    return payer
  }

  const makeTransfer = (from: Address) => ({
    from,
    to: chain.payTo,
    value: usdt(1),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1_000) + 60),
    nonce: generatePrivateKey()
  })
  type Transfer = ReturnType<typeof makeTransfer>

  const signTransfer = (payer: ReturnType<typeof privateKeyToAccount>, message: Transfer) =>
    payer.signTypedData({
      domain: domain(),
      types: {
        TransferWithAuthorization: [
          { name: "from", type: "address" },
          { name: "to", type: "address" },
          { name: "value", type: "uint256" },
          { name: "validAfter", type: "uint256" },
          { name: "validBefore", type: "uint256" },
          { name: "nonce", type: "bytes32" }
        ]
      },
      primaryType: "TransferWithAuthorization",
      message
    })

  const signCancellation = (payer: ReturnType<typeof privateKeyToAccount>, nonce: Hex) =>
    payer.signTypedData({
      domain: domain(),
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" }
        ]
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: payer.address, nonce }
    })

  const submit = async (transfer: Transfer, signature: Hex) => {
    const { from, to, value, validAfter, validBefore, nonce } = transfer
    const hash = await sender(chain.facilitatorKey).writeContract({
      ...token(),
      functionName: "transferWithAuthorization",
      args: [from, to, value, validAfter, validBefore, nonce, signature]
    })
    return client().waitForTransactionReceipt({ hash })
  }

  const split = (signature: Hex) => {
    const { r, s, yParity } = parseSignature(signature)
    return [27 + yParity, r, s] as const
  }

  it("has the configured EIP-712 domain", async () => {
    const separator = await client().readContract({ ...token(), functionName: "DOMAIN_SEPARATOR" })
    expect(separator).toBe(domainSeparator({ domain: domain() }))
    const [name, version, decimals] = await Promise.all([
      client().readContract({ ...token(), functionName: "name" }),
      client().readContract({ ...token(), functionName: "version" }),
      client().readContract({ ...token(), functionName: "decimals" })
    ])
    expect([name, version, decimals]).toEqual(["USD\u20AE0", "1", 6])
    expect([chain.assetName, chain.assetVersion, chain.decimals]).toEqual([name, version, decimals])
  })

  it("lets only its deployer mint", async () => {
    const mint = sender(chain.facilitatorKey).writeContract({
      ...token(),
      functionName: "mint",
      args: [chain.payTo, 1n]
    })
    await expect(mint).rejects.toThrow("caller is not the deployer")
  })

  it("transfers, and lets others transfer their allowance", async () => {
    const [owner, spender] = [sender(chain.refundKey), sender(chain.facilitatorKey)]
    const recipient = privateKeyToAccount(generatePrivateKey()).address
    const settle = async (hash: Hex) => client().waitForTransactionReceipt({ hash })
    await settle(await owner.writeContract({ ...token(), functionName: "transfer", args: [recipient, usdt(1)] }))
    const approve = { ...token(), functionName: "approve", args: [spender.account.address, usdt(2)] } as const
    await settle(await owner.writeContract(approve))
    const take = (value: bigint) =>
      spender.writeContract({
        ...token(),
        functionName: "transferFrom",
        args: [owner.account.address, recipient, value]
      })
    await settle(await take(usdt(2)))
    expect(await balanceOf(recipient)).toBe(usdt(3))
    await expect(take(1n)).rejects.toThrow("exceeds the allowance")
    const tooMuch = owner.writeContract({ ...token(), functionName: "transfer", args: [recipient, usdt(100_000)] })
    await expect(tooMuch).rejects.toThrow("exceeds the balance")
  })

  it("executes a signed transfer once, with AuthorizationUsed directly before Transfer", async () => {
    const payer = await makePayer()
    const transfer = makeTransfer(payer.address)
    const signature = await signTransfer(payer, transfer)
    const before = await balanceOf(chain.payTo)
    const receipt = await submit(transfer, signature)
    const events = parseEventLogs({ abi: sandboxUsdtAbi, logs: receipt.logs })
    expect(events.map((event) => event.eventName)).toEqual(["AuthorizationUsed", "Transfer"])
    expect(events[0]?.args).toEqual({ authorizer: payer.address, nonce: transfer.nonce })
    expect(events[1]?.args).toEqual({ from: payer.address, to: chain.payTo, value: usdt(1) })
    expect(await balanceOf(chain.payTo)).toBe(before + usdt(1))
    await expect(submit(transfer, signature)).rejects.toThrow("used or canceled")
    expect(await balanceOf(payer.address)).toBe(usdt(4))
  })

  it("accepts the signature in three parts", async () => {
    const payer = await makePayer()
    const { from, to, value, validAfter, validBefore, nonce } = makeTransfer(payer.address)
    const signature = await signTransfer(payer, { from, to, value, validAfter, validBefore, nonce })
    const hash = await sender(chain.facilitatorKey).writeContract({
      ...token(),
      functionName: "transferWithAuthorization",
      args: [from, to, value, validAfter, validBefore, nonce, ...split(signature)]
    })
    expect((await client().waitForTransactionReceipt({ hash })).status).toBe("success")
    expect(
      await client().readContract({ ...token(), functionName: "authorizationState", args: [payer.address, nonce] })
    ).toBe(true)
  })

  it("rejects the malleated form of a signature", async () => {
    const payer = await makePayer()
    const transfer = makeTransfer(payer.address)
    const { r, s, yParity } = parseSignature(await signTransfer(payer, transfer))
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const twin = `${r}${toHex(order - BigInt(s), { size: 32 }).slice(2)}${(28 - yParity).toString(16)}` as Hex
    await expect(submit(transfer, twin)).rejects.toThrow("invalid signature")
  })

  it("rejects a transfer that the payer did not sign", async () => {
    const payer = await makePayer()
    const transfer = makeTransfer(payer.address)
    const signature = await signTransfer(payer, transfer)
    await expect(submit({ ...transfer, value: usdt(2) }, signature)).rejects.toThrow("invalid signature")
    await expect(submit({ ...transfer, to: payer.address }, signature)).rejects.toThrow("invalid signature")
    await expect(submit(transfer, "0x")).rejects.toThrow("invalid signature")
    const stranger = privateKeyToAccount(generatePrivateKey())
    await expect(submit(transfer, await signTransfer(stranger, transfer))).rejects.toThrow("invalid signature")
  })

  it("enforces the times of an authorization and the balance", async () => {
    const payer = await makePayer()
    const attempt = async (change: Partial<Transfer>) => {
      const transfer = { ...makeTransfer(payer.address), ...change }
      return submit(transfer, await signTransfer(payer, transfer))
    }
    const now = BigInt(Math.floor(Date.now() / 1_000))
    await expect(attempt({ validAfter: now + 60n })).rejects.toThrow("not valid yet")
    await expect(attempt({ validBefore: now - 1n })).rejects.toThrow("has expired")
    await expect(attempt({ value: usdt(6) })).rejects.toThrow("exceeds the balance")
  })

  it("cancels an authorization, which is then unusable", async () => {
    const payer = await makePayer()
    for (const form of ["one part", "three parts"]) {
      const transfer = makeTransfer(payer.address)
      const signature = await signCancellation(payer, transfer.nonce)
      const cancel = { ...token(), functionName: "cancelAuthorization" } as const
      const hash =
        form === "one part"
          ? await sender(chain.facilitatorKey).writeContract({
              ...cancel,
              args: [payer.address, transfer.nonce, signature]
            })
          : await sender(chain.facilitatorKey).writeContract({
              ...cancel,
              args: [payer.address, transfer.nonce, ...split(signature)]
            })
      const { logs } = await client().waitForTransactionReceipt({ hash })
      expect(parseEventLogs({ abi: sandboxUsdtAbi, logs }).map((event) => event.eventName)).toEqual([
        "AuthorizationCanceled"
      ])
      await expect(submit(transfer, await signTransfer(payer, transfer))).rejects.toThrow("used or canceled")
    }
    expect(await balanceOf(payer.address)).toBe(usdt(5))
  })

  it("asks a contract wallet to validate a signature", async () => {
    const payer = await makePayer()
    const transfer = makeTransfer(payer.address)
    // Code that returns nothing, and code that always returns the magic value of ERC-1271.
    await client().setCode({ address: payer.address, bytecode: "0x00" })
    await expect(submit(transfer, "0x1234")).rejects.toThrow("invalid signature")
    await client().setCode({ address: payer.address, bytecode: "0x631626ba7e60e01b5f5260205ff3" })
    expect((await submit(transfer, "0x1234")).status).toBe("success")
  })
})
