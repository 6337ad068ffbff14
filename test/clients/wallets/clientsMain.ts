import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { access, copyFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs, promisify } from "node:util"
import type { SandboxDescription } from "@agentos/sandbox"
import { createWalletClient, encodeFunctionData, http, parseAbi } from "viem"
import { english, generateMnemonic, mnemonicToAccount, privateKeyToAccount } from "viem/accounts"
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
const DOCUMENT = join(here, "../../../docs/clients.md")
/** Time limit of one purchase, and of one installation. */
const BUY_WITHIN_MILLIS = 60_000
const INSTALL_WITHIN_MILLIS = 600_000

interface Outcome {
  readonly status?: number
  readonly text?: string
  readonly error?: string
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

const taskOf = ({ baseUrl, chain, wallets }: SandboxDescription, mnemonic: string) => {
  const wallet = wallets[purchases++ % wallets.length]!
  return {
    url: `${baseUrl}/api/v1/email/mailboxes`,
    body: JSON.stringify({ localPart: `client-${purchases}` }),
    headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
    privateKey: wallet.privateKey,
    address: wallet.address,
    mnemonic,
    network: chain.network,
    chainId: Number(chain.network.split(":")[1]),
    asset: chain.asset,
    assetName: chain.assetName,
    payTo: chain.payTo,
    rpcUrl: chain.rpcUrl
  }
}

const buy = async (target: string, { driver }: StockClient, task: object): Promise<Outcome> => {
  const taskFile = join(target, "task.json")
  await writeFile(taskFile, JSON.stringify(task))
  const words = [join(target, "runDriver.mjs"), `./drivers/${driver}.mjs`, taskFile]
  const { stdout } = await run(process.execPath, words, { cwd: target, timeout: BUY_WITHIN_MILLIS })
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Outcome
}

/** Returns the text that the user of a client sees, without ids that differ each time. */
const seen = ({ error, status, text = "" }: Outcome): string => {
  if (error !== undefined) return error
  const message = /\\?"message\\?": ?\\?"((?:[^"\\]|\\[^"])*)/.exec(text)?.[1]
  return `${status === 0 ? "" : `${status}: `}${message ?? text}`
}

const LENGTH_SHOWN = 260
const cell = (text: string): string =>
  text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").replaceAll("<", "&lt;").slice(0, LENGTH_SHOWN)

const versionOf = ({ packages: [client = ""] }: StockClient): string => client.slice(client.lastIndexOf("@") + 1)

const rowOf = (client: StockClient, outcome: Outcome): ReadonlyArray<string> => [
  client.client,
  versionOf(client),
  client.fails === undefined ? "paid, 201" : `\`${cell(seen(outcome)).replaceAll("`", "'")}\``,
  client.note === undefined ? "" : `${client.note}.`
]

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const documentOf = (rows: ReadonlyArray<ReadonlyArray<string>>): string => `# Clients

Clients from npm that bought a mailbox from the sandbox, or were refused. \`npx -y pnpm@12 clients\` installs them and writes
this page. The token of the sandbox is named USD₮0, as on X Layer and Flare. On Celo, Stable and Plasma its name is ASCII.

${table(["client", "version", "result, or what its user sees", "why"], rows)}

## Not run

${table(
  ["package", "why"],
  NOT_RUN.map(([name, why]) => [name, `${why}.`])
)}
`

const main = async (): Promise<void> => {
  const folder = values.keep === "" ? await mkdtemp(join(tmpdir(), "clients-")) : values.keep
  const sandbox = await startSandbox()
  let unexpected = 0
  try {
    const description = await sandbox.describe()
    const mnemonic = await fundedMnemonic(description)
    const rows: Array<ReadonlyArray<string>> = []
    for (const client of CLIENTS.filter(({ client: name }) => name.includes(values.client))) {
      const target = await install(folder, client)
      const outcome = await buy(target, client, taskOf(description, mnemonic))
      const isPaid = outcome.status === 201 || /exit 0: \{"data":\{"mailbox"/.test(outcome.text ?? "")
      const isExpected = client.fails === undefined ? isPaid : !isPaid && client.fails.test(seen(outcome))
      if (!isExpected) unexpected += 1
      console.log(
        `${isExpected ? "" : "UNEXPECTED "}${client.client} ${versionOf(client)}: ${isPaid ? "paid" : cell(seen(outcome))}`
      )
      rows.push(rowOf(client, outcome))
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
