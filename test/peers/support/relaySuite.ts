import { describe, expect, it } from "vitest"
import type { MailRig } from "./MailRig.ts"

/** A mail server under test, as the relay of the service. */
export interface RelayUnderTest {
  readonly rig: MailRig
  /** The log of the server. */
  readonly log: () => string
}

/** Returns a regular expression for the line of a log that says that the service accepted a mail to an address. */
export type Accepted = (recipient: string) => string

export interface RelayTraits {
  /** The status of a recipient whose next hop accepted the mail, and offers no reports; by default `sent`. */
  readonly relayed?: "sent" | "delivered"
  /** Whether a deferred mail can expire within seconds; by default true. */
  readonly canExpire?: boolean
}

/** The reports of a mail server about mail that the service sent through it, and the mail that it sends to the service. */
export const relaySuite = (
  server: () => RelayUnderTest,
  accepted: Accepted,
  { canExpire = true, relayed = "sent" }: RelayTraits = {}
): void => {
  const untilAccepted = async (recipient: string) => {
    const line = new RegExp(accepted(recipient.replaceAll("+", String.raw`\+`)))
    await expect.poll(() => server().log()).toMatch(line)
  }

  describe("as the relay", () => {
    it("reports and suppresses a user that the next hop does not know", async () => {
      const mailbox = await server().rig.mailbox()
      const messageId = await mailbox.send("nobody@outside.test")
      expect(await mailbox.settled(messageId)).toMatchObject([
        { status: "bounced", reason: expect.stringContaining("does not exist") }
      ])
      expect(await mailbox.suppressed()).toContain("nobody@outside.test")
    })

    it("reports an unknown user with a plus sign", async () => {
      const mailbox = await server().rig.mailbox()
      const messageId = await mailbox.send("nobody+a=b@outside.test")
      expect(await mailbox.settled(messageId)).toMatchObject([{ status: "bounced" }])
      expect(await mailbox.suppressed()).toContain("nobody+a=b@outside.test")
    })

    it("reports a refusal without an enhanced status code, which suppresses no address", async () => {
      const mailbox = await server().rig.mailbox()
      const messageId = await mailbox.send("plain@outside.test")
      expect(await mailbox.settled(messageId)).toMatchObject([
        { status: "bounced", reason: expect.stringContaining("mailbox unavailable") }
      ])
    })

    it("reports a full mailbox, which suppresses no address", async () => {
      const mailbox = await server().rig.mailbox()
      const messageId = await mailbox.send("full@outside.test")
      expect(await mailbox.settled(messageId)).toMatchObject([
        { status: "bounced", reason: expect.stringContaining("Mailbox full") }
      ])
      expect(await mailbox.suppressed()).not.toContain("full@outside.test")
    })

    it("reports an unknown user behind an alias about the alias", async () => {
      const mailbox = await server().rig.mailbox()
      const messageId = await mailbox.send("alias@forwarding.test")
      // Exim also reports the alias as delivered. Whichever report comes first, the recipient ends as bounced.
      await expect
        .poll(async () => (await mailbox.message(messageId)).recipients)
        .toMatchObject([{ address: "alias@forwarding.test", status: "bounced" }])
    })

    it.skipIf(!canExpire)(
      "reports a recipient that is deferred until the mail expires, which suppresses no address",
      async () => {
        const mailbox = await server().rig.mailbox()
        const messageId = await mailbox.send("later@outside.test")
        expect(await mailbox.settled(messageId)).toMatchObject([
          { status: "bounced", reason: expect.stringContaining("Greylisted") }
        ])
        expect(await mailbox.suppressed()).not.toContain("later@outside.test")
      }
    )

    it("reports one of two recipients", async () => {
      const mailbox = await server().rig.mailbox()
      const messageId = await mailbox.send(["somebody@outside.test", "nobody-else@outside.test"])
      await server().rig.forwarded("somebody@outside.test")
      await expect
        .poll(async () => (await mailbox.message(messageId)).recipients.map(({ status }) => status))
        .toEqual([relayed, "bounced"])
    })

    it("keeps the signed header, the text and the return path of a mail", async () => {
      const mailbox = await server().rig.mailbox()
      const messageId = await mailbox.send("reader@outside.test", { text: "Grüße\n\n.\nline after a dot" })
      const { mailFrom, raw } = await server().rig.forwarded("reader@outside.test")
      expect(mailFrom).toMatch(/^bounces\+/)
      expect(raw).toContain((await mailbox.message(messageId)).messageIdHeader)
      expect(raw).toMatch(/^DKIM-Signature: /m)
    })

    it("warns of a delay, which changes no status", async () => {
      const { rig } = server()
      const mailbox = await rig.mailbox()
      const messageId = await mailbox.send("patient@outside.test")
      const { mailFrom } = await rig.forwarded("patient@outside.test")
      // A hop that does not pass on that no warning is wanted.
      await rig.submit({ from: mailFrom, to: "later-warned@outside.test" }, {}, rig.relayPort)
      await untilAccepted(mailFrom)
      expect((await mailbox.message(messageId)).recipients).toMatchObject([{ status: relayed }])
      if (!canExpire) return
      await expect.poll(async () => (await mailbox.message(messageId)).status).toBe("bounced")
    })
  })

  describe("as a sender", () => {
    it("delivers a mail, and the reply to a mail of the service", async () => {
      const { rig } = server()
      const mailbox = await rig.mailbox()
      const messageId = await mailbox.send("friend@outside.test")
      const { messageIdHeader, threadId } = await mailbox.message(messageId)
      await rig.forwarded("friend@outside.test")
      await rig.submit(
        { from: "friend@outside.test", to: mailbox.address },
        { subject: "Re: Invoice 4711", text: "Thanks!", headers: { "in-reply-to": messageIdHeader } },
        rig.relayPort
      )
      expect(await mailbox.arrived()).toMatchObject({
        from: "friend@outside.test",
        subject: "Re: Invoice 4711",
        text: expect.stringMatching(/^Thanks!\s*$/),
        automatic: null,
        threadId
      })
    })

    it("understands that a mailbox does not exist, and tells its user", async () => {
      const { rig } = server()
      await rig.submit({ from: "writer@outside.test", to: `no-such-mailbox@${rig.domain}` }, {}, rig.relayPort)
      const { mailFrom, raw } = await rig.forwarded("writer@outside.test")
      expect(mailFrom).toBe("")
      expect(raw).toContain("550")
      expect(raw).toContain(`no-such-mailbox@${rig.domain}`)
    })
  })
}
