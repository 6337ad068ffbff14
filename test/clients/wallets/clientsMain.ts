import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { access, copyFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs, promisify } from "node:util"
import { networkNameOf } from "@agentos/client"
import type { SandboxDescription } from "@agentos/sandbox"
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  maxUint256,
  parseAbi,
  publicActions
} from "viem"
import {
  english,
  generateMnemonic,
  type HDAccount,
  mnemonicToAccount,
  type PrivateKeyAccount,
  privateKeyToAccount
} from "viem/accounts"
import { TOKEN_PRESETS, type TokenPreset } from "@agentos/x402"
import { startSandbox } from "../../support/Sandbox.ts"
import { CLIENTS, NOT_RUN, type StockClient } from "./Clients.ts"

const help = `Usage: npx -y pnpm@12 clients [--client TEXT] [--keep DIR]

Installs the clients of x402 that are listed in test/clients/wallets/Clients.ts, lets each buy a mailbox from a sandbox, and
writes docs/clients.md. Exits with 1 if one pays or fails otherwise than the list expects; then it writes nothing. The clients
are installed from npm, without their scripts. While they run, connections to other machines are refused.

  --client    only clients whose name contains this text; writes nothing
  --keep      the folder of the installed packages, which is kept for the next run (default: a temporary one)`

const { values } = parseArgs({
  options: {
    client: { type: "string", default: "" },
    keep: { type: "string", default: "" },
    help: { type: "boolean", short: "h", default: false }
  }
})

const run = promisify(execFile)
const here = import.meta.dirname
const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
const DOCUMENT = join(here, "../../../docs/clients.md")
/** Time limit of one purchase, and of one installation. */
const BUY_WITHIN_MILLIS = 60_000
const INSTALL_WITHIN_MILLIS = 600_000

interface Outcome {
  readonly status?: number
  readonly text?: string
  readonly error?: string
  readonly isPaid?: boolean
}

/** Installs the packages of a client once, and returns their folder. */
const install = async (folder: string, { ignoresPeers, packages }: StockClient): Promise<string> => {
  const target = join(folder, packages.join("+").replaceAll(/[^\w.+-]/g, "_"))
  await mkdir(join(target, "drivers"), { recursive: true })
  const marker = join(target, "installed")
  const isInstalled = await access(marker).then(
    () => true,
    () => false
  )
  if (!isInstalled) {
    await writeFile(join(target, "package.json"), '{"private":true,"type":"module"}')
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"]
    const peers = ignoresPeers === true ? ["--legacy-peer-deps"] : []
    await run("npm", [...words, ...peers, ...packages], { cwd: target, timeout: INSTALL_WITHIN_MILLIS })
    await writeFile(marker, "")
  }
  for (const file of ["runDriver.mjs", "loopbackOnly.mjs", "response.mjs", "command.mjs"]) {
    await copyFile(join(here, file), join(target, file))
  }
  await cp(join(here, "drivers"), join(target, "drivers"), { recursive: true })
  return target
}

type Chain = SandboxDescription["chains"][number]

const permit2Abi = parseAbi(["function approve(address spender, uint256 amount)"])

/** Lets Permit2 move the token of an account, on the second chain. */
const allowPermit2 = async ({ asset, rpcUrl }: Chain, account: HDAccount | PrivateKeyAccount): Promise<void> => {
  const client = createWalletClient({ account, transport: http(rpcUrl) }).extend(publicActions)
  const data = encodeFunctionData({ abi: permit2Abi, args: [PERMIT2, maxUint256] })
  const hash = await client.sendTransaction({ chain: null, to: asset as Hex, data })
  const { status } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  if (status !== "success") throw new Error("the approval was reverted")
}

/** Returns the amount that the server has received on a chain. */
const receivedOn = ({ asset, payTo, rpcUrl }: Chain): Promise<bigint> =>
  createPublicClient({ transport: http(rpcUrl) }).readContract({
    address: asset as Hex,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [payTo as Hex]
  })

