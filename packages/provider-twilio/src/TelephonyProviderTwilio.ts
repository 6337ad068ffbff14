import { type OutboundCall, type ProviderError, TelephonyProvider, Timestamp } from "@agentos/core"
import { Effect, Layer, Option, type Redacted, Schema } from "effect"
import { ask, exchange, isSuccess, readBody, refusal, type TwilioAccount, type TwilioCall } from "./TwilioExchange.ts"
import { failure, PROVIDER } from "./TwilioFailure.ts"
import {
  Account,
  AvailablePage,
  CallPage,
  IncomingNumber,
  IncomingPage,
  momentOf,
  OneCall,
  toAvailable,
  toOwned,
  toProviderCall
} from "./TwilioResource.ts"
import { type WebhookAddresses, webhookAddresses } from "./WebhookPath.ts"
import { VOICES } from "./Voices.ts"

export interface TelephonyProviderTwilioConfig {
  /** `AC` and 32 hexadecimal digits. */
  readonly accountSid: string
  /** Authenticates requests to the account, and is the key of Twilio's signatures. */
  readonly authToken: Redacted.Redacted
  /** Default: https://api.twilio.com. */
  readonly apiUrl?: string | undefined
  /** The URL at which Twilio reaches this service: `https://agents.example.com`. */
  readonly publicUrl: string
  /**
   * Marks the numbers of this deployment at Twilio as their friendly name: 1 to 64 characters, different for
   * each deployment that uses the account. Numbers with this name count as bought by this deployment.
   */
  readonly label: string
  /**
   * Whether Twilio reports who answered: a person, a machine or a fax. It listens in the background, so that the call is
   * not delayed, and charges for each call. Default: false.
   */
  readonly detectsMachines?: boolean | undefined
  /** Time limit of each request; default 15,000. */
  readonly timeoutMillis?: number | undefined
}

const DEFAULT_API_URL = "https://api.twilio.com"
const DEFAULT_TIMEOUT_MILLIS = 15_000
const LABEL_CHARACTERS_MAX = 64
const SEARCH_MAX = 100
/** A line number for any area code, from which Twilio derives the location. */
const ANY_LINE = "5550100"
const NEAR_MILES = "100"
const PAGE_SIZE = "100"
const CALLS_MAX = 50
/** Longest ringing time: the same as the delay before the call is first polled. */
const RING_SECONDS = 60
/** Twilio's clock may differ from ours, and its times are whole seconds. */
const CLOCK_DIFFERENCE_MILLIS = 5 * Timestamp.SECOND

/** Twilio's code for an area code that does not exist. */
const INVALID_AREA_CODE = 21_451
/** Twilio's code for a call that has ended. */
const CALL_NOT_IN_PROGRESS = 21_220

const decodeCall = Schema.decodeUnknownOption(OneCall)

/**
 * Provides numbers and calls of Twilio, which itself ends calls at their time limit. A request that buys,
 * dials, changes or releases is never sent twice; a read is sent at most twice. Building it fails with
 * `Misconfigured` if the configuration is invalid.
 */
export const layer = (config: TelephonyProviderTwilioConfig): Layer.Layer<TelephonyProvider, ProviderError> =>
  Layer.effect(
    TelephonyProvider,
    Effect.andThen(
      checked(config),
      Effect.sync(() => make(config))
    )
  )

/** Checks the configuration, and by reading the account that Twilio accepts the credentials and the account is active. */
export const verify = Effect.fnUntraced(function* (
  config: TelephonyProviderTwilioConfig
): Effect.fn.Return<void, ProviderError> {
  yield* checked(config)
  const call: TwilioCall = { name: "read the account", method: "GET", path: ".json" }
  const { status } = yield* ask(accountOf(config), call, Account)
  if (status !== "active") return yield* failure("Misconfigured", `reports that the account is ${status}`)
})

const accountOf = (config: TelephonyProviderTwilioConfig): TwilioAccount => ({
  accountSid: config.accountSid,
  authToken: config.authToken,
  apiUrl: (config.apiUrl ?? DEFAULT_API_URL).replace(/\/+$/, ""),
  timeoutMillis: config.timeoutMillis ?? DEFAULT_TIMEOUT_MILLIS
})

const isUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

