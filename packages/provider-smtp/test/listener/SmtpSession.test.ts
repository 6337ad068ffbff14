import { describe, expect, it } from "vitest"
import { DEFAULT_SMTP_LIMITS } from "../../src/listener/SmtpLimits.ts"
import { SmtpSession } from "../../src/listener/SmtpSession.ts"

describe("what a session knows of a recipient", () => {
  it("holds for 5 seconds", () => {
    let now = 0
    const session = new SmtpSession(DEFAULT_SMTP_LIMITS, () => now)
    session.keepVerdict("ada", "too much mail")
    now = 5_000
    expect(session.verdictOn("ada")).toBe("too much mail")
    now = 5_001
    expect(session.verdictOn("ada")).toBeUndefined()
  })
})