/** Gives each wallet of the sandbox, and a new one, the allowance on the second chain. */
const allowAll = async ({ chains: [, second], facilitatorUrl, wallets }: SandboxDescription, mnemonic: string) => {
  const account = mnemonicToAccount(mnemonic)
  const answer = await fetch(`${facilitatorUrl}/sandbox/faucet`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ address: account.address, network: second!.network })
  })
  if (!answer.ok) throw new Error(await answer.text())
  for (const { privateKey } of wallets) await allowPermit2(second!, privateKeyToAccount(privateKey as Hex))
  await allowPermit2(second!, account)
}

/** A new wallet with some of the token, from a wallet of the sandbox. */
const fundedMnemonic = async ({ chain, wallets }: SandboxDescription): Promise<string> => {
  const mnemonic = generateMnemonic(english)
  const [from] = wallets
  if (from === undefined) throw new Error("the sandbox has no wallet")
  const account = privateKeyToAccount(from.privateKey as `0x${string}`)
  const client = createWalletClient({ account, transport: http(chain.rpcUrl) })
  const request = client.request as (call: { method: string; params: ReadonlyArray<unknown> }) => Promise<unknown>
  await request({ method: "anvil_setBalance", params: [from.address, "0xde0b6b3a7640000"] })
  const data = encodeFunctionData({
    abi: parseAbi(["function transfer(address to, uint256 value)"]),
    args: [mnemonicToAccount(mnemonic).address, 5_000_000n]
  })
  await client.sendTransaction({ chain: null, to: chain.asset as `0x${string}`, data })
  return mnemonic
}

let purchases = 0

/** A purchase on one of the chains. The challenge for the second one offers that one alone. */
const taskOf = ({ baseUrl, chains, wallets }: SandboxDescription, chain: Chain, mnemonic: string) => {
  const wallet = wallets[purchases++ % wallets.length]!
  const { asset, assetName, network, payTo, rpcUrl } = chain
  return {
    url: `${baseUrl}/api/v1/email/mailboxes`,
    body: JSON.stringify({ localPart: `client-${purchases}` }),
    headers: {
      "Content-Type": "application/json",
      "Idempotency-Key": randomUUID(),
      ...(chain === chains[0] ? {} : { "Accept-Payment": network })
    },
    privateKey: wallet.privateKey,
    address: wallet.address,
    mnemonic,
    network,
    chainId: Number(network.split(":")[1]),
    asset,
    assetName,
    payTo,
    rpcUrl
  }
}

