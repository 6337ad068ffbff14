import { type AgentOs, AgentOsError, type AgentOsOptions } from "@agentos/client"
import { Failure, shellWord } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { findToken, saveToken } from "../config/Credentials.ts"
import { isRecord } from "../file/Json.ts"
import { openAgent } from "../server/Agent.ts"
import { failureOf } from "../server/ApiFailure.ts"
import { fetchOf } from "../server/Network.ts"
import { reserve } from "./Budget.ts"
import { FileJournal } from "./FileJournal.ts"
import type { StoredEntry } from "./JournalFile.ts"
import { deliveryFailure, notSaved } from "./PaymentFailure.ts"
import { readEntry } from "./Journal.ts"

export type Data = Readonly<Record<string, unknown>>

/** The server of a payment. */
export interface Destination {
  readonly baseUrl: string
  readonly profile: string
  readonly token: () => string | undefined | Promise<string | undefined>
}

export interface Sent<Result extends Data | null> {
  readonly entry: StoredEntry
  /** The data of the response, without the access token, which is saved. */
  readonly data: Result
}

const withoutToken = <Result extends Data | null>(data: Result, profile: string): Result => {
  const authentication = data?.["authentication"]
  return isRecord(authentication) && typeof authentication["accessToken"] === "string"
    ? { ...data, authentication: { accessTokenSaved: true, profile } }
    : data
}

/**
 * Sends one payment with a client that has the journal and the tokens of agentctl. The journal says `sent` before a byte
 * leaves, and stores the answer before anything is printed. `unsent` completes the failure of a payment that is not signed.
 */
export const sendPayment = async <Result extends Data | null>(
  context: Context,
  { baseUrl, profile, token }: Destination,
  options: AgentOsOptions,
  send: (agent: AgentOs) => Promise<Result>,
  unsent: (error: unknown) => unknown = (error) => error
): Promise<Sent<Result>> => {
  const { host } = context
  const journal = new FileJournal({ host, profile, reserve: (entry) => reserve(host, entry), resumesCalls: false })
  const fetch = fetchOf(context, baseUrl)
  let requestId: string | null = null
  try {
    const agent = await openAgent(context, baseUrl, {
      ...options,
      journal,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        requestId = response.headers.get("x-request-id")
        if (new Headers(init.headers).has("payment-signature")) await host.atStep?.("answered")
        return response
      },
      tokens: {
        get: token,
        set: async (_key, value) => {
          try {
            await saveToken(host, profile, baseUrl, value)
          } catch (error) {
            const entry = journal.last()
            throw entry?.state.tag === "sent" ? notSaved(host, entry, error) : error
          }
        }
      }
    })
    const data = withoutToken(await send(agent), profile)
    const entry = journal.last()
    if (entry !== undefined) return { data, entry }
    throw new Failure({
      code: "UNEXPECTED_ANSWER",
      message: "The server executed the call without a payment.",
      requestId: requestId ?? undefined
    })
  } catch (error) {
    const entry = journal.last()
    throw entry === undefined ? unsent(failureOf(error, baseUrl)) : deliveryFailure(host, error, entry, journal)
  } finally {
    journal.close()
  }
}

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
