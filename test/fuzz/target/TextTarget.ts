import type { Random } from "../../support/Random.ts"
import type { Reply } from "../../support/Agent.ts"
import { chance, oddText } from "../Mutation.ts"
import type { Flaw } from "../Flaw.ts"
import type { Target } from "./Target.ts"

/** Texts that are stored for a mailbox and sent in a message. */
export interface StoredTexts {
  readonly displayName: string
  readonly outboundSignature: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Half of the texts are valid. */
const textOf = (random: Random): string => {
  const text = oddText(random)
  return chance(random, 2)
    ? text
        .toWellFormed()
        .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "")
        .slice(0, 120)
    : text
}

const generate = (random: Random): StoredTexts => ({
  displayName: textOf(random),
  outboundSignature: textOf(random),
  subject: textOf(random),
  text: textOf(random),
  html: `<p>${textOf(random)}</p>`
})

const isRefused = ({ status }: Reply): boolean => status >= 400 && status < 500 && status !== 402

/** Stored text: it is returned as it was written, or was refused, and never becomes a mail header. */
export const textTarget: Target<StoredTexts> = {
  name: "text",
  summary: "stored text: names, signatures, subjects and bodies that come back through API and mail",
  workers: 1,
  generate,
  open: async ({ count, oracle, rig }) => {
    const { agent, mailbox } = rig.attacker
    const { mailboxId } = mailbox
    const examine = ({ headers, status, text }: Reply) =>
      oracle.examineAnswer({ status, headers: new Map(headers), body: text }, { hasEnvelope: true })

    /** Pays where the request is valid. A refusal comes before the challenge. */
    const pay = async (path: string, body: object): Promise<Reply> => {
      const unpaid = await agent.send({ path, body })
      return unpaid.status === 402 ? agent.pay({ path, body }) : unpaid
    }

    return {
      play: async ({ displayName, html, outboundSignature, subject, text }) => {
        const updated = await pay("/api/v1/email/mailboxes/update", { mailboxId, displayName, outboundSignature })
        const flaws: Array<Flaw> = [...examine(updated)]
        if (updated.status === 200) {
          count("texts stored", 2)
          const listed = await agent.send({ path: "/api/v1/email/mailboxes/query" })
          flaws.push(...examine(listed))
          const items = listed.body.data["items"] as unknown as ReadonlyArray<Readonly<Record<string, unknown>>>
          const stored = items.find((item) => item["mailboxId"] === mailboxId)
          for (const [field, written] of Object.entries({ displayName, outboundSignature })) {
            if ((stored?.[field] ?? "") !== written) flaws.push(changed(field, written, stored?.[field]))
          }
        } else if (!isRefused(updated)) flaws.push({ rule: "a text is stored or refused", detail: updated.text })

        const message = { mailboxId, to: [mailbox.address], subject, text, html }
        const sent = await pay("/api/v1/email/messages/send", message)
        flaws.push(...examine(sent))
        if (sent.status === 201) {
          count("texts stored", 3)
          const { messageId } = (sent.body.data as unknown as { readonly message: { readonly messageId: string } })
            .message
          const read = await agent.send({ path: `/api/v1/email/messages/query?messageId=${messageId}` })
          flaws.push(...examine(read))
          const stored = read.body.data["message"] as unknown as Readonly<Record<string, unknown>>
          if (stored["subject"] !== subject) flaws.push(changed("subject", subject, stored["subject"]))
          flaws.push(...(await strayCopies(agent, mailboxId)))
        } else if (!isRefused(sent)) flaws.push({ rule: "a text is stored or refused", detail: sent.text })
        return flaws
      },
      close: async () => undefined
    }

    /** The message returns to its own mailbox. It must have no additional recipient and no other sender. */
    async function strayCopies(reader: typeof agent, id: string): Promise<ReadonlyArray<Flaw>> {
      const reply = await reader.send({ path: `/api/v1/email/messages/query?mailboxId=${id}&limit=20` })
      const items = reply.body.data["items"] as unknown as ReadonlyArray<{
        readonly direction: string
        readonly from: string
        readonly cc: ReadonlyArray<string>
        readonly to: ReadonlyArray<string>
      }>
      return items
        .filter(({ direction, from }) => direction === "inbound" && from === mailbox.address)
        .filter(({ cc, to }) => cc.length > 0 || to.some((address) => address !== mailbox.address))
        .map((item) => ({ rule: "no text becomes a mail header", detail: JSON.stringify(item) }))
    }
  }
}

const changed = (field: string, written: string, read: unknown): Flaw => ({
  rule: "a stored text comes back as it was written",
  detail: `${field}: ${JSON.stringify(written)} became ${JSON.stringify(read)}`
})
