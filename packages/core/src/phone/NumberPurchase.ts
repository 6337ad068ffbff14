import { Effect, Option, Schema } from "effect"
import { NUMBER_PURCHASES, type NumberCountry } from "../catalog/NumberCountry.ts"
import { Keyring } from "../kernel/Keyring.ts"
import { ProviderError, ProviderUnavailable } from "../kernel/ProviderError.ts"
import { Conflict, invalid } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { AnswerSecret, type OperationContext, type PaidService } from "../payment/PaidService.ts"
import * as TokenGrant from "../payment/TokenGrant.ts"
import { AgentCallback, isPlaceholder } from "./AgentCallback.ts"
import * as Allowance from "./Allowance.ts"
import { PurchaseNumberInput } from "./PhoneInput.ts"
import { type PhoneNumber, toPhoneNumberRecord } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { type OwnedNumber, TelephonyProvider } from "./TelephonyProvider.ts"
import { voiceRefusal } from "./Voice.ts"

/** The maximum number of search results that a purchase considers: concurrent purchases may reserve some of them. */
const CANDIDATES = 30
/** The maximum number of numbers that a purchase tries to buy before it is rejected. */
const TRIES = 5
/** The maximum number of alternative area codes in an error message. */
const AREAS_NAMED = 8
/** The delay after which a client may retry if the carrier could not answer the search. */
const SEARCH_RETRY_SECONDS = 5
/** The version of a new number's callback secret. */
const FIRST_VERSION = 1

const Plan = Schema.Struct({
  ...TokenGrant.TokenGrantPlan,
  phoneNumberId: Uuid.Uuid,
  agentId: Uuid.Uuid,
  callbackKeyId: Schema.Int
})
type Plan = typeof Plan.Type

type Purchase = PaidService<PurchaseNumberInput, Plan, OwnedNumber>

/**
 * Buys a number of a country for 30 days and returns the access token of the wallet.
 *
 * The number is stored before the carrier is asked to sell it. So a retry after a lost outcome searches for that number
 * under the service's account, and buys another one only when this one was certainly not bought.
 */
