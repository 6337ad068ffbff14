import { describe, expect, it } from "vitest"
import { automaticOf, mailingListOf, readerOf } from "../../src/parser/ListHeader.ts"

const reader = (fields: Readonly<Record<string, string>>) =>
  readerOf(Object.entries(fields).map(([name, value]) => ({ name, value: ` ${value}` })))

describe("the reason why a mail is automatic", () => {
  it.each([
    ["auto-submitted", "auto-replied", "auto_replied"],
    ["auto-submitted", 'Auto-Replied; owner-email="bob@else.test"', "auto_replied"],
    ["auto-submitted", "auto-generated", "auto_generated"],
    ["auto-submitted", "auto-notified", "auto_generated"],
    ["auto-submitted", "no", null],
    ["auto-submitted", "No (a person wrote this)", null],
    ["precedence", "auto_reply", "auto_replied"],
    ["x-autoreply", "yes", "auto_replied"],
    ["x-autorespond", "Out of office", "auto_replied"],
    ["x-autoreply-from", "bob@else.test", "auto_replied"],
    ["x-mail-autoreply", "yes", "auto_replied"],
    ["x-precedence", "auto_reply", "auto_replied"],
    ["delivered-to", "Autoresponder", "auto_replied"],
    ["delivered-to", "ada@agents.test", null],
    ["content-type", 'multipart/report; boundary=b; report-type="disposition-notification"', "auto_replied"],
    ["content-type", "multipart/mixed; boundary=report-type", null],
    ["list-id", "<l.else.test>", "mailing_list"],
    ["list-post", "NO", "mailing_list"],
    ["precedence", "list", "mailing_list"],
    ["precedence", "Bulk", "bulk"],
    ["precedence", "junk", "bulk"],
    ["precedence", "first-class", null],
    ["list-unsubscribe", "<https://else.test/off>", "bulk"],
    ["x-auto-response-suppress", "OOF, AutoReply", "no_auto_reply"],
    ["x-auto-response-suppress", "None", null],
    ["subject", "auto-replied", null]
  ])("of %s: %s is %s", (name, value, reason) => {
    expect(automaticOf(reader({ [name]: value }))).toBe(reason)
  })

  it("is the first of several that AutomaticReason lists", () => {
    expect(automaticOf(reader({ precedence: "bulk", "list-id": "<l.else.test>" }))).toBe("mailing_list")
    expect(automaticOf(reader({ "list-id": "<l.else.test>", "auto-submitted": "auto-replied" }))).toBe("auto_replied")
    expect(automaticOf(reader({ "auto-submitted": "no", precedence: "bulk" }))).toBe("bulk")
  })
})

describe("the mailing list of a mail", () => {
  const listOf = (fields: Readonly<Record<string, string>>) => mailingListOf(reader(fields))
  const none = { listId: null, post: null, unsubscribe: [], oneClick: false }

  it("is null if the header names none", () => {
    expect(listOf({ subject: "x", precedence: "list", "list-post": "NO (posting is not allowed)" })).toBe(null)
  })

  it.each([
    ["Team News <news.else.test>", "news.else.test"],
    ['"a < b" <news.else.test>', "news.else.test"],
    ["news.else.test", "news.else.test"]
  ])("has the id of %s", (value, listId) => {
    expect(listOf({ "list-id": value })).toEqual({ ...none, listId })
  })

  it("has the address to post to", () => {
    expect(listOf({ "list-post": "<mailto:news%2Beu@else.test?subject=x>" })?.post).toBe("news+eu@else.test")
    expect(listOf({ "list-post": "<https://else.test/post>, <mailto:a@else.test>" })?.post).toBe("a@else.test")
    expect(listOf({ "list-post": "<mailto:a@else.test,b@else.test>" })).toBe(null)
    expect(listOf({ "list-post": "<mailto:%E0%A4%A@else.test>" })).toBe(null)
  })

  it("has the addresses that unsubscribe, without those of other schemes, and joins folded ones", () => {
    const value = "<mailto:off@else.test>, (or) <https://else.test/off?u=\t1>, <javascript:alert(1)>, <else.test/off>"
    expect(listOf({ "list-unsubscribe": value })?.unsubscribe).toEqual([
      "mailto:off@else.test",
      "https://else.test/off?u=1"
    ])
  })

  it("unsubscribes by one click only with an https address", () => {
    const post = { "list-unsubscribe-post": "List-Unsubscribe=One-Click" }
    expect(listOf({ ...post, "list-unsubscribe": "<https://else.test/off>" })?.oneClick).toBe(true)
    expect(listOf({ ...post, "list-unsubscribe": "<mailto:off@else.test>" })?.oneClick).toBe(false)
    expect(listOf({ "list-unsubscribe": "<https://else.test/off>" })?.oneClick).toBe(false)
  })
})
