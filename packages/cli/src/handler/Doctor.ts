import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { DOCTOR } from "../command/ToolCommands.ts"
import { fromOf } from "../config/Settings.ts"
import type { Check, Finding } from "../doctor/Check.ts"
import { broken, ok, skipped } from "../doctor/Check.ts"
import { brokenBy, checkServer, checkSocket, checkToken } from "../doctor/ServerChecks.ts"
import { checkBalance, describeWallet } from "../doctor/WalletChecks.ts"
import { Failure } from "../failure/Failure.ts"
import { countOf } from "../output/Wording.ts"
import { connect, type Connection } from "../server/Connection.ts"
import { findWallet, type Wallet } from "../wallet/Wallet.ts"

const OLDEST_NODE = 20

export const run = async (context: Context, { flags }: InputOf<typeof DOCTOR>): Promise<void> => {
  const { output } = context
  const checks = await examine(context, flags["wallet-file"])
  const bad = checks.filter(({ status }) => status === "broken")
  output.table(
    { healthy: bad.length === 0, checks },
    checks,
    [
      { heading: "CHECK", value: ({ name }) => name, whole: true },
      { heading: "STATUS", value: ({ status }) => status, whole: true },
      { heading: "FOUND", value: ({ detail }) => detail, flows: true }
    ],
    ""
  )
  for (const { mend, name } of checks) if (mend !== null) output.note(`${name}: ${mend}`)
  if (bad.length > 0)
    throw new Failure({
      code: "FAILED",
      message: `${countOf(bad.length, "thing")} to mend: ${bad.map(({ name }) => name).join(", ")}.`
    })
}

const examine = async (context: Context, walletFile: string | undefined): Promise<ReadonlyArray<Check>> => {
  const checks: Array<Check> = []
  const add = (name: string, finding: Finding): void => void checks.push({ name, ...finding })
  add("node", checkNode())
  const connection = await orFinding(context, () => connect(context, { walletFile }))
  add(
    "settings",
    "status" in connection ? connection : ok(`profile ${connection.profile} (${fromOf(connection.settings.profile)})`)
  )
  const wallet = await orFinding(context, async () => ({ found: await findWallet(context, { walletFile }) }))
  const answers = "status" in connection ? false : await addServer(context, connection, add)
  add("wallet", "status" in wallet ? wallet : describeWallet(wallet.found))
  const { found } = "status" in wallet ? { found: undefined } : wallet
  add("balance", await balanceOf(context, answers && !("status" in connection) ? connection : undefined, found))
  return checks
}

/** The server, and what only it can tell; answers whether it does. */
const addServer = async (
  context: Context,
  connection: Connection,
  add: (name: string, finding: Finding) => void
): Promise<boolean> => {
  const { clock, server } = await checkServer(context, connection)
  const answers = server.status === "ok"
  add("server", server)
  add("clock", clock ?? skipped("the server did not say what time it is"))
  const token = answers ? await checkToken(context, connection) : skipped("the server does not answer")
  add("token", token)
  add("socket", token.status === "ok" ? await checkSocket(context, connection) : skipped("it takes a token"))
  return answers
}

const balanceOf = async (
  context: Context,
  connection: Connection | undefined,
  wallet: Wallet | undefined
): Promise<Finding> => {
  if (wallet === undefined) return skipped("there is no wallet")
  if (connection === undefined) return skipped("the server does not say what it takes")
  return checkBalance(context, connection, wallet)
}

const checkNode = (): Finding => {
  const version = process.versions.node
  return Number(version.split(".")[0]) >= OLDEST_NODE
    ? ok(version)
    : broken(`${version} is older than ${OLDEST_NODE}`, "Install a newer Node.js: https://nodejs.org")
}

const orFinding = async <A extends object>(context: Context, look: () => Promise<A>): Promise<A | Finding> => {
  try {
    return await look()
  } catch (error) {
    return brokenBy(error, context)
  }
}
