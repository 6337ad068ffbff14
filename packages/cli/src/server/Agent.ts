import { AgentOs, type AgentOsOptions, type Retry } from "@agentos/client"
import { messageOf } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { failureOf } from "./ApiFailure.ts"
import { fetchOf } from "./Network.ts"

/** Notes a retry. An answer that is not from the API is reported at once, unless a payment may have caused it. */
const noteRetry = ({ output }: Context, baseUrl: string, { delayMillis, error, paymentId }: Retry): boolean => {
  const isLost = error.answer === null
  const message = messageOf(failureOf(error, baseUrl))
  if (paymentId !== null)
    output.note(
      isLost
        ? `${message} Sending the same payment again.`
        : `${message} Trying again in ${Math.ceil(delayMillis / 1_000)} s.`
    )
  else if (isLost) output.note(`${message} Retrying.`)
  else if (error.code === "UNEXPECTED_ANSWER") return false
  else output.note("The server is busy. Retrying.")
  return true
}

/** Connects a client that uses the network, the clock and the notes of agentctl. It signs in only when it is told to. */
export const openAgent = (context: Context, baseUrl: string, options: AgentOsOptions): Promise<AgentOs> => {
  const { host } = context
  return AgentOs.connect(baseUrl, {
    fetch: fetchOf(context, baseUrl),
    // After an interruption the client ends by itself.
    clock: { now: () => host.now(), sleep: (millis) => host.sleep(millis).catch(() => undefined) },
    onRetry: (retry) => noteRetry(context, baseUrl, retry),
    signIn: false,
    // agentctl has no setting for other tokens.
    assets: [],
    ...options
  })
}
