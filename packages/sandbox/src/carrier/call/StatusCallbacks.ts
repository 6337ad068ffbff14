import { twilioDate } from "../twilio/TwilioResource.ts"
import type { TwilioWebhooks } from "../twilio/TwilioWebhooks.ts"

export const callEvents = ["initiated", "ringing", "answered", "completed"] as const
export type CallEvent = (typeof callEvents)[number]

/** Where a call's progress is told. */
export interface StatusCallbackTarget {
  readonly url: string
  readonly method: "GET" | "POST"
  readonly events: ReadonlyArray<CallEvent>
}

/** How callbacks are delivered, for tests: networks repeat, reorder and lose them. */
export interface CallbackDelivery {
  /** How often each is sent. 0 loses it. */
  readonly copies: number
  /** `reversed` holds all of a call back until it is over, and then sends the last first. */
  readonly order: "usual" | "reversed"
}

/** A call's progress, told in order: one request at a time, without keeping the call. */
export interface StatusCallbacks {
  readonly target: (target: StatusCallbackTarget | undefined) => void
  readonly tell: (event: CallEvent, form: Readonly<Record<string, string>>) => void
}

/**
 * The fields beside those of every request about a call: https://www.twilio.com/docs/voice/api/call-resource#statuscallback
 * A call has one sequence of numbers for the events that are told, from 0.
 */
export const makeStatusCallbacks = (
  callSid: string,
  webhooks: TwilioWebhooks,
  delivery: () => CallbackDelivery
): StatusCallbacks => {
  let target: StatusCallbackTarget | undefined
  let sequence = 0
  let line = Promise.resolve()
  const held: Array<() => Promise<unknown>> = []

  const tell: StatusCallbacks["tell"] = (event, form) => {
    if (target === undefined || !target.events.includes(event)) return
    const { method, url } = target
    const { copies, order } = delivery()
    const fields = {
      ...form,
      Timestamp: twilioDate(Date.now()),
      CallbackSource: "call-progress-events",
      SequenceNumber: String(sequence)
    }
    sequence += 1
    const sends = Array.from({ length: copies }, () => () => {
      return webhooks.send({ callSid, purpose: `status ${event}`, url, method, form: fields })
    })
    held.push(...sends)
    if (order === "reversed" && event !== "completed") return
    const due = held.splice(0)
    if (order === "reversed") due.reverse()
    for (const send of due) line = line.then(send).then(() => undefined)
  }
  return {
    target: (next) => {
      target = next
    },
    tell
  }
}
