import { afterAll, describe, expect, it, vi } from "vitest"
import { creditUnits } from "../src/Credits.ts"
import { openHost } from "../src/Host.ts"

const host = openHost("house.test")
afterAll(() => host.close())

const mail = (to: string) => ({ id: "1@house.test", from: "boss@house.test", to: [to], subject: "News", text: "Good." })

const PATIENCE = { timeout: 20_000 }

describe("a custom host of the core", () => {
  it("sells a mailbox for credits, and delivers its mail as an event", async () => {
    const account = host.openAccount("research", creditUnits(1))
    const { authentication, mailbox } = await host.createMailbox(account, "Research")
    expect(mailbox).toMatchObject({ address: "research@house.test", active: true })
    expect(host.balance(account)).toBe(750_000n)

    expect(await host.accept(mail("unknown@house.test"))).toBe(false)
    expect(await host.accept(mail("research@house.test"))).toBe(true)
    const event = await vi.waitFor(async () => {
      const events = await host.events(authentication.accessToken)
      const received = events.find(({ type }) => type === "email.received")
      expect(received).toBeDefined()
      return received!
    }, PATIENCE)
    expect(event).toMatchObject({
      source: "house",
      status: "pending",
      payload: { mailboxId: mailbox.mailboxId, from: "boss@house.test", subject: "News" }
    })

    expect(await host.acknowledge(authentication.accessToken, event.eventId)).toMatchObject({ status: "acknowledged" })
    const left = await host.events(authentication.accessToken)
    expect(left.filter(({ eventId }) => eventId === event.eventId)).toEqual([])
  })

  it("does not charge an account with too few credits", async () => {
    const account = host.openAccount("interns", creditUnits(1) / 10n)
    await expect(host.createMailbox(account, "interns")).rejects.toMatchObject({ reason: "too few credits" })
    expect(host.balance(account)).toBe(100_000n)
  })

  it("rejects a name that is already taken before the payment", async () => {
    const account = host.openAccount("copycats", creditUnits(1))
    await host.createMailbox(account, "copies")
    await expect(host.createMailbox(host.openAccount("others", creditUnits(1)), "copies")).rejects.toMatchObject({
      _tag: "Conflict"
    })
    expect(host.balance(account)).toBe(750_000n)
  })

  it("rejects an invalid token", async () => {
    await expect(host.events("at_v1_nonsense")).rejects.toMatchObject({ _tag: "CredentialRefused" })
  })
})
