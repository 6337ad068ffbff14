import {
  type Check,
  CHECKS_JSON,
  EXIT,
  failed,
  Failure,
  type Finding,
  passed,
  reportChecks,
  skipped,
  warned
} from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { WALLET_FILE_FLAG } from "../context/Flags.ts"
import { asStarted } from "../host/Host.ts"
import { durationOf } from "../output/Wording.ts"
import type { DataOf } from "../server/Server.ts"
import type { Connection } from "../server/Connection.ts"
import type { Wallet } from "../wallet/Wallet.ts"
import { OLDEST_NODE } from "../Version.ts"
import { defineCommand } from "./Command.ts"
import { connect } from "./Resources.ts"
import { acceptedTokens } from "./WalletCommands.ts"

export const DOCTOR = defineCommand(
  {
    name: "doctor",
    summary: "Diagnose your setup and suggest fixes",
    description:
      "Checks Node.js, the settings, the server, the clock, the access token, the WebSocket, the wallet and its balance. Changes nothing and pays nothing. Exit code 1 if a check failed; a warning is not a failure.",
    flags: [WALLET_FILE_FLAG],
    examples: [
      { line: "agentctl doctor", does: "Find out what is wrong" },
      { line: "agentctl doctor --json | jq .healthy", does: "In a script" }
    ],
    output: "rows",
    json: CHECKS_JSON
  },
  async (context, { flags }) => {
    reportChecks(context.output, await runChecks(context, flags["wallet-file"]))
  }
)

const runChecks = async (context: Context, walletFile: string | undefined) => {
  const { findWallet, folderWalletWarning, NAME_YOUR_WALLET } = await import("../wallet/Wallet.ts")
  const { fromOf } = await import("../config/Settings.ts")
  const checks: Array<Check> = []
  const add = (name: string, { fix, ...finding }: Finding): void =>
    void checks.push({ name, ...finding, fix: fix === null ? null : asStarted(context.host, fix) })
  add("node", checkNode())
  const connection = await orFinding(context, () => connect(context, { walletFile }))
  add(
    "settings",
    "status" in connection
      ? connection
      : passed(`profile ${connection.profile} (${fromOf(connection.settings.profile)})`)
  )
  const wallet = await orFinding(context, async () => ({ found: await findWallet(context, { walletFile }) }))
  const { found } = "status" in wallet ? { found: undefined } : wallet
  const answering = await addServerChecks(context, connection, found, add)
  const warning = found && folderWalletWarning(found)
  if (warning !== undefined) {
    add("wallet", warned(warning, NAME_YOUR_WALLET))
    // It would name the address to which money is sent.
    add("balance", skipped("the wallet is not yours"))
    return checks
  }
  const isSandbox = "isSandbox" in answering && answering.isSandbox
  add("wallet", "status" in wallet ? wallet : describeWallet(found, isSandbox))
  add("balance", await checkBalance(context, answering, found))
  return checks
}

const checkNode = (): Finding => {
  const version = process.versions.node
  return Number(version.split(".")[0]) >= OLDEST_NODE
    ? passed(version)
    : failed(`${version} is older than ${OLDEST_NODE}`, "Install a newer Node.js: https://nodejs.org")
}

/** Runs a check of this machine, whose failures no server can repair. */
const orFinding = async <A extends object>(context: Context, check: () => Promise<A>): Promise<A | Finding> => {
  try {
    return await check()
  } catch (error) {
    return failedBy(error, context, null)
  }
}

/** Turns the failure of a check into a finding. Other errors are thrown. */
const failedBy = (error: unknown, { host }: Context, fix?: string | null): Finding => {
  if (host.signal.aborted || !(error instanceof Failure)) throw error
  const { code, next } = error.parts
  // The messages about settings and files already say how to fix them.
  if (fix === undefined && next === undefined && (code === "CONFIGURATION" || code === "FAILED"))
    return failed(error.message, null)
  if (fix === null) return failed(error.message, next?.[0] ?? null)
  return failed(error.message, fix ?? next?.[0] ?? "Retry later. If it persists, contact the operator of the server.")
}

interface Answering {
  readonly connection: Connection
  readonly isSandbox: boolean
}

/** Checks the server, and the parts that only it can confirm. Returns why the rest cannot be checked if it does not answer. */
const addServerChecks = async (
  context: Context,
  connection: Connection | Finding,
  wallet: Wallet | undefined,
  add: (name: string, finding: Finding) => void
): Promise<Answering | Finding> => {
  if ("status" in connection) return skipped("no server is known")
  const { clock, isSandbox, server } = await checkServer(context, connection)
  const answers = server.status === "ok"
  add("server", server)
  add("clock", clock ?? skipped("the server did not report its time"))
  const token = answers ? await checkToken(context, connection, wallet) : skipped("the server does not answer")
  add("token", token)
  const isValid = connection.token !== undefined && (token.status === "ok" || token.status === "warning")
  add("socket", isValid ? await checkSocket(context, connection) : skipped("requires a valid token"))
  return answers ? { connection, isSandbox } : skipped("the server does not answer")
}

