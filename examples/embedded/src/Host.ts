import { createAgentOs, memory, type PlainMail } from "@agentos/agentos"
import { randomBytes } from "node:crypto"
import { openCredits } from "./Credits.ts"

/** The JSON format of mail in this host. */
export interface HouseMail {
  readonly id: string
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly subject: string
  readonly text: string
}

/** An AgentOS with the host's own payments and mail. All data is in memory. */
export const openHost = async (publicUrl: string) => {
  const { open, rail } = openCredits()
  const sent: Array<PlainMail> = []
  const agentos = await createAgentOs({
    publicUrl,
    // A host with persistent data must also persist its keys, which tokens and challenges depend on.
    keys: `1:${randomBytes(32).toString("base64")}`,
    storage: memory(),
    payment: rail,
    mail: {
      name: "house",
      domain: "house.test",
      send: async (mail) => void sent.push(mail),
      parse: (raw) => {
        const { from, id, subject, text }: HouseMail = JSON.parse(Buffer.from(raw).toString())
        return { from: { address: from, name: null }, messageIdHeader: `<${id}>`, subject, text }
      },
      // Only the host itself submits mail, so senders need no proof.
      authenticate: async () => ({ spf: "none", dkim: "none", dmarc: "none", domain: null })
    }
  })
  /** Passes a mail to the mailboxes. Returns the recipients that were refused. */
  const accept = (mail: HouseMail) => {
    const raw = Buffer.from(JSON.stringify(mail))
    return agentos.messages.receive({ ...mail, author: mail.from, raw, remoteAddress: "127.0.0.1" })
  }
  return { agentos, open, sent, accept }
}