/** Lets a client buy on a chain. `isPaid` if the chain shows it. */
const buy = async (target: string, { driver }: StockClient, chain: Chain, task: object): Promise<Outcome> => {
  const taskFile = join(target, "task.json")
  await writeFile(taskFile, JSON.stringify(task))
  const words = [join(target, "runDriver.mjs"), `./drivers/${driver}.mjs`, taskFile]
  const before = await receivedOn(chain)
  const { stdout } = await run(process.execPath, words, { cwd: target, timeout: BUY_WITHIN_MILLIS })
  const outcome = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Outcome
  const isSold = outcome.status === 201 || /exit 0: \{"data":\{"mailbox"/.test(outcome.text ?? "")
  return { ...outcome, isPaid: isSold && (await receivedOn(chain)) > before }
}

/** Returns the text that the user of a client sees, without ids that differ each time. */
const seen = ({ error, status, text = "" }: Outcome): string => {
  if (error !== undefined) return error.replaceAll(/0x[0-9a-fA-F]{40}/g, "0x…")
  const message = /\\?"message\\?": ?\\?"((?:[^"\\]|\\[^"])*)/.exec(text)?.[1]
  return `${status === 0 ? "" : `${status}: `}${message ?? text}`
}

const LENGTH_SHOWN = 260
const cell = (text: string): string =>
  text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").replaceAll("<", "&lt;").slice(0, LENGTH_SHOWN)

const versionOf = ({ packages: [client = ""] }: StockClient): string => client.slice(client.lastIndexOf("@") + 1)

const resultOf = (outcome: Outcome): string =>
  outcome.isPaid === true ? "paid, 201" : `\`${cell(seen(outcome)).replaceAll("`", "'")}\``

const sentence = (note: string | undefined): string => (note === undefined ? "" : `${note}.`)

const rowOf = (client: StockClient, first: Outcome, second: Outcome): ReadonlyArray<string> => [
  client.client,
  versionOf(client),
  resultOf(first),
  sentence(client.note),
  resultOf(second),
  client.fails === undefined || client.permit2 !== undefined ? sentence(client.permit2?.note) : "The same."
]

/** Whether a client paid, or failed, as the list expects. */
const isExpected = (outcome: Outcome, fails: RegExp | undefined): boolean =>
  fails === undefined ? outcome.isPaid === true : outcome.isPaid !== true && fails.test(seen(outcome))

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const documentOf = (rows: ReadonlyArray<ReadonlyArray<string>>): string => `# Clients

Clients from npm that bought a mailbox from the sandbox, or were refused. \`npx -y pnpm@12 clients\` installs them and writes
this page. Each buys twice: on a chain whose token has EIP-3009, and on one where Permit2 moves the token, of which it has
allowed any amount before. The purchase counts if the chain shows it.

The first token is named USD₮0, as on X Layer, Flare and Arbitrum. On Celo, Stable and Plasma its name is ASCII.

${table(["client", "version", "EIP-3009", "why", "Permit2", "why"], rows)}

## Chains

The chains on which a server can take USDT by a preset, by the column above that applies. Other differences between chains, for
example a list of chains in a client, are in its row.

| transfer method | chains |
| --- | --- |
${(["eip3009", "permit2"] as const).map((method) => `| ${method === "eip3009" ? "EIP-3009" : "Permit2"} | ${presetsBy(method)} |`).join("\n")}

## Not run

${table(
  ["package", "why"],
  NOT_RUN.map(([name, why]) => [name, `${why}.`])
)}
`

/** Returns the names of the networks with presets of USDT and a transfer method. */
const presetsBy = (method: "eip3009" | "permit2"): string =>
  Object.entries<TokenPreset>(TOKEN_PRESETS)
    .filter(([name, { transferMethod = "eip3009" }]) => !name.endsWith("Usdc") && transferMethod === method)
    .map(([, { network }]) => networkNameOf(network))
    .join(", ")

const main = async (): Promise<void> => {
  const folder = values.keep === "" ? await mkdtemp(join(tmpdir(), "clients-")) : values.keep
  const sandbox = await startSandbox({ networks: 2 })
  let unexpected = 0
  try {
    const description = await sandbox.describe()
    const mnemonic = await fundedMnemonic(description)
    await allowAll(description, mnemonic)
    const rows: Array<ReadonlyArray<string>> = []
    for (const client of CLIENTS.filter(({ client: name }) => name.includes(values.client))) {
      const target = await install(folder, client)
      const [first, second] = description.chains as readonly [Chain, Chain]
      const outcomes = [
        await buy(target, client, first, taskOf(description, first, mnemonic)),
        await buy(target, client, second, taskOf(description, second, mnemonic))
      ] as const
      for (const [place, fails] of [client.fails, (client.permit2 ?? client).fails].entries()) {
        const outcome = outcomes[place]!
        const isRight = isExpected(outcome, fails)
        if (!isRight) unexpected += 1
        const name = `${client.client} ${versionOf(client)}, ${place === 0 ? "EIP-3009" : "Permit2"}`
        console.log(`${isRight ? "" : "UNEXPECTED "}${name}: ${outcome.isPaid === true ? "paid" : cell(seen(outcome))}`)
      }
      rows.push(rowOf(client, ...outcomes))
    }
    if (unexpected === 0 && values.client === "") await writeFile(DOCUMENT, documentOf(rows))
  } finally {
    await sandbox.stop()
    if (values.keep === "") await rm(folder, { recursive: true, force: true })
  }
  process.exitCode = unexpected === 0 ? 0 : 1
}

if (values.help) console.log(help)
else await main()
