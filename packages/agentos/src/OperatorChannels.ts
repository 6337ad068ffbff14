import {
  type ConditionSource,
  ConditionSources,
  EmailProvider,
  NotInformed,
  type Notification,
  type OperatorChannel,
  OperatorChannels,
  Timestamp
} from "@agentos/core"
import { WebhookClientHttps } from "@agentos/node/webhook"
import { Effect, Layer, type Redacted } from "effect"

/** How operators are informed of incidents. */
export interface OperatorContact {
  readonly webhook: { readonly url: string; readonly secret: Redacted.Redacted } | undefined
  readonly mailTo: string | undefined
  /** Finds conditions of the host beside those of the store. */
  readonly sources: ReadonlyArray<ConditionSource>
}

const webhookChannel = ({ secret, url }: NonNullable<OperatorContact["webhook"]>): OperatorChannel => ({
  name: "webhook",
  inform: ({ id, ...body }) =>
    Effect.gen(function* () {
      const status = yield* WebhookClientHttps.postSigned({
        url,
        id,
        timestamp: yield* Timestamp.now,
        body: JSON.stringify(body),
        secrets: [secret]
      })
      if (status < 200 || status > 299) return yield* new NotInformed({ message: `the receiver answered ${status}` })
    }).pipe(Effect.catchTag("WebhookUnreachable", ({ message }) => Effect.fail(new NotInformed({ message }))))
})

const textOf = ({ data, timestamp, type }: Notification): string => {
  const state = type === "operator.incident.opened" ? "Since" : "Resolved at"
  return [data.summary, `What to do: ${data.action}`, `${state} ${timestamp}. Incident ${data.incidentId}.`].join(
    "\n\n"
  )
}

const mailChannel = (to: string, { domain, send }: EmailProvider["Service"]): OperatorChannel => ({
  name: "mail",
  inform: (notification) => {
    const { data, id, type } = notification
    const from = `postmaster@${domain}`
    const opened = `<${data.incidentId}_opened_${Date.parse(data.openedAt)}@${domain}>`
    return send({
      messageIdHeader: `<${id}@${domain}>`,
      inReplyTo: type === "operator.incident.opened" ? null : opened,
      references: [opened],
      from: { address: from, name: "AgentOS" },
      recipients: [to],
      returnPaths: [from],
      returnPath: from,
      to: [to],
      cc: [],
      bcc: [],
      replyTo: [],
      autoSubmitted: "auto-generated",
      subject: `${type === "operator.incident.opened" ? "" : "Resolved: "}${data.kind} ${data.subject}`,
      text: `${textOf(notification)}\n`,
      html: null,
      attachments: [],
      date: Timestamp.fromMillis(Date.parse(notification.timestamp))
    }).pipe(
      Effect.mapError(({ message }) => new NotInformed({ message })),
      Effect.filterOrFail(
        ({ accepted }) => accepted.length > 0,
        () => new NotInformed({ message: "the relay deferred it" })
      ),
      Effect.asVoid
    )
  }
})

/** The channels to the operators, and the conditions of the host. */
export const operatorChannels = ({ mailTo, sources, webhook }: OperatorContact) =>
  Layer.merge(
    Layer.effect(
      OperatorChannels,
      Effect.map(EmailProvider, (provider) => [
        ...(webhook === undefined ? [] : [webhookChannel(webhook)]),
        ...(mailTo === undefined ? [] : [mailChannel(mailTo, provider)])
      ])
    ),
    Layer.succeed(ConditionSources, sources)
  )