const checkServer = async (
  context: Context,
  { baseUrl, client, settings }: Connection
): Promise<{ readonly server: Finding; readonly clock: Finding | undefined; readonly isSandbox: boolean }> => {
  const { serverTime } = await import("../server/Server.ts")
  const { ROUTES } = await import("../server/Routes.ts")
  try {
    const { method, path } = ROUTES.describeApi
    const start = context.host.now()
    const answer = await client.send({ method, path, repeatable: true })
    const end = context.host.now()
    const { environment, name, version } = client.dataOf(answer) as DataOf<"describeApi">
    const source = settings.baseUrl?.source ?? ""
    return {
      server: passed(`${name} API ${version} (${environment}) at ${baseUrl}, from ${source}, in ${end - start} ms`),
      clock: checkClock(serverTime(answer.headers), start, end),
      isSandbox: environment === "sandbox"
    }
  } catch (error) {
    return { server: failedBy(error, context), clock: undefined, isSandbox: false }
  }
}

/** Payments are signed for a span around the local time. A larger offset makes them invalid. */
const CLOCK_LIMIT_SECONDS = 10

const checkClock = (serverTime: string | undefined, start: number, end: number): Finding | undefined => {
  if (serverTime === undefined) return undefined
  // The header is rounded down to the second.
  const [earliest, latest] = [Date.parse(serverTime), Date.parse(serverTime) + 1_000]
  const offset = latest < start ? start - latest : earliest > end ? earliest - end : 0
  const seconds = Math.round(offset / 1_000)
  if (seconds <= CLOCK_LIMIT_SECONDS)
    return passed(seconds === 0 ? "matches the server" : `${seconds} s off the server's clock`)
  return failed(
    `${durationOf(seconds)} ${latest < start ? "ahead of" : "behind"} the server`,
    "Set the clock of this machine, or enable time synchronization."
  )
}

const checkToken = async (
  context: Context,
  { client, token }: Connection,
  wallet: Wallet | undefined
): Promise<Finding> => {
  if (token === undefined)
    return warned(
      "none for this server; the first purchase returns one",
      "agentctl login --wallet if the wallet has bought here, or else agentctl mailbox create LOCALPART"
    )
  try {
    const { wallet: owner } = await client.call("listLimits")
    const { isOtherWallet, tokenOfWallet } = await import("../wallet/Wallet.ts")
    return isOtherWallet(wallet, owner)
      ? warned(
          `of ${owner}, another wallet than the one that pays (from ${token.source})`,
          tokenOfWallet(token, wallet)
        )
      : passed(`valid (from ${token.source})`)
  } catch (error) {
    const { ENVIRONMENT_TOKEN } = await import("../config/Credentials.ts")
    const isRejected = error instanceof Failure && error.exit === EXIT.authentication
    const fix = token.source === ENVIRONMENT_TOKEN ? "unset AGENTOS_TOKEN, then agentctl login" : "agentctl login"
    return failedBy(error, context, isRejected ? fix : undefined)
  }
}

/** Checks that a WebSocket session opens. Without one, events are polled over REST, so this is only a warning. */
const checkSocket = async (context: Context, { client }: Connection): Promise<Finding> => {
  const { NoSession } = await import("@agentos/client")
  const { openSession } = await import("../tail/Gateway.ts")
  try {
    const { realtime } = await client.call("getRealtimeToken")
    const session = await openSession(realtime, context.host.signal)
    await session.close()
    return passed(new URL(realtime.websocketUrl).host)
  } catch (error) {
    if (!(error instanceof NoSession)) return failedBy(error, context)
    return warned(
      `cannot be opened (${error.message}); events tail polls over REST`,
      "Allow WebSocket connections to the server in your proxy or firewall."
    )
  }
}

const describeWallet = (wallet: Wallet | undefined, isSandbox: boolean): Finding =>
  wallet === undefined
    ? warned("none, so payments are not possible", isSandbox ? "agentctl dev" : "agentctl wallet create")
    : passed(
        `${wallet.address ?? "address unknown until opened"} (${wallet.source}${wallet.encrypted ? ", encrypted" : ""})`
      )

const checkBalance = async (
  context: Context,
  answering: Answering | Finding,
  wallet: Wallet | undefined
): Promise<Finding> => {
  if (wallet === undefined) return skipped("no wallet")
  if ("status" in answering) return answering
  const { connection, isSandbox } = answering
  const { address } = wallet
  if (address === null) return skipped("the address is unknown until the wallet is opened")
  const { decimalOf, heldOf } = await import("@agentos/client")
  const { rpcUrlsOf, tokenBalance } = await import("../wallet/TokenBalance.ts")
  try {
    const balances: Array<string> = []
    let isEmpty = true
    const options = await acceptedTokens(context, connection.baseUrl)
    const networks = options.map(({ network }) => network)
    const rpcUrls = await rpcUrlsOf(context, networks, connection.settings.rpcUrl?.value)
    if (options.length > 0 && rpcUrls.size === 0)
      return failed(
        `no RPC URL for ${networks.join(" or ")}`,
        isSandbox ? "agentctl dev" : "agentctl config set rpc-url https://…"
      )
    for (const option of options) {
      const { asset, decimals, network } = option
      const rpcUrl = rpcUrls.get(network)
      if (rpcUrl === undefined) continue
      const balance = await tokenBalance(context, { rpcUrl, network, asset, address })
      isEmpty &&= balance === 0n
      balances.push(`${decimalOf(heldOf(balance, decimals))} ${option.assetName ?? asset} on ${network}`)
    }
    const detail = balances.join(", ")
    if (!isEmpty) return passed(detail)
    return warned(detail, isSandbox ? "agentctl sandbox fund" : `Send USDT to ${address}.`)
  } catch (error) {
    return failedBy(error, context)
  }
}
