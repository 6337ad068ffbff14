import { AgentOsError } from "@agentos/client"
import { Failure, shellWord } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { findToken } from "../config/Credentials.ts"
import { readEntry } from "./Journal.ts"
import { type Data, type Sent, sendPayment } from "./Sending.ts"

/** A payment after `resume`. The data is null if it bought nothing and will not be sent again. */
export type Resumed = Sent<Data | null>

/**
 * Resumes a payment with the same bytes; nothing is signed. An answered payment is sent again for its result. Throws
 * LOCKED if another process works on it.
 */
export const resume = async (context: Context, id: string): Promise<Resumed> => {
  const { host } = context
  const { baseUrl, profile } = await readEntry(host, id)
  const token = async () => {
    const found = await findToken(host, profile, baseUrl)
    if (found !== undefined) return found.value
    throw new Failure({
      code: "NOT_LOGGED_IN",
      message: `Payment ${id} was made with an access token, but profile ${profile} has none for ${baseUrl}.`,
      next: [`agentctl login --profile ${profile} --base-url ${shellWord(baseUrl)}`]
    })
  }
  return sendPayment<Data | null>(context, { baseUrl, profile, token }, {}, async (agent) => {
    try {
      return await agent.payments.resume(id, { signal: host.signal })
    } catch (error) {
      if (error instanceof AgentOsError && error.code === "PAYMENT_VOID") return null
      throw error
    }
  })
}