const checked = (config: TelephonyProviderTwilioConfig): Effect.Effect<void, ProviderError> => {
  const { accountSid, apiUrl = DEFAULT_API_URL, label, publicUrl } = config
  const refuse = (problem: string) => Effect.fail(failure("Misconfigured", `is misconfigured: ${problem}`))
  if (!/^AC[0-9a-fA-F]{32}$/.test(accountSid)) return refuse("accountSid must be AC followed by 32 hexadecimal digits")
  if (!isUrl(apiUrl)) return refuse("apiUrl must be an http or https URL")
  if (!isUrl(publicUrl)) return refuse("publicUrl must be an http or https URL")
  if (label.length < 1 || label.length > LABEL_CHARACTERS_MAX || label !== label.trim())
    return refuse(`label must have 1 to ${LABEL_CHARACTERS_MAX} characters, without space around them`)
  return Effect.void
}

const make = (config: TelephonyProviderTwilioConfig): TelephonyProvider["Service"] => {
  const account = accountOf(config)
  return TelephonyProvider.of({
    name: PROVIDER,
    limitsKeptBy: "provider",
    voices: VOICES,
    ...numberOperations(account, config),
    ...callOperations(account, config)
  })
}

/** Buys a number with this deployment's label, whose calls are sent to this service. */
const purchaseOf = (number: string, label: string, addresses: WebhookAddresses): TwilioCall => ({
  name: "buy a number",
  method: "POST",
  path: "IncomingPhoneNumbers.json",
  fields: {
    PhoneNumber: number,
    FriendlyName: label,
    VoiceUrl: addresses.voice,
    VoiceMethod: "POST",
    StatusCallback: addresses.inboundStatus,
    StatusCallbackMethod: "POST"
  }
})

type Operations<Name extends keyof TelephonyProvider["Service"]> = Pick<TelephonyProvider["Service"], Name>

const numberOperations = (
  account: TwilioAccount,
  { label, publicUrl }: TelephonyProviderTwilioConfig
): Operations<"search" | "buy" | "findNumber" | "release" | "listNumbers"> => {
  const addresses = webhookAddresses(publicUrl)
  const isLabelled = ({ friendly_name }: IncomingNumber) => friendly_name === label
  return {
    search: Effect.fnUntraced(function* ({ areaCode, country, limit, near }) {
      const call: TwilioCall = {
        name: "search for numbers",
        method: "GET",
        path: `AvailablePhoneNumbers/${country}/Local.json`,
        fields: {
          VoiceEnabled: "true",
          PageSize: String(Math.max(1, Math.min(limit, SEARCH_MAX))),
          ...(areaCode === undefined ? {} : { AreaCode: areaCode }),
          ...(near === undefined ? {} : { NearNumber: `+1${near}${ANY_LINE}`, Distance: NEAR_MILES })
        }
      }
      const answer = yield* exchange(account, call)
      if (answer.code === INVALID_AREA_CODE || (near !== undefined && answer.status === 400)) return []
      const page = yield* readBody(call, answer, Schema.decodeUnknownOption(AvailablePage))
      return page.available_phone_numbers.flatMap(toAvailable).slice(0, limit)
    }),
    buy: (number) => Effect.map(ask(account, purchaseOf(number, label, addresses), IncomingNumber), toOwned),
    findNumber: (number) =>
      Effect.map(
        ask(
          account,
          { name: "find a number", method: "GET", path: "IncomingPhoneNumbers.json", fields: { PhoneNumber: number } },
          IncomingPage
        ),
        // The filter also matches parts of numbers.
        (page) => {
          const found = page.incoming_phone_numbers.find(({ phone_number }) => phone_number === number)
          return Option.map(Option.fromUndefinedOr(found), (one) => ({ ...toOwned(one), isOurs: isLabelled(one) }))
        }
      ),
    release: Effect.fnUntraced(function* (providerNumberId) {
      const path = `IncomingPhoneNumbers/${encodeURIComponent(providerNumberId)}.json`
      const call: TwilioCall = { name: "release a number", method: "DELETE", path }
      const answer = yield* exchange(account, call)
      if (!isSuccess(answer) && answer.status !== 404) return yield* refusal(call, answer)
    }),
    listNumbers: (cursor) =>
      Effect.map(
        ask(
          account,
          {
            name: "list its numbers",
            method: "GET",
            path: "IncomingPhoneNumbers.json",
            fields: { FriendlyName: label, PageSize: PAGE_SIZE, ...fieldsOfCursor(cursor) }
          },
          IncomingPage
        ),
        (page) => ({
          // Whatever Twilio's filter matches: a number of another deployment must not be released.
          items: page.incoming_phone_numbers.filter(isLabelled).map(toOwned),
          nextCursor: cursorOf(page.next_page_uri)
        })
      )
  }
}

