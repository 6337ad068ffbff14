import type { Context } from "../command/Handler.ts"
import { ENVIRONMENT_TOKEN } from "../config/Credentials.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { spanOf } from "../output/Wording.ts"
import type { DataOf } from "../server/ApiClient.ts"
import type { Connection } from "../server/Connection.ts"
import { ROUTES } from "../server/Routes.ts"
import { serverTime } from "../server/ServerTime.ts"
import { NoSession, RealtimeSession } from "../tail/RealtimeSession.ts"
import { broken, type Finding, missing, ok } from "./Check.ts"

/** A payment is signed for a span around this machine's time: a clock that is further off makes it too late or too early. */
const CLOCK_LIMIT_SECONDS = 10

/** The failure that a look ended with, as a finding. Anything else is thrown on. */
export const brokenBy = (error: unknown, { host }: Context, mend?: string): Finding => {
  if (host.signal.aborted || !(error instanceof Failure)) throw error
  const { code, next } = error.parts
  // A setting or a file of this machine: what is said of it says what to do.
  if (mend === undefined && next === undefined && (code === "CONFIGURATION" || code === "FAILED"))
    return { status: "broken", detail: error.message, mend: null }
  return broken(error.message, mend ?? next?.[0] ?? "Try again; if it stays so, tell who runs the server.")
}

/** Whether the server answers as one of this API does, and whether it has the same time. */
export const checkServer = async (
  context: Context,
  { baseUrl, client, settings }: Connection
): Promise<{ readonly server: Finding; readonly clock: Finding | undefined }> => {
  try {
    const { method, path } = ROUTES.describeApi
    const begun = context.host.now()
    const answer = await client.send({ method, path, repeatable: true })
    const ended = context.host.now()
    const { environment, name, version } = client.dataOf(answer) as DataOf<"describeApi">
    const from = settings.baseUrl?.source ?? ""
    return {
      server: ok(`${name} ${version} (${environment}) at ${baseUrl}, from ${from}, in ${ended - begun} ms`),
      clock: clockOf(serverTime(answer.headers), begun, ended)
    }
  } catch (error) {
    return { server: brokenBy(error, context), clock: undefined }
  }
}

const clockOf = (at: string | undefined, begun: number, ended: number): Finding | undefined => {
  if (at === undefined) return undefined
  // The server's second had begun when it answered, and was not over.
  const [earliest, latest] = [Date.parse(at), Date.parse(at) + 1_000]
  const off = latest < begun ? begun - latest : earliest > ended ? earliest - ended : 0
  const seconds = Math.round(off / 1_000)
  if (seconds <= CLOCK_LIMIT_SECONDS) return ok(seconds === 0 ? "the server's time" : `${seconds} s off the server's`)
  const way = latest < begun ? "fast" : "slow"
  return broken(
    `${spanOf(seconds)} ${way} by the server's`,
    "Set this machine's clock, or turn on its synchronization."
  )
}

/** Whether there is a token, and the server takes it. */
export const checkToken = async (context: Context, { client, token }: Connection): Promise<Finding> => {
  if (token === undefined)
    return missing(
      "none for this server; the first purchase gives one",
      "agentctl login, or agentctl mailbox create LOCALPART"
    )
  try {
    await client.call("replayEvents", { query: { limit: 1 } })
    return ok(`works (from ${token.source})`)
  } catch (error) {
    const isRefused = error instanceof Failure && error.exit === EXIT.authentication
    const mend = token.source === ENVIRONMENT_TOKEN ? "unset AGENTOS_TOKEN, and then agentctl login" : "agentctl login"
    return brokenBy(error, context, isRefused ? mend : undefined)
  }
}

/** Whether a session can be opened. Where not, events are asked for over REST, so nothing is broken. */
export const checkSocket = async (context: Context, { client }: Connection): Promise<Finding> => {
  try {
    const { realtime } = await client.call("getRealtimeToken")
    const { signal } = context.host
    const session = await RealtimeSession.open(
      { url: realtime.websocketUrl, token: realtime.token, mode: "observe" },
      signal
    )
    await session.close()
    return ok(new URL(realtime.websocketUrl).host)
  } catch (error) {
    if (!(error instanceof NoSession)) return brokenBy(error, context)
    return missing(
      `can't be opened (${error.message}); events tail works over REST`,
      "Let WebSockets through to the server, where a proxy or firewall stands between."
    )
  }
}