const makePurchase = (country: NumberCountry) =>
  Effect.gen(function* () {
    const numbers = yield* PhoneNumberStore
    const provider = yield* TelephonyProvider
    const agents = yield* AgentCallback
    const keyring = yield* Keyring
    const authenticationOf = yield* TokenGrant.make

    const refused = (message: string) => new ProviderError({ provider: provider.name, reason: "Rejected", message })

    const areasWithNumbers = (search: { readonly near?: string }) =>
      Effect.map(provider.search({ country, limit: CANDIDATES, ...search }), (found) =>
        [...new Set(found.map((number) => number.areaCode))].toSorted().slice(0, AREAS_NAMED)
      )

    /** Fails if no number is for sale, and names area codes that have some. */
    const checkInventory = Effect.fnUntraced(function* (areaCode: string | undefined) {
      const found = yield* provider.search({ country, areaCode, limit: 1 })
      if (found.length > 0) return
      const nearby = areaCode === undefined ? [] : yield* areasWithNumbers({ near: areaCode })
      const areas = areaCode === undefined || nearby.length > 0 ? nearby : yield* areasWithNumbers({})
      const choice = `${nearby.length > 0 ? "a nearby one" : "another one"}: ${areas.join(", ")}`
      return yield* new Conflict({
        message:
          areas.length === 0
            ? `No ${COUNTRY_NAMES[country]} number is for sale at the moment. Try again later.`
            : `areaCode ${areaCode} has no ${COUNTRY_NAMES[country]} number for sale at the moment. Choose ${choice}.`
      })
    })

    /** Reserves a number that is for sale and that no other operation has reserved. */
    const reserveAny = Effect.fnUntraced(function* (
      operationId: string,
      areaCode: string | undefined,
      tried: ReadonlySet<string>
    ) {
      const candidates = yield* provider.search({ country, areaCode, limit: CANDIDATES })
      for (const { number } of candidates) {
        if (!tried.has(number) && (yield* numbers.reserve(number, operationId)) === "reserved") return number
      }
      return yield* refused("The carrier has no matching number left.")
    })

    /** Returns the number if this deployment has bought it. */
    const findOurs = (number: string) =>
      Effect.map(
        provider.findNumber(number),
        Option.flatMap(({ isOurs, ...owned }) => (isOurs ? Option.some<OwnedNumber>(owned) : Option.none()))
      )

    /** Buys the number, or finds that this deployment already owns it. Returns none if it is not available. */
    const buy = (number: string): Effect.Effect<Option.Option<OwnedNumber>, ProviderError> =>
      provider.buy(number).pipe(
        Effect.map(Option.some),
        Effect.catchTag("ProviderError", (error) =>
          error.reason === "Rejected" ? findOurs(number) : Effect.fail(error)
        )
      )

    const perform = Effect.fnUntraced(function* (
      { operationId }: OperationContext,
      _plan: Plan,
      { areaCode }: PurchaseNumberInput
    ) {
      const before = yield* numbers.reservation(operationId)
      if (Option.isSome(before)) {
        const bought = yield* findOurs(before.value)
        if (Option.isSome(bought)) return bought.value
      }
      const tried = new Set<string>()
      for (let tries = 0; tries < TRIES; tries++) {
        const number =
          tries === 0 && Option.isSome(before) ? before.value : yield* reserveAny(operationId, areaCode, tried)
        const bought = yield* buy(number)
        if (Option.isSome(bought)) return bought.value
        tried.add(number)
      }
      return yield* refused(`The carrier sold ${TRIES} numbers to others before this purchase came to them.`)
    })

    const service: Purchase = {
      serviceId: NUMBER_PURCHASES[country],
      input: PurchaseNumberInput,
      plan: Plan,
      retryFor: Timestamp.HOUR,
      check: Effect.fnUntraced(function* (_tenant, { agentWebhookUrl, areaCode, language, voice }) {
        const unspoken = voiceRefusal(provider.voices, { voice, language })
        if (unspoken !== undefined) return yield* invalid(unspoken.field, unspoken.message)
        const refusal = isPlaceholder(agentWebhookUrl) ? undefined : yield* agents.refusal(agentWebhookUrl)
        if (refusal !== undefined) return yield* invalid("agentWebhookUrl", refusal)
        yield* Effect.catchTag(
          checkInventory(areaCode),
          "ProviderError",
          ({ message }) => new ProviderUnavailable({ message, retryAfterSeconds: SEARCH_RETRY_SECONDS })
        )
      }),
      prepare: Effect.fnUntraced(function* (context) {
        const phoneNumberId = yield* Uuid.next
        const agentId = yield* Uuid.next
        return { ...TokenGrant.planOf(context), phoneNumberId, agentId, callbackKeyId: keyring.activeKeyId }
      }),
      // The reservation stays: the carrier may have sold the number although its answer was lost. By the reservation,
      // `CarrierNumbers` knows whose purchase it was, releases the number, and ends the reservation.
      abandon: () => Effect.void,
      perform,
      record: Effect.fnUntraced(function* ({ operationId, tenant }, plan, input, bought) {
        const now = yield* Timestamp.now
        const { agentId, callbackKeyId, phoneNumberId } = plan
        const number: PhoneNumber = {
          phoneNumberId,
          agentId,
          callbackKeyId,
          tenantId: tenant.tenantId,
          ...bought,
          country,
          agentName: input.agentName,
          agentWebhookUrl: input.agentWebhookUrl,
          description: input.description || null,
          beginMessage: input.beginMessage || null,
          voice: input.voice || null,
          language: input.language || null,
          state: "active",
          suspension: null,
          startedAt: now,
          ...Allowance.extendEntitlement(now),
          allowance: Allowance.NO_INBOUND,
          callbackVersion: FIRST_VERSION,
          createdAt: now,
          releasedAt: null
        }
        yield* numbers.create(number, operationId)
        const callbackVerificationSecret = new AnswerSecret({
          kind: "callback-secret",
          keyId: number.callbackKeyId,
          version: number.callbackVersion,
          subject: number.phoneNumberId
        })
        return {
          created: true,
          data: {
            phoneNumberId: number.phoneNumberId,
            number: number.number,
            callbackVerificationSecret,
            phoneNumber: toPhoneNumberRecord(number, now),
            authentication: yield* authenticationOf(tenant, plan)
          }
        }
      })
    }
    return service
  })

const COUNTRY_NAMES: Readonly<Record<NumberCountry, string>> = { US: "US", CA: "Canadian" }

export const usNumberPurchase = makePurchase("US")

export const canadaNumberPurchase = makePurchase("CA")
