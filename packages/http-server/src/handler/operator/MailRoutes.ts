import {
  cancelOutbound,
  type Conflict,
  DropInboundMailInput,
  MailAdministration,
  QueryInboundMailsInput,
  QueryOutboundMessagesInput,
  type ResourceNotFound,
  type ScheduledMessages,
  type Transactor
} from "@agentos/core"
import { Effect } from "effect"
import { type Answer, bodyOf, dataResponse, mutation, parameter, queryOf, read } from "./OperatorRoute.ts"

const namedMail = Effect.map(parameter("inboundMailId"), (id) => id.toLowerCase())
const namedMessage = Effect.map(parameter("messageId"), (id) => id.toLowerCase())

/** Lists accepted mails that wait for their delivery, oldest first. */
const listInbound = Effect.map(MailAdministration, ({ listInbound: list }): Answer =>
  Effect.flatMap(Effect.flatMap(queryOf(QueryInboundMailsInput), list), dataResponse)
)

/** Answers with what an action on the named mail returns. */
const onMail = (action: "findInbound" | "readInbound" | "replayInbound") =>
  Effect.map(MailAdministration, (mail): Answer => {
    const act: (id: string) => Effect.Effect<object, Conflict | ResourceNotFound> = mail[action]
    return Effect.flatMap(Effect.flatMap(namedMail, act), dataResponse)
  })

/** Deletes a waiting mail. The body contains the reason. */
const dropInbound = Effect.map(MailAdministration, ({ dropInbound: drop }): Answer =>
  Effect.gen(function* () {
    const { reason } = yield* bodyOf(DropInboundMailInput)
    return yield* dataResponse(yield* drop(yield* namedMail, reason))
  })
)

/** Lists outbound messages that wait for an attempt, oldest first. */
const listOutbound = Effect.map(MailAdministration, ({ listOutbound: list }): Answer =>
  Effect.flatMap(Effect.flatMap(queryOf(QueryOutboundMessagesInput), list), dataResponse)
)

const retryOutbound = Effect.map(MailAdministration, ({ retryOutbound: retry }): Answer =>
  Effect.flatMap(Effect.flatMap(namedMessage, retry), dataResponse)
)

/** Ends the attempts at a message, with its refund. */
const cancelMessage = Effect.map(Effect.context<ScheduledMessages | Transactor>(), (services): Answer =>
  Effect.flatMap(
    Effect.flatMap(namedMessage, (id) => Effect.provide(cancelOutbound(id), services)),
    dataResponse
  )
)

export const routes = Effect.gen(function* () {
  const inbound = "/internal/mail/inbound"
  const mail = `${inbound}/{inboundMailId}`
  const outbound = "/internal/mail/outbound"
  const message = `${outbound}/{messageId}`
  return [
    read("inboundMails", inbound, yield* listInbound),
    read("inboundMail", mail, yield* onMail("findInbound")),
    mutation("readInboundMail", "money", "inbound-mail.read", `${mail}/content`, yield* onMail("readInbound")),
    mutation("replayInboundMail", "support", "inbound-mail.replay", `${mail}/replay`, yield* onMail("replayInbound")),
    mutation("dropInboundMail", "money", "inbound-mail.drop", `${mail}/drop`, yield* dropInbound),
    read("outboundMessages", outbound, yield* listOutbound),
    mutation("retryMessage", "support", "outbound-message.retry", `${message}/retry`, yield* retryOutbound),
    mutation("cancelMessage", "money", "outbound-message.cancel", `${message}/cancel`, yield* cancelMessage)
  ]
})
