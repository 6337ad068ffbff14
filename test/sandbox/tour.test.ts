import { execFile, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { createTestClient, defineChain, erc20Abi, http, parseEther, publicActions, walletActions } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, expect, it, onTestFinished, vi } from "vitest"
import { Chain } from "../support/Chain.ts"
import { untilGone } from "../support/Processes.ts"
import { FROM_SOURCES } from "../support/ProgramBundle.ts"
import { startSandbox } from "../support/Sandbox.ts"
import type { SandboxDescription } from "@agentos/sandbox"

const MAIN = fileURLToPath(import.meta.resolve("@agentos/sandbox/main"))
const directory = mkdtempSync(join(tmpdir(), "agentos-tour-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const STEPS = [
  /1 {2}Read the catalog .* 0\.25 USDT/,
  /2 {2}Create a mailbox .* transaction 0x[0-9a-f]{64}, balance [\d.]+ → [\d.]+ USDT/,
  /3 {2}Open the realtime socket .* session\.ready/,
  /4 {2}Send mail to the mailbox .* 250 /,
  /5 {2}Receive the event .* event [0-9a-f-]{36}, \d+ ms after/,
  /6 {2}Read the message .* "Are you there\?" \(spf pass, dkim pass, dmarc pass\)/,
  /7 {2}Acknowledge the event .* event\.acknowledged/,
  /8 {2}Reply by email .* DKIM-signed in .* transaction 0x[0-9a-f]{64}/,
  /9 {2}List acknowledged events .* [0-9a-f-]{36} is acknowledged/,
  /10 {2}Buy a phone number .* \+141555501[0-4]\d; transaction 0x[0-9a-f]{64}, balance [\d.]+ → [\d.]+ USDT/,
  /11 {2}Set up a test callee .* \+14155550199 answers and says "Who's there\?", "Good to know\."/,
  /12 {2}Place a call .* call [0-9a-f-]{36}; transaction 0x[0-9a-f]{64}, balance [\d.]+ → [\d.]+ USDT/,
  /13 {2}Receive the end event .* event [0-9a-f-]{36}: completed/,
  /14 {2}Read the transcript .* agent: Hello.* \/ caller: Who's there\? \/ agent: You said: Who's there\? \/ caller: Good to know\. \/ agent: You said: Good to know\. \(/,
  /15 {2}Add inbound minutes .* 600 s; transaction 0x[0-9a-f]{64}, balance [\d.]+ → [\d.]+ USDT/,
  /16 {2}Receive a call .* the caller heard "You have reached the tour\.", "You said: I am calling back\."; event [0-9a-f-]{36}/,
  /17 {2}Release the number .* \+141555501[0-4]\d is released/
]

/** The prices of a number, of a call of a minute, and of ten inbound minutes, by step. */
const PHONE_PRICES = { 10: 5, 12: 0.3, 15: 3 }

/** Returns the payment of a step from its output. */
const paidIn = (output: string, step: string): number => {
  const [, before, after] = new RegExp(`^ +${step} .* balance ([\\d.]+) → ([\\d.]+) USDT`, "m").exec(output) ?? []
  return Number((Number(before) - Number(after)).toFixed(6))
}

const runTour = () =>
  spawnSync(process.execPath, [MAIN, "tour", "--data", directory], { encoding: "utf8", timeout: 250_000 })

it("runs once by start and again on demand, and names a step that fails", async () => {
  // Runs every program of the sandbox from its sources, as users do.
  const first = await startSandbox({ directory, arguments: [], environment: FROM_SOURCES })
  onTestFinished(async () => void (await first.stop()))
  await vi.waitFor(() => expect(first.output()).toMatch(/The tour took/), { timeout: 60_000, interval: 100 })
  for (const step of STEPS) expect(first.output()).toMatch(step)
  await vi.waitFor(() => expect(existsSync(join(directory, "tour.json"))).toBe(true), { timeout: 60_000 })

  const again = runTour()
  expect(again.status).toBe(0)
  for (const step of STEPS) expect(again.stdout).toMatch(step)
  for (const [step, price] of Object.entries(PHONE_PRICES)) expect(paidIn(again.stdout, step)).toBe(price)

  const tour = promisify(execFile)
  const tours = await Promise.all([1, 2].map(() => tour(process.execPath, [MAIN, "tour", "--data", directory])))
  for (const { stdout } of tours) expect(stdout).toMatch(/The tour took/)
  expect(tours.filter(({ stdout }) => stdout.startsWith("Another tour of this sandbox is running"))).toHaveLength(1)

  const { facilitatorUrl } = await first.describe()
  await fetch(`${facilitatorUrl}/sandbox/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ operation: "settle", mode: "reject", times: 10 })
  })
  const failed = runTour()
  expect(failed.status).toBe(1)
  expect(failed.stderr).toMatch(/Step 2, "Create a mailbox", failed: expected success, got 409 .*PAYMENT_PENDING/)
  expect(await first.stop()).toBe(0)
})

it("does not run again at the next start, and ends a start if it fails", async () => {
  const second = await startSandbox({ directory, arguments: [] })
  onTestFinished(async () => void (await second.stop()))
  await vi.waitFor(() => expect(second.output()).toMatch(/Ctrl-C/), { timeout: 60_000, interval: 100 })
  expect(second.output()).not.toMatch(/The tour/)
  await emptyTourWallet(await second.describe())
  expect(await second.stop()).toBe(0)

  rmSync(join(directory, "tour.json"))
  const failing = await startSandbox({ directory, arguments: [] })
  const { processes } = await failing.describe()
  expect(await once(failing.process, "exit")).toEqual([1, null])
  expect(failing.output()).toMatch(/Step 2, "Create a mailbox", failed: expected success, got 402/)
  await untilGone(Object.values(processes), 60_000)
  expect(existsSync(join(directory, "tour.json"))).toBe(false)
})

/** Transfers the balance of the tour's wallet to another wallet. */
const emptyTourWallet = async (description: SandboxDescription): Promise<void> => {
  const { chain, wallets } = description
  const { address, privateKey } = wallets.at(-1)!
  const client = createTestClient({
    account: privateKeyToAccount(privateKey),
    chain: defineChain({
      id: Number(chain.network.split(":")[1]),
      name: "sandbox",
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [chain.rpcUrl] } }
    }),
    mode: "anvil",
    transport: http()
  }).extend(publicActions)
  await client.setBalance({ address, value: parseEther("1") })
  const args = [wallets[0]!.address, await new Chain(description).balanceOf(address)] as const
  const { request } = await client.simulateContract({
    address: chain.asset,
    abi: erc20Abi,
    functionName: "transfer",
    args
  })
  await client.waitForTransactionReceipt({ hash: await client.extend(walletActions).writeContract(request) })
}

it("requires a running sandbox", () => {
  const { status, stderr } = runTour()
  expect(status).toBe(1)
  expect(stderr).toMatch(/^No sandbox is running in .*pnpm@12 start/)
})
