import type { Context } from "../command/Handler.ts"
import { fromOf } from "../config/Settings.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { connect } from "../server/Connection.ts"
import { findWallet } from "../wallet/Wallet.ts"

export const run = async (context: Context): Promise<void> => {
  const { output } = context
  const { baseUrl, client, profile, settings, token } = await connect(context)
  const wallet = await findWallet(context)
  const server = await client.call("describeApi")
  const works =
    token === undefined ? null : await tokenWorks(() => client.call("replayEvents", { query: { limit: 1 } }))
  const document = {
    profile,
    baseUrl,
    server: { name: server.name, version: server.version, environment: server.environment },
    token: token === undefined ? null : { source: token.source, works },
    wallet:
      wallet === undefined ? null : { address: wallet.address, source: wallet.source, encrypted: wallet.encrypted }
  }
  output.record(document, [
    ["Profile", `${profile} (${fromOf(settings.profile)})`],
    ["Server", `${baseUrl} (from ${settings.baseUrl?.source ?? ""})`],
    ["", `${server.name} ${server.version}, ${server.environment}`],
    ["Token", token === undefined ? "none" : `${works === true ? "works" : "does not work"} (from ${token.source})`],
    [
      "Wallet",
      wallet === undefined ? "none" : `${wallet.address ?? "address unknown until it is opened"} (${wallet.source})`
    ]
  ])
  if (works === false)
    throw new Failure({
      code: "AUTH_REQUIRED",
      exit: EXIT.authentication,
      message: "The access token does not work at this server.",
      next: ["agentctl login"]
    })
}

const tokenWorks = async (use: () => Promise<unknown>): Promise<boolean> => {
  try {
    await use()
    return true
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.authentication) return false
    throw error
  }
}
