import type { SettleAnswer } from "@agentos/core"
import { Effect, Option, Redacted, Schema } from "effect"
import type { Facilitator, HttpFacilitatorConfig } from "./Facilitator.ts"
import * as FacilitatorAnswer from "./FacilitatorAnswer.ts"
import { type HttpAnswer, isSuccess } from "../HttpExchange.ts"
import { bodyOf, exchange, facilitatorError, reasonOf } from "./FacilitatorExchange.ts"

const DEFAULT_QUESTION_TIMEOUT_MILLIS = 10_000
const DEFAULT_SETTLE_TIMEOUT_MILLIS = 30_000

const decodeSettlement = Schema.decodeUnknownOption(Schema.fromJsonString(FacilitatorAnswer.Settlement))
const decodeSupported = Schema.decodeUnknownOption(Schema.fromJsonString(FacilitatorAnswer.Supported))

/**
 * Makes a client of a facilitator with the standard HTTP interface (x402 version 2, section 7). A settlement
 * answered with any status but 2xx is `Unknown`.
 */
export const make = (config: HttpFacilitatorConfig): Facilitator => {
  const base = config.url.replace(/\/+$/, "")
  const questionMillis = config.verifyTimeoutMillis ?? DEFAULT_QUESTION_TIMEOUT_MILLIS
  const settleMillis = config.settleTimeoutMillis ?? DEFAULT_SETTLE_TIMEOUT_MILLIS
  const headers = Object.fromEntries(
    Object.entries(config.headers ?? {}).map(([name, value]) => [name, Redacted.value(value)])
  )
  const call = (name: string, timeoutMillis: number, body: string | null) =>
    exchange({ name: `/${name}`, url: `${base}/${name}`, headers, body, timeoutMillis })

  return {
    ready: Effect.void,
    settle: (request) =>
      Effect.map(Effect.option(call("settle", settleMillis, bodyOf(request))), (answer) =>
        Option.match(answer, {
          onNone: () => FacilitatorAnswer.unknown("The facilitator did not answer."),
          onSome: readSettlement
        })
      ),
    supports: Effect.fnUntraced(function* (network) {
      const answer = yield* call("supported", questionMillis, null)
      const supported = isSuccess(answer) ? decodeSupported(answer.body) : Option.none()
      if (Option.isNone(supported)) {
        return yield* facilitatorError(
          reasonOf(answer.status),
          `answered /supported with status ${answer.status} and no list`
        )
      }
      return FacilitatorAnswer.supportOn(network, supported.value)
    })
  }
}

const readSettlement = (answer: HttpAnswer): SettleAnswer => {
  const { accepted, codeOf, unconfirmed, isRefusal, isTransaction, refused, unknown } = FacilitatorAnswer
  if (!isSuccess(answer)) return unknown(`The facilitator answered with status ${answer.status}.`)
  const settlement = decodeSettlement(answer.body)
  if (Option.isNone(settlement)) return unknown("The facilitator's answer could not be read.")
  const transaction = settlement.value.transaction ?? ""
  if (settlement.value.success) {
    return isTransaction(transaction)
      ? accepted(transaction)
      : unknown("The facilitator says that the payment settled, and not in which transaction.")
  }
  const code = codeOf(settlement.value.errorReason)
  return transaction === "" && isRefusal(code) ? refused(code) : unconfirmed(code)
}
