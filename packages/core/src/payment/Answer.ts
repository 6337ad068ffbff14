import { Redacted } from "effect"
import type { Keyring } from "../kernel/Keyring.ts"
import * as AccessToken from "../tenancy/AccessToken.ts"
import * as CallbackSecret from "../tenancy/CallbackSecret.ts"
import type { SecretSlot, StoredAnswer } from "./Operation.ts"
import { AnswerSecret, type Fulfillment } from "./PaidService.ts"

/** The final answer of an operation as sent to the client. Its body may contain secrets. */
export interface Answer {
  readonly operationId: string
  readonly created: boolean
  /** The requestId in the body: that of the request that was charged, even when the answer is a replay to another. */
  readonly requestId: string
  /** The JSON text of the success envelope. */
  readonly body: Redacted.Redacted<string>
  /** The value of the PAYMENT-RESPONSE header. */
  readonly receipt: string
}

/** Returns the success envelope as it is stored. `data` may contain `AnswerSecret`s; they are cut out. */
export const store = (
  fulfillment: Fulfillment,
  envelope: { readonly operationId: string; readonly requestId: string; readonly guide: string }
): StoredAnswer => {
  const secrets: Array<AnswerSecret["slot"]> = []
  // The operation id makes the mark unpredictable: no text that a client chose beforehand can contain it.
  const mark = (index: number) => `secret:${envelope.operationId}:${index}`
  const marked = JSON.stringify(
    {
      data: { ...fulfillment.data, operationId: envelope.operationId },
      requestId: envelope.requestId,
      guide: envelope.guide
    },
    (_key, value: unknown) => (value instanceof AnswerSecret ? mark(secrets.push(value.slot) - 1) : value)
  )
  let body = marked
  const slots: Array<SecretSlot> = secrets.map((slot, index) => {
    const offset = body.indexOf(mark(index))
    body = body.slice(0, offset) + body.slice(offset + mark(index).length)
    return { ...slot, offset }
  })
  return { created: fulfillment.created, body, slots }
}

/**
 * Returns the body of a stored answer with its secrets inserted: the same bytes each time. Throws if the key ring lacks
 * the key of a secret; the operator must restore it.
 */
export const restore = (keyring: Keyring["Service"], answer: StoredAnswer): Redacted.Redacted<string> => {
  let body = answer.body
  for (const slot of answer.slots.toReversed()) {
    body = body.slice(0, slot.offset) + secretText(keyring, slot) + body.slice(slot.offset)
  }
  return Redacted.make(body, { label: "answer" })
}

const derive = (keyring: Keyring["Service"], { keyId, kind, subject, version }: SecretSlot) => {
  switch (kind) {
    case "access-token":
      return AccessToken.derive(keyring, { keyId, tenantId: subject, version })
    case "callback-secret":
      return CallbackSecret.derive(keyring, { keyId, phoneNumberId: subject, version })
  }
}

const secretText = (keyring: Keyring["Service"], slot: SecretSlot): string => {
  const secret = derive(keyring, slot)
  if (secret === undefined) throw new Error(`no key ${slot.keyId} in the key ring for a stored ${slot.kind}`)
  return Redacted.value(secret)
}