/**
 * Returns the cursor of a page from Twilio's URL of it. The URL itself is not followed, since requests carry
 * the account's token wherever it leads.
 */
const cursorOf = (uri: string | null | undefined): string | undefined => {
  const query = uri?.split("?", 2)[1]
  if (query === undefined) return undefined
  const params = new URLSearchParams(query)
  const place = new URLSearchParams()
  for (const name of ["Page", "PageToken"]) {
    const value = params.get(name)
    if (value !== null) place.set(name, value)
  }
  return place.size === 0 ? undefined : place.toString()
}

const fieldsOfCursor = (cursor: string | undefined): Readonly<Record<string, string>> => {
  const params = new URLSearchParams(cursor ?? "")
  const [page, token] = [params.get("Page"), params.get("PageToken")]
  return { ...(page === null ? {} : { Page: page }), ...(token === null ? {} : { PageToken: token }) }
}

const callOperations = (
  account: TwilioAccount,
  { detectsMachines = false, publicUrl }: TelephonyProviderTwilioConfig
): Operations<"place" | "findCalls" | "findCall" | "changeLimit" | "hangUp"> => {
  const addresses = webhookAddresses(publicUrl)
  const pathOf = (providerCallId: string) => `Calls/${encodeURIComponent(providerCallId)}.json`
  return {
    place: ({ callId, from, limitSeconds, to }: OutboundCall) =>
      Effect.map(
        ask(
          account,
          {
            name: "place a call",
            method: "POST",
            path: "Calls.json",
            fields: {
              From: from,
              To: to,
              Url: addresses.answer(callId),
              Method: "POST",
              StatusCallback: addresses.status(callId),
              StatusCallbackMethod: "POST",
              StatusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
              TimeLimit: String(limitSeconds),
              Timeout: String(RING_SECONDS),
              ...(detectsMachines
                ? {
                    MachineDetection: "Enable",
                    AsyncAmd: "true",
                    AsyncAmdStatusCallback: addresses.recognized(callId),
                    AsyncAmdStatusCallbackMethod: "POST"
                  }
                : {})
            }
          },
          OneCall
        ),
        ({ sid }) => sid
      ),
    // Filtered by creation time: a call that is not dialled yet has no start time, and the filter for that
    // would omit it.
    findCalls: Effect.fnUntraced(function* (from, to, since) {
      const fields = { From: from, To: to, PageSize: String(CALLS_MAX) }
      const page = yield* ask(account, { name: "find calls", method: "GET", path: "Calls.json", fields }, CallPage)
      const now = yield* Timestamp.now
      return page.calls
        .filter(({ date_created }) => (momentOf(date_created) ?? now) >= since - CLOCK_DIFFERENCE_MILLIS)
        .slice(0, CALLS_MAX)
        .map((call) => toProviderCall(call, now))
    }),
    findCall: Effect.fnUntraced(function* (providerCallId) {
      const call: TwilioCall = { name: "find a call", method: "GET", path: pathOf(providerCallId) }
      const answer = yield* exchange(account, call)
      if (answer.status === 404) return Option.none()
      const found = yield* readBody(call, answer, decodeCall)
      return Option.some(toProviderCall(found, yield* Timestamp.now))
    }),
    changeLimit: Effect.fnUntraced(function* (providerCallId, limitSeconds) {
      const fields = { TimeLimit: String(limitSeconds) }
      const call: TwilioCall = { name: "change a limit", method: "POST", path: pathOf(providerCallId), fields }
      const answer = yield* exchange(account, call)
      if (answer.status === 404) return yield* failure("Rejected", "has no such call, so its limit was not changed")
      if (!isSuccess(answer)) return yield* refusal(call, answer)
    }),
    hangUp: Effect.fnUntraced(function* (providerCallId) {
      const fields = { Status: "completed" }
      const call: TwilioCall = { name: "end a call", method: "POST", path: pathOf(providerCallId), fields }
      const answer = yield* exchange(account, call)
      const isOver = answer.status === 404 || answer.code === CALL_NOT_IN_PROGRESS
      if (!isSuccess(answer) && !isOver) return yield* refusal(call, answer)
    })
  }
}
